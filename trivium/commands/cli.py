"""The command `trivium`: its sub-commands with a line each; a sub-command is imported when it is called.

    trivium plan --scale paper

`python -m trivium plan` is the same where the package is not installed. Every sub-command but those of `ANYWHERE`
works on a project: a folder with `dvc.yaml`, `params.yaml` and what the graph has made, the one that Git cloned.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.redaction import redact_output

FAMILY = "trivium.commands"  # whose modules are imported by name
# Sub-command → its line; the module is of the same name, with _ for -.
COMMANDS = {
    "doctor": "say what this machine has and lacks, and what each lack means (make doctor)",
    "plan": "say what each stage downloads and costs at a scale, before anything starts (make plan)",
    "scale": "merge a file of scales/ into params.yaml and show what changed (make scale)",
    "kb": "turn a folder of texts and pictures into a knowledge base that answers questions",
    "ask": "answer a question of your own about a picture of your own",
    "ask-page": "open a page in the browser that answers such questions (make ask)",
    "encoder": "fetch the public weights of an encoder of today, for rows of KVQAE's tables",
    "delg": "write the images that DELG's own tool has yet to describe for the image re-ranker RRT",
    "difficulty": "say what makes the questions of any set hard for the models that answered them",
    "odmap": "measure how much any model of pictures and texts guesses, and write a leaderboard",
    "push": "share a model or a data set that the graph has made, with a card that describes it",
    "repro": "run the graph; without a GPU several stages run at the same time (make repro)",
    "dag": "draw the stages of one pipeline and what each needs (make dag)",
    "compare": "show experiments side by side: the parameters that differ, and the main numbers (make compare)",
    "thorough": "test the claims in three worlds, and run all seeds, grids and sweeps (make thorough)",
    "weaker-worlds": "measure decorrelation in worlds with weaker planted effects (make weaker)",
    "reproduced": "sign a run on real data: its numbers, commit and machine go into a log",
    "readme": "write the generated parts of README.md and docs/ again (make readme)",
    "completion": "print what a shell needs to complete commands and options",
}
ANYWHERE = {"completion", "difficulty", "kb"}  # need no project
# What `pip install 'trivium[…]'` has to add for a command; `all` where it is not here.
EXTRAS = {"ask": "kvqae", "ask-page": "kvqae", "kb": "kvqae", "odmap": "decorrelation"}
# It finds faces; no extra can have it: it asks for an old torch, and does without.
NO_EXTRA = {"facenet_pytorch": "--no-deps facenet-pytorch"}
OWN = {"trivium", "stages", "sample"}  # what of these is missing is no package
OWN_BASE = "--kb"  # an option of some, with which they need none
HELP = {"-h", "--help"}
PROJECT = ("dvc.yaml", "params.yaml")


def usage() -> str:
    """What `trivium --help` says."""
    lines = (f"  {name:15}{line}" for name, line in COMMANDS.items())
    about = (
        "Trivium reproduces three papers: questions about entities in images (KVQAE), image-text retrieval that looks\n"
        "instead of guessing (decorrelation), and what makes reading comprehension hard (complexity)."
    )
    first = f"usage: trivium [--help] command …\n\n{about}"
    return "\n".join([first, "\ncommands:", *lines, "\n`trivium command --help` describes the arguments of a command."])


def module_of(command: str) -> str:
    """The module of a sub-command.

    Raises:
        BadInput: there is no such sub-command.
    """
    if command not in COMMANDS:
        raise BadInput("no such command", got=command, choices=list(COMMANDS))
    return f"trivium.commands.{command.replace('-', '_')}"


def parser_of(command: str) -> argparse.ArgumentParser:
    """What a sub-command takes.

    Raises:
        BadInput: there is no such sub-command.
        ModuleNotFoundError: it needs an extra that is not installed.
    """
    made: argparse.ArgumentParser = import_module(module_of(command)).parser()
    return made


def require_project(folder: Path) -> None:
    """Refuse a folder that is no project.

    Raises:
        BadInput: a file of `PROJECT` is not in it.
    """
    for name in PROJECT:
        if not (folder / name).is_file():
            raise BadInput(
                "not a project of Trivium: the package holds no graph, no parameters and nothing that was trained",
                file=folder / name,
                expected="the folder that Git cloned: go there first",
            )


def main(argv: Sequence[str] | None = None) -> None:
    """Run a sub-command; a reader who has seen enough (`trivium … | head`) ends it, without a traceback."""
    redact_output()
    try:
        try:
            _run(argv)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None


def _run(argv: Sequence[str] | None) -> None:
    """A sub-command's `main` finds its own arguments in `sys.argv`, as under `python -m`."""
    command, *rest = (sys.argv[1:] if argv is None else argv) or ["--help"]
    if command in HELP:
        print(usage())
        return
    try:
        module = module_of(command)
        own_base = any(each == OWN_BASE or each.startswith(f"{OWN_BASE}=") for each in rest)
        if command not in ANYWHERE and not own_base and not HELP & set(rest):
            require_project(Path.cwd())
    except BadInput as error:
        print(f"trivium: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    sys.argv = [f"trivium {command}", *rest]
    try:
        import_module(module).main()
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] in OWN:
            raise
        wanted = NO_EXTRA.get(str(error.name)) or f"'trivium[{EXTRAS.get(command, 'all')}]'"
        print(f"trivium {command}: {error.name} is missing: pip install {wanted}", file=sys.stderr)
        raise SystemExit(1) from None
