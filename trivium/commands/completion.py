"""`trivium completion SHELL`: what a shell needs to complete commands, options and files.

    trivium completion bash > ~/.local/share/bash-completion/completions/trivium

The script knows the options of this version, and starts nothing: print it anew after an update.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

import shtab

from trivium.commands import cli

SHELLS = ("bash", "zsh", "fish")


def script(commands: Mapping[str, str], shell: str) -> str:
    """The script of a shell.

    Args:
        commands: name → its line, of every sub-command.
        shell: one of `SHELLS`.
    """
    root = argparse.ArgumentParser(prog="trivium")
    added = root.add_subparsers()
    for name, line in commands.items():
        try:
            takes = cli.parser_of(name)
        except ModuleNotFoundError:  # of an extra that is not installed
            takes = argparse.ArgumentParser()
        for action in takes._actions:
            if action.type is Path:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
        added.add_parser(name, parents=[takes], add_help=False, help=line, description=line)
    return shtab.complete(root, shell)


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("shell", choices=SHELLS, help="the shell to print it for")


def run(arguments: argparse.Namespace) -> None:
    """Print the script."""
    print(script(cli.COMMANDS, arguments.shell))
