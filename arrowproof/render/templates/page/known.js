// Known: what the address of the page names is shown. What is not on this page is left out, taken from the address, and
// said in a line that goes with the next choice, or by Escape.
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

const openAddress = () => {
  const { read, strays } = parseAddress(location.hash);
  const [known, unknown] = [{}, {}];
  for (const key of Object.keys(read)) (isKnown[key](read[key]) ? known : unknown)[key] = read[key];
  const parts = [...strays, ...Object.keys(unknown).map((key) => writeAddress({ [key]: unknown[key] }).slice(1))];
  // The browser tells of one change of the address twice; the second time it is the one that was cleaned.
  if (!parts.length && isNotice() && same(known, shown)) return;
  apply(known);
  if (!parts.length) return;
  setAddress(known);
  const name = quoted(parts);
  notice(Object.keys(known).length ? say("address.part_unknown", { name }) : say("address.unknown", { name }));
};

startParts.push(() => {
  addEventListener("hashchange", openAddress);
  addEventListener("popstate", openAddress);
  const dismiss = () => isNotice() && announce("");
  follow(dismiss);
  document.addEventListener("keydown", (event) => event.key === "Escape" && dismiss());
});
