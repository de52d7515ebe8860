// Theme: auto follows the system. Storage can be refused (a page from a file, a private window); then it lasts as long
// as the page. This runs before the page is drawn, so that it never shows in the other theme first.
const themeKey = "arrowproof-theme";
const themes = ["auto", "light", "dark"];
const storedTheme = () => {
  try {
    return localStorage.getItem(themeKey);
  } catch {
    return null;
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
const tellShell = () => {
  if (isFramed) parent.postMessage({ arrowproof: { theme, hash: writeAddress(shown) } }, "*");
};
setTheme((isFramed && new URLSearchParams(location.search).get("theme")) || storedTheme());

startParts.push(() => {
  const button = document.getElementById("theme");
  const name = () => {
    button.textContent = say(`theme.${theme}`);
  };
  button.hidden = false;
  name();
  const system = matchMedia("(prefers-color-scheme: dark)");
  // A click shows the other theme, by name; where that is the system's own, it is followed again.
  button.addEventListener("click", () => {
    const ofSystem = system.matches ? "dark" : "light";
    const seen = theme === "auto" ? ofSystem : theme;
    const other = seen === "dark" ? "light" : "dark";
    setTheme(other === ofSystem ? "auto" : other);
    name();
    tellShell();
    try {
      localStorage.setItem(themeKey, theme);
    } catch {
      // nothing to remember it with
    }
  });
});
