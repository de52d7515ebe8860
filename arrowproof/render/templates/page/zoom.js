// Zoom: pan and zoom of the drawing that is shown, by its viewBox: wheel and drag, two fingers, keys, and buttons. The
// page itself never loses its own scrolling: where it can be scrolled, the wheel needs Ctrl and touch two fingers.
const mostZoom = 8;
const viewOf = (text) => {
  const [x, y, width, height] = text.split(" ").map(Number);
  return { x, y, width, height };
};

startParts.push(() => {
  const bar = document.querySelector(".zoom");
  if (!bar) return;
  const frame = document.querySelector(".draw");
  const whole = new Map(all(".drawing").map((scene) => [scene, viewOf(scene.getAttribute("viewBox"))]));
  const view = (scene) => viewOf(scene.getAttribute("viewBox"));
  const level = (scene) => whole.get(scene).width / view(scene).width;
  const between = (low, value, high) => Math.min(Math.max(value, low), high);
  const canScroll = () => root.scrollHeight > innerHeight || root.scrollWidth > innerWidth;

  const set = (scene, next) => {
    const full = whole.get(scene);
    const width = between(full.width / mostZoom, next.width, full.width);
    const height = (width * full.height) / full.width;
    const x = between(full.x, next.x, full.x + full.width - width);
    const y = between(full.y, next.y, full.y + full.height - height);
    scene.setAttribute("viewBox", [x, y, width, height].map((number) => Number(number.toFixed(2))).join(" "));
    scene.classList.toggle("zoomed", width < full.width * 0.999);
    tell();
  };
  const [less, fit, more] = all("button", bar);
  const tell = () => {
    const scale = level(shownScene());
    less.disabled = fit.disabled = scale <= 1.001;
    more.disabled = scale >= mostZoom * 0.999;
  };
  // Units of the drawing under a point of the screen, and how many there are to a pixel.
  const place = (scene, { clientX, clientY }) => {
    const matrix = scene.getScreenCTM();
    return { x: (clientX - matrix.e) / matrix.a, y: (clientY - matrix.f) / matrix.d, unit: 1 / matrix.a };
  };
  const zoom = (scene, factor, at) => {
    const now = view(scene);
    const center = at ?? { x: now.x + now.width / 2, y: now.y + now.height / 2 };
    const width = between(whole.get(scene).width / mostZoom, now.width / factor, whole.get(scene).width);
    const share = width / now.width;
    set(scene, { x: center.x - (center.x - now.x) * share, y: center.y - (center.y - now.y) * share, width });
  };
  const pan = (scene, dx, dy) => {
    const now = view(scene);
    set(scene, { ...now, x: now.x + dx, y: now.y + dy });
  };
  const reset = (scene) => set(scene, whole.get(scene));

  // What the keys lead to comes into sight.
  frame.addEventListener("focusin", ({ target }) => {
    const scene = target.closest(".drawing.zoomed");
    if (!scene || !target.matches(":focus-visible")) return;
    const [inner, outer] = [target, scene].map((each) => each.getBoundingClientRect());
    const way = (low, high) => (inner[low] < outer[low] || inner[high] > outer[high] ? (inner[low] + inner[high] - outer[low] - outer[high]) / 2 : 0);
    const unit = view(scene).width / outer.width;
    pan(scene, way("left", "right") * unit, way("top", "bottom") * unit);
  });

  bar.hidden = false;
  less.addEventListener("click", () => zoom(shownScene(), 1 / 1.4));
  fit.addEventListener("click", () => reset(shownScene()));
  more.addEventListener("click", () => zoom(shownScene(), 1.4));
  follow((now, before) => {
    if (sceneKeys.some((key) => now[key] !== before[key])) for (const scene of document.querySelectorAll(".drawing.zoomed")) reset(scene);
    tell();
  });

  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && canScroll()) return;
    event.preventDefault();
    const scene = shownScene();
    const lines = event.deltaMode === 1 ? 30 : 1;
    zoom(scene, Math.exp(between(-60, -event.deltaY * lines, 60) / (event.ctrlKey ? 100 : 300)), place(scene, event));
  }, { passive: false });

  // A drag of the mouse moves the drawing; what was dragged is not clicked.
  let drag = null;
  frame.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0 || level(shownScene()) <= 1.001) return;
    drag = { x: event.clientX, y: event.clientY, moved: false };
  });
  addEventListener("pointermove", (event) => {
    if (!drag || event.pointerType !== "mouse") return;
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.hypot(dx, dy) < 4) return;
    const { unit } = place(shownScene(), event);
    pan(shownScene(), -dx * unit, -dy * unit);
    drag = { x: event.clientX, y: event.clientY, moved: true };
    frame.classList.add("dragged");
  });
  addEventListener("pointerup", () => {
    const moved = drag?.moved;
    drag = null;
    frame.classList.remove("dragged");
    if (!moved) return;
    const swallow = (event) => event.stopPropagation();
    frame.addEventListener("click", swallow, { capture: true });
    setTimeout(() => frame.removeEventListener("click", swallow, { capture: true }));
  });

  // Two fingers zoom and move; one finger moves what is zoomed where the page has nothing to scroll.
  let touched = null;
  const fingers = (event) => {
    const [one, two] = event.touches;
    if (!two) return { clientX: one.clientX, clientY: one.clientY, apart: 0 };
    return { clientX: (one.clientX + two.clientX) / 2, clientY: (one.clientY + two.clientY) / 2, apart: Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY) };
  };
  const isOurs = (event) => event.touches.length === 2 || (event.touches.length === 1 && !canScroll() && level(shownScene()) > 1.001);
  frame.addEventListener("touchstart", (event) => {
    touched = isOurs(event) ? fingers(event) : null;
    if (event.touches.length === 2) event.preventDefault();
  }, { passive: false });
  frame.addEventListener("touchmove", (event) => {
    if (!touched || !isOurs(event)) return;
    event.preventDefault();
    const scene = shownScene();
    const next = fingers(event);
    const { unit } = place(scene, next);
    pan(scene, (touched.clientX - next.clientX) * unit, (touched.clientY - next.clientY) * unit);
    if (touched.apart && next.apart) zoom(scene, next.apart / touched.apart, place(scene, next));
    touched = next;
  }, { passive: false });
  for (const kind of ["touchend", "touchcancel"]) frame.addEventListener(kind, (event) => {
    touched = event.touches.length ? fingers(event) : null;
  });

  // These keys serve wherever the reader is, unless something is written there or they are switched
  // off; nothing else uses them.
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || isSwitchedOff(event)) return;
    if (event.target.closest("input, textarea, select")) return;
    const scene = shownScene();
    const step = view(scene).width / 8;
    const pans = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (event.shiftKey && pans[event.key] && level(scene) > 1.001) pan(scene, ...pans[event.key]);
    else if (event.key === "+" || event.key === "=") zoom(scene, 1.4);
    else if (event.key === "-") zoom(scene, 1 / 1.4);
    else if (event.key === "0") reset(scene);
    else return;
    event.preventDefault();
  });
});
