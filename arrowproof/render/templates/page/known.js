// Known: what the address of the page names is shown. What is not on this page, or does not go with the rest, is left
// out, taken from the address, and said in a line that goes with the next choice, by its button or by Escape.
const mostQuoted = 60;
const isKnown = {
  view: (id) => all(".views [data-view]").some((button) => button.dataset.view === id),
  group: (id) => all(".drawing").some((scene) => scene.dataset.fragment === writeAddress({ group: id })),
  state: (id) => all(".drawing .state:not([data-group])").some((state) => state.dataset.state === id),
  arrow: (id) => all(".drawing .arrow[data-number]").some((arrow) => arrow.dataset.arrow === id),
  transition: (pair) => all(".list button").some((row) => isPair(pair, endsOf(row))),
};
const legible = (part) => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};
// Someone else wrote it: no character of it acts on the line, and no more of it is shown than a line holds.
const quoted = (parts) => {
  const signs = [...parts.map(legible).join("&").replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd")];
  return `\u2068#${signs.slice(0, mostQuoted).join("")}${signs.length > mostQuoted ? "…" : ""}\u2069`;
};

const partsOf = (what) => addressKeys.filter((key) => what[key] !== undefined).map((key) => writeAddress({ [key]: what[key] }).slice(1));

const openAddress = (fragment = location.hash) => {
  const { read, strays, overruled } = parseAddress(fragment);
  const [known, unknown] = [{}, {}];
  for (const key of Object.keys(read)) (isKnown[key](read[key]) ? known : unknown)[key] = read[key];
  const { kept, left } = settle(known);
  const [unknownParts, leftParts] = [[...strays, ...partsOf(unknown)], [...overruled, ...partsOf(left)]];
  const isWhole = !unknownParts.length && !leftParts.length;
  apply(kept);
  if (isWhole) return;
  setAddress(kept);
  const said = [];
  const unnamed = { name: quoted(unknownParts) };
  if (unknownParts.length) said.push(Object.keys(known).length ? say("address.part_unknown", unnamed) : say("address.unknown", unnamed));
  if (leftParts.length) said.push(say("address.part_left", { name: quoted(leftParts) }));
  notice(said.join(" · "));
};

startParts.push(() => {
  // Told of every change of the address, by whomever; hashchange would tell of the same change once more.
  addEventListener("popstate", () => openAddress());
  // Of the preview's shell, whose back button it was.
  addEventListener("message", ({ source, data }) => {
    if (isFramed && source === parent && typeof data?.arrowproof?.hash === "string") openAddress(data.arrowproof.hash);
  });
  const dismiss = () => isNotice() && announce("");
  follow(dismiss);
  closeNotice().addEventListener("click", dismiss);
  document.addEventListener("keydown", (event) => event.key === "Escape" && dismiss());
});
