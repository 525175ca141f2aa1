"""Measured on real data, which the project does not hold (`make real`): figures only."""

import datetime
import os
import subprocess
from pathlib import Path

REAL = Path(os.environ.get("TRIVIUM_REAL", "../shared/real"))  # sets that no package of the index carries
RESULTS = Path("metrics/real")


def committed() -> dict[str, str]:
    """Date and commit that figures are kept with; uncommitted changes, but for results, are refused."""
    if _git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!metrics", ":!dvc.lock"):
        raise SystemExit("commit your changes first: figures are kept with the commit they come from")
    return {"date": datetime.datetime.now(datetime.UTC).date().isoformat(), "commit": _git("rev-parse", "HEAD")}


def _git(*arguments: str) -> str:
    return subprocess.run(("git", *arguments), check=True, capture_output=True, text=True).stdout.strip()
