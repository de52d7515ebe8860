// Address: what is shown is a function of the fragment, so that every sight of a page can be linked to and gone back
// to. #view=ID&state=ID, and one of arrow=ID, transition=FROM:TO, group=ID; each value is percent-encoded, both ends of
// a transition by themselves.
const addressKeys = ["view", "group", "state", "arrow", "transition"];
const sceneKeys = ["view", "group", "state"];

let shown = {};
const followers = [];
const follow = (follower) => followers.push(follower);

// What a fragment names, the parts of it that are no name at all, and those that a later part of their key overrules.
const parseAddress = (fragment) => {
  const [read, strays, overruled, latest] = [{}, [], [], {}];
  for (const part of fragment.replace(/^#/, "").split("&").filter(Boolean)) {
    const [key, value] = part.split(/=(.*)/s);
    try {
      if (!addressKeys.includes(key) || value === undefined) strays.push(part);
      else {
        read[key] = value.split(":").map(decodeURIComponent);
        if (key in latest && latest[key] !== part) overruled.push(latest[key]);
        latest[key] = part;
      }
    } catch {
      strays.push(part);
    }
  }
  // Only a transition has two ends; an id may hold a colon that someone did not encode.
  for (const key of addressKeys) if (read[key] && key !== "transition") read[key] = read[key].join(":");
  return { read, strays, overruled };
};
const readAddress = (fragment) => parseAddress(fragment).read;
const writeAddress = (what) => {
  const parts = addressKeys.filter((key) => what[key] !== undefined).map((key) => `${key}=${[what[key]].flat().map(encodeURIComponent).join(":")}`);
  return parts.length ? `#${parts.join("&")}` : "";
};

const writeUrl = (what, how) => {
  try {
    history[how](null, "", writeAddress(what) || location.pathname + location.search);
  } catch {
    // a page without an address of its own
  }
};
// The browser works for milliseconds on each writing, and a script may choose many things in one go: so their address is
// written once, as soon as that script has ended. data-address on the root says at any time what is shown.
let unwritten;
const catchUp = () => {
  if (unwritten) writeUrl(unwritten, "replaceState");
  unwritten = undefined;
};
const setAddress = (what, isStep = false) => {
  if (isPreviewed) return;
  if (isStep) {
    catchUp();
    writeUrl(what, "pushState");
  } else {
    if (!unwritten) queueMicrotask(catchUp);
    unwritten = what;
  }
};
const same = (a, b) => writeAddress(a) === writeAddress(b);
const apply = (next, isStep = false) => {
  const before = shown;
  shown = next;
  root.dataset.address = writeAddress(shown).slice(1);
  for (const follower of followers) follower(shown, before);
  tellShell(isStep);
};
// Show something else: keys of undefined are dropped, and what does not go with the rest. Another scene is a step that the
// browser's back button undoes.
const show = (changes) => {
  const next = settle({ ...shown, ...changes }).kept;
  if (same(next, shown)) return;
  const isStep = sceneKeys.some((key) => next[key] !== shown[key]);
  setAddress(next, isStep && !isFramed);
  apply(next, isStep);
};
