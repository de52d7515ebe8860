// Proof: the panel of the transition that is chosen, or of an arrow's lowest one, in place of the list. All of it is
// built from data, and every text goes in as text.
const make = (tag, css, ...parts) => {
  const made = document.createElement(tag);
  if (css) made.className = css;
  if (parts.some((part) => typeof part === "string")) made.dir = "auto";
  made.append(...parts.filter((part) => part !== "" && part !== undefined));
  return made;
};
const makeBead = (sign, tone) => {
  const bead = document.createElementNS(svgNamespace, "svg");
  bead.append(document.createElementNS(svgNamespace, "use"));
  bead.firstChild.setAttribute("href", `#bead-${sign}`);
  bead.setAttribute("class", tone);
  return bead;
};
const makeTitle = (css, [source, target], label = "", ids = "") => {
  const heading = make("h2", "", make("bdi", "", source), make("i", "", "→"), make("bdi", "", target));
  heading.removeAttribute("dir");
  heading.children[1].before(" ");
  heading.children[1].after(" ");
  heading.tabIndex = -1;
  return make("div", css, heading, make("p", "sub", make("span", "", label), make("span", "mono", ids)));
};
const makeNote = (text, isBad) => make("p", isBad ? "bad" : "more", text);
const makeCell = (tag, value) => {
  const [text, whole] = [value].flat();
  const cell = make(tag, "", text);
  if (whole) cell.title = whole;
  if (tag === "th") cell.scope = "row";
  return cell;
};

const proofParts = {
  r: (rungs, { p, x }) => [
    make("ul", "rungs", ...rungs.map(([word, fact, sign, tone]) => make("li", tone, sign ? makeBead(sign, tone) : "", make("b", "", word), make("span", "", fact)))),
    p && makeNote(p, true),
    x && makeNote(x),
  ],
  s: ([place, lines, notes]) => {
    const code = lines.map(([number, ...parts]) => {
      const line = make("code", "", make("b", "", `${number}`));
      for (let at = 0; at < parts.length; at += 2) line.append(parts[at + 1] ? make("mark", parts[at + 1], parts[at]) : parts[at]);
      return line;
    });
    return [make("h3", "", make("span", "", say("proof.statement")), make("span", "mono", place)), lines.length && make("pre", "sql mono", ...code), ...notes.map((note) => makeNote(...note))];
  },
  w: ([headings, lines, more]) => {
    const head = make("tr", "", ...headings.map((heading) => make("th", "", heading)));
    for (const cell of head.children) cell.scope = "col";
    const body = lines.map(([changed, name, ...values]) => make("tr", changed ? "changed" : "", makeCell("th", name), ...values.map((value) => makeCell("td", value))));
    return [make("table", "row", make("thead", "", head), make("tbody", "", ...body)), more && makeNote(more)];
  },
  k: (kills) => [
    make("h3", "", say("proof.killed")),
    make("div", "kills", ...kills.map(([heading, lines, problem]) => make("p", "", make("b", "", heading), ...lines.map((line) => make("span", "", line)), problem && make("span", "bad", problem)))),
  ],
  o: (processes, { m }) => [
    make("h3", "", say("proof.processes")),
    make("ul", "processes", ...processes.map(([role, pid, ended]) => make("li", "", make("span", "", role), make("span", "mono", pid), make("span", "", ended)))),
    m && makeNote(m),
  ],
};
const makePanel = (panel, name, hasHead) => {
  const made = make("section", `proof ${panel.t}`, ...(hasHead ? [] : [makeTitle("title", panel.h, panel.l, panel.i)]));
  made.setAttribute("aria-label", name);
  for (const key of Object.keys(proofParts)) if (panel[key]) made.append(make("div", "", ...proofParts[key](panel[key], panel).filter(Boolean)));
  return made;
};

startParts.push(() => {
  const box = document.querySelector(".proofs");
  const { heads: headsById, panels: short, same } = JSON.parse(document.getElementById("proofs").textContent);
  // What several panels say is there once, and -n stands for it.
  const whole = (value) => {
    if (Array.isArray(value)) return value.map(whole);
    if (!(value instanceof Object)) return typeof value === "number" && value < 0 ? same[-value - 1] : value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, whole(each)]));
  };
  const panels = short.map(whole);
  // A map, since an arrow may be called like what every object has.
  const heads = new Map(Object.entries(headsById));
  const overview = document.querySelector(".overview");
  const rows = all(".list button", overview);
  const panelOf = (pair) => panels.find((panel) => isPair(pair, panel.a));
  const rowOf = (panel) => rows.find((row) => isPair(endsOf(row), panel.a));
  const nameOf = (panel) => rowOf(panel).getAttribute("aria-label");
  // An arrow with a head of its own offers its transitions, the lowest first; every other one is the only arrow of one.
  const pairOver = (id) => {
    if (heads.has(id)) return heads.get(id).c[0].slice(0, 2);
    const number = all(".drawing .arrow").find((arrow) => arrow.dataset.arrow === id)?.dataset.number;
    const row = number && rows.find((each) => numbersOver(each).includes(number));
    return row && endsOf(row);
  };
  const makeHead = (id) => {
    const head = heads.get(id);
    const made = makeTitle("over", head.h, head.l, head.i);
    const choices = head.c.map(([source, target, name]) => {
      const choice = make("button", "", name);
      choice.type = "button";
      Object.assign(choice.dataset, { source, target });
      choice.addEventListener("click", () => show({ transition: endsOf(choice) }));
      return choice;
    });
    const group = make("div", "ways", ...choices, head.m ? make("span", "", head.m) : "");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", say("proof.over"));
    made.dataset.arrow = id;
    made.append(group);
    return made;
  };

  let open;
  follow((now) => {
    const panel = panelOf(now.transition) ?? (now.arrow === undefined ? undefined : panelOf(pairOver(now.arrow)));
    const id = panel && heads.has(now.arrow) ? now.arrow : undefined;
    const isLost = (panel ? overview : box).contains(document.activeElement);
    const wasOpen = open;
    overview.hidden = Boolean(panel);
    box.hidden = !panel;
    const head = box.querySelector(".over");
    if (head?.dataset.arrow !== id) {
      head?.remove();
      if (id !== undefined) box.querySelector(".back").after(makeHead(id));
    }
    press(all(".ways button", box), (choice) => panel && isPair(endsOf(choice), panel.a));
    box.querySelector(".proof")?.remove();
    if (panel) box.append(makePanel(panel, nameOf(panel), id !== undefined));
    open = panel;
    // What had the focus may be hidden now: then it goes to the heading, and back to the row that it came from.
    if (isLost && panel) box.querySelector("h2").focus();
    else if (isLost && wasOpen) rowOf(wasOpen)?.focus();
    else if (panel && panel !== wasOpen) announce(nameOf(panel));
    // On a small screen the panel opens under the drawing: then as much of it comes into sight as says what it is.
    const isInSight = isOneScreen.matches && hasRoom();
    if (panel && panel !== wasOpen && !isInSight) box.querySelector(".rungs").scrollIntoView({ block: "nearest" });
  });
  box.querySelector(".back").addEventListener("click", () => show({ arrow: undefined, transition: undefined }));
});
