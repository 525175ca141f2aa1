"""Sign a run on real data: its numbers, commit and machine go into a log that docs/reproduction.md shows.

    trivium reproduced --scale pilot --by "Ada Lovelace" [--note "DELG's features from elsewhere"]

The command writes a file below `reproductions/`. Please send it as a change or in an issue. The command accepts a run
only if nothing but `params.yaml`, `dvc.lock`, metrics and digests differs from a commit, if the parameters are those of
the scale, and if the data is real.
"""

import datetime
import platform
import re
import shutil
import subprocess
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from pathlib import Path

import psutil

from trivium.commands.scale import scale_file
from trivium.core.engine import count_cores
from trivium.core.errors import BadInput
from trivium.core.parameters import flatten, read_parameters
from trivium.core.tables import write_json
from trivium.core.tracking import git
from trivium.page.reproduction import LOG, METRICS, WORLDS, read_cells, read_values

MADE = ("params.yaml", "dvc.lock", "code.yaml", "metrics", "reproductions")  # may differ from the commit


def clean_commit(spared: Iterable[str]) -> str:
    """The commit of the code that is here; `BadInput` where anything but what is spared differs from it."""
    if changed := git("diff", "--name-only", "HEAD", "--", ".", *(f":!{name}" for name in spared)).splitlines():
        problem = "edited since the commit: commit your changes first, results are kept with the code that made them"
        raise BadInput(problem, got=changed)
    if not (commit := git("rev-parse", "HEAD")):
        raise BadInput("Git knows no commit here: results are kept with the commit that made them")
    return commit


def require_scale(root: Path, scale: str) -> None:
    """Require the parameters of `scales/{scale}.yaml`; `BadInput` names one that differs, with both values."""
    file = scale_file(scale)
    params = root / "params.yaml"
    used = dict(flatten(read_parameters(params)))
    for field, value in flatten(read_parameters(file)):
        if used.get(field) != value:
            problem = "the parameters are not those of the scale"
            expected = f"{value!r}, as in {file.name}: make scale S={scale}"
            raise BadInput(problem, file=params, field=field, got=used.get(field), expected=expected)


def real_pipelines(root: Path) -> list[str]:
    """The pipelines whose data is not the sample's; `BadInput` where there are none."""
    used = read_parameters(root / "params.yaml")["world"]
    pipelines = [name for name, sources in WORLDS.items() if all(used[source] != "sample" for source in sources)]
    if not pipelines:
        problem = "the sample world reproduces no paper"
        raise BadInput(problem, file=root / "params.yaml", field="world", expected="real data: make scale S=pilot, say")
    return pipelines


def machine() -> str:
    """Processor, cores, memory and GPUs, in a line."""
    processor = platform.processor() or platform.machine()
    listed = Path("/proc/cpuinfo")
    if listed.exists() and (named := re.search(r"^model name\s*: (.*)$", listed.read_text(), re.MULTILINE)):
        processor = named[1]
    query = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    listing = subprocess.run(query, capture_output=True, text=True, check=False) if shutil.which(query[0]) else None
    gpus = listing.stdout.split("\n") if listing and listing.returncode == 0 else []
    parts = [processor, f"{count_cores()} cores", f"{psutil.virtual_memory().total / 2**30:.0f} GiB"]
    return ", ".join([*parts, *filter(None, gpus)])


def options(parser: ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--scale", required=True, help="the scale that ran: a file of scales/, without .yaml")
    parser.add_argument("--by", required=True, help="the name of the person who signs")
    parser.add_argument("--note", default="", help="what was unusual in this run")


def run(arguments: Namespace) -> None:
    """Write the entry."""
    root = Path.cwd()
    require_scale(root, arguments.scale)
    pipelines = real_pipelines(root)
    commit = clean_commit(MADE)
    values = read_values([cell for cell in read_cells() if cell.pipeline in pipelines], root / METRICS)
    if not values:
        raise BadInput("no number of the papers yet", file=root / METRICS, expected="a run: make repro")
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    texts = {name: getattr(arguments, name) for name in ("scale", "by", "note")}
    out = LOG / f"{day}-{arguments.scale}-{commit[:8]}.json"
    write_json(out, {"date": day, "commit": commit, "machine": machine(), "values": values, **texts})
    print(f"{len(values)} numbers of {', '.join(pipelines)}: {out}; `make readme` shows them in docs/reproduction.md")
