// Address: what is shown is a function of the fragment, so that every sight of a page can be linked to and gone back
// to. #view=ID&state=ID, and one of arrow=ID, transition=FROM:TO, group=ID; each value is percent-encoded, both ends of
// a transition by themselves.
const addressKeys = ["view", "group", "state", "arrow", "transition"];
const sceneKeys = ["view", "group", "state"];

let shown = {};
const followers = [];
const follow = (follower) => followers.push(follower);

const readAddress = (fragment) => {
  const read = {};
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const [key, value] = [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)];
    if (!addressKeys.includes(key)) continue;
    try {
      read[key] = value.split(":").map(decodeURIComponent);
    } catch {
      // a fragment that is no encoded text names nothing
    }
  }
  // Only a transition has two ends; an id may hold a colon that someone did not encode.
  for (const key of addressKeys) if (read[key] && key !== "transition") read[key] = read[key].join(":");
  return read;
};
const writeAddress = (what) => {
  const parts = addressKeys.filter((key) => what[key] !== undefined).map((key) => `${key}=${[what[key]].flat().map(encodeURIComponent).join(":")}`);
  return parts.length ? `#${parts.join("&")}` : "";
};

const same = (a, b) => writeAddress(a) === writeAddress(b);
const apply = (next) => {
  const before = shown;
  shown = next;
  for (const follower of followers) follower(shown, before);
  tellShell();
};
// Show something else: keys of undefined are dropped. Another scene is a step that the browser's back button undoes.
const show = (changes) => {
  const next = { ...shown, ...changes };
  for (const key of addressKeys) if (next[key] === undefined) delete next[key];
  if (same(next, shown)) return;
  const isStep = sceneKeys.some((key) => next[key] !== shown[key]);
  try {
    history[isStep && !isFramed ? "pushState" : "replaceState"](null, "", writeAddress(next) || location.pathname + location.search);
  } catch {
    // a page without an address of its own
  }
  apply(next);
};

startParts.push(() => {
  addEventListener("hashchange", () => apply(readAddress(location.hash)));
  addEventListener("popstate", () => apply(readAddress(location.hash)));
});
