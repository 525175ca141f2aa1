"""Which changes of code left the default run as it was, to the bit.

`dvc.lock` says with which code each stage made which outputs, and Git has its earlier versions. Two digests of code
give the same bits where stages made the same outputs with the one and with the other. An edit of an error message
changes the digest of all stages; results of the code before it need no new run. What this does not see is a change that
only other worlds, seeds or lengths of training would show.
"""

import subprocess
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

Lock = Mapping[str, Any]
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class SameBits:
    """The changes of code since some commit that left all outputs of the default run as they were.

    Args:
        root: of the project, whose `dvc.lock` is that of a run with the code as it is now.
        since: the commit; where Git does not know it, no change is known to be of the kind.
    """

    def __init__(self, root: Path, since: str) -> None:
        self.root, self.since = root, since

    def __call__(self, before: str, after: str) -> bool:
        """Whether code of the first digest gave what that of the second gives."""
        return before == after or (before, after) in self._changes

    @cached_property
    def _changes(self) -> set[tuple[str, str]]:
        now = (self.root / "dvc.lock").read_text("utf-8") if (self.root / "dvc.lock").exists() else ""
        found, stages = set[tuple[str, str]](), _stages(now)
        for version in self._versions():
            found |= unchanged(_stages(version), stages)
        return found

    def _versions(self) -> Iterator[str]:
        """The texts of `dvc.lock` at the commit, and at each later one that changed it."""
        later = self._git("rev-list", f"{self.since}..HEAD", "--", "dvc.lock").split()
        for commit in [self.since, *later]:
            yield self._git("show", f"{commit}:dvc.lock")

    def _git(self, *arguments: str) -> str:
        """What Git says; nothing where it does not know the commit or the file."""
        return subprocess.run(["git", *arguments], cwd=self.root, capture_output=True, text=True, check=False).stdout


def unchanged(before: Lock, after: Lock) -> set[tuple[str, str]]:
    """The pairs of digests, of a stage's code in one run and in a later one, between which no output changed.

    Args:
        before: stages of a `dvc.lock`.
        after: those of a later one. An output that only one of them has does not count; a pair counts where all stages
            that bear it have the same outputs, at least one each.
    """
    found: dict[tuple[str, str], bool] = {}
    for stage in before.keys() & after.keys():
        one, other = _outputs(before[stage]), _outputs(after[stage])
        common = one.keys() & other.keys()
        same = bool(common) and all(one[path] == other[path] for path in common)
        pair = _digest(stage, before[stage]), _digest(stage, after[stage])
        found[pair] = found.get(pair, True) and same
    return {pair for pair, same in found.items() if same and all(pair)}


def _stages(text: str) -> Lock:
    stages: Lock = (yaml.load(text, LOADER) or {}).get("stages", {})
    return stages


def _outputs(entry: Mapping[str, Any]) -> dict[str, str]:
    return {out["path"]: out["md5"] for out in entry.get("outs", ())}


def _digest(stage: str, entry: Mapping[str, Any]) -> str:
    digests: Mapping[str, str] = entry.get("params", {}).get("code.yaml", {})
    return digests.get(stage, "")
