"""Measurements on real data, which the repository does not contain (`make real`): figures only."""

import datetime
import os
import subprocess
from pathlib import Path

REAL = Path(os.environ.get("TRIVIUM_REAL", "../shared/real"))  # folder of sets that no package of the index has
RESULTS = Path("metrics/real")


def committed() -> dict[str, str]:
    """Return date and commit, which figures are kept with; uncommitted changes, except to results, are refused."""
    if _git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!metrics", ":!dvc.lock"):
        raise SystemExit("commit your changes first: figures are kept with the commit they come from")
    return {"date": datetime.datetime.now(datetime.UTC).date().isoformat(), "commit": _git("rev-parse", "HEAD")}


def _git(*arguments: str) -> str:
    return subprocess.run(("git", *arguments), check=True, capture_output=True, text=True).stdout.strip()
