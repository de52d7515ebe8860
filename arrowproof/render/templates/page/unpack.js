// Unpack: a page that would weigh too much carries part of itself packed. It is put back in one go, before the page is
// first shown and before any other part looks at it; the browser's own way to unpack is a stream, which comes too late.
// Packed is DEFLATE (RFC 1951): codes of bits stand for bytes, and for lengths and distances of what is said again.

// The codes of an alphabet by the lengths that its symbols have: how many there are of each, and their symbols in order.
const codesOf = (lengths) => {
  const counts = new Array(16).fill(0);
  for (const length of lengths) counts[length] += 1;
  const symbols = [...lengths.keys()].filter((symbol) => lengths[symbol]);
  return { counts, symbols: symbols.sort((one, two) => lengths[one] - lengths[two] || one - two) };
};
// Each step begins where the one before it ends, and is as wide as so many bits tell apart.
const stepsFrom = (first, count, bitsOf) => {
  let start = first;
  return Array.from({ length: count }, (_, number) => {
    const step = [start, bitsOf(number)];
    start += 1 << step[1];
    return step;
  });
};
const lengthSteps = [...stepsFrom(3, 28, (number) => Math.max(0, (number >> 2) - 1)), [258, 0]];
const distanceSteps = stepsFrom(1, 30, (number) => Math.max(0, (number >> 1) - 1));
const fixedLengths = Array.from({ length: 288 }, (_, symbol) => (symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8));
const orderOfLengths = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

const inflate = (bytes, size) => {
  const made = new Uint8Array(size);
  let end = 0;
  let place = 0;
  const take = (count) => {
    let value = 0;
    for (let bit = 0; bit < count; bit += 1, place += 1) value |= ((bytes[place >> 3] >> (place & 7)) & 1) << bit;
    return value;
  };
  const takeSymbol = ({ counts, symbols }) => {
    let [code, first, passed] = [0, 0, 0];
    for (let length = 1; length < counts.length; length += 1) {
      code = (code << 1) | take(1);
      first <<= 1;
      if (code - first < counts[length]) return symbols[passed + code - first];
      passed += counts[length];
      first += counts[length];
    }
    throw new Error("what is packed is damaged");
  };
  const takeStep = ([start, bits]) => start + take(bits);
  // The codes of a block stand ahead of it, packed themselves: 16 to 18 say a length again, or that there are none.
  const takeCodes = () => {
    const [literals, distances, named] = [take(5) + 257, take(5) + 1, take(4) + 4];
    const lengths = new Array(19).fill(0);
    for (const symbol of orderOfLengths.slice(0, named)) lengths[symbol] = take(3);
    const codes = codesOf(lengths);
    const found = [];
    while (found.length < literals + distances) {
      const symbol = takeSymbol(codes);
      if (symbol < 16) found.push(symbol);
      else if (symbol === 16) found.push(...new Array(take(2) + 3).fill(found.at(-1)));
      else found.push(...new Array(symbol === 17 ? take(3) + 3 : take(7) + 11).fill(0));
    }
    return [codesOf(found.slice(0, literals)), codesOf(found.slice(literals))];
  };
  const takeBlock = ([literals, distances]) => {
    for (let symbol = takeSymbol(literals); symbol !== 256; symbol = takeSymbol(literals)) {
      if (symbol < 256) made[end++] = symbol;
      else {
        const length = takeStep(lengthSteps[symbol - 257]);
        const from = end - takeStep(distanceSteps[takeSymbol(distances)]);
        for (let at = from; at < from + length; at += 1) made[end++] = made[at];
      }
    }
  };
  const takePlain = () => {
    const start = ((place + 7) >> 3) + 4;
    const length = bytes[start - 4] | (bytes[start - 3] << 8);
    made.set(bytes.subarray(start, start + length), end);
    end += length;
    place = (start + length) << 3;
  };
  for (let isLast = false; !isLast; ) {
    isLast = take(1) === 1;
    const kind = take(2);
    if (kind === 0) takePlain();
    else takeBlock(kind === 1 ? [fixedLengths, new Array(30).fill(5)].map(codesOf) : takeCodes());
  }
  return made;
};

document.addEventListener("DOMContentLoaded", () => {
  const packed = document.getElementById("packed");
  const bytes = Uint8Array.from(atob(packed.textContent), (sign) => sign.charCodeAt(0));
  const made = document.createElement("template");
  made.innerHTML = new TextDecoder().decode(inflate(bytes, Number(packed.dataset.size)));
  packed.remove();
  document.body.append(made.content);
  // The drawings that are not shown yet go behind the one that is.
  document.querySelector(".draw").append(...all("body > .drawing"));
});
