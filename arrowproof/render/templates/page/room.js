// Room: what a choice adds to the column never makes a page scroll that fits its screen. The last lines are given back.
// Shows as many of the first lines as there is room for; all of them where the page scrolls anyway.
const showFitting = (count, showFirst) => {
  showFirst(count);
  if (!isOneScreen.matches || hasRoom()) return;
  showFirst(0);
  let [fitting, beyond] = hasRoom() ? [0, count] : [count, count];
  while (beyond - fitting > 1) {
    const middle = Math.floor((fitting + beyond) / 2);
    showFirst(middle);
    if (hasRoom()) fitting = middle;
    else beyond = middle;
  }
  showFirst(fitting);
};

// The transitions that arrows of one scene alone can make. The overview has them all, which are too many for a list.
const rowsOf = (scene) => {
  if (!scene.dataset.fragment) return [];
  const held = numbersIn(scene);
  return all(".list button").filter((row) => canMake(row, held));
};

// What gives its lines back before the list does: how many they are, and what shows so many of the first ones.
const givers = [];

startParts.push(() => {
  const isPressed = (row) => row.getAttribute("aria-pressed") === "true";
  // A list too long for the screen shows what is chosen, and then what the scene holds.
  const long = all(".list.folded button");
  const hints = all(".transitions .more");
  const folded = hints[0]?.textContent;
  const list = (wanted, count) => {
    const listed = new Set(wanted.slice(0, count));
    // It leaves the rest to screen readers, and out of the way of Tab.
    for (const row of long) {
      row.parentElement.classList.toggle("sr", !listed.has(row));
      row.tabIndex = listed.has(row) ? 0 : -1;
    }
    const said = listed.size < wanted.length ? say("transitions.fitting", { number: listed.size, total: wanted.length }) : say("transitions.listed", { number: listed.size });
    for (const hint of hints) hint.textContent = listed.size ? said : folded;
  };

  const fit = () => {
    const kept = long.filter((row) => row.parentElement.matches(".kept"));
    const wanted = [...new Set([...kept, ...long.filter(isPressed), ...rowsOf(shownScene())])];
    if (long.length) list(wanted, kept.length);
    for (const [count, showFirst] of givers) showFitting(count, showFirst);
    if (long.length) showFitting(wanted.length, (count) => list(wanted, Math.max(count, kept.length)));
  };
  follow(fit);
  // There is other room once the fonts of the page are there, and on another screen.
  document.fonts.ready.then(fit);
  addEventListener("resize", fit);
  isOneScreen.addEventListener("change", fit);
});
