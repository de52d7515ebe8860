"""The command group, and the one place where an error becomes a message and an exit status.

Commands are imported when they are called, so that ``arrowproof render`` does not pay for the service's libraries, and
a list of them, as help or as completion, for none.
"""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
from typing import Any

import click

from arrowproof import __version__
from arrowproof.cli.output import emit_error, emit_error_object, give_up_output, let_output_escape, printable
from arrowproof.errors import HOLDS, INPUT_IS_WRONG, INTERNAL, INTERRUPTED, ArrowproofError, InternalError

COMMANDS = {
    "init": "write a starter lifecycle",
    "lint": "check the file: all problems at once, with line, column and fix",
    "render": "draw the page, or its drawing as SVG, PNG or Mermaid",
    "fit": "check that a page fits: four sizes, both themes, 8 screenshots",
    "view": "serve the page on loopback and redraw it at every save",
    "sql": "the SQL transition matrix",
    "prove": "the proof: evidence, report, exit status",
    "guard": "SQL by which the database refuses what the model lacks",
    "report": "a proof's report again: text, Markdown, HTML, JUnit or JSON",
    "doctor": "what this machine has, and whether its SQLite is safe",
    "completion": "print the completion script of a shell",
}
"""What each command is for, in the order of their use. The module of its name has it as ``command``."""

PIPE_CLOSED = 128 + 13
"""The status of a process that SIGPIPE ended: neither "holds" nor a verdict, since nobody has read one."""

TERMINATED = 128 + 15
"""The status of a process that SIGTERM ended."""

OUTPUT_FAULTS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""What writing comes to where the disk, or whatever else standard output leads to, takes no more."""

EPILOG = """\b
Exit status: 0 holds; 1 does not hold, with a written verdict; 2 the input is
wrong; 3 the environment lacks something; 4 an internal error; 130 interrupted.

\b
Start here:
  arrowproof init                 write a starter lifecycle.json
  arrowproof view                 draw it, and redraw it at every save
  arrowproof prove notes          prove the bundled service
"""


class LateCommand(click.Command):
    """A command as lists show it. What it takes and does is in its module, which is imported when it is called."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of the command in the module, which takes the place of this one from here on."""
        command: click.Command = importlib.import_module(f"arrowproof.cli.{self.name}").command
        return command.make_context(info_name, args, parent, **extra)


class LateGroup(click.Group):
    """A group that has the names of its commands, and imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        """The command names in the order of their use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's
        """The command, not imported yet, or None for an unknown name."""
        return LateCommand(cmd_name, short_help=COMMANDS[cmd_name]) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names; a word that is near to one is answered with it."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches  # late: for wrong words only

            near = get_close_matches(args[0], COMMANDS, n=1)
            if not near:
                raise
            raise click.UsageError(f"{error.message} Did you mean `{near[0]}`?", ctx) from None


@click.group(
    cls=LateGroup,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="arrowproof")
def cli() -> None:
    """Keep a state diagram true: draw a row's lifecycle as one page, and prove it against the running service.

    MODEL is a lifecycle file; without it, lifecycle.json in the current folder is taken. The word `notes` means the
    lifecycle of the bundled notes service.
    """


def run(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with the status that :mod:`arrowproof.errors` lists."""
    signal.signal(signal.SIGTERM, _terminate)
    let_output_escape()
    sys.exit(status_of(arguments))


class Terminated(KeyboardInterrupt):
    """SIGTERM: everything that was started is ended, as after Ctrl-C."""


def _terminate(_number: int, _frame: object) -> None:
    raise Terminated


def status_of(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    as_json = "--json" in given
    try:
        result = cli.main(args=arguments, prog_name="arrowproof", standalone_mode=False)
        return result if isinstance(result, int) else HOLDS
    except click.ClickException as error:
        error.show()
        if as_json:
            emit_error_object(error.exit_code, error.format_message())
        return error.exit_code
    except (click.Abort, KeyboardInterrupt) as error:
        click.echo("\ninterrupted", err=True)
        status = TERMINATED if isinstance(error.__context__ or error, Terminated) else INTERRUPTED
        if as_json:
            emit_error_object(status, "interrupted")
        return status
    except InternalError as error:
        return _report_bug(error, as_json)
    except ArrowproofError as error:
        emit_error(error, as_json=as_json)
        return error.exit_status
    except SystemExit as error:
        # The two ways in which click exits by itself here: words are completed, which ends with 0, or the reader of
        # our output has gone before its end.
        return PIPE_CLOSED if error.code else HOLDS
    except OSError as error:
        if error.errno not in OUTPUT_FAULTS or error.filename is not None:
            return _report_bug(error, as_json)
        give_up_output()
        click.echo(f"error: standard output cannot be written: {error.strerror}", err=True)
        return INPUT_IS_WRONG
    except Exception as error:
        return _report_bug(error, as_json)


def _report_bug(error: Exception, as_json: bool) -> int:
    """Say that this is our mistake, where it is, and what to send us; return the exit status."""
    import traceback  # late: for bugs only

    said = f"internal error: {type(error).__name__}: {error}"
    click.echo(printable(said), err=True)
    if as_json:
        emit_error_object(INTERNAL, said)
    if os.environ.get("ARROWPROOF_DEBUG"):
        click.echo("".join(traceback.format_exception(error)), err=True)
        return INTERNAL
    last = traceback.extract_tb(error.__traceback__)[-1]
    click.echo(f"  in {last.name}, {last.filename}:{last.lineno}, arrowproof {__version__}", err=True)
    click.echo(
        "This is a bug in Arrowproof, not in your input. Run the same command with ARROWPROOF_DEBUG=1 and send the"
        " trace to the project's issue tracker.",
        err=True,
    )
    return INTERNAL
