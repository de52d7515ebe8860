// Scenes: the drawings of a page of which one is shown. Which one follows from the address alone: the scene of its state
// or its group, else that of its view if this holds its arrow or transition, else the smallest that does, else the one
// that the page opens with.
const nowhere = { group: undefined, state: undefined, arrow: undefined, transition: undefined };
const shownScene = () => document.querySelector(".drawing:not([hidden])");
const numbersIn = (scene) => new Set(all(".arrow[data-number]", scene).map((arrow) => arrow.dataset.number));
const placeOf = (scene) => ({ group: undefined, state: undefined, ...readAddress(scene?.dataset.fragment ?? "") });
// Where an arrow that is chosen in the list is seen: in the scene that is shown if it stands there.
const placeFor = (numbers) => {
  const here = shownScene();
  const held = numbersIn(here);
  return placeOf(here.dataset.fragment && numbers.length && numbers.every((number) => held.has(number)) ? here : null);
};
// The box that stands for a state: its own, or that of its group.
const boxFor = ({ state, group }, boxes) =>
  boxes.find((box) => state !== undefined && box.dataset.state === state) ?? boxes.find((box) => group !== undefined && box.dataset.group === group);
// On a small screen the drawing is wider than its frame: then the frame scrolls to what was chosen, and the page stays.
const bringIntoFrame = (item) => {
  const frame = item.closest(".draw");
  const [inner, outer] = [item, frame].map((each) => each.getBoundingClientRect());
  if (inner.left < outer.left || inner.right > outer.right) frame.scrollLeft += (inner.left + inner.right - outer.left - outer.right) / 2;
};
// The scene of a view, where it has one: then it is a place that one goes to, and leaves.
const viewScene = (id) => id !== undefined && all(".drawing").find((scene) => scene.dataset.fragment === writeAddress({ view: id }));
const offView = () => (viewScene(shown.view) ? { ...nowhere, view: undefined } : nowhere);
// Who goes to what is not in the scene of the view leaves the view.
let isInView = () => true;
// What a reader who steps back comes to: first the choice goes, then the state, then the view or the group.
const placeAbove = () => {
  if (shown.arrow !== undefined || shown.transition !== undefined) return { arrow: undefined, transition: undefined };
  const scene = viewScene(shown.view);
  if (scene) return shownScene() === scene ? offView() : nowhere;
  const { hub } = shownScene().dataset;
  if (hub !== undefined) return { ...nowhere, state: hub };
  const parent = shown.state === undefined ? undefined : shownScene().dataset.parent;
  return { ...nowhere, group: parent };
};

startParts.push(() => {
  const [first, ...others] = all(".drawing");
  if (!others.length) return;
  const byFragment = new Map(others.map((scene) => [scene.dataset.fragment, scene]));
  const held = new Map(others.map((scene) => [scene, numbersIn(scene)]));
  const smallest = (numbers) => {
    const count = (scene) => numbers.filter((number) => held.get(scene).has(number)).length;
    const most = Math.max(...others.map(count));
    if (!most) return first;
    return others.filter((scene) => count(scene) === most).sort((a, b) => held.get(a).size - held.get(b).size)[0];
  };
  const numbersOf = (now) => {
    if (now.arrow !== undefined) return all(".drawing .arrow[data-number]").filter((arrow) => arrow.dataset.arrow === now.arrow).slice(0, 1).map((arrow) => arrow.dataset.number);
    const row = now.transition && all(".list [data-arrows]").find((each) => isPair(now.transition, endsOf(each)));
    return row ? numbersOver(row) : [];
  };
  const sceneOf = (now) => {
    for (const key of ["state", "group"]) {
      const scene = now[key] !== undefined && byFragment.get(writeAddress({ [key]: now[key] }));
      if (scene) return scene;
    }
    const numbers = numbersOf(now);
    const view = viewScene(now.view);
    if (view && numbers.every((number) => held.get(view).has(number))) return view;
    return numbers.length ? smallest(numbers) : first;
  };
  isInView = (what) => {
    const view = viewScene(what.view);
    if (!view) return true;
    if (what.state !== undefined) return all(".state", view).some((state) => state.dataset.state === what.state);
    return what.group === undefined && numbersOf(what).every((number) => held.get(view).has(number));
  };

  const path = document.querySelector(".crumbs ol");
  const crumb = (text, changes) => {
    const item = document.createElement("li");
    const name = document.createElement(changes ? "button" : "b");
    name.textContent = text;
    name.dir = "auto";
    if (changes) {
      name.type = "button";
      name.addEventListener("click", () => show({ ...nowhere, ...changes }));
    } else name.setAttribute("aria-current", "page");
    item.append(name);
    return item;
  };
  const writePath = (scene) => {
    const parent = scene.dataset.parent;
    const group = parent !== undefined && byFragment.get(writeAddress({ group: parent }));
    const view = viewScene(shown.view);
    const hub = scene.dataset.hub !== undefined && byFragment.get(writeAddress({ state: scene.dataset.hub }));
    const from = hub ? crumb(hub.dataset.title, { state: scene.dataset.hub }) : group && crumb(group.dataset.title, { group: parent });
    const above = view ? view !== scene && crumb(view.dataset.title, nowhere) : from;
    path.replaceChildren(
      ...(scene === first ? [] : [crumb(first.dataset.title, offView())]),
      ...(above ? [above] : []),
      crumb(scene.dataset.title),
    );
  };

  // The legend says what occurs in the scene that is shown.
  const signs = all("[data-shown-by]");
  const writeLegend = (scene) => {
    for (const sign of signs) sign.hidden = !scene.querySelector(sign.dataset.shownBy);
    for (const around of all(".legend .group")) around.hidden = around.children.length > 0 && [...around.children].every((each) => each.hidden);
  };

  // The box that stands in a scene for one that was left: its state or its group, so that who steps back goes on there.
  const boxOf = (left, scene) => {
    const { state, group = left.dataset.parent } = readAddress(left.dataset.fragment ?? "");
    return boxFor({ state, group }, all(".state", scene));
  };

  const relaxed = new Set([first]);
  follow((now) => {
    const scene = sceneOf(now);
    const before = shownScene();
    // Asked before the path is written, which takes away the part of it that was pressed.
    const hadFocus = document.activeElement.closest(".draw, .crumbs, .index") !== null;
    writePath(scene);
    writeLegend(scene);
    if (scene === before) return;
    for (const each of [first, ...others]) each.toggleAttribute("hidden", each !== scene);
    if (!relaxed.has(scene)) {
      relaxed.add(scene);
      document.fonts.ready.then(() => relaxTexts(scene));
    }
    const chosen = scene.querySelector(".arrow[aria-pressed=true], .state.focus") ?? boxOf(before, scene) ?? scene.querySelector(".state:not(.quiet)");
    if (hadFocus) chosen?.focus({ preventScroll: true });
    if (chosen) bringIntoFrame(chosen);
    announce([...path.children].map((item) => item.textContent).join(", "));
  });
});
