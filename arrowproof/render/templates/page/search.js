// Search: a field that finds states, groups and arrows by their names (the combobox pattern of ARIA). What was found is
// shown by the address, like everything else.
const mostFound = 12;
const folded = (text) => text.normalize("NFKC").toLocaleLowerCase();

startParts.push(() => {
  const box = document.querySelector(".search");
  const field = box.querySelector("input");
  const list = box.querySelector("ul");
  const rest = box.querySelector("p");
  const names = JSON.parse(document.getElementById("names").textContent);
  const things = [
    ...names.states.map(([id, name, group]) => ({ name, more: group, keys: [name, id], changes: { state: id } })),
    ...names.groups.map(([id, name]) => ({ name, more: say("search.group"), keys: [name], changes: { group: id } })),
    ...names.arrows.map(([id, name, ends]) => ({ name: name || id, more: ends, keys: [name, id], changes: { arrow: id } })),
  ].map((thing) => ({ ...thing, keys: thing.keys.map(folded) }));

  // A name that starts with what is sought comes first, then one with a word that does, then any that holds it.
  const rank = (thing, sought) => {
    const ranks = thing.keys.map((key) => {
      const at = key.indexOf(sought);
      if (at < 0) return 3;
      return at === 0 ? 0 : /[\p{L}\p{N}]/u.test(key[at - 1]) ? 2 : 1;
    });
    return Math.min(...ranks);
  };
  let found = [];
  let active = -1;
  const mark = (place) => {
    active = place;
    for (const [number, item] of [...list.children].entries()) {
      item.setAttribute("aria-selected", String(number === active));
      if (number === active) item.scrollIntoView({ block: "nearest" });
    }
    if (active < 0) field.removeAttribute("aria-activedescendant");
    else field.setAttribute("aria-activedescendant", `found-${active}`);
  };
  const open = (isOpen) => {
    box.querySelector(".found").hidden = !isOpen;
    field.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) mark(-1);
  };
  const go = (thing) => {
    open(false);
    field.value = "";
    show({ ...nowhere, ...thing.changes });
    const scene = shownScene();
    const here = all(".state, .arrow", scene).find((item) => (item.dataset.state !== undefined && item.dataset.state === thing.changes.state) || (item.dataset.arrow !== undefined && item.dataset.arrow === thing.changes.arrow));
    (here ?? scene.querySelector(".state"))?.focus({ preventScroll: true });
  };
  const search = () => {
    const sought = folded(field.value.trim());
    const ranked = sought ? things.map((thing, place) => [rank(thing, sought), place, thing]).filter(([place]) => place < 3) : [];
    ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    found = ranked.slice(0, mostFound).map(([, , thing]) => thing);
    list.replaceChildren(...found.map((thing, number) => {
      const item = document.createElement("li");
      item.id = `found-${number}`;
      item.setAttribute("role", "option");
      for (const [kind, text] of [["b", thing.name], ["span", thing.more]]) {
        const part = document.createElement(kind);
        part.textContent = text;
        part.dir = "auto";
        if (text) item.append(part, " ");
      }
      item.addEventListener("pointerdown", (event) => event.preventDefault());
      item.addEventListener("click", () => go(thing));
      return item;
    }));
    const left = ranked.length - found.length;
    rest.textContent = left ? say("search.more", { number: left }) : found.length ? "" : say("search.none");
    rest.hidden = !rest.textContent;
    open(Boolean(sought));
    if (found.length) mark(0);
    if (sought) announce(found.length ? say("search.found", { number: ranked.length }) : say("search.none"));
  };

  box.hidden = false;
  field.addEventListener("input", search);
  field.addEventListener("focus", () => field.value && search());
  field.addEventListener("blur", () => open(false));
  field.addEventListener("keydown", (event) => {
    // Enter and the arrow keys belong to the input method while it composes a text.
    if (event.isComposing || event.keyCode === 229) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) mark((active + step + found.length) % found.length);
    else if (event.key === "Enter" && found[active]) go(found[active]);
    else if (event.key === "Escape" && field.value) {
      field.value = "";
      open(false);
    } else if (event.key === "Escape") field.blur();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || isSwitchedOff(event) || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
});
