// PNG: the mark by which `arrowproof render` knows a picture as one of its own, which it replaces without being forced to.
// The browser writes none, so it is set in: a text chunk behind the header, with the name of the generator.
const headerEnd = 8 + 25;
const checksum = (bytes) => {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
};
const markPng = (picture) => {
  const generator = document.querySelector("meta[name=generator]").content;
  const content = new TextEncoder().encode(`tEXtSoftware\0${generator}`);
  const chunk = new DataView(new ArrayBuffer(content.length + 8));
  chunk.setUint32(0, content.length - 4);
  new Uint8Array(chunk.buffer).set(content, 4);
  chunk.setUint32(content.length + 4, checksum(content));
  return new Blob([picture.slice(0, headerEnd), chunk.buffer, picture.slice(headerEnd)], { type: "image/png" });
};
