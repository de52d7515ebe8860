// Key: each of its lines stands for the arrow of its number, lights it and chooses it.
startParts.push(() => {
  const rows = all(".key button");
  // They are of the drawing that the page opens with; those of the other scenes have their labels.
  const arrows = new Map(all(".arrow", document.querySelector(".drawing")).map((arrow) => [arrow.dataset.number, arrow]));
  const arrowOf = (row) => arrows.get(row.dataset.number);
  const whole = document.querySelector(".key .whole");
  const hint = whole?.textContent;
  // Its name and its whole label are said elsewhere: by the arrow, and in the table.
  const labelOf = (row) => document.querySelector("table").tBodies[0].rows[row.dataset.number].cells[3].textContent;
  for (const row of rows) row.setAttribute("aria-label", arrowOf(row).querySelector("title").textContent);
  const light = () => {
    for (const row of rows) arrowOf(row).classList.toggle("lit", row.matches(":hover, :focus-visible"));
  };
  for (const row of rows) {
    row.addEventListener("click", () => arrowOf(row).dispatchEvent(new MouseEvent("click")));
    for (const kind of ["pointerenter", "pointerleave", "focus", "blur"]) row.addEventListener(kind, light);
  }
  follow(() => {
    press(rows, (row) => arrowOf(row).getAttribute("aria-pressed") === "true");
    const chosen = rows.filter((row) => row.getAttribute("aria-pressed") === "true");
    // Where lines have room for events alone, the whole label of a chosen arrow stands below them, or in its panel.
    if (whole && !document.querySelector(".proofs")) whole.textContent = chosen.length === 1 ? labelOf(chosen[0]) : hint;
  });

  // A key that has no room for all of its lines leaves out more of them for the label of the arrow that is chosen, and
  // fewer on a screen with more room. They are put away on one screen, and only there.
  const left = document.querySelector(".key .left");
  if (!left) return;
  const lines = all(".key li");
  givers.push([lines.length, (count) => {
    for (const [place, line] of lines.entries()) {
      line.hidden = place >= count;
      line.classList.toggle("past", line.hidden);
    }
    left.textContent = say("key.more", { number: lines.length - count });
    left.hidden = count === lines.length;
  }]);
});
