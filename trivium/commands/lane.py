"""DVC as `trivium/commands/lanes.py` runs it: the same, but that it finds stages and writes `dvc.lock` in no time.

After every stage DVC parses and prints the whole file, in Python: with this graph two and a half seconds, a tenth of
what a processor does in `make repro`, and all other lanes wait. Here the lines of other stages stay as they are. The
file comes out the same, byte for byte.
"""

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from dvc.cli import main
from dvc.dvcfile import Lockfile
from dvc.repo import Repo, reproduce
from dvc.stage import PipelineStage
from dvc.stage.serialize import to_lockfile
from dvc.utils.serialize import dumps_yaml

from trivium.files.atomic import write_atomically

HEAD = "schema: '2.0'\nstages:\n"
_STAGE = re.compile(r"^(?=  \S)", re.MULTILINE)
_dump_all = Lockfile.dump_stages


def dump_stages(lockfile: Lockfile, stages: Iterable[PipelineStage], **options: Any) -> None:
    """Put the stages into `dvc.lock`: where they stood, or at its end. What DVC did not write itself is left to DVC."""
    file = Path(lockfile.path)
    before = file.read_text(encoding="utf-8") if file.exists() else HEAD
    head, *blocks = _STAGE.split(before)
    if head != HEAD:
        _dump_all(lockfile, stages, **options)
        return
    printed = {block.splitlines()[0]: block for block in blocks}
    for stage in stages:
        block = dumps_yaml({"stages": to_lockfile(stage, **options)}).removeprefix("stages:\n")
        printed[block.splitlines()[0]] = block
    after = head + "".join(printed.values())
    if after != before:
        with write_atomically(file) as beside:
            beside.write_text(after, encoding="utf-8")
        lockfile.repo.scm_context.track_file(lockfile.relpath)


def collect_stages(repo: Repo, targets: Sequence[str], **_: object) -> list[PipelineStage]:
    """The stages of these names: DVC would read `dvc.yaml` once more for each."""
    found = {stage.addressing: stage for stage in repo.index.stages}
    return [found[target] for target in targets]


if __name__ == "__main__":
    Lockfile.dump_stages = dump_stages
    if "--single-item" in sys.argv:
        reproduce.collect_stages = collect_stages
    sys.exit(main())
