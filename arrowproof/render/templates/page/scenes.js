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
