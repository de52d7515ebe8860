"""Each escaping rule here was seen in the real Mermaid 11: parsed, drawn, and the text of its boxes read back."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowproof import __version__
from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.model.mermaid import MARK, mermaid_text, write_mermaid

LINE = re.compile(
    r"""%%\ Arrowproof\ [\w.]+ | stateDiagram-v2 | \ \ direction\ LR
    | \ \ (?:accTitle|accDescr):\ [^;:"\n]+ | \ \ state\ "[^";:\n{}<>\[\]]+"\ as\ s\d+ | \ \ s\d+(?::\ [^;:"\n]+)?
    | \ \ (?:s\d+|\[\*\])\ -->\ (?:s\d+|\[\*\])(?::\ [^;:"\n]+)?
    | \ \ classDef\ passing\ \S+\ \S+ | \ \ class\ s\d+(?:,s\d+)*\ passing""",
    re.VERBOSE,
)
"""The statements that are written, with the entities taken out: what the grammar of Mermaid takes for just that."""

LABELS = st.text(max_size=40) | st.lists(
    st.sampled_from(
        ("direction LR", "LR", "tb", " ", "\n", '"', ":", ";", "#", "-->", "{", "]]", "%%", "end", "ﬂ°", "¶ß")
    )
).map("".join)


def state(id: str, kind: Kind = Kind.ACTIVE, label: str | None = None, note: str | None = None) -> State:
    return State(id, kind, id if label is None else label, id, note)


def without_entities(text: str) -> str:
    return re.sub(r"#\d+;", "e", text)


def shown(written: str) -> str:
    return re.sub(r"#(\d+);", lambda entity: chr(int(entity[1])), written)


def test_a_lifecycle_becomes_one_statement_a_line(job, parse):
    assert write_mermaid(parse(job)).splitlines() == [
        f"%% Arrowproof {__version__}",
        "stateDiagram-v2",
        "  accTitle: Job",
        "  direction LR",
        '  state "pending" as s0',
        '  state "Attempt" as s1',
        '  state "retry_wait" as s2',
        '  state "completed" as s3',
        "  s3: one row",
        '  state "failed" as s4',
        "  [*] --> s0: POST /jobs",
        "  s0 --> s1: poll",
        "  s2 --> s1: poll #91;due#93;",
        "  s1 --> s3: / row",
        "  s1 --> s2: #91;attempts #60; 3#93;",
        "  s1 --> s4: #91;attempts = 3#93;",
        "  classDef passing stroke-dasharray:2 4,font-style:italic",
        "  class s1 passing",
    ]


def test_a_removed_row_leads_to_the_end_mark_and_an_arrow_without_a_label_has_no_colon():
    text = write_mermaid(Lifecycle("x", "X", (state("a"),), (Arrow("purge", "a", None),)))
    assert "  s0 --> [*]\n" in text
    assert "classDef" not in text


def test_several_arrows_from_a_state_to_itself_are_one_with_a_line_for_each():
    arrows = (Arrow("touch", "a", "a", "touch"), Arrow("go", "a", "b"), Arrow("rename", "a", "a"), Arrow("x", "b", "b"))
    text = write_mermaid(Lifecycle("x", "X", (state("a"), state("b")), arrows))
    assert text.endswith("  s0 --> s0: touch<br/>rename\n  s0 --> s1\n  s1 --> s1\n")


def test_any_id_gives_a_safe_name_and_an_empty_label_shows_the_id():
    text = write_mermaid(Lifecycle("x", "", (state("end"), state("[*]", label=" ")), (Arrow("a", "end", "[*]"),)))
    assert '  state "end" as s0\n  state "#91;#42;#93;" as s1\n  s0 --> s1\n' in text
    assert "accTitle" not in text


@pytest.mark.parametrize(
    ("label", "written"),
    [
        ("a --> b", "a #45;#45;#62; b"),
        ('say "hi"; or: not', "say #34;hi#34;#59; or#58; not"),
        ("#35;", "#35;35#59;"),
        ("direction LR", "direction#32;LR"),
        ("Direction  \n td", "Direction#32;td"),
        ("redirection trail", "redirection trail"),
        ("<<fork>> {x}", "#60;#60;fork#62;#62; #123;x#125;"),
        ("[[choice]]", "#91;#91;choice#93;#93;"),
        ("%% comment", "#37;#37; comment"),
        ("1. one", "1#46; one"),
        ("version 1.5 of next_run_at, re-tried.", "version 1.5 of next_run_at, re-tried."),
        ("- item _it_ **b** `c`", "#45; item #95;it#95; #42;#42;b#42;#42; #96;c#96;"),
        ("www.a.b", "www#46;a#46;b"),
        ("a\\nb", "a#92;nb"),
        ("a\nb\tc", "a b c"),
        ("ﬂ°lt¶ß", "fl°lt¶\u200cß"),
        ("a\u202eb\x07", "a\ufffdb\ufffd"),
        ("保留中 😀 مرحبا 👩‍👧", "保留中 😀 مرحبا 👩‍👧"),
        ("", ""),
    ],
)
def test_what_has_a_meaning_in_mermaid_stands_as_an_entity(label, written):
    assert mermaid_text(label) == written


@pytest.mark.parametrize("sign", sorted(set(string.punctuation) - set(",/=")))
def test_every_sign_of_ascii_but_three_stands_as_an_entity(sign):
    assert mermaid_text(f"a {sign} b") == f"a #{ord(sign)}; b"


def test_title_and_summary_are_told_to_those_who_do_not_see_the_drawing():
    text = write_mermaid(Lifecycle("x", "A title", (state("a"),), (), summary="What it is; in short."))
    assert "  accTitle: A title\n  accDescr: What it is#59; in short.\n" in text


@pytest.mark.parametrize("way", ["TB", "BT", "RL", "LR", "TD"])
def test_every_direction_in_a_label_is_kept_from_being_an_instruction(way):
    assert mermaid_text(f"to direction {way}, then") == f"to direction#32;{way}, then"


@given(LABELS, LABELS)
def test_no_text_makes_another_statement(label, note):
    lifecycle = Lifecycle(
        "x",
        label,
        (state("a", label=label, note=note), state("b", Kind.PASSING)),
        (Arrow("c", None, "a", event=note), Arrow("d", "a", "b", event=label, guard=note)),
        summary=note,
    )
    lines = write_mermaid(lifecycle).split("\n")
    assert lines.pop() == ""
    wrong = [line for line in lines if not LINE.fullmatch(without_entities(line))]
    assert wrong == []
    assert [line for line in lines if re.search(r"direction\s+(?:tb|bt|rl|lr|td)", line, re.I)] == ["  direction LR"]


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=60))
def test_a_plain_label_is_shown_as_it_was_written(label):
    assert shown(mermaid_text(label)) == " ".join(label.split())


def test_the_first_line_says_who_made_it():
    assert write_mermaid(Lifecycle("x", "X", (state("a"),), ())).startswith(MARK)
