// Places: of a page with several scenes, the one that is shown follows from the address, and the path above it leads back.
startParts.push(() => {
  const [first, ...others] = all(".drawing");
  const byFragment = new Map(others.map((scene) => [scene.dataset.fragment, scene]));
  const held = new Map(others.map((scene) => [scene, numbersIn(scene)]));
  const smallest = (numbers) => {
    const count = (scene) => numbers.filter((number) => held.get(scene).has(number)).length;
    const most = Math.max(...others.map(count));
    if (!most) return first;
    return others.filter((scene) => count(scene) === most).sort((a, b) => held.get(a).size - held.get(b).size)[0];
  };
  const numbersOf = (now) => {
    if (now.arrow !== undefined) return [arrowNamed(now.arrow).dataset.number];
    return now.transition ? numbersOver(rowNamed(now.transition)) : [];
  };
  const sceneOf = (now) => {
    for (const key of ["state", "group"]) {
      const scene = now[key] !== undefined && byFragment.get(writeAddress({ [key]: now[key] }));
      if (scene) return scene;
    }
    // Whatever is named together with a view is in it.
    const view = viewScene(now.view);
    if (view) return view;
    const numbers = numbersOf(now);
    return numbers.length ? smallest(numbers) : first;
  };

  const path = document.querySelector(".crumbs ol");
  const crumb = (text, changes) => {
    const item = document.createElement("li");
    const name = document.createElement(changes ? "button" : "b");
    name.textContent = text;
    name.dir = "auto";
    if (changes) {
      name.type = "button";
      name.addEventListener("click", () => show({ ...nowhere, ...changes }));
    } else name.setAttribute("aria-current", "page");
    item.append(name);
    return item;
  };
  const writePath = (scene) => {
    const parent = scene.dataset.parent;
    const group = parent !== undefined && byFragment.get(writeAddress({ group: parent }));
    const view = viewScene(shown.view);
    const hub = scene.dataset.hub !== undefined && byFragment.get(writeAddress({ state: scene.dataset.hub }));
    const from = hub ? crumb(hub.dataset.title, { state: scene.dataset.hub }) : group && crumb(group.dataset.title, { group: parent });
    const above = view ? view !== scene && crumb(view.dataset.title, nowhere) : from;
    path.replaceChildren(
      ...(scene === first ? [] : [crumb(first.dataset.title, offView())]),
      ...(above ? [above] : []),
      crumb(scene.dataset.title),
    );
  };

  // The legend says what occurs in the scene that is shown.
  const signs = all("[data-shown-by]");
  const writeLegend = (scene) => {
    for (const sign of signs) sign.hidden = !scene.querySelector(sign.dataset.shownBy);
    for (const around of all(".legend .group")) around.hidden = around.children.length > 0 && [...around.children].every((each) => each.hidden);
  };

  // The box that stands in a scene for one that was left: its state or its group, so that who steps back goes on there.
  const boxOf = (left, scene) => {
    const { state, group = left.dataset.parent } = readAddress(left.dataset.fragment ?? "");
    return boxFor({ state, group }, all(".state", scene));
  };

  const relaxed = new Set([first]);
  follow((now) => {
    const scene = sceneOf(now);
    const before = shownScene();
    // Asked before the path is written, which takes away the part of it that was pressed.
    const hadFocus = document.activeElement.closest(".draw, .crumbs, .index") !== null;
    writePath(scene);
    writeLegend(scene);
    if (scene === before) return;
    for (const each of [first, ...others]) each.toggleAttribute("hidden", each !== scene);
    if (!relaxed.has(scene)) {
      relaxed.add(scene);
      document.fonts.ready.then(() => relaxTexts(scene));
    }
    const chosen = scene.querySelector(".arrow[aria-pressed=true], .state.focus") ?? boxOf(before, scene) ?? scene.querySelector(".state:not(.quiet)");
    if (hadFocus) chosen?.focus({ preventScroll: true });
    if (chosen) bringIntoFrame(chosen);
    announce([...path.children].map((item) => item.textContent).join(", "));
  });
});
