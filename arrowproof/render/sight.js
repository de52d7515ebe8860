/**
 * How the elements of a page are seen: in which style and colour, whether at all, what of them is cut, and how large. It
 * is what measure.js works with; nothing that it found is kept for another measuring, since the page may be another then.
 *
 * An expression: a function that gives these answers. Lengths are CSS px, rectangles [left, top, right, bottom] relative
 * to the viewport, colours [red, green, blue, alpha] with 0..255 and 0..1.
 */
() => {
  const round = (number) => Math.round(number * 100) / 100;
  const rectOf = (box) => [box.left, box.top, box.right, box.bottom].map(round);
  const snippet = (text) => {
    const flat = text.replace(/\s+/g, ' ').trim();
    return flat.length > 60 ? flat.slice(0, 59) + '…' : flat;
  };

  const styles = new Map();
  const styleOf = (element) => {
    if (!styles.has(element)) styles.set(element, getComputedStyle(element));
    return styles.get(element);
  };

  const steps = new Map();
  const stepOf = (element) => {
    if (!steps.has(element)) {
      let part = element.localName;
      if (element.id) part += '#' + element.id;
      else if (element.classList.length) part += '.' + [...element.classList].slice(0, 2).join('.');
      for (const name of ['data-state', 'data-arrow', 'data-mark']) {
        if (element.hasAttribute(name)) part += `[${name}="${element.getAttribute(name)}"]`;
      }
      steps.set(element, part);
    }
    return steps.get(element);
  };
  /** A selector that a person can find the element by. */
  const selectorOf = (element) => {
    const parts = [];
    for (let at = element; at && at !== document.body && parts.length < 4; at = at.parentElement) {
      parts.unshift(stepOf(at));
      if (at.id) break;
    }
    return parts.join(' > ').slice(0, 200);
  };

  // Colours are read back from a canvas, which understands every notation that a style can have.
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  const colours = new Map();
  const colourOf = (css) => {
    if (!colours.has(css)) {
      let colour = null;
      if (css && css !== 'none' && CSS.supports('color', css)) {
        pen.clearRect(0, 0, 1, 1);
        pen.fillStyle = css;
        pen.fillRect(0, 0, 1, 1);
        const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data;
        colour = [red, green, blue, alpha / 255];
      }
      colours.set(css, colour);
    }
    return colours.get(css);
  };
  const faded = (colour, share) => colour && [colour[0], colour[1], colour[2], round(colour[3] * share)];

  const opacities = new Map();
  const opacityOf = (element) => {
    if (!element) return 1;
    if (!opacities.has(element)) {
      opacities.set(element, Number(styleOf(element).opacity) * opacityOf(element.parentElement));
    }
    return opacities.get(element);
  };

  /** Whether an element is the usual "for screen readers only" kind: one pixel, and what is beyond is cut. */
  const isForReaders = (element) => {
    const box = element.getBoundingClientRect();
    const style = styleOf(element);
    const cuts = style.overflowX !== 'visible' || style.clipPath !== 'none' || style.clip !== 'auto';
    return cuts && box.width <= 2 && box.height <= 2;
  };
  const readersOnly = new Map();
  const inReadersOnly = (element) => {
    if (!element || element === document.body) return false;
    if (!readersOnly.has(element)) {
      const own = element.classList.contains('sr') && isForReaders(element);
      readersOnly.set(element, own || inReadersOnly(element.parentElement));
    }
    return readersOnly.get(element);
  };

  /** Why nobody can see this element, or null. */
  const hiddenBecause = (element) => {
    const style = styleOf(element);
    if (style.display === 'contents' && element.parentElement) return hiddenBecause(element.parentElement);
    if (!element.checkVisibility()) return 'display: none';
    if (style.visibility !== 'visible') return 'visibility: ' + style.visibility;
    if (opacityOf(element) < 0.05) return 'opacity: ' + round(opacityOf(element));
    return null;
  };

  // What the document itself says is not shown now; to hide by style alone is to make the numbers pass.
  const away = '[hidden], details:not([open]), dialog:not([open]), [popover], datalist, rp';
  const isPutAway = (element) => element.closest(away) !== null;

  // The ancestors that cut what is outside them. An absolute box is not cut by a static ancestor.
  const holds = (style) => style.position !== 'static' || style.transform !== 'none' || style.contain.includes('paint');
  const clips = new Map();
  const clipOf = (element, position) => {
    if (!element || element === document.documentElement) return null;
    const key = position === 'static' || position === 'relative' ? 'flow' : position;
    const known = clips.get(element)?.[key];
    if (known !== undefined) return known;
    const style = styleOf(element);
    const skip = (key === 'absolute' && !holds(style)) || (key === 'fixed' && style.transform === 'none');
    const outer = clipOf(element.parentElement, skip ? position : style.position);
    const inner = skip ? null : ownClip(element, style);
    const both = inner && outer
      ? [Math.max(inner[0], outer[0]), Math.max(inner[1], outer[1]), Math.min(inner[2], outer[2]), Math.min(inner[3], outer[3])]
      : inner || outer;
    clips.set(element, { ...clips.get(element), [key]: both });
    return both;
  };
  const ownClip = (element, style) => {
    const isViewport = element === document.body && styleOf(document.documentElement).overflowX === 'visible';
    const canClip = element instanceof HTMLElement || ['svg', 'foreignObject'].includes(element.localName);
    const x = style.overflowX !== 'visible', y = style.overflowY !== 'visible';
    if (isViewport || !canClip || (!x && !y) || style.display === 'inline') return null;
    const box = element.getBoundingClientRect();
    const far = 1e6;
    return [
      x ? box.left + (element.clientLeft || 0) : -far,
      y ? box.top + (element.clientTop || 0) : -far,
      x ? box.right - (element.offsetWidth ? element.offsetWidth - element.clientWidth - element.clientLeft : 0) : far,
      y ? box.bottom - (element.offsetHeight ? element.offsetHeight - element.clientHeight - element.clientTop : 0) : far,
    ].map(round);
  };

  /** Whether a clip-path or a mask stands between an element and the reader. */
  const masks = new Map();
  const isMasked = (element) => {
    if (!element) return false;
    if (!masks.has(element)) {
      const style = styleOf(element);
      masks.set(element, style.clipPath !== 'none' || style.maskImage !== 'none' || isMasked(element.parentElement));
    }
    return masks.get(element);
  };
  /** Whether a masked text is whole: a clip-path takes away from what can be hit, as from what can be seen. */
  const isWhole = (element, rect) => {
    const before = element.style.pointerEvents;
    const needed = element instanceof SVGElement ? 'all' : 'auto';
    // A style that is set has the page styled anew, also when nothing comes of it.
    const isSet = styleOf(element).pointerEvents !== needed;
    if (isSet) element.style.pointerEvents = needed;
    const middle = (rect[1] + rect[3]) / 2;
    const isHit = (x) => document.elementFromPoint(x, middle) === element || document.elementsFromPoint(x, middle).includes(element);
    const whole = [rect[0] + 1, (rect[0] + rect[2]) / 2, rect[2] - 1].every(isHit);
    if (isSet) element.style.pointerEvents = before;
    return whole;
  };

  /** Screen px per px of the element's own coordinates: a picture's scale, a transform, a zoom. */
  const scaleOf = (element) => {
    if (element instanceof SVGGraphicsElement) {
      const matrix = element.getScreenCTM();
      return matrix ? Math.sqrt(Math.abs(matrix.a * matrix.d - matrix.b * matrix.c)) : 0;
    }
    let at = element;
    while (at && !(at instanceof HTMLElement && at.offsetWidth > 0 && styleOf(at).display !== 'inline')) at = at.parentElement;
    return at ? at.getBoundingClientRect().width / at.offsetWidth : 1;
  };

  return {
    round, rectOf, snippet, styleOf, selectorOf, pen, colourOf, faded, opacityOf, inReadersOnly, hiddenBecause, isPutAway, clipOf,
    isMasked, isWhole, scaleOf,
  };
}
