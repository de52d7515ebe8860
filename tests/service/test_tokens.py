"""The file of tokens, and the command that makes them."""

from __future__ import annotations

import os
from hashlib import sha256

import pytest

from arrowproof.service.refusal import RefusedError
from arrowproof.service.tokens import main, make_token, read_tokens, token_digest

ALICE, BOB = token_digest("alice's"), token_digest("bob's")


@pytest.fixture
def file(tmp_path):
    made = tmp_path / "tokens"

    def write(content, mode=0o600):
        made.write_bytes(content if isinstance(content, bytes) else content.encode())
        made.chmod(mode)
        return made

    return write


def test_a_line_is_a_client_and_the_digest_of_its_token(file):
    tokens = read_tokens(file(f"# who may ask\n\nalice {ALICE}\r\n  bob\t{BOB}  \nalice {token_digest('new')}\n"))
    assert tokens.client_of("alice's") == "alice"
    assert tokens.client_of("new") == "alice"
    assert tokens.client_of("bob's") == "bob"
    assert tokens.client_of("carol's") is None
    assert tokens.client_of(ALICE) is None
    assert tokens.client_of("") is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "holds no token"),
        ("# nobody\n", "holds no token"),
        (f"alice {ALICE}\nbob\n", "line 2: write NAME"),
        (f"alice {ALICE.upper()}\n", "line 1: write NAME"),
        (f"alice {ALICE[1:]}\n", "line 1: write NAME"),
        (f"al/ice {ALICE}\n", "line 1: write NAME"),
        (f"{'a' * 65} {ALICE}\n", "line 1: write NAME"),
        (f"alice {ALICE} bob\n", "line 1: write NAME"),
        (f"alice {ALICE}\nbob {ALICE}\n", "line 2: this token stands there before"),
        (b"\xff", "cannot be read"),
        ("#" * 1_000_001, "is larger than 1000000 bytes"),
    ],
)
def test_a_file_that_is_not_understood_is_refused(file, content, said):
    with pytest.raises(RefusedError, match=said):
        read_tokens(file(content))


def test_what_a_wrong_line_holds_is_not_shown(file):
    with pytest.raises(RefusedError) as caught:
        read_tokens(file("alice notes_secret\n"))
    assert "notes_secret" not in str(caught.value)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_refused(file, mode):
    with pytest.raises(RefusedError, match="chmod go-w"):
        read_tokens(file(f"alice {ALICE}\n", mode))


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "fifo", 0o600)
    with pytest.raises(RefusedError, match="is no file"):
        read_tokens(tmp_path / "fifo")
    with pytest.raises(RefusedError, match="is no file"):
        read_tokens(tmp_path)
    with pytest.raises(RefusedError, match="cannot be read"):
        read_tokens(tmp_path / "missing")


def test_a_file_that_is_exchanged_while_it_is_read_is_judged_by_what_was_read(file, monkeypatch):
    fine = file(f"alice {ALICE}\n")
    real = os.open

    def exchange_and_open(path, *rest):
        """Another has put a file there that everybody can write, just before it is opened."""
        fine.rename(fine.with_name("gone"))
        fine.write_text(f"mallory {BOB}\n")
        fine.chmod(0o666)
        return real(path, *rest)

    monkeypatch.setattr("arrowproof.service.tokens.os.open", exchange_and_open)
    with pytest.raises(RefusedError, match="chmod go-w"):
        read_tokens(fine)


def test_the_command_prints_a_token_and_its_line(capsys, file):
    assert main(["alice"]) == 0
    token, line = (printed.partition(": ")[2] for printed in capsys.readouterr().out.splitlines())
    assert read_tokens(file(line)).client_of(token) == "alice"
    assert line == f"alice {sha256(token.encode()).hexdigest()}"
    assert token not in line


def test_tokens_are_long_and_each_is_another():
    made = {make_token() for _ in range(100)}
    assert len(made) == 100
    assert min(map(len, made)) >= 49


@pytest.mark.parametrize("name", ["", "a b", "é", "a" * 65, "a/b"])
def test_a_name_that_the_file_cannot_hold_is_refused(capsys, name):
    with pytest.raises(SystemExit) as caught:
        main([name])
    assert caught.value.code == 2
    assert "is no name" in capsys.readouterr().err
