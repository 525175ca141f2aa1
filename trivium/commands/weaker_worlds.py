"""`make weaker`: measure what decorrelation does to CLIP in sample worlds with weaker planted effects.

The sample world is tuned to show an effect. Worlds with a seed that was not looked at while tuning, and weaker worlds,
show how far that effect goes. As with `make thorough`, each world runs in a copy of the tree that shares the DVC cache,
and the results are kept with the commit that they come from.
"""

import os
import time
from argparse import Namespace
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from trivium.commands.scale import rescale
from trivium.commands.thorough import SIDE_BY_SIDE, call, clone, committed, signed
from trivium.core.errors import BadInput
from trivium.core.parameters import read_parameters
from trivium.core.tables import read_json, write_json

SCALE = Path("scales/weaker.yaml")
RESULTS = Path("metrics/thorough/decorrelation_weaker.json")
TARGET = "decorrelation-evaluate"
# What differs in `decorrelation.world`: nothing in the chosen one; the seed; one thing less planted at a time.
NOTHING: dict[str, float] = {}
WORLDS = (
    *(NOTHING, {"seed": 4}, {"seed": 5}),
    *({"co_occurrence": 0.9}, {"co_occurrence": 0.5}, {"mention": 0.8}),
)
# Each with the set that it is of.
MEASURES = {"odmap@1": "synthetic", "removed_named": "synthetic", "r@1": "image_to_text"}
KEPT = ("value", "other_value", "difference", "low", "high", "p", "queries", "seeds")


def compared(metrics: Path) -> dict[str, dict[str, Any]]:
    """From decorrelation's metrics, of each measure: ours, finetune, their difference with interval and p.

    Raises:
        BadInput: a comparison is not there.
    """
    file, found = metrics / "comparisons.json", {}
    rows = read_json(file)
    for measure, of in MEASURES.items():
        wanted = {"dataset": "coco", "model": "clip", "variant": "ours", "other_variant": "finetune",
                  "measure": measure, "set": of, "subset": "all"}  # fmt: skip
        row = next((row for row in rows if wanted.items() <= row.items()), None)
        if row is None:
            raise BadInput("no such comparison", file=file, got=wanted)
        found[measure] = {name: row[name] for name in KEPT}
    return found


def reproduce(root: Path, copy: Path, changed: Mapping[str, float]) -> dict[str, Any]:
    """Run one world in its copy.

    Returns:
        `seed`, `co_occurrence` and `mention` of the world as set, how often it drew a partner (`planted`) and named an
        object (`mentioned`), and what `compared` gives (`measures`).
    """
    clone(root, copy)
    call("git", "checkout", "-q", "--", "params.yaml", cwd=copy)
    scale = read_parameters(root / SCALE)
    rescale(copy / "params.yaml", {"decorrelation": {**scale["decorrelation"], "world": dict(changed)}})
    call("dvc", "repro", "-q", TARGET, cwd=copy, DVC_ROOT=str(root), **SIDE_BY_SIDE)
    world = read_parameters(copy / "params.yaml")["decorrelation"]["world"]
    metrics = copy / "metrics" / "decorrelation"
    drawn = read_json(metrics / "world_coco.json")
    return {
        **{name: world[name] for name in ("seed", "co_occurrence", "mention")},
        "planted": drawn["sample_co_occurrence_planted"],
        "mentioned": drawn["sample_mentioned_share"],
        "measures": compared(metrics),
    }


def run(_: Namespace) -> None:
    """Run every world, as many side by side as there are cores, and write what was found."""
    root, started = Path.cwd(), time.perf_counter()
    commit = committed(root)
    copies = [root / ".work" / "thorough" / f"{commit[:12]}-weaker-{number}" for number in range(len(WORLDS))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        worlds = list(pool.map(partial(reproduce, root), copies, WORLDS))
    write_json(RESULTS, signed(commit, started) | {"worlds": worlds})
