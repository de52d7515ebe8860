// Index: links to all states beside the overview. They make room where the column has something nearer to say.
startParts.push(() => {
  const index = document.querySelector(".index");
  if (!index) return;
  const overview = shownScene();
  index.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    show({ ...nowhere, ...readAddress(link.hash) });
  });
  follow((now) => {
    index.hidden = shownScene() !== overview || Object.keys(nowhere).some((key) => now[key] !== undefined);
  });
});
