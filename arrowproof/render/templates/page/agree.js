// Agreement: an address can name things that do not go together. Then the more specific part wins: an arrow, before a
// transition, a state, a group and a view. What does not go with those before it is left out. So who goes to what is not
// in a view leaves it.
const bySpecificity = ["arrow", "transition", "state", "group", "view"];
const arrowNamed = (id) => all(".drawing .arrow[data-number]").find((arrow) => arrow.dataset.arrow === id);
const rowNamed = (pair) => all(".list button").find((row) => isPair(pair, endsOf(row)));
const sceneAt = (place) => all(".drawing").find((scene) => scene.dataset.fragment === writeAddress(place));
const endsAt = (id, arrow) => arrow.dataset.from === id || arrow.dataset.to === id;
// The keys of what a view shows; undefined for the whole.
const viewMembers = (id) => {
  const button = id !== undefined && all(".views [data-view]").find((each) => each.dataset.view === id);
  return button ? new Set(button.dataset.members.split(" ")) : undefined;
};

// Whether an arrow, or one arrow path of a transition, is among the arrows of these numbers.
const isAmong = ({ arrow, transition }, numbers) => {
  if (arrow !== undefined) return numbers.has(arrowNamed(arrow).dataset.number);
  return transition === undefined || canMake(rowNamed(transition), numbers);
};
const goesWith = {
  transition: (pair, { arrow }) => arrow === undefined || numbersOver(rowNamed(pair)).includes(arrowNamed(arrow).dataset.number),
  state: (id, { arrow, transition }) => {
    if (arrow !== undefined) return endsAt(id, arrowNamed(arrow));
    if (transition === undefined || transition.includes(id)) return true;
    const over = numbersOver(rowNamed(transition));
    return all(".drawing .arrow[data-number]").some((arrow) => endsAt(id, arrow) && over.includes(arrow.dataset.number));
  },
  group: (id, { state, ...choice }) => {
    const scene = sceneAt({ group: id });
    const isInside = state === undefined || all(".state:not(.quiet)", scene).some((box) => box.dataset.state === state);
    return isInside && isAmong(choice, numbersIn(scene));
  },
  view: (id, { state, group, ...choice }) => {
    const members = viewMembers(id);
    const holds = (box) => keysOf(box).some((key) => members.has(key));
    const boxes = all(".drawing .state");
    if (state !== undefined && !boxes.some((box) => box.dataset.state === state && holds(box))) return false;
    // A view with a drawing of its own is a place beside the groups.
    if (group !== undefined && (viewScene(id) || !boxes.some((box) => box.dataset.group === group && holds(box)))) return false;
    return isAmong(choice, new Set([...members].filter((key) => key.startsWith("a")).map((key) => key.slice(1))));
  },
};
// What is known of an address, parted into what is shown and what is left out.
const settle = (what) => {
  const [kept, left] = [{}, {}];
  for (const key of bySpecificity) {
    if (what[key] === undefined) continue;
    const isKept = !goesWith[key] || goesWith[key](what[key], kept);
    (isKept ? kept : left)[key] = what[key];
  }
  return { kept, left };
};
