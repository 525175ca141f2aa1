"""One trial, in a process of its own: `python -m bench.paper_size.trial PART FOLDER`."""

import sys
from pathlib import Path

from bench.paper_size.part import part_of

if __name__ == "__main__":
    name, folder = sys.argv[1:]
    part_of(name).run(Path(folder) / "in", Path(folder) / "out")
