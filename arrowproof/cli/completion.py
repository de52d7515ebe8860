"""``arrowproof completion``: the shell's completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL.

    \b
    Example:
      arrowproof completion bash > ~/.local/share/bash-completion/completions/arrowproof
    """
    completion = get_completion_class(shell)
    if completion is None:  # pragma: no cover - click ships all three
        raise click.UsageError(f"no completion for {shell}")
    click.echo(completion(ctx.find_root().command, {}, "arrowproof", "_ARROWPROOF_COMPLETE").source())
