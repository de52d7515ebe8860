/**
 * Chooses the arrows and transitions of a page, and its busiest state, as a reader does by a click, and says what each
 * choice makes of the page. It judges nothing: which choices are looked at closely is decided in fit_choices.py.
 *
 * An expression: a function of `limits` ({choices, address}) that gives JSON text, a list of {kind, address, name, beyond,
 * filled, inks}. `name` is the length of what a thing is called; `beyond` and `filled` are CSS px. `inks` are what this
 * choice shows in colours that were not seen before: {place, is_text, ink, ground}, a colour as [red, green, blue, alpha]
 * with 0..255 and 0..1; they are read from styles, which costs far less than a picture of each choice. What has no
 * `aria-pressed`, or puts nothing into the address when it is clicked, or too much, is no choice: a page that is not ours
 * has none. A page may write the address later, once for many choices, and say it at once in `data-address` on the root.
 */
(limits) => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const drawing = all('svg.drawing').find((each) => each.checkVisibility());
  if (!drawing) return '[]';
  const column = document.querySelector('aside') ?? document.body;

  /** How much more the page, or what cuts or scrolls in its column, holds than it has room for. */
  const excess = (each) => Math.max(each.scrollHeight - each.clientHeight, each.scrollWidth - each.clientWidth);
  const isCutter = (each) => each.clientHeight > 2 && excess(each) > 1 && getComputedStyle(each).overflow !== 'visible';
  const beyond = () => Math.max(0, root.scrollHeight - innerHeight, root.scrollWidth - innerWidth,
    ...all('*', column).filter(isCutter).map(excess));
  /** How high the texts of the column are together, without the room between them. */
  const filled = () => Math.round(
    all('h2, h3, p, li, dt, pre, tr', column).reduce((sum, each) => sum + each.getBoundingClientRect().height, 0));

  const pen = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const colours = new Map();
  const colourOf = (css) => {
    if (!colours.has(css)) {
      pen.clearRect(0, 0, 1, 1);
      pen.fillStyle = css;
      if (css !== 'none') pen.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data;
      colours.set(css, [red, green, blue, alpha / 255]);
    }
    return colours.get(css);
  };
  const over = (top, below) => [...[0, 1, 2].map((at) => top[at] * top[3] + below[at] * (1 - top[3])), 1];
  const faded = (colour, share) => [colour[0], colour[1], colour[2], colour[3] * Number(share)];
  /** The plain colour behind an element, null where a picture or a gradient is. */
  const paperOf = (element) => {
    const papers = [];
    for (let at = element; at; at = at.parentElement) {
      const { backgroundColor, backgroundImage } = getComputedStyle(at);
      if (backgroundImage !== 'none') return null;
      papers.push(colourOf(backgroundColor));
    }
    return papers.reduceRight((below, paper) => over(paper, below), [255, 255, 255, 1]);
  };

  // What was seen in which colours: a place whose colours stay as they were is told of by the page at rest.
  const seen = new Set();
  const inks = [];
  const note = (place, isText, ink, ground) => {
    const key = JSON.stringify([place, ink, ground]);
    if (!ground || !ink[3] || seen.has(key)) return;
    seen.add(key);
    inks.push({ place, is_text: isText, ink, ground: ground.slice(0, 3).map(Math.round) });
  };
  const isSeen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const said = (element) => element.textContent.replace(/\s+/g, ' ').trim().slice(0, 60);
  const noteDrawn = (item) => {
    const place = item.dataset.arrow === undefined ? `state '${item.dataset.state}'` : `arrow '${item.dataset.arrow}'`;
    const paper = paperOf(drawing);
    const line = (item.closest('[data-cord]') ?? item).querySelector('path.line');
    const box = item.querySelector('rect.box');
    for (const [shape, what] of [[line, 'its line'], [box, 'its edge']]) {
      if (!shape) continue;
      const { stroke, strokeOpacity } = getComputedStyle(shape);
      note(`${place}, ${what}`, false, faded(colourOf(stroke), strokeOpacity), paper);
    }
    const behind = box ?? item.querySelector('rect.chip');
    const ground = behind && paper ? over(faded(colourOf(getComputedStyle(behind).fill), getComputedStyle(behind).fillOpacity), paper) : paper;
    for (const text of all('text', item).filter(isSeen)) {
      const { fill, fillOpacity } = getComputedStyle(text);
      note(`${place}, text '${said(text)}'`, true, faded(colourOf(fill), fillOpacity), ground);
    }
  };
  // In the column, what has the same classes all the way up has the same colours: a kind is a number for them.
  const kinds = new Map();
  const known = new Set();
  const kindOf = (element, outer) => {
    const key = `${outer} ${element.localName}#${element.id}.${element.className} ${element.getAttribute('style')} ${element.ariaPressed}`;
    if (!kinds.has(key)) kinds.set(key, kinds.size + 1);
    return kinds.get(key);
  };
  const ownText = (element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  const noteWritten = (parent, outer) => {
    for (const element of parent.children) {
      if (element instanceof SVGElement || (element.hidden && !element.checkVisibility())) continue;
      const kind = kindOf(element, outer);
      if (!known.has(kind) && ownText(element) && isSeen(element)) {
        known.add(kind);
        note(`text '${said(element)}'`, true, colourOf(getComputedStyle(element).color), paperOf(element));
      }
      noteWritten(element, kind);
    }
  };
  const noteColours = () => {
    for (const item of all('[data-arrow][aria-pressed=true], [data-state][aria-pressed=true]', drawing)) noteDrawn(item);
    noteWritten(column, 0);
  };
  noteColours();
  for (const item of all('[data-arrow], [data-state]', drawing)) noteDrawn(item);
  inks.length = 0;

  const opens = column.querySelector('[hidden]') !== null;
  const found = [];
  // Each choice has the page laid out anew: a transition that was open under its arrow shows no more in the list, nor
  // under another arrow.
  const open = new Set();
  const pairOf = ({ dataset: { source, target } }) => JSON.stringify([source, target]);
  let clicks = 0;
  const choose = (item, kind) => {
    if (clicks >= limits.choices) return;
    clicks += 1;
    item.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
    const address = root.dataset.address ?? location.hash.slice(1);
    if (!address.includes(`${kind}=`) || address.length > limits.address) return;
    const name = (item.getAttribute('aria-label') ?? item.textContent).trim().length;
    noteColours();
    found.push({ kind, address, name, beyond: beyond(), filled: filled(), inks: inks.splice(0) });
    for (const way of all('.ways button[aria-pressed=true]')) open.add(pairOf(way));
  };

  const arrows = all('[data-arrow][aria-pressed]', drawing);
  const isAt = ({ dataset: { from, to } }, { dataset: { state } }) => from === state || to === state;
  const weigh = (state) => arrows.filter((arrow) => isAt(arrow, state)).length;
  const states = all('[data-state][aria-pressed]', drawing).sort((one, two) => weigh(two) - weigh(one));
  for (const state of states.slice(0, 1)) choose(state, 'state');
  for (const arrow of arrows) {
    choose(arrow, 'arrow');
    // An arrow over several transitions offers each of them above its panel.
    for (const way of all('.ways button[aria-pressed=false]')) if (!open.has(pairOf(way))) choose(way, 'transition');
  }
  // Where nothing is there to open and all arrows make the same of the page, their transitions mark no more than they do.
  const isAlike = found.every(({ beyond: over, filled: height }) => over === 0 && height === found[0].filled);
  const rows = opens || !isAlike ? all('.list button[data-source][aria-pressed]') : [];
  for (const row of rows) if (!open.has(pairOf(row))) choose(row, 'transition');
  return JSON.stringify(found);
}
