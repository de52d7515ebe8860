"""What a page does, asks for and hides is found by the fit check, however it goes about it."""

from __future__ import annotations

import select
import socket
from pathlib import Path

import pytest

from tests.render.fit_pages import failures_of, good_with


def test_a_page_that_opens_a_dialog_fails_and_does_not_wait_for_it(tmp_path: Path) -> None:
    found = failures_of(good_with("</main>", "</main><script>alert('look here')</script>"), tmp_path)
    assert found == ["console-error: page: opened a dialog: look here"]


def test_a_page_that_goes_elsewhere_fails(tmp_path: Path) -> None:
    found = failures_of(good_with("<title>", '<meta http-equiv="refresh" content="0;url=good.html"><title>'), tmp_path)
    assert any(failure.startswith("request: file:") for failure in found)


def test_a_page_that_loads_itself_again_is_refused(tmp_path: Path) -> None:
    found = failures_of(good_with("</main>", "</main><script>location.reload()</script>"), tmp_path)
    assert found[0].endswith("page.html: the page asks for document")


@pytest.mark.parametrize(
    ("script", "address"),
    [
        ("fetch('https://example.com/a').catch(() => 0)", "https://example.com/a: the page asks for fetch"),
        ("new WebSocket('wss://example.com/b')", "wss://example.com/b: the page asks for WebSocket"),
        ("window.open('https://example.com/c')", "https://example.com/c: the page asks for a new window"),
    ],
)
def test_whatever_a_script_asks_for_is_a_request(tmp_path: Path, script: str, address: str) -> None:
    found = failures_of(good_with("</main>", f"</main><script>{script}</script>"), tmp_path)
    assert f"request: {address}" in found


def test_what_a_worker_asks_for_and_says_is_heard(tmp_path: Path) -> None:
    work = "console.error('from a worker'); fetch('https://example.com/w').catch(() => 0);"
    script = f"<script>new Worker(URL.createObjectURL(new Blob([`{work}`])))</script>"
    found = failures_of(good_with("</main>", f"{script}</main>"), tmp_path)
    assert "request: https://example.com/w: the page asks for fetch" in found
    assert "console-error: page: from a worker" in found


@pytest.mark.parametrize(
    "part",
    [
        "<script>new WebSocket('ws://{host}')</script>",
        "<script>new Worker(URL.createObjectURL(new Blob([\"new WebSocket('ws://{host}')\"])))</script>",
        '<script type="speculationrules">{{"prefetch": [{{"source": "list", "urls": ["http://{host}/"]}}]}}</script>',
        '<link rel="manifest" href="http://{host}/">',
        "<script>const peer = new RTCPeerConnection({{iceServers: [{{urls: 'stun:{host}'}}]}}); "
        "peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer));</script>",
    ],
    ids=["socket", "socket of a worker", "speculation", "manifest", "peer connection"],
)
def test_no_request_reaches_anyone_and_each_is_told(tmp_path: Path, part: str) -> None:
    with socket.socket() as stream, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        stream.bind(("127.0.0.1", 0))
        stream.listen()
        datagrams.bind(stream.getsockname())
        host = f"127.0.0.1:{stream.getsockname()[1]}"
        found = failures_of(good_with("</main>", f"{part.format(host=host)}</main>"), tmp_path)
        assert select.select([stream, datagrams], [], [], 0.2)[0] == []
    assert found


@pytest.mark.parametrize(
    ("script", "rule"),
    [
        ("setTimeout(() => console.error('at last'), 20_000)", "console-error: page: at last"),
        ("setTimeout(() => fetch('https://example.com/d'), 20_000)", "request: https://example.com/d"),
        ("console.assert(1 > 2, 'not so')", "console-error: page: not so"),
    ],
)
def test_what_a_page_puts_off_is_heard_too(tmp_path: Path, script: str, rule: str) -> None:
    found = failures_of(good_with("</main>", f"</main><script>{script}</script>"), tmp_path)
    assert any(failure.startswith(rule) for failure in found)


@pytest.mark.parametrize(
    ("style", "failure"),
    [
        ("aside { opacity: 0; }", "hidden: text 'About' (main > aside > h2): is hidden by opacity: 0"),
        ("aside { visibility: hidden; }", "hidden: text 'About' (main > aside > h2): is hidden by visibility: hidden"),
        ("aside { display: none; }", "(main > aside): is hidden by display: none"),
        ("aside { display: contents; font-size: 6px; }", "text-size: text 'Everything holds on this page."),
        ("h1 { font-size: 0; }", "hidden: text 'Task' (main > h1): is hidden by no size"),
        ("h1 { transform: scale(0); }", "hidden: text 'Task' (main > h1): is hidden by no size"),
        ("aside p { line-height: 0.4; }", "overlaps another line of the same text"),
        ("aside::before { content: 'tiny'; font-size: 4px; }", "main > aside: says 'tiny' by style (::before)"),
        (
            "@keyframes off { to { opacity: 0; } } aside { animation: off 1s infinite; }",
            "main > aside: moves without end",
        ),
    ],
)
def test_a_style_that_hides_or_squeezes_is_found(tmp_path: Path, style: str, failure: str) -> None:
    assert any(failure in found for found in failures_of(good_with("</style>", f"{style}</style>"), tmp_path))


@pytest.mark.parametrize(
    ("old", "new", "failure"),
    [
        ("<h1>", '<h1 class="sr">', "hidden: text 'Task' (main > h1.sr): is hidden by class sr"),
        ('<g data-arrow="skip"', "<g", "drawing: svg.drawing: 1 of its lines belong to no arrow"),
        ("<h2>", '<input value="tiny" style="font-size: 4px"><h2>', "text-size: text 'tiny' (main > aside > input)"),
        ("<h2>", '<iframe srcdoc="tiny"></iframe><h2>', "shows another document, which is not measured"),
    ],
)
def test_what_evades_the_measures_is_found(tmp_path: Path, old: str, new: str, failure: str) -> None:
    assert any(failure in found for found in failures_of(good_with(old, new), tmp_path))


def test_what_the_document_itself_puts_away_is_not_hidden(tmp_path: Path) -> None:
    away = "<details><summary>More</summary>Later</details><dialog>Not now</dialog><ul><li>One</li><li>Two</li></ul>"
    style = "li::before { content: '→ '; } aside { display: contents; }"
    content = good_with("<h2>", f"{away}<h2>").replace("</style>", f"{style}</style>")
    assert failures_of(content, tmp_path) == []


def test_pictures_in_the_page_itself_and_fragments_are_no_requests(tmp_path: Path) -> None:
    picture = '<img alt="" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">'
    content = good_with("</main>", f"{picture}</main><script>location.hash = 'arrow=skip'</script>")
    assert failures_of(content, tmp_path) == []


def test_a_page_cannot_forge_its_measures(tmp_path: Path) -> None:
    forged = "Element.prototype.getBoundingClientRect = () => new DOMRect(0, 0, 10, 10); getComputedStyle = null;"
    content = good_with("</main>", f"</main><script>{forged}</script>").replace('cx="90" cy="338"', 'cx="-900" cy="9"')
    assert [failure.split(":")[1].strip() for failure in failures_of(content, tmp_path)] == ["scroll"]


def test_a_page_that_takes_its_document_away_cannot_be_measured(tmp_path: Path) -> None:
    found = failures_of("<!doctype html><script>document.documentElement.remove()</script>", tmp_path)
    assert [failure.partition(": could not be measured")[0] for failure in found] == ["limits: page"]


def test_hostile_labels_are_quoted_as_text(tmp_path: Path) -> None:
    label = "&lt;/g&gt;&lt;script&gt;alert(1)&lt;/script&gt;" * 9
    found = failures_of(good_with(">skip<", f">{label}<"), tmp_path)
    assert any("'</g><script>alert(1)</script>" in failure and "text-clipped" in failure for failure in found)
    assert all(len(failure) < 600 for failure in found)


def test_transitions_are_measured_at_their_end(tmp_path: Path) -> None:
    assert failures_of(good_with("aside p { ", "* { transition: all 10s; } aside p { "), tmp_path) == []
