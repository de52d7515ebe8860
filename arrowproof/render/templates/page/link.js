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
  button.hidden = false;
  button.addEventListener("click", async () => {
    const isCopied = await copyText(text());
    announce(isCopied ? say("copied") : refuse());
    button.classList.toggle("done", isCopied);
    button.addEventListener("blur", () => button.classList.remove("done"), { once: true });
    button.focus();
  });
};

startParts.push(() => copyFrom(document.getElementById("copy-link"), () => addressAbove() + writeAddress(shown)));
