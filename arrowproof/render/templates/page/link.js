// Link: the address of what is shown, to the clipboard.
const copyText = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page from a file may not use the clipboard's own interface: then by selection, as of old.
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "sr";
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    return isCopied;
  }
};
const copyFrom = (button, text, refuse = () => say("not_copied")) => {
  const name = button.textContent;
  const put = (isCopied) => {
    // It keeps its width, so that nothing moves.
    button.style.minWidth = `${button.offsetWidth}px`;
    button.textContent = isCopied ? button.dataset.done : name;
    button.classList.toggle("done", isCopied);
  };
  button.hidden = false;
  button.addEventListener("click", async () => {
    const isCopied = await copyText(text());
    announce(isCopied ? say("copied") : refuse());
    put(isCopied);
    button.addEventListener("blur", () => put(false), { once: true });
    button.focus();
  });
};

startParts.push(() => copyFrom(document.getElementById("copy-link"), () => addressAbove() + writeAddress(shown)));
