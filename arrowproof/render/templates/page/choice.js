// Choice: an arrow, a transition or a state that the reader has chosen. A chosen arrow marks the transitions over it, a
// chosen transition its arrows, a chosen state the arrows at it and the transitions from it and to it.
// A line of the list by what it stands for: both ends of its transition, and the numbers of the arrows that it walks over.
const endsOf = (item) => [item.dataset.source, item.dataset.target];
const numbersOver = (row) => row.dataset.arrows.split(" ");
const isPair = (one, two) => one?.length === 2 && one.every((end, place) => end === two[place]);
const press = (items, isPressed) => {
  for (const item of items) item.setAttribute("aria-pressed", String(isPressed(item)));
};
// As addresses: ends that are joined by anything plain could read like those of another transition.
const toggle = (key, value, place) => show({ ...nowhere, ...place, [key]: same({ [key]: shown[key] }, { [key]: value }) ? undefined : value });

startParts.push(() => {
  const arrows = all(".drawing .arrow");
  const states = all(".drawing .state");
  const rows = all(".list button");

  const chosenBy = {
    arrow: (id) => {
      const number = arrows.find((arrow) => arrow.dataset.arrow === id)?.dataset.number;
      return { numbers: [number], isRow: (row) => numbersOver(row).includes(number) };
    },
    transition: (pair) => {
      const row = rows.find((each) => isPair(pair, endsOf(each)));
      return { numbers: row ? numbersOver(row) : [], isRow: (each) => each === row };
    },
    state: (id) => {
      const touching = arrows.filter((arrow) => arrow.dataset.from === id || arrow.dataset.to === id);
      const isEnd = (row) => endsOf(row).includes(id);
      const numbers = touching.map((arrow) => arrow.dataset.number);
      return { numbers, isRow: (row) => isEnd(row) || (!rows.some(isEnd) && numbersOver(row).some((number) => numbers.includes(number))) };
    },
  };
  follow((now) => {
    // In its own focus view a state is not chosen among others, but shown.
    const isFocus = shownScene().dataset.fragment !== undefined;
    const key = Object.keys(chosenBy).find((each) => now[each] !== undefined && !(each === "state" && isFocus));
    const { numbers, isRow } = key ? chosenBy[key](now[key]) : { numbers: [], isRow: () => false };
    // What steps back in the view that is shown is not marked in it.
    const inside = viewMembers(now.view);
    press(arrows, ({ dataset: { number } }) => numbers.includes(number) && (!inside || inside.has(`a${number}`)));
    press(rows, isRow);
    press(states, (state) => state.dataset.state === now.state);
    const chosen = key && all(".drawing:not([hidden]) [aria-pressed=true]").at(-1);
    if (chosen) bringIntoFrame(chosen);
  });

  // A row that the reader points at or stands on lights its arrows.
  const light = () => {
    const lit = new Set(rows.filter((row) => row.matches(":hover, :focus-visible")).flatMap(numbersOver));
    for (const arrow of arrows) arrow.classList.toggle("lit", lit.has(arrow.dataset.number));
  };
  for (const row of rows) {
    row.addEventListener("click", () => toggle("transition", endsOf(row), placeFor((held) => canMake(row, held))));
    for (const kind of ["pointerenter", "pointerleave", "focus", "blur"]) row.addEventListener(kind, light);
  }

  // A line is hit beside it, too; on a cord, each arrow has what is hit of it.
  for (const halo of all(".drawing .arrow > .halo")) {
    const hit = halo.cloneNode();
    hit.setAttribute("class", "hit");
    halo.after(hit);
  }
  // Arrows and states of a drawing are buttons; the arrow keys go on to the next one of its kind.
  const makeButtons = (items, choose) => {
    for (const item of items) {
      item.setAttribute("role", "button");
      item.setAttribute("tabindex", "0");
      item.addEventListener("click", () => choose(item));
      item.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (step && !event.shiftKey) {
          const near = items.filter((other) => other.closest(".drawing") === item.closest(".drawing"));
          near[(near.indexOf(item) + step + near.length) % near.length].focus();
        } else if (event.key === "Enter" || event.key === " ") choose(item);
        else return;
        event.preventDefault();
        event.stopPropagation();
      });
    }
  };
  const groupOf = (id, scene) => all(".folded", scene).find((each) => each.dataset.state === id)?.dataset.group;
  // Of the ends of a crowd the one that draws more of its arrows by themselves, then the one with fewer others.
  const endOf = (crowd) => {
    const { from, to } = crowd.dataset;
    const around = (end) => all(".arrow", sceneAt({ state: end }));
    const apart = (end) => around(end).filter(({ dataset }) => dataset.number !== undefined && dataset.from === from && dataset.to === to).length;
    const total = (end) => around(end).flatMap(keysOf).length;
    return [from, to].sort((one, two) => apart(two) - apart(one) || total(one) - total(two))[0];
  };
  makeButtons(arrows, (arrow) => {
    const { from, to, number, sneak, arrow: id } = arrow.dataset;
    // A sneak path has no id in the model: it is known by its ends.
    const row = sneak !== undefined && rows.find((each) => numbersOver(each).includes(number));
    const scene = arrow.closest(".drawing");
    const group = groupOf(from, scene) ?? groupOf(to, scene);
    // A bundle opens a group in which its arrows stand by themselves; a crowd has no group at its ends, but states.
    if (number === undefined) show({ ...nowhere, ...(group === undefined ? { state: endOf(arrow) } : { group }) });
    else if (row) toggle("transition", endsOf(row), placeFor((held) => held.has(number)));
    else toggle("arrow", id, placeFor((held) => held.has(number)));
  });
  makeButtons(states, (state) => {
    if (state.dataset.group !== undefined) show({ ...nowhere, group: state.dataset.group });
    else if (!state.classList.contains("focus")) toggle("state", state.dataset.state);
  });
  press([...arrows, ...states], () => false);

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented) show(placeAbove());
  });
});
