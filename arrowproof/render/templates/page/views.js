// Views: named subsets of a lifecycle to step through, each with a note. A view of a large lifecycle has a scene of its
// own; in every other one what is not in the view steps back.
startParts.push(() => {
  const bar = document.querySelector(".views");
  const buttons = all("button", bar);
  const notes = all(".view-note");
  const parts = all(".drawing :is(.arrow, .state, .mark)");

  follow((now) => {
    const chosen = buttons.find((button) => button.dataset.view === now.view) ?? buttons[0];
    press(buttons, (button) => button === chosen);
    for (const note of notes) note.hidden = note.dataset.view !== chosen.dataset.view;
    const inside = viewMembers(now.view);
    for (const part of parts) part.classList.toggle("aside", inside !== undefined && !keysOf(part).some((key) => inside.has(key)));
  });

  // What is chosen stays where both views are shown in the same drawing and the new one has it.
  const isKeptIn = (view) => !viewScene(view) && !viewScene(shown.view) && settle({ ...shown, view }).kept.view === view;
  const go = (view) => show({ ...(isKeptIn(view) ? {} : nowhere), view });
  const step = (by) => {
    const at = buttons.findIndex((button) => button.getAttribute("aria-pressed") === "true");
    const next = buttons[(at + by + buttons.length) % buttons.length];
    go(next.dataset.view);
    announce([next.textContent, notes.find((note) => !note.hidden)?.textContent].filter(Boolean).join(": "));
    if (bar.contains(document.activeElement)) next.focus();
  };
  for (const button of buttons) button.addEventListener("click", () => go(button.dataset.view));
  // Left and right step, unless something that uses these keys itself has the focus.
  document.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.closest("input, textarea, select, [role=listbox], .arrow, .state")) return;
    step(by);
    event.preventDefault();
  });
});
