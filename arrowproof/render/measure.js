/**
 * Measures a page that is open in a browser. It judges nothing and changes nothing: it says where every text, state and
 * arrow line stands on the screen, how large and in which colour it is painted, and what would cut it. The rules that
 * judge it are in fit_rules.py (places and sizes) and fit_pixels.py (contrast, from the screenshot).
 *
 * An expression: a function of what sight.js is, that gives an async function of `limits` ({texts, points, sign, picture,
 * squeezed, keys, scenes}), which gives JSON text. All lengths are CSS px, all rectangles [left, top, right, bottom] relative to the
 * viewport, all colours [red, green, blue, alpha] with 0..255 and 0..1.
 */
(sight) => async (limits) => {
  const root = document.documentElement;
  await document.fonts.ready;
  // What is seen and still cannot be measured: [element, what it is].
  const unmeasured = [];
  // A colour in the middle of a transition is nobody's colour: jump to the end of whatever moves.
  for (const animation of document.getAnimations()) {
    try {
      animation.finish();
    } catch {
      unmeasured.push([animation.effect?.target ?? root, 'moves without end, although less motion was asked for']);
      animation.cancel();
    }
  }

  const {
    round, rectOf, snippet, styleOf, selectorOf, pen, colourOf, faded, opacityOf, inReadersOnly, hiddenBecause, isPutAway, clipOf,
    isMasked, isWhole, scaleOf,
  } = sight();

  // A page may hold several drawings, of which it shows one at a time; the others bear `hidden`, and are not displayed.
  const scenes = [...document.querySelectorAll('svg.drawing')];
  const drawings = scenes.filter((scene) => !scene.closest('[hidden]') || scene.checkVisibility());
  const drawing = drawings[0] ?? null;
  const addressOf = (scene) => scene?.dataset.fragment?.replace(/^#/, '') ?? null;
  const addresses = [...new Set(scenes.map(addressOf).filter((address) => address !== null))];
  /** The keys of the states or arrows that an element stands for: several for a folded group or a bundle of arrows. */
  const keysOf = (group, id) => group.dataset.keys?.split(' ').slice(0, limits.keys) ?? [group.dataset.key ?? id];
  const inDrawing = (element) => drawing !== null && drawing.contains(element);

  // How high letters are takes long to ask, and is the same on every screen that has the same fonts.
  const faces = [...document.fonts].map((face) => [face.family, face.style, face.weight, face.unicodeRange, face.status]);
  const inks = ((globalThis.arrowproofInks ??= {})[JSON.stringify(faces)] ??= new Map());
  const lettersOf = (text, font) => {
    const key = `${font}\n${text}`;
    if (!inks.has(key)) {
      pen.font = font;
      inks.set(key, pen.measureText(text));
    }
    return inks.get(key);
  };
  /** A text that takes much less room than its letters do has them on top of each other. */
  const noteSqueezed = (element, text, needed, boxes) => {
    const isLine = !/[\s\u00ad\u200b-\u200f]/.test(text); // what breaks may end lines in spaces, which take no room
    const taken = boxes.reduce((sum, box) => sum + Math.max(box.width, box.height), 0);
    if (isLine && boxes.length === 1 && taken < needed * limits.squeezed) {
      unmeasured.push([element, `stands in ${Math.round((taken / needed) * 100)} % of the width of its letters`]);
    }
  };
  /** A text's lines as rectangles of its ink: as wide as it advances, as high as its letters truly are. */
  const inkOf = (node, element, style, scale) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()].filter((box) => box.width > 0.01 && box.height > 0.01);
    const text = node.data.trim();
    const font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const ink = lettersOf(style.textTransform === 'uppercase' ? text.toUpperCase() : text, font);
    noteSqueezed(element, text, ink.width * scale, boxes);
    const matrix = element instanceof SVGGraphicsElement ? element.getScreenCTM() : null;
    if (matrix && Math.abs(matrix.b) > 1e-6) return boxes.map(rectOf); // turned: the box around it is what we have
    return boxes.map((box) => {
      const baseline = box.top + ink.fontBoundingBoxAscent * scale;
      const top = baseline - ink.actualBoundingBoxAscent * scale;
      const bottom = baseline + ink.actualBoundingBoxDescent * scale;
      const known = Number.isFinite(top) && bottom > top;
      return [box.left, known ? top : box.top, box.right, known ? bottom : box.bottom].map(round);
    });
  };

  const cutsText = (element, style) => {
    for (let at = element; at && at instanceof HTMLElement; at = at.parentElement) {
      const own = styleOf(at);
      const cut = own.textOverflow !== 'clip' && own.overflowX !== 'visible' && at.scrollWidth > at.clientWidth;
      const clamp = own.webkitLineClamp !== 'none' && at.scrollHeight > at.clientHeight;
      if (cut || clamp) return true;
      if (own.display !== 'inline') return false;
    }
    return false;
  };

  const measureText = (node) => {
    const element = node.parentElement;
    const style = styleOf(element);
    const state = element.closest('[data-state]');
    const arrow = element.closest('[data-arrow]');
    const drawn = inDrawing(element);
    const shut = drawn ? null : element.closest('details:not([open])');
    if (shut && element.closest('summary')?.parentElement !== shut) return null;
    let hidden = hiddenBecause(element);
    if (inReadersOnly(element)) {
      if (!drawn && !element.closest('h1')) return null;
      hidden = 'class sr';
    }
    if (hidden && !drawn && isPutAway(element)) return null;
    const scale = scaleOf(element);
    const rects = hidden ? [] : inkOf(node, element, style, scale);
    if (!hidden && rects.length === 0) {
      if (!drawn && !/[\p{L}\p{N}\p{P}\p{S}]/u.test(node.data)) return null;
      hidden = 'no size';
    }
    const isSvg = element instanceof SVGElement;
    const paint = isSvg ? style.fill : style.webkitTextFillColor || style.color;
    const fade = opacityOf(element) * (isSvg ? Number(style.fillOpacity) : 1);
    return {
      text: snippet(node.data), selector: selectorOf(element), drawn,
      owner: drawn && state ? 'state' : drawn && arrow ? 'label' : 'other',
      id: drawn && state ? state.dataset.state : drawn && arrow ? arrow.dataset.arrow : null,
      size: round(parseFloat(style.fontSize) * scale),
      colour: faded(colourOf(paint), fade),
      rects,
      clip: clipOf(element, 'static'),
      cut: !hidden && (cutsText(element, style) || (isMasked(element) && !rects.every((rect) => isWhole(element, rect)))),
      hidden,
    };
  };

  const hiddenText = (element, hidden) => ({
    text: snippet(element.textContent), selector: selectorOf(element), owner: 'other', id: null, drawn: false, size: 0,
    colour: null, rects: [], clip: null, cut: false, hidden,
  });

  // Text made by style: to ask each element for it takes long, so that only those are asked that a rule may give some.
  const makersIn = (rules) => [...rules].flatMap((rule) => {
    if (rule instanceof CSSFontFaceRule || !/:(before|after)\b/.test(rule.cssText)) return [];
    if (rule instanceof CSSConditionRule) return makersIn(rule.cssRules);
    const isPlain = rule instanceof CSSStyleRule && rule.cssRules.length === 0;
    return isPlain ? [rule.selectorText.replace(/(?<!\\)::?(before|after)\b/g, ':where(*)')] : ['*'];
  });
  const makers = (globalThis.arrowproofMakers ??= [
    ...new Set([...document.styleSheets, ...document.adoptedStyleSheets].flatMap((sheet) => makersIn(sheet.cssRules)))]);
  const madeBy = (selector) => {
    try {
      return [...document.querySelectorAll(selector)];
    } catch {
      return [...document.querySelectorAll('*')]; // one that is only for style sheets
    }
  };
  const made = new Set(makers.flatMap(madeBy));
  const frames = new Set(['iframe', 'frame', 'object', 'embed']);
  const pictures = new Set(['canvas', 'img', 'image', 'video']);
  /** A picture that is no small sign may say something, in letters of any size. */
  const isPicture = (element) => {
    if (!pictures.has(element.localName) && !styleOf(element).backgroundImage.includes('url(')) return false;
    const { width, height } = element.getBoundingClientRect();
    return Math.max(width, height) > limits.picture && !hiddenBecause(element);
  };
  const noteUnmeasured = (element) => {
    if (isPicture(element)) unmeasured.push([element, 'is or holds a picture, and what it says is not measured']);
    if (element.shadowRoot) unmeasured.push([element, 'holds a document of its own, which is not measured']);
    if (frames.has(element.localName) && element.getBoundingClientRect().width > 2) {
      unmeasured.push([element, 'shows another document, which is not measured']);
    }
    for (const which of made.has(element) ? ['::before', '::after'] : []) {
      const said = /"(.*[\p{L}\p{N}].*)"/u.exec(getComputedStyle(element, which).content);
      if (said) unmeasured.push([element, `says '${snippet(said[1])}' by style (${which}), which is not measured`]);
    }
  };

  // Whole branches are left out at once: what is never painted, and, outside the drawing, what is not displayed now
  // (such as the evidence of the arrows that are not chosen).
  const unseen = new Set(['script', 'style', 'template', 'noscript', 'title', 'desc', 'defs', 'symbol', 'option']);
  const texts = [];
  let tooMany = false;
  const walker = document.createTreeWalker(document.body ?? root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      return /[^\s\u200b\ufeff]/.test(node.data) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT;
    }
    if (unseen.has(node.localName)) return NodeFilter.FILTER_REJECT;
    const gone = styleOf(node).display === 'none' && !inDrawing(node) && !node.contains(drawing);
    if (gone && !isPutAway(node) && node.textContent.trim()) texts.push(hiddenText(node, 'display: none'));
    if (!gone) noteUnmeasured(node);
    return gone ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
  });
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (texts.length >= limits.texts) { tooMany = true; break; }
    const text = measureText(node);
    if (text) texts.push(text);
  }

  // What people write in, and what is written there.
  for (const field of document.querySelectorAll('input:not([type=hidden]), textarea, select')) {
    if (hiddenBecause(field) || !(field.value || field.placeholder)) continue;
    const size = round(parseFloat(styleOf(field).fontSize) * scaleOf(field));
    texts.push({ ...hiddenText(field, null), text: snippet(field.value || field.placeholder), size });
  }

  const strokeOf = (element) => {
    const style = styleOf(element);
    return faded(colourOf(style.stroke), opacityOf(element) * Number(style.strokeOpacity));
  };

  /**
   * A path as a polyline in its own coordinates, finer where it bends. Asking for a point takes long, so that the answer
   * is kept for the next screen: in a world of our own, which the page's scripts cannot reach.
   */
  const kept = (globalThis.arrowproofPaths ??= new Map());
  const polylineOf = (path) => {
    const key = path.getAttribute('d');
    if (kept.has(key)) return kept.get(key);
    const length = path.getTotalLength();
    const points = [];
    const at = (place) => { const { x, y } = path.getPointAtLength(place); return [x, y, place]; };
    const split = (from, to, depth) => {
      const middle = at((from[2] + to[2]) / 2);
      const chord = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1e-9;
      const off = Math.abs((to[0] - from[0]) * (middle[1] - from[1]) - (to[1] - from[1]) * (middle[0] - from[0])) / chord;
      const bends = depth < 4 || off > 0.05 || to[2] - from[2] > chord * 1.02;
      if (bends && to[2] - from[2] > 1 && points.length < limits.points) {
        split(from, middle, depth + 1);
        split(middle, to, depth + 1);
      } else {
        points.push(to);
      }
    };
    if (length > 0) {
      points.push(at(0));
      split(points[0], at(length), 0);
    }
    kept.set(key, points);
    return points;
  };

  const pointsOf = (path) => {
    const matrix = path.getScreenCTM();
    if (!matrix) return [];
    return polylineOf(path).map(([x, y]) => [
      round(matrix.a * x + matrix.c * y + matrix.e), round(matrix.b * x + matrix.d * y + matrix.f),
    ]);
  };

  const inside = (selector) => (drawing ? [...drawing.querySelectorAll(selector)] : []);
  const states = inside('[data-state]').map((group) => {
    const box = group.querySelector('rect.box');
    const style = box && styleOf(box);
    return {
      id: group.dataset.state, keys: keysOf(group, group.dataset.state), folded: group.hasAttribute('data-group'),
      box: box && rectOf(box.getBoundingClientRect()),
      edge: box && (strokeOf(box)?.[3] ? strokeOf(box) : faded(colourOf(style.fill), opacityOf(box) * Number(style.fillOpacity))),
      hidden: hiddenBecause(box ?? group),
    };
  });
  const arrows = inside('[data-arrow]').map((group) => {
    // Arrows on a cord share its line, and the signs of all of them stand on it.
    const home = group.closest('[data-cord]') ?? group;
    const lines = [...home.querySelectorAll('path.line')];
    const line = lines[0] ?? null;
    const matrix = line && scaleOf(line);
    return {
      id: group.dataset.arrow, keys: keysOf(group, group.dataset.arrow),
      source: group.dataset.from ?? null, target: group.dataset.to ?? null,
      lines: lines.map(pointsOf).filter((points) => points.length > 1),
      width: line ? round(parseFloat(styleOf(line).strokeWidth) * matrix) : 0,
      stroke: line && strokeOf(line),
      signs: [...home.querySelectorAll('circle, ellipse, rect, path, polygon')]
        .filter((shape) => !lines.includes(shape))
        .map((shape) => [shape.getBoundingClientRect(), colourOf(styleOf(shape).fill)?.[3] > 0 ? limits.sign : limits.sign / 3])
        .filter(([box, largest]) => box.width > 0 && Math.max(box.width, box.height) <= largest)
        .map(([box]) => rectOf(box)),
      hidden: hiddenBecause(line ?? group),
    };
  });

  // What is no text and still must be on the screen.
  const things = [...inside('[data-state] rect.box, :is([data-arrow], [data-cord]) path.line, [data-mark]'),
    ...document.querySelectorAll('svg:not(svg svg), img, canvas, table, button, input, select, textarea, video')];
  const outside = things
    .filter((thing) => !inReadersOnly(thing) && !hiddenBecause(thing))
    .map((thing) => [thing, rectOf(thing.getBoundingClientRect())])
    .filter(([, [left, top, right, bottom]]) => right > left && (left < -1 || top < -1 || right > innerWidth + 1 || bottom > innerHeight + 1))
    .map(([thing, rect]) => ({ selector: selectorOf(thing), rect }));

  // One string, because handing over a large tree of objects takes longer than measuring it.
  return JSON.stringify({
    viewport: [innerWidth, innerHeight],
    scroll: [Math.max(root.scrollWidth, document.body?.scrollWidth ?? 0), Math.max(root.scrollHeight, document.body?.scrollHeight ?? 0)],
    drawings: drawings.length, chosen: document.querySelectorAll('svg.drawing [aria-pressed=true], .list [aria-pressed=true]').length,
    scene: addressOf(drawing), scenes: addresses.slice(0, limits.scenes), sceneCount: addresses.length,
    unaddressed: scenes.filter((scene) => addressOf(scene) === null).length,
    claimsOverview: root.dataset.overview === 'true' && drawing !== null && addressOf(drawing) === null,
    drawingHidden: drawing && hiddenBecause(drawing),
    strayLines: inside('path.line').filter((line) => !line.closest('[data-arrow], [data-cord]')).length,
    texts, states, arrows, outside, tooMany,
    unmeasured: unmeasured.map(([element, what]) => [selectorOf(element), what]),
    hints: [...document.querySelectorAll('script[type=speculationrules i], link:is([rel~=preconnect], [rel~=dns-prefetch], [rel~=prefetch], [rel~=prerender], [rel~=manifest])')]
      .map((hint) => (hint.rel ? `${hint.rel} ${hint.href}` : `speculation ${hint.textContent}`).slice(0, 200)),
  });
}
