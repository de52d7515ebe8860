"""What a page does, asks for and hides is found by the fit check, however it goes about it."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack

import pytest

from tests.render.fit_pages import failures_of, good_with

# The first test has all of the pages checked, some thirty in one browser.
pytestmark = pytest.mark.timeout(600)

Found = Mapping[str, list[str]]
"""What the check says of each page, by its text."""


def with_script(script: str) -> str:
    return good_with("</main>", f"</main><script>{script}</script>")


def with_style(style: str) -> str:
    return good_with("</style>", f"{style}</style>")


DIALOG = with_script("alert('look here')")
ELSEWHERE = good_with("<title>", '<meta http-equiv="refresh" content="0;url=good.html"><title>')
AGAIN = with_script("location.reload()")
WORK = "console.error('from a worker'); fetch('https://example.com/w').catch(() => 0);"
WORKER = good_with("</main>", f"<script>new Worker(URL.createObjectURL(new Blob([`{WORK}`])))</script></main>")
AWAY = "<details><summary>More</summary>Later</details><dialog>Not now</dialog><ul><li>One</li><li>Two</li></ul>"
PUT_AWAY = good_with("<h2>", f"{AWAY}<h2>").replace(
    "</style>", "li::before { content: '→ '; } aside { display: contents; }</style>"
)
PICTURE = '<img alt="" width="1" height="1" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">'
OWN = good_with("</main>", f"{PICTURE}</main><script>location.hash = 'arrow=skip'</script>")
FORGED = with_script(
    "Element.prototype.getBoundingClientRect = () => new DOMRect(0, 0, 10, 10); getComputedStyle = null;"
).replace('cx="90" cy="338"', 'cx="-900" cy="9"')
GONE = "<!doctype html><script>document.documentElement.remove()</script>"
LABEL = "&lt;/g&gt;&lt;script&gt;alert(1)&lt;/script&gt;" * 9
HOSTILE = good_with(">skip<", f">{LABEL}<")
MOVING = good_with("aside p { ", "* { transition: all 10s; } aside p { ")

ASKING = [
    (with_script("fetch('https://example.com/a').catch(() => 0)"), "https://example.com/a: the page asks for fetch"),
    (with_script("new WebSocket('wss://example.com/b')"), "wss://example.com/b: the page asks for WebSocket"),
    (with_script("window.open('https://example.com/c')"), "https://example.com/c: the page asks for a new window"),
]
LATER = [
    (with_script("setTimeout(() => console.error('at last'), 20_000)"), "console-error: page: at last"),
    (with_script("setTimeout(() => fetch('https://example.com/d'), 20_000)"), "request: https://example.com/d"),
    (with_script("console.assert(1 > 2, 'not so')"), "console-error: page: not so"),
]
MAKING = [
    "@media screen { @supports (color: red) { aside :is(h2)::after { content: 'tiny'; } } }",
    "main { & > aside { &::before { content: 'tiny'; } } }",
    "@layer late { main > ::before { content: 'tiny'; } }",
    r".a\:before-b, p:last-child:after { content: 'tiny'; }",
    "h2:before, .none::part(x)::after { content: 'tiny'; }",
]
STYLED = [
    (with_style(style), failure)
    for style, failure in [
        ("aside { opacity: 0; }", "hidden: text 'About' (main > aside > h2): is hidden by opacity: 0"),
        ("aside { visibility: hidden; }", "hidden: text 'About' (main > aside > h2): is hidden by visibility: hidden"),
        ("aside { display: none; }", "(main > aside): is hidden by display: none"),
        ("aside { display: contents; font-size: 6px; }", "text-size: text 'Everything holds on this page."),
        ("h1 { font-size: 0; }", "hidden: text 'Task' (main > h1): is hidden by no size"),
        ("h1 { transform: scale(0); }", "hidden: text 'Task' (main > h1): is hidden by no size"),
        ("aside p { line-height: 0.4; }", "overlaps another line of the same text"),
        ("aside::before { content: 'tiny'; font-size: 4px; }", "main > aside: says 'tiny' by style (::before)"),
        *((style, " by style (::") for style in MAKING),
        (
            "@keyframes off { to { opacity: 0; } } aside { animation: off 1s infinite; }",
            "main > aside: moves without end",
        ),
    ]
]
EVADING = [
    (good_with("<h1>", '<h1 class="sr">'), "hidden: text 'Task' (main > h1.sr): is hidden by class sr"),
    (good_with('<g data-arrow="skip"', "<g"), "drawing: svg.drawing: 1 of its lines belong to no arrow"),
    (
        good_with("<h2>", '<input value="tiny" style="font-size: 4px"><h2>'),
        "text-size: text 'tiny' (main > aside > input)",
    ),
    (good_with("<h2>", '<iframe srcdoc="tiny"></iframe><h2>'), "shows another document, which is not measured"),
    *(
        (page, "is or holds a picture, and what it says is not measured")
        for page in (
            good_with("<h2>", '<canvas width="80" height="20"></canvas><h2>'),
            good_with("<h2>", '<img alt="" width="80" height="20" src="data:image/svg+xml,%3Csvg/%3E"><h2>'),
            with_style("aside { background: url(data:image/gif;base64,R0lGODlhAQABAAAAACw=); }"),
        )
    ),
    (with_style("h2 { letter-spacing: -0.4em; }"), "% of the width of its letters"),
    *(
        (good_with("<h2>", made + "<h2>"), "limits: div: holds a document of its own, which is not measured")
        for made in (
            '<div><template shadowrootmode="closed"><p>tiny</p></template></div>',
            "<div></div><script>document.querySelector('div').attachShadow({mode: 'closed'})</script>",
        )
    ),
    *(
        (
            good_with(
                "<h2>", f"<script>if (!{asked}) document.write('<style>h2{{font-size:4px}}</style>')</script><h2>"
            ),
            failure,
        )
        for asked, failure in (
            ("navigator.webdriver", "text-size: text 'About'"),
            ("navigator.userAgent.includes('Headless')", "text-size: text 'About'"),
        )
    ),
]
PAGES = [
    *(DIALOG, ELSEWHERE, AGAIN, WORKER, PUT_AWAY, OWN, FORGED, GONE, HOSTILE, MOVING),
    *(page for page, _ in (*ASKING, *LATER, *STYLED, *EVADING)),
]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """Every page, in one browser: what one of them does is told of no other."""
    return failures_of(PAGES, tmp_path_factory.mktemp("behaviour"))


def test_a_page_that_opens_a_dialog_fails_and_does_not_wait_for_it(found: Found) -> None:
    assert found[DIALOG] == ["console-error: page: opened a dialog: look here"]


def test_a_page_that_goes_elsewhere_fails(found: Found) -> None:
    assert any(failure.startswith("request: file:") for failure in found[ELSEWHERE])


def test_a_page_that_loads_itself_again_is_refused(found: Found) -> None:
    assert found[AGAIN][0].endswith(f"page-{PAGES.index(AGAIN)}.html: the page asks for document")


@pytest.mark.parametrize(("page", "address"), ASKING, ids=["fetch", "socket", "window"])
def test_whatever_a_script_asks_for_is_a_request(found: Found, page: str, address: str) -> None:
    assert f"request: {address}" in found[page]


def test_what_a_worker_asks_for_and_says_is_heard(found: Found) -> None:
    assert "request: https://example.com/w: the page asks for fetch" in found[WORKER]
    assert "console-error: page: from a worker" in found[WORKER]


REACHING = {
    "socket": "<script>new WebSocket('ws://{host}')</script>",
    "socket of a worker": (
        "<script>new Worker(URL.createObjectURL(new Blob([\"new WebSocket('ws://{host}')\"])))</script>"
    ),
    "speculation": (
        '<script type="speculationrules">{{"prefetch": [{{"source": "list", "urls": ["http://{host}/"]}}]}}</script>'
    ),
    "manifest": '<link rel="manifest" href="http://{host}/">',
    "peer connection": (
        "<script>const peer = new RTCPeerConnection({{iceServers: [{{urls: 'stun:{host}'}}]}}); "
        "peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer));</script>"
    ),
}


class Listening:
    """A port on which whoever is reached by a page would hear of it."""

    def __init__(self, stack: ExitStack) -> None:
        self._stream = stack.enter_context(socket.socket())
        self._datagrams = stack.enter_context(socket.socket(type=socket.SOCK_DGRAM))
        self._stream.bind(("127.0.0.1", 0))
        self._stream.listen()
        self._datagrams.bind(self._stream.getsockname())
        self.host = f"127.0.0.1:{self._stream.getsockname()[1]}"

    def is_reached(self) -> bool:
        return select.select([self._stream, self._datagrams], [], [], 0.2)[0] != []


@pytest.fixture(scope="module")
def reaching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, tuple[Listening, list[str]]]]:
    """Every page that would reach a port of its own: the port, and what the check says of the page."""
    with ExitStack() as stack:
        ports = {name: Listening(stack) for name in REACHING}
        pages = {
            name: good_with("</main>", f"{part.format(host=ports[name].host)}</main>")
            for name, part in REACHING.items()
        }
        found = failures_of(pages.values(), tmp_path_factory.mktemp("reaching"))
        yield {name: (ports[name], found[page]) for name, page in pages.items()}


@pytest.mark.parametrize("name", REACHING)
def test_no_request_reaches_anyone_and_each_is_told(
    reaching: Mapping[str, tuple[Listening, list[str]]], name: str
) -> None:
    port, failures = reaching[name]
    assert not port.is_reached()
    assert failures


@pytest.mark.parametrize(("page", "rule"), LATER, ids=["console", "request", "assertion"])
def test_what_a_page_puts_off_is_heard_too(found: Found, page: str, rule: str) -> None:
    assert any(failure.startswith(rule) for failure in found[page])


@pytest.mark.parametrize(("page", "failure"), STYLED, ids=[failure for _, failure in STYLED])
def test_a_style_that_hides_or_squeezes_is_found(found: Found, page: str, failure: str) -> None:
    assert any(failure in each for each in found[page])


@pytest.mark.parametrize(("page", "failure"), EVADING, ids=[failure for _, failure in EVADING])
def test_what_evades_the_measures_is_found(found: Found, page: str, failure: str) -> None:
    assert any(failure in each for each in found[page])


def test_what_the_document_itself_puts_away_is_not_hidden(found: Found) -> None:
    assert found[PUT_AWAY] == []


def test_pictures_in_the_page_itself_and_fragments_are_no_requests(found: Found) -> None:
    assert found[OWN] == []


def test_a_page_cannot_forge_its_measures(found: Found) -> None:
    assert [failure.split(":")[1].strip() for failure in found[FORGED]] == ["scroll"]


def test_a_page_that_takes_its_document_away_cannot_be_measured(found: Found) -> None:
    assert [failure.partition(": could not be measured")[0] for failure in found[GONE]] == ["limits: page"]


def test_hostile_labels_are_quoted_as_text(found: Found) -> None:
    assert any("'</g><script>alert(1)</script>" in each and "text-clipped" in each for each in found[HOSTILE])
    assert all(len(failure) < 600 for failure in found[HOSTILE])


def test_transitions_are_measured_at_their_end(found: Found) -> None:
    assert found[MOVING] == []
