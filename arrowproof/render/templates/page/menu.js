// Menus: each lies over the page, and is closed by Escape, or by whatever the reader does elsewhere. The arrow keys go from
// one of its buttons to the next one.
const startMenu = (menu) => {
  const summary = menu.querySelector("summary");
  const items = all("button", menu);
  const close = () => {
    if (menu.contains(document.activeElement)) summary.focus();
    menu.open = false;
  };
  menu.hidden = false;
  menu.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && menu.open) close();
    else if (step && menu.open) {
      const at = items.indexOf(document.activeElement);
      items[at < 0 && step < 0 ? items.length - 1 : (at + step + items.length) % items.length].focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const closeOutside = (event) => {
    if (event.target instanceof Node && !menu.contains(event.target)) menu.open = false;
  };
  document.addEventListener("pointerdown", closeOutside);
  document.addEventListener("focusin", closeOutside);
  return close;
};
