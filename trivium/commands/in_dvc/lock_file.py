"""`dvc.lock` in no time, and whole: only the lines of the stage that ran are printed, and what was cut off comes back.

DVC parses and prints the whole file after every stage: with this graph two and a half seconds. Here the lines of other
stages stay as they are; the file comes out the same, byte for byte. A copy of the last whole file is kept in
`.dvc/tmp`. A `dvc.lock` that another program left empty, or cut off after some stages, is restored from it. An entry
of `dvc.lock` says what came out of which inputs once, so that it stays true whatever has changed since. Both files are
written by who holds DVC's lock; a command without it, as `dvc metrics show`, restores what it reads in memory.
"""

import hashlib
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .atomic_files import write

HEAD = "schema: '2.0'\nstages:\n"
KEPT = "kept.dvc.lock"
_STAGE = re.compile(r"^(?=  \S)", re.MULTILINE)
_CONFLICT = re.compile(r"^<<<<<<< ", re.MULTILINE)
_OTHER_KEY = re.compile(r"^(?!schema:|stages:)\S", re.MULTILINE)


def install(dvcfile: Any) -> None:
    """Replace how `dvc.lock` is read and written.

    Args:
        dvcfile: the module `dvc.dvcfile`.
    """
    lockfile = dvcfile.Lockfile
    load, dump_all = lockfile._load, lockfile.dump_stages

    def load_healed(self: Any, **options: Any) -> Any:
        if not is_projects(self):
            return load(self, **options)
        file, kept = Path(self.path), Path(self.repo.tmp_dir) / KEPT
        if self.repo.lock.is_locked:
            if problem := heal(file, kept):
                dvcfile.logger.warning(problem)
        elif found := restored(file, kept):
            from dvc.utils.serialize import parse_yaml

            whole, problem = found
            dvcfile.logger.warning(problem)
            return self.validate(parse_yaml(whole, self.path), self.relpath), whole
        return load(self, **options)

    def dump_stages(self: Any, stages: Iterable[Any], **options: Any) -> None:
        file = Path(self.path)
        before = file.read_text(encoding="utf-8") if file.exists() else HEAD
        if not before.startswith(HEAD) or _OTHER_KEY.search(before) or not is_projects(self):
            dump_all(self, stages, **options)
            return
        after = with_stages(before, stages, **options)
        if after != before:
            dvcfile.logger.info("Updating lock file '%s'", self.relpath)
            write(file, after)
            write(Path(self.repo.tmp_dir) / KEPT, after)
            self.repo.scm_context.track_file(self.relpath)

    lockfile._load, lockfile.dump_stages = load_healed, dump_stages


def is_projects(lockfile: Any) -> bool:
    """Whether it lies on the disk beside `.dvc`: a file of another revision, or of a folder below, is DVC's own."""
    repo = lockfile.repo
    return bool(repo.tmp_dir) and repo.fs.protocol == "local" and Path(lockfile.path).parent == Path(repo.root_dir)


def with_stages(text: str, stages: Iterable[Any], **options: Any) -> str:
    """The file's text with these stages' entries: where they stood, or at its end."""
    from dvc.stage.serialize import to_lockfile
    from dvc.utils.serialize import dumps_yaml

    printed = _blocks(text)
    for stage in stages:
        block = dumps_yaml({"stages": to_lockfile(stage, **options)}).removeprefix("stages:\n")
        printed[_name(block)] = block
    return HEAD + "".join(printed.values())


def heal(file: Path, kept: Path) -> str | None:
    """Restore a lock file that was cut off, and say so in a sentence; keep a copy of another.

    Whoever calls this holds DVC's lock.
    """
    if found := restored(file, kept):
        whole, problem = found
        write(file, whole)
        return problem
    text = _read(file)
    if text.startswith(HEAD) and text != _read(kept) and not _CONFLICT.search(text):
        write(kept, text)
    return None


def restored(file: Path, kept: Path) -> tuple[str, str] | None:
    """The whole text of a lock file that was cut off, with what was missing at its end, and a sentence about that.

    A file is cut off when it is empty, or when it ends within the kept copy's list of stages, in the same order, and
    is no version that Git knows, and no conflict that somebody has to resolve. Stages that `dvc.yaml` no longer names
    stay away.
    """
    if not file.exists():
        return None
    raw = file.read_bytes()
    text = raw.decode("utf-8", "replace")
    lost = _lost(text, _read(kept), _read(file.with_name("dvc.yaml")))
    there = [block for name, block in _blocks(text).items() if name not in lost]
    whole = HEAD + "".join([*there, *lost.values()])
    if not lost or whole == text or _CONFLICT.search(text) or (raw and _known_to_git(file, raw)):
        return None
    return whole, f"'{file.name}' was cut off: {len(lost)} of {len(lost) + len(there)} stages came back from '{kept}'"


def _lost(text: str, saved: str, graph: str) -> dict[str, str]:
    """The kept entries that the text lacks at its end; its last entry is among them if it may be cut off."""
    blocks, kept = list(_blocks(text).items()), list(_blocks(saved).items())
    count = len(blocks)
    same_order = [name for name, _ in blocks[:-1]] == [name for name, _ in kept[: count - 1]] if blocks else True
    if not kept or count > len(kept) or not same_order or not HEAD.startswith(text[: len(HEAD)]):
        return {}
    if blocks:
        last, whole = blocks[-1], kept[count - 1]
        if not whole[0].startswith(last[0].rstrip("\n")) or (count == len(kept) and not _cut(last[1], whole[1])):
            return {}
    rest = dict(kept[max(count - 1, 0) :])
    return {name: block for name, block in rest.items() if f"  {name.strip().rstrip(':').split('@')[0]}:" in graph}


def _cut(block: str, whole: str) -> bool:
    return block != whole and whole.startswith(block)


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""


def _blocks(text: str) -> dict[str, str]:
    return {_name(block): block for block in _STAGE.split(text)[1:]}


def _name(block: str) -> str:
    return block.splitlines()[0]


def _known_to_git(file: Path, raw: bytes) -> bool:
    """Whether this very content was committed or staged once."""
    blob = hashlib.sha1(b"blob %d\0" % len(raw) + raw, usedforsecurity=False).hexdigest()
    done = subprocess.run(["git", "cat-file", "-e", blob], cwd=file.parent, capture_output=True, check=False)
    return done.returncode == 0
