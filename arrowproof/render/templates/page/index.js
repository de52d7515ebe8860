// Index: links to all states beside the overview. They make room where the column has something nearer to say.
startParts.push(() => {
  const index = document.querySelector(".index");
  const overview = shownScene();
  index.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    show({ ...nowhere, ...readAddress(link.hash) });
  });
  // A link that the reader points at or stands on lights its box in the overview, which may be that of its group.
  const links = all("a", index);
  const boxes = all(".state", overview);
  const boxOf = (link) => {
    const { state, group = readAddress(link.closest("div").querySelector("dt a")?.hash ?? "").group } = readAddress(link.hash);
    return boxFor({ state, group }, boxes);
  };
  const light = () => {
    const lit = links.filter((link) => link.matches(":hover, :focus-visible")).map(boxOf);
    for (const box of boxes) box.classList.toggle("lit", lit.includes(box));
  };
  for (const link of links) for (const kind of ["pointerenter", "pointerleave", "focus", "blur"]) link.addEventListener(kind, light);
  follow((now) => {
    index.hidden = shownScene() !== overview || Object.keys(nowhere).some((key) => now[key] !== undefined);
    light();
  });
});
