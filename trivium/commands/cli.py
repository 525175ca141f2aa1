"""The command `trivium`: its sub-commands with a line each; a sub-command is imported when it is called.

    trivium plan --scale paper

`python -m trivium plan` is the same where the package is not installed. A module of this room is one sub-command: its
docstring is what `--help` says, `options` declares what it takes, and `run` does it; what it raises is told here. Every
sub-command but those of `ANYWHERE` works on a project: a folder with `dvc.yaml`, `params.yaml` and what the graph made.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile

from trivium.core.errors import BadInput, how_to_install, redact_output

FAMILY = "trivium.commands"  # whose modules are imported by name
# Sub-command → its line; the module is of the same name, with _ for -.
COMMANDS = {
    "doctor": "say what this machine has and lacks, and what each lack means (make doctor)",
    "plan": "say what each stage downloads and costs at a scale, before anything starts (make plan)",
    "scale": "merge a file of scales/ into params.yaml and show what changed (make scale)",
    "kb": "turn a folder of texts and pictures into a knowledge base that answers questions",
    "ask": "answer a question of your own about a picture of your own",
    "ask-page": "open a page in the browser that answers such questions (make ask)",
    "delg": "write the images that DELG's own tool has yet to describe for the image re-ranker RRT",
    "difficulty": "say what makes the questions of any set hard for the models that answered them",
    "odmap": "measure how much any model of pictures and texts guesses, and write a leaderboard",
    "push": "share a model or a data set that the graph has made, with a card that describes it",
    "repro": "run the graph; without a GPU several stages run at the same time (make repro)",
    "compare": "show experiments side by side: the parameters that differ, and the main numbers (make compare)",
    "thorough": "test the claims in three worlds, and run all seeds, grids and sweeps (make thorough)",
    "reproduced": "sign a run on real data: its numbers, commit and machine go into a log",
    "readme": "write the generated parts of README.md and docs/ again (make readme)",
}
ANYWHERE = {"difficulty", "kb"}  # need no project
EXTRAS = {"ask": "kvqae", "ask-page": "kvqae", "kb": "kvqae", "odmap": "decorrelation"}  # else all
# It finds faces; no extra can have it: it asks for an old torch, and does without.
NO_EXTRA = {"facenet_pytorch": "`pip install --no-deps facenet-pytorch`"}
OWN = {"trivium", "stages", "sample"}  # what of these is missing is no package
INSTEAD = {"ask": "--kb", "ask-page": "--kb", "odmap": "--set"}  # the option with which they need none
HELP = {"-h", "--help"}
PROJECT = ("dvc.yaml", "params.yaml")
ABOUT = """\
usage: trivium [--help] command …

Trivium reproduces three papers: questions about entities in images (KVQAE), image-text retrieval that looks
instead of guessing (decorrelation), and what makes reading comprehension hard (complexity).

commands:
{commands}

`trivium command --help` describes the arguments of a command."""


def parser_of(command: str) -> argparse.ArgumentParser:
    """The parser of a sub-command; `arguments.refuse(…)` ends it with its usage.

    Raises:
        ModuleNotFoundError: it needs an extra that is not installed.
    """
    module = import_module(f"{FAMILY}.{command.replace('-', '_')}")
    parser = argparse.ArgumentParser(
        prog=f"trivium {command}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=module.run, refuse=parser.error)
    if hasattr(module, "options"):
        module.options(parser)
    return parser


def run(command: str, words: Sequence[str] = ()) -> None:
    """Run a sub-command; an error ends it with one message that begins with its name.

    Args:
        command: of `COMMANDS`.
        words: its arguments.
    """
    try:
        arguments = parser_of(command).parse_args(words)
        for name in ("out", "folder"):
            if path := getattr(arguments, name, None):
                require_writable(path, f"--{name}")
        arguments.run(arguments)
        return
    except BadInput as error:
        problem, status = str(error), 1
    except KeyboardInterrupt:
        problem = "stopped; nothing half-written is left, and the same command goes on with what is kept"
        status = 130
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] in OWN:
            raise
        extra = EXTRAS.get(command, "all")
        problem, status = f"{error.name} is missing: {NO_EXTRA.get(str(error.name)) or how_to_install(extra)}", 1
    except Exception as error:
        if not isinstance(error, getattr(sys.modules.get("dvc.exceptions"), "DvcException", ())):
            raise
        problem, status = str(error), 1  # a file that DVC cannot read
    shown = "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in problem)
    print(f"trivium {command}: {shown}", file=sys.stderr)
    raise SystemExit(status) from None


def require_writable(path: Path, option: str) -> None:
    """Raise `BadInput` where a file or folder cannot be made, before the work begins."""
    place = path.absolute().parent if path.is_file() else path.absolute()
    above = next(folder for folder in (place, *place.parents) if folder.exists())
    try:  # what the system says of permissions is not all: the superuser cannot write to /proc either
        TemporaryFile(dir=above).close()
    except OSError:
        expected = "a place in a folder that can"
        raise BadInput("cannot be written", field=option, got=str(path), expected=expected) from None


def require_project(command: str, words: Sequence[str], folder: Path) -> None:
    """Refuse an unknown sub-command, and a folder that is no project where it needs one.

    Raises:
        BadInput: no such sub-command, or a file of `PROJECT` is not in the folder.
    """
    if command not in COMMANDS:
        raise BadInput("no such command", got=command, choices=list(COMMANDS))
    instead = any(word.partition("=")[0] == INSTEAD.get(command) for word in words)
    missing = [folder / name for name in PROJECT if not (folder / name).is_file()]
    if missing and command not in ANYWHERE and not instead and not HELP & set(words):
        problem = "not a project of Trivium: the package holds no graph, no parameters and nothing that was trained"
        raise BadInput(problem, file=missing[0], expected="the folder that Git cloned: go there first")


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line; it ends when its output is no longer read (`trivium … | head`)."""
    redact_output()
    command, *rest = (sys.argv[1:] if argv is None else argv) or ["--help"]
    try:
        try:
            if command in HELP:
                print(ABOUT.format(commands="\n".join(f"  {name:15}{line}" for name, line in COMMANDS.items())))
            else:
                require_project(command, rest, Path.cwd())
                run(command, rest)
        except BadInput as error:
            print(f"trivium: {error}", file=sys.stderr)
            raise SystemExit(2) from None
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
