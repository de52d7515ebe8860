"""What the commands share: the MODEL argument, ``--json``, ``--lang``, safe writing, and progress.

With ``--json`` one object stands on standard output and everything else goes to standard error. Every command imports
this module, and so it imports late what only some of them need.
"""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any, TypeVar

import click

import arrowproof
from arrowproof.errors import ArrowproofError, InputError, ModelError, Problem

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from arrowproof.model.progress import Progress

BUNDLED = "notes"
"""The word that means the bundled service's lifecycle wherever a command takes MODEL."""

BUNDLED_MODEL = Path(arrowproof.__file__).parent / "service" / "notes-job.lifecycle.json"
"""Its file. Found beside the package, not through importlib.resources, whose import costs `render` 17 ms."""

DEFAULT_MODEL = "lifecycle.json"

Command = TypeVar("Command", bound=Callable[..., Any])


def model_argument(command: Command) -> Command:
    """The optional MODEL argument."""
    return click.argument(
        "model", required=False, default=DEFAULT_MODEL, metavar="[MODEL]", shell_complete=_complete_model
    )(command)


def _complete_model(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The bundled model and the JSON files of the folder so far; the shell's own files where there are none."""
    from click.shell_completion import CompletionItem

    folder, slash, _ = incomplete.rpartition("/")
    names = [] if slash else [BUNDLED]
    with suppress(OSError):
        names += sorted(f"{folder}{slash}{path.name}" for path in Path(folder + slash).glob("*.json"))
    found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


def json_option(command: Command) -> Command:
    """The ``--json`` flag."""
    return click.option("as_json", "--json", is_flag=True, help="One JSON object on standard output.")(command)


def language_option(command: Command) -> Command:
    """The ``--lang`` of a page's own words, a tag of :data:`arrowproof.render.language.LANGUAGES`."""
    from arrowproof.render.language import LANGUAGES

    return click.option(
        "--lang",
        type=click.Choice(LANGUAGES),
        default=LANGUAGES[0],
        show_default=True,
        help="Language of the page's own words; what the model says stays as written.",
    )(command)


def model_path(model: str) -> Path:
    """The lifecycle file that MODEL means.

    Raises:
        InputError: MODEL was left out and the current folder has no lifecycle.json.
    """
    if model == BUNDLED and not _is_there(Path(model)):
        return BUNDLED_MODEL
    path = Path(model)
    if model == DEFAULT_MODEL and not _is_there(path):
        raise InputError(
            f"there is no {DEFAULT_MODEL} in this folder. Name a lifecycle file, write a starter with"
            f" `arrowproof init`, or take the bundled one: `{BUNDLED}`"
        )
    return path


def _is_there(path: Path) -> bool:
    """Whether there is such a file; where the folder does not tell, reading it will say why."""
    try:
        return path.exists()
    except OSError:
        return True


def emit_json(format_name: str, verdict: str, content: Mapping[str, object]) -> None:
    """Print the one JSON object of a command."""
    import json

    emit_json_text(json.dumps({"format": format_name, "verdict": verdict, **content}, ensure_ascii=False, indent=2))


def emit_json_text(text: str) -> None:
    """Print a JSON text; escaped where standard output has another encoding, or a file name is no text in any."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        import json

        text = json.dumps(json.loads(text), indent=2)
    click.echo(text.rstrip("\n"))


def emit_error(error: ArrowproofError, *, as_json: bool) -> None:
    """Print an error for people on standard error and, with ``--json``, as an object on standard output."""
    click.echo(f"error: {printable(str(error))}", err=True)
    if as_json:
        emit_error_object(error.exit_status, str(error), error.problems if isinstance(error, ModelError) else ())


def emit_error_object(status: int, message: str, problems: Sequence[Problem] = ()) -> None:
    """Print the JSON object of a command that gives no verdict, ``arrowproof.error/1``.

    Where it cannot be printed the exit status alone has to say it.
    """
    content = {"status": status, "message": message, "problems": [vars(problem) for problem in problems]}
    try:
        emit_json("arrowproof.error/1", "error", content)
    except OSError:
        give_up_output()


def let_output_escape() -> None:
    """Have standard output escape what its encoding does not know, as standard error does."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def give_up_output() -> None:
    """Lead standard output nowhere, so that Python does not try again at its end what could not be written."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextmanager
def output_kept() -> Iterator[None]:
    """Keep standard output for this command: what others write there in the block goes to standard error.

    Such others are the processes that somebody's driver starts, and has write where it writes itself.
    """
    kept = None
    with suppress(OSError):  # one that is closed already is kept from nobody
        sys.stdout.flush()
        kept = os.dup(1)
        os.dup2(2, 1)
    try:
        yield
    finally:
        if kept is not None:
            with suppress(OSError):
                sys.stdout.flush()
            os.dup2(kept, 1)
            os.close(kept)


def printable(text: str) -> str:
    """The text with control characters made visible, so that a label cannot steer the terminal."""
    return "".join(char if char.isprintable() or char == "\n" else _visible(char) for char in text)


def _visible(char: str) -> str:
    return "\\t" if char == "\t" else f"\\x{ord(char):02x}"


def write_file(
    path: Path, content: str | bytes, *, is_ours: Callable[[bytes], bool] | None, force: bool = False
) -> None:
    """Write a file whole or not at all, a text as UTF-8. A symbolic link stays one: what it points to is written.

    ``is_ours`` looks at the first 4096 bytes of a file that is there and says whether it may be replaced.

    Raises:
        InputError: the file is there and is not ours, or it cannot be written.
    """
    from arrowproof.model.whole_file import write_whole

    try:
        if str(path) == "-":
            raise InputError("- stands for standard output, and this is written to a file. Name one")
        if path.is_dir():
            raise InputError(f"{path} is a folder. Name a file")
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is a device or a pipe, and a file would take its place. Name a file")
        if path.exists() and not force and not (is_ours is not None and is_ours(_head(path))):
            said = "already" if is_ours is None else "and was not made by this command"
            raise InputError(f"{path} is there {said}. Name another file, or replace it with --force")
        target = Path(os.path.realpath(path))
        if target.is_symlink():
            raise InputError(f"{path} is a symbolic link that leads back to itself. Name a file")
        if not target.parent.is_dir():
            raise InputError(f"there is no folder {target.parent}. Make it first, or name another file")
        write_whole(target, content)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error


def _head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(4096)


@contextmanager
def working(task: str, delay: float = 1.0) -> Iterator[None]:
    """On a terminal, say on standard error what goes on in the block once it has lasted ``delay`` seconds."""
    if not sys.stderr.isatty():
        yield
        return
    with ExitStack() as shown:

        def say() -> None:
            from rich.console import Console
            from rich.text import Text

            shown.enter_context(Console(stderr=True).status(Text(printable(task))))

        timer = Timer(delay, say)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Progress on standard error: a bar that moves on a terminal, a line now and then elsewhere."""
    if sys.stderr.isatty():
        with _moving_bar() as progress:
            yield progress
        return
    yield _say_now_and_then()


def _say_now_and_then() -> Progress:
    """Progress for a log: the first step, then at most one line a second."""
    said = float("-inf")

    def say(task: str, done: int, total: int) -> None:
        nonlocal said
        if time.monotonic() - said >= 1 and done < total:
            said = time.monotonic()
            click.echo(f"[{done + 1}/{total}] {printable(task)}", err=True)

    return say


@contextmanager
def _moving_bar() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task_id = bar.add_task("", total=None)

        def show(task: str, done: int, total: int) -> None:
            bar.update(task_id, description=printable(task), completed=done, total=total or None)

        yield show
