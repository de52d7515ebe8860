"""Pages on which something can be chosen, for the fit check: one that fits, and what is broken of it in one place."""

from __future__ import annotations

from tests.render.fit_pages import good_with

SCRIPT = """
<script>
const all = (selector) => [...document.querySelectorAll(selector)];
const items = all('[data-arrow], [data-state], .list button');
const addressOf = ({ dataset: { arrow, state, source, target } }) =>
  arrow ? `#arrow=${arrow}` : state ? `#state=${state}` : `#transition=${source}:${target}`;
const show = () => {
  for (const item of items) item.setAttribute('aria-pressed', String(addressOf(item) === location.hash));
  const chosen = items.find((item) => addressOf(item) === location.hash);
  document.querySelector('.list').hidden = Boolean(chosen?.dataset.panel);
  for (const panel of all('.panel')) panel.hidden = panel.id !== chosen?.dataset.panel;
};
for (const item of items) {
  item.addEventListener('click', () => {
    history.replaceState(null, '', addressOf(item) === location.hash ? location.pathname : addressOf(item));
    show();
  });
}
addEventListener('hashchange', show);
show();
</script>
"""
STYLE = """
[hidden] { display: none; }
.list { list-style: none; padding: 0; }
button { font: inherit; color: inherit; background: none; border: 0; padding: 0; display: block; }
"""
COLUMN = """<ul class="list"><li><button data-source="open" data-target="done" data-panel="short">Open → Done
</button></li><li><button data-source="open" data-target="waiting" data-panel="long">Open → Waiting</button></li></ul>
<div class="panel" id="short" hidden><p>One line of what is known.</p></div>
<div class="panel" id="long" hidden><p>One line of what is known.</p><p>And another one.</p><pre>UPDATE task
SET state = 'waiting'</pre></div>
<div class="panel" id="named" hidden><p>What is known of the arrow with the longest name.</p></div>
"""


def choosing(old: str = "", new: str = "") -> str:
    """The good page with a list, panels and the script that shows them; changed in one place."""
    page = good_with("</aside>", COLUMN + "</aside>")
    page = page.replace("</style>", STYLE + "</style>", 1).replace("</main>", "</main>" + SCRIPT, 1)
    page = page.replace('data-arrow="finish"', 'data-arrow="finish" data-panel="named"', 1)
    assert old in page
    return page.replace(old, new, 1) if old else page
