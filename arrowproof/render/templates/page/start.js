// A text in a font of this machine was given the width reserved for it; it takes its own width where that is less.
const relaxTexts = (scene) => {
  for (const text of all("text[textLength]", scene)) {
    const reserved = text.getAttribute("textLength");
    text.removeAttribute("textLength");
    if (text.getComputedTextLength() > Number(reserved)) text.setAttribute("textLength", reserved);
  }
};

document.addEventListener("DOMContentLoaded", () => {
  readTexts();
  for (const start of startParts) start();
  openAddress();
  document.fonts.ready.then(() => relaxTexts(document.querySelector(".drawing")));
});
