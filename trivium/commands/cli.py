"""The command `trivium`: its sub-commands with a line each; a sub-command is imported when it is called.

    trivium plan --scale scales/paper.yaml

`python -m trivium plan` is the same where the package is not installed. Every sub-command but those of `ANYWHERE`
works on a project: a folder with `dvc.yaml`, `params.yaml` and what the graph has made, the one that Git cloned.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from trivium.errors import BadInput
from trivium.redaction import redact_output

FAMILY = "trivium.commands"  # whose modules are imported by name
# Sub-command → its line; the module is of the same name, with _ for -.
COMMANDS = {
    "doctor": "what this machine has and lacks, and what each lack means",
    "plan": "what each stage downloads and costs at a scale, before anything starts",
    "scale": "merge a file of scales/ into params.yaml and show what changed",
    "kb": "a folder of texts and pictures as a knowledge base that questions are asked of",
    "ask": "answer a question of your own about a picture of your own",
    "ask-page": "the same in the browser (make ask)",
    "delg": "the images that RRT compares and that DELG's own tool has not described yet, as that tool reads them",
    "difficulty": "what makes the questions of any set hard for the models that answered them",
    "odmap": "how much any model of pictures and texts guesses: a leaderboard on the graph's queries",
    "push": "share a model or a data set that the graph has made, with its card",
    "lanes": "run the graph, without a GPU with stages side by side (make repro)",
    "dag": "the stages of one pipeline and what each needs, as a picture (make dag)",
    "compare": "experiments side by side: the parameters that differ, and the headline",
    "thorough": "all seeds, grids and sweeps, in a copy of the tree",
    "weaker-worlds": "decorrelation where the sample world plants less (make weaker)",
    "reproduced": "sign a run on real data: its numbers, commit and machine go into a log",
    "readme": "renew what README.md and docs/ show of the graph and of its numbers",
}
ANYWHERE = {"difficulty", "kb"}  # need no project
OWN_BASE = "--kb"  # an option of some, with which they need none
HELP = {"-h", "--help"}
PROJECT = ("dvc.yaml", "params.yaml")


def usage() -> str:
    """What `trivium --help` says."""
    lines = (f"  {name:15}{line}" for name, line in COMMANDS.items())
    first = "usage: trivium [--help] command …\n\nKVQAE, decorrelated retrieval, and what makes reading hard."
    return "\n".join([first, "\ncommands:", *lines, "\n`trivium command --help` says what a command takes."])


def module_of(command: str) -> str:
    """The module of a sub-command.

    Raises:
        BadInput: there is no such sub-command.
    """
    if command not in COMMANDS:
        raise BadInput("no such command", got=command, choices=list(COMMANDS))
    return f"trivium.commands.{command.replace('-', '_')}"


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
    """Run a sub-command; its `main` finds its own arguments in `sys.argv`, as under `python -m`."""
    redact_output()
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
    import_module(module).main()
