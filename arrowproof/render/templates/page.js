(() => {
  "use strict";
  const root = document.documentElement;
  const all = (selector) => [...document.querySelectorAll(selector)];

  // Theme: auto follows the system. Storage can be refused (a page from a file, a private window); then it lasts as
  // long as the page.
  const key = "arrowproof-theme";
  const themes = ["auto", "light", "dark"];
  const stored = () => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  };
  let theme = "auto";
  const setTheme = (name) => {
    theme = themes.includes(name) ? name : "auto";
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
  };
  // In the frame of the preview nothing can be stored: what is told to the shell comes back with the next page.
  const isFramed = parent !== window;
  setTheme((isFramed && new URLSearchParams(location.search).get("theme")) || stored());
  let hash = location.hash;
  const tell = () => {
    if (isFramed) parent.postMessage({ arrowproof: { theme, hash } }, "*");
  };

  const startTheme = () => {
    const button = document.getElementById("theme");
    const name = () => {
      button.textContent = `Theme: ${theme}`;
    };
    button.hidden = false;
    name();
    const system = matchMedia("(prefers-color-scheme: dark)");
    // A click shows the other theme, by name; where that is the system's own, it is followed again.
    button.addEventListener("click", () => {
      const ofSystem = system.matches ? "dark" : "light";
      const shown = theme === "auto" ? ofSystem : theme;
      const other = shown === "dark" ? "light" : "dark";
      setTheme(other === ofSystem ? "auto" : other);
      name();
      tell();
      try {
        localStorage.setItem(key, theme);
      } catch {
        // nothing to remember it with
      }
    });
  };

  // A text in a font of this machine was given the width reserved for it; it takes its own width where that is less.
  const relaxTexts = () => {
    for (const text of all("text[textLength]")) {
      const reserved = text.getAttribute("textLength");
      text.removeAttribute("textLength");
      if (text.getComputedTextLength() > Number(reserved)) text.setAttribute("textLength", reserved);
    }
  };

  // Choosing an arrow marks the transitions over it; choosing a transition marks its arrows.
  const startChoice = () => {
    const arrows = all(".drawing .arrow");
    const rows = all(".list button");
    const over = (row) => row.dataset.arrows.split(" ").map(Number);
    const press = (items, isPressed) =>
      items.forEach((item, number) => {
        item.setAttribute("aria-pressed", String(isPressed(item, number)));
      });
    const remember = (fragment) => {
      hash = fragment;
      tell();
      try {
        history.replaceState(null, "", hash || location.pathname + location.search);
      } catch {
        // a page without an address of its own
      }
    };
    const choose = (chosenArrows, chosenRows) => {
      press(arrows, (_, number) => chosenArrows.includes(number));
      press(rows, (row) => chosenRows.includes(row));
      // A list too long for the screen shows what is chosen and leaves the rest to screen readers.
      for (const row of all(".list.folded button")) row.parentElement.classList.toggle("sr", !chosenRows.includes(row));
    };
    const chooseArrow = (number) => choose([number], rows.filter((row) => over(row).includes(number)));
    const clear = () => {
      choose([], []);
      remember("");
    };
    const isOnlyPressed = (item, items) =>
      item.getAttribute("aria-pressed") === "true" && items.filter((other) => other.getAttribute("aria-pressed") === "true").length === 1;
    const fragment = (arrow) => `#arrow=${encodeURIComponent(arrow.dataset.arrow)}`;
    const ends = (row) => [...row.querySelectorAll(".pair bdi")].map((end) => end.textContent);
    // A row that the reader points at or stands on lights its arrows.
    const light = () => {
      const lit = new Set(rows.filter((row) => row.matches(":hover, :focus-visible")).flatMap(over));
      arrows.forEach((arrow, number) => arrow.classList.toggle("lit", lit.has(number)));
    };

    arrows.forEach((arrow, number) => {
      arrow.setAttribute("role", "button");
      arrow.setAttribute("tabindex", "0");
      const toggle = () => {
        if (isOnlyPressed(arrow, arrows)) clear();
        else {
          chooseArrow(number);
          remember(fragment(arrow));
        }
      };
      arrow.addEventListener("click", toggle);
      arrow.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (step) arrows[(number + step + arrows.length) % arrows.length].focus();
        else if (event.key === "Enter" || event.key === " ") toggle();
        else return;
        event.preventDefault();
      });
    });
    rows.forEach((row) => {
      row.addEventListener("click", () => {
        if (isOnlyPressed(row, rows)) clear();
        else {
          choose(over(row), [row]);
          remember(`#transition=${ends(row).map(encodeURIComponent).join(":")}`);
        }
      });
      for (const kind of ["pointerenter", "pointerleave", "focus", "blur"]) row.addEventListener(kind, light);
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") clear();
    });
    const follow = () => {
      const match = /^#(arrow|transition)=(.+)$/s.exec(location.hash);
      if (!match) return;
      let named;
      try {
        named = match[2].split(":").map(decodeURIComponent);
      } catch {
        return; // a fragment that is no encoded text names nothing
      }
      if (match[1] === "arrow") {
        const id = named.join(":");
        const number = arrows.findIndex((arrow) => arrow.dataset.arrow === id);
        if (number >= 0) chooseArrow(number);
      } else {
        const row = rows.find((each) => ends(each).every((end, place) => end === named[place]));
        if (row) choose(over(row), [row]);
      }
    };
    press(arrows, () => false);
    addEventListener("hashchange", follow);
    follow();
  };

  document.addEventListener("DOMContentLoaded", () => {
    startTheme();
    startChoice();
    document.fonts.ready.then(relaxTexts);
  });
})();
