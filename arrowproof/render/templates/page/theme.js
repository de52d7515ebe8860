// Theme: auto follows the system. Storage can be refused (a page from a file, a private window); then it lasts as long
// as the page. This runs before the page is drawn, so that it never shows in the other theme first.
const themeKey = "arrowproof-theme";
const themes = ["auto", "light", "dark"];
const recall = (key) => {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
};
const remember = (key, value) => {
  try {
    localStorage.setItem(key, value);
  } catch {
    // nothing to remember it with
  }
};
let theme = "auto";
const setTheme = (name) => {
  theme = themes.includes(name) ? name : "auto";
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
};
// In the frame of the preview nothing can be stored: what is told to the shell comes back with the next page.
const isFramed = parent !== window;
// The first time it is told at which address the page has opened.
let opened = location.hash;
// What else the reader has set, for the parts of the script that have such a thing.
const otherSettings = {};
const tellShell = (isStep = false) => {
  if (isFramed) parent.postMessage({ arrowproof: { theme, ...otherSettings, hash: writeAddress(shown), isStep, opened } }, "*");
  opened = undefined;
};
const partsOfShell = isFramed ? new URLSearchParams(location.search) : null;
const themeOfShell = partsOfShell?.get("theme") ?? null;
// There the address that the reader sees and goes back in is the shell's, and the frame keeps the one that it opened with.
const isPreviewed = themeOfShell !== null;
const addressAbove = () => (isPreviewed ? new URL("/", location.href).href : location.href.split("#")[0]);
setTheme(themeOfShell || recall(themeKey));

startParts.push(() => {
  const button = document.getElementById("theme");
  const name = () => {
    button.textContent = say(`theme.${theme}`);
  };
  button.hidden = false;
  name();
  const system = matchMedia("(prefers-color-scheme: dark)");
  // From auto a click shows the other theme, the next one holds the system's own, and the third follows it again: the
  // first click is always seen, and either theme can be held whatever the system does later.
  button.addEventListener("click", () => {
    const ofSystem = system.matches ? "dark" : "light";
    const other = system.matches ? "light" : "dark";
    setTheme({ auto: other, [other]: ofSystem, [ofSystem]: "auto" }[theme]);
    name();
    tellShell();
    remember(themeKey, theme);
  });
});
