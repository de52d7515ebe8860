// Export: the drawing that is shown as a file of its own, as it was before anything was chosen in it. It is made of the
// parts of which `arrowproof render` makes it, in the same way, and it asks for nothing either.
const svgNamespace = "http://www.w3.org/2000/svg";
const exportLimits = { padding: 13, pixelsPerUnit: 2, side: 16384, area: 80000000 };

// Each drawing as it came, before the other parts of the script make buttons of its arrows.
const untouched = new Map();
startParts.push(() => {
  for (const drawing of all(".drawing")) untouched.set(drawing, drawing.cloneNode(true));
});

const pictureStyle = () => {
  const style = document.querySelector("style").textContent;
  const [from, to] = ["/*drawing:*/\n", "/*:drawing*/"];
  return style.slice(style.indexOf(from) + from.length, style.indexOf(to));
};
const makePicture = (drawing, onlyTheme) => {
  const svg = untouched.get(drawing).cloneNode(true);
  const [x, y, width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const { padding } = exportLimits;
  let left = Math.floor(x) - padding;
  const top = Math.floor(y) - padding;
  const size = { width: Math.ceil(x + width) + padding - left, height: Math.ceil(y + height) + padding - top };
  // The numbers of a drawing mean nothing without their key.
  const key = document.getElementById("picture-key");
  if (key) {
    const wider = Number(key.dataset.wider);
    size.height += Math.ceil(Number(key.dataset.height));
    size.width += wider;
    left -= wider / 2;
  }
  const write = (element, attributes) => {
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  for (const part of [svg, ...all("title, desc", svg)]) for (const name of ["hidden", "aria-labelledby", "aria-describedby", "id"]) part.removeAttribute(name);
  write(svg, { "data-generator": document.querySelector("meta[name=generator]").content, viewBox: `${left} ${top} ${size.width} ${size.height}`, ...size });
  if (onlyTheme) svg.dataset.theme = onlyTheme;
  const style = document.createElementNS(svgNamespace, "style");
  style.textContent = pictureStyle();
  const paper = write(document.createElementNS(svgNamespace, "rect"), { class: "paper", x: left, y: top, ...size });
  svg.querySelector("desc").after(style, paper);
  if (key) svg.append(key.content.querySelector("g").cloneNode(true));
  return { text: `${new XMLSerializer().serializeToString(svg)}\n`, ...size };
};
const paintPicture = async ({ text, width, height }) => {
  const { pixelsPerUnit, side, area } = exportLimits;
  const scale = Math.min(pixelsPerUnit, side / Math.max(width, height), Math.sqrt(area / (width * height)));
  const image = new Image();
  // A data: URL, since the policy of the page lets images come from nowhere else.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.floor(width * scale), Math.floor(height * scale)];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  const painted = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!painted) throw new Error("the canvas gives no picture");
  return painted;
};
const saveFile = (name, content) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
};

startParts.push(() => {
  const carried = JSON.parse(document.getElementById("export-data").textContent);
  const menu = document.getElementById("export");
  const close = startMenu(menu);
  // A scene of a large lifecycle is named after what it shows.
  const nameOf = (drawing) => {
    const place = decodeURIComponent((drawing.dataset.fragment ?? "").replace(/^#\w+=/, ""));
    return [carried.name, place.replace(/[^\p{L}\p{N}_.-]+/gu, "-").slice(0, 60)].filter(Boolean).join(".");
  };
  const save = async ({ picture, themeOf }) => {
    const drawing = shownScene();
    const made = makePicture(drawing, themeOf);
    const name = [nameOf(drawing), themeOf, picture].filter(Boolean).join(".");
    try {
      saveFile(name, picture === "png" ? markPng(await paintPicture(made)) : new Blob([made.text], { type: "image/svg+xml" }));
      announce(say("saved", { name }));
    } catch {
      announce(say("not_saved"));
    }
  };
  for (const item of all("[data-picture]", menu)) {
    item.addEventListener("click", () => {
      close();
      save(item.dataset);
    });
  }
  copyFrom(document.getElementById("copy-mermaid"), () => carried.mermaid, () => say("mermaid_not_copied"));
});
