/**
 * Chooses the arrows and transitions of a page, and its busiest state, as a reader does by a click, and says what each
 * choice makes of the page. It judges nothing: which choices are looked at closely is decided in fit_choices.py.
 *
 * An expression: a function of `limits` ({choices, address}) that gives JSON text, a list of {kind, address, name, beyond, filled}.
 * `name` is the length of what a thing is called; `beyond` and `filled` are CSS px. What has no `aria-pressed`, or puts
 * nothing into the address when it is clicked, or too much, is no choice: a page that is not ours has none.
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
    const address = location.hash.slice(1);
    if (!address.includes(`${kind}=`) || address.length > limits.address) return;
    const name = (item.getAttribute('aria-label') ?? item.textContent).trim().length;
    found.push({ kind, address, name, beyond: beyond(), filled: filled() });
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
