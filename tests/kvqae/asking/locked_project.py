"""A DVC repository with a lock, written for artifacts that lie there."""

from pathlib import Path

import yaml
from dvc.repo import Repo
from dvc_data.hashfile.build import build


def hash_of(root: Path, path: str) -> str:
    """DVC's hash of what lies there now."""
    cache = repository(root).cache.local
    return build(cache, str(root / path), cache.fs, "md5", dry_run=True)[2].hash_info.value


def repository(root: Path) -> Repo:
    if not (root / ".dvc").exists():
        Repo.init(str(root), no_scm=True).close()
    return Repo(str(root))


def write_lock(root: Path, stages: dict[str, tuple[dict[str, str], list[str]]]) -> None:
    """`dvc.lock` of stages: what each was made from (path → hash), and what it made."""
    repository(root)
    locked = {
        name: {
            "cmd": f"make {name}",
            "deps": [{"path": path, "hash": "md5", "md5": md5} for path, md5 in inputs.items()],
            "outs": [{"path": path, "hash": "md5", "md5": hash_of(root, path)} for path in outputs],
        }
        for name, (inputs, outputs) in stages.items()
    }
    (root / "dvc.lock").write_text(yaml.safe_dump({"schema": "2.0", "stages": locked}))
