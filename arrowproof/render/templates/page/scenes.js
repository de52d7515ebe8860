// Scenes: the drawings of a page of which one is shown. Which one follows from the address alone: the scene of its state
// or its group, else that of its view if this holds its arrow or transition, else the smallest that does, else the one
// that the page opens with.
const nowhere = { group: undefined, state: undefined, arrow: undefined, transition: undefined };
const shownScene = () => document.querySelector(".drawing:not([hidden])");
const numbersIn = (scene) => new Set(all(".arrow[data-number]", scene).map((arrow) => arrow.dataset.number));
const placeOf = (scene) => ({ group: undefined, state: undefined, ...readAddress(scene?.dataset.fragment ?? "") });
// Where an arrow that is chosen in the list is seen: in the scene that is shown if it stands there.
const placeFor = (isHeld) => {
  const here = shownScene();
  return placeOf(here.dataset.fragment && isHeld(numbersIn(here)) ? here : null);
};
// The keys of what an arrow, a box or a mark stands for, as a view names its members.
const keysOf = (part) => part.dataset.keys?.split(" ") ?? [part.dataset.key];
// An arrow has a number, which its key ends in; a bundle of several has none.
startParts.push(() => {
  for (const { dataset } of all(".drawing .arrow[data-key]")) dataset.number = dataset.key.slice(1);
});
// The ends of each arrow by its number, as states: in a scene in which neither is a box of several.
let endsByNumber;
const readEnds = () => {
  const states = new Set(all(".drawing .state:not([data-group])").map((box) => box.dataset.state));
  const isState = (end) => end === undefined || states.has(end);
  endsByNumber = new Map();
  for (const { dataset } of all(".drawing .arrow[data-number]")) {
    if (isState(dataset.from) && isState(dataset.to)) endsByNumber.set(dataset.number, [dataset.from, dataset.to]);
  }
};
// Whether one arrow path of the transition of this line is among arrows of these numbers.
const canMake = (row, numbers) => {
  if (!endsByNumber) readEnds();
  const walked = numbersOver(row).filter((number) => endsByNumber.has(number));
  const over = walked.map((number) => endsByNumber.get(number));
  const steps = walked.filter((number) => numbers.has(number)).map((number) => endsByNumber.get(number));
  // The open end of a creation or a removal has a word in the line, and no state at the arrow.
  const [source, target] = endsOf(row).map((end, place) => (over.some((ends) => ends[place] === end) ? end : undefined));
  const passed = new Set();
  let here = [source];
  while (here.length) {
    const next = steps.filter(([from]) => here.includes(from)).map(([, to]) => to);
    if (next.includes(target)) return true;
    here = next.filter((state) => !passed.has(state));
    for (const state of here) passed.add(state);
  }
  return false;
};
// The box that stands for a state: its own, or that of its group.
const boxFor = ({ state, group }, boxes) =>
  boxes.find((box) => state !== undefined && box.dataset.state === state) ?? boxes.find((box) => group !== undefined && box.dataset.group === group);
// On a small screen the drawing is wider than its frame: then the frame scrolls to what was chosen, and the page stays.
const bringIntoFrame = (item) => {
  if (isOneScreen.matches) return;
  const frame = item.closest(".draw");
  const [inner, outer] = [item, frame].map((each) => each.getBoundingClientRect());
  if (inner.left < outer.left || inner.right > outer.right) frame.scrollLeft += (inner.left + inner.right - outer.left - outer.right) / 2;
};
// What a small screen shows first is a whole box, and no margin beside it.
startParts.push(() => {
  const box = shownScene().querySelector(".state:not(.quiet)");
  if (box) bringIntoFrame(box);
});
// The scene of a view, where it has one: then it is a place that one goes to, and leaves.
const viewScene = (id) => id !== undefined && all(".drawing").find((scene) => scene.dataset.fragment === writeAddress({ view: id }));
const offView = () => (viewScene(shown.view) ? { ...nowhere, view: undefined } : nowhere);
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
