"""Run every bench, one after the other, each in a process of its own: `make bench`."""

import subprocess
import sys
from pathlib import Path

for file in sorted(Path(__file__).parent.glob("*.py")):
    if file.stem not in {"__init__", "__main__", "harness"}:
        print(f"\n== {file.stem}", flush=True)
        subprocess.run([sys.executable, "-m", f"bench.{file.stem}"], check=True)
