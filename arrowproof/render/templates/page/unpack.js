// Unpack: a page that would weigh too much carries part of itself packed. It is put back in one go, before the page is
// first shown and before any other part looks at it; the browser's own way to unpack is a stream, which comes too late.
// Packed is LZMA, as packing.py makes it: bits that stand for bytes, and for lengths and distances of what is said again.
// Each bit is told by a model of how likely it is where it stands, which learns from every bit that it has told.

// A model is a number of 11 bits: how likely the next bit is to be 0.
const modelsOf = (count) => new Uint16Array(count).fill(1024);

const expand = (bytes, size) => {
  // The least that is said again, and how many lengths have models of their own for how far back it is.
  const [shortest, lengthKinds] = [2, 4];
  // A distance is told by a slot of 6 bits and, from the first of these on, what it leaves open, of which the highest bits
  // have no models from the second on.
  const [firstOpen, firstPlain] = [4, 14];
  const made = new Uint8Array(size);
  let end = 0;
  // What is read so far of the number that all bits together are, and the range that it is known to lie in. The first
  // byte is none of it.
  let place = 5;
  let range = 0xffffffff;
  let code = bytes.subarray(1, place).reduce((read, byte) => read * 256 + byte, 0);
  const narrow = (isUpper, bound) => {
    if (isUpper) code -= bound;
    range = isUpper ? range - bound : bound;
    if (range >= 0x1000000) return;
    range *= 256;
    code = code * 256 + bytes[place];
    place += 1;
  };
  const take = (models, at) => {
    const bound = (range >>> 11) * models[at];
    const bit = code < bound ? 0 : 1;
    models[at] += bit ? -(models[at] >> 5) : (2048 - models[at]) >> 5;
    narrow(bit, bound);
    return bit;
  };
  // Bits that are as likely to be 0 as 1.
  const takePlain = (count) => {
    let value = 0;
    for (let left = count; left > 0; left -= 1) {
      range -= range % 2;
      const bound = range / 2;
      const bit = code < bound ? 0 : 1;
      narrow(bit, bound);
      value = value * 2 + bit;
    }
    return value;
  };
  // A number of so many bits, each of which is told by the model of those before it; the highest bit comes first.
  const takeNumber = (models, count, from = 0) => {
    let node = 1;
    for (let left = count; left > 0; left -= 1) node = node * 2 + take(models, from + node);
    return node - 2 ** count;
  };
  // As before, but the lowest bit comes first.
  const takeReversed = (models, count, from = 0) => {
    let [node, value] = [1, 0];
    for (let bit = 0; bit < count; bit += 1) {
      const taken = take(models, from + node);
      node = node * 2 + taken;
      value += taken * 2 ** bit;
    }
    return value;
  };
  const takeLength = ({ kind, short, middle, long }) => {
    if (!take(kind, 0)) return shortest + takeNumber(short, 3);
    return take(kind, 1) ? shortest + 16 + takeNumber(long, 8) : shortest + 8 + takeNumber(middle, 3);
  };
  const lengthModels = () => ({ kind: modelsOf(2), short: modelsOf(8), middle: modelsOf(8), long: modelsOf(256) });

  // What the last bytes came from: 0 to 6 after a byte by itself, 7 to 11 after some that were said before.
  let state = 0;
  // How far back that was the last four times, the latest first.
  const distances = [0, 0, 0, 0];
  const [isAgain, isKnown, isOlder, isEvenOlder, isOldest, isLonger] = Array.from({ length: 6 }, () => modelsOf(12));
  const [literals, slots, rests, low] = [modelsOf(8 * 768), modelsOf(lengthKinds * 64), modelsOf(128), modelsOf(16)];
  const [lengths, knownLengths] = [lengthModels(), lengthModels()];

  const takeLiteral = () => {
    const from = (end ? made[end - 1] >> 5 : 0) * 768;
    let node = 1;
    if (state >= 7) {
      // Not what stood there the last time, whose bits say what is likely as far as it is the same.
      let expected = made[end - distances[0] - 1];
      while (node < 256) {
        const bit = (expected >> 7) & 1;
        expected <<= 1;
        const taken = take(literals, from + (1 + bit) * 256 + node);
        node = node * 2 + taken;
        if (taken !== bit) break;
      }
    }
    while (node < 256) node = node * 2 + take(literals, from + node);
    made[end] = node - 256;
    end += 1;
    state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
  };
  const takeDistance = (length) => {
    const slot = takeNumber(slots, 6, Math.min(length - shortest, lengthKinds - 1) * 64);
    if (slot < firstOpen) return slot;
    const count = (slot >> 1) - 1;
    const start = (2 + (slot % 2)) * 2 ** count;
    if (slot < firstPlain) return start + takeReversed(rests, count, start - slot);
    return start + takePlain(count - 4) * 16 + takeReversed(low, 4);
  };
  // One of the distances that are known comes to the front; what it is of may be one byte long.
  const takeKnown = () => {
    if (!take(isOlder, state)) {
      if (!take(isLonger, state)) {
        state = state < 7 ? 9 : 11;
        return 1;
      }
    } else {
      const which = !take(isEvenOlder, state) ? 1 : take(isOldest, state) ? 3 : 2;
      distances.unshift(...distances.splice(which, 1));
    }
    state = state < 7 ? 8 : 11;
    return takeLength(knownLengths);
  };
  const takeNew = () => {
    state = state < 7 ? 7 : 10;
    const length = takeLength(lengths);
    distances.unshift(takeDistance(length));
    distances.pop();
    return length;
  };
  while (end < size) {
    if (!take(isAgain, state)) takeLiteral();
    else for (let left = take(isKnown, state) ? takeKnown() : takeNew(); left > 0; left -= 1, end += 1) made[end] = made[end - distances[0] - 1];
  }
  return made;
};

document.addEventListener("DOMContentLoaded", () => {
  const packed = document.getElementById("packed");
  const bytes = Uint8Array.from(atob(packed.textContent), (sign) => sign.charCodeAt(0));
  const made = document.createElement("template");
  made.innerHTML = new TextDecoder().decode(expand(bytes, Number(packed.dataset.size)));
  packed.remove();
  document.body.append(made.content);
  // The drawings that are not shown yet go behind the one that is.
  document.querySelector(".draw").append(...all("body > .drawing"));
});
