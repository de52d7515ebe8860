// Keys: those of a single character can be switched off, since speech input and a slip of the hand press them, too (WCAG
// 2.1.4). What is chosen is remembered like the theme.
const keysKey = "arrowproof-keys";
let hasKeys = (partsOfShell?.get("keys") ?? recall(keysKey)) !== "off";
const isSwitchedOff = (event) => event.key.length === 1 && !hasKeys;

startParts.push(() => {
  const menu = document.getElementById("keys");
  const button = menu.querySelector("[role=switch]");
  const tellState = () => {
    button.setAttribute("aria-checked", String(hasKeys));
    menu.classList.toggle("off", !hasKeys);
  };
  startMenu(menu);
  tellState();
  button.addEventListener("click", () => {
    hasKeys = !hasKeys;
    tellState();
    otherSettings.keys = hasKeys ? "on" : "off";
    remember(keysKey, otherSettings.keys);
    tellShell();
  });
});
