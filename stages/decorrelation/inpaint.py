"""Stage `decorrelation-inpaint`. Paint over the objects that stage `decorrelation-removals` has chosen."""

import shutil
from functools import partial
from pathlib import Path

from trivium.core.atomic import write_folder
from trivium.core.stage import Context, stage
from trivium.core.tables import write_json
from trivium.decorrelation.painting import inpainting
from trivium.decorrelation.painting.filling import FILLINGS

LOADS = {"trivium.decorrelation.painting.fillings": "${item.filling}"}  # a cell loads its own filling alone


def _has_gpu() -> bool:
    import torch  # only a filling with a network needs it

    return torch.cuda.is_available()


@stage("decorrelation.inpaint", metrics="metrics/decorrelation/inpaint_{dataset}_{filling}.json")
def main(
    parameters: inpainting.InpaintParameters,
    context: Context,
    *,
    dataset: str,
    filling: str,
    raw: Path = Path("data/decorrelation/raw/{dataset}"),
    removals: Path = Path("data/decorrelation/removals/{dataset}"),
    base: Path = Path("models/decorrelation/base"),
    out: Path = Path("data/decorrelation/painted/{dataset}/{filling}"),
) -> dict[str, float]:
    """Paint what --removals says out of the pictures of --raw; --base holds the weights of fillings that have some.

    Writes image shards `train`, `test` and `empty` by removal id, and `filling.json` with their counts.
    """
    kind, settings = FILLINGS[filling], parameters.settings_of(filling)
    chosen = inpainting.subsets(removals)
    counts = {subset: len(part) for subset, part in chosen.items()}
    weights = inpainting.weights_file(base / kind.weights) if kind.weights else None
    work = context.work
    if weights:  # a killed run goes on only with the same weights; the harness sees their folder alone
        work /= f"{weights.stem}-{weights.stat().st_size}-{weights.stat().st_mtime_ns}"
    paint = partial(
        inpainting.paint_shard, images=raw / "images", name=filling, parameters=parameters, weights=weights, work=work
    )
    waiting = [
        shard for subset, part in chosen.items() for shard in inpainting.shards(subset, part, parameters.shard_size)
    ]
    try:
        processes, engine, text = kind.processes(settings), context.engine, f"in-painting, {filling}"
        on_gpu = processes is not None and engine.has_gpu(_has_gpu)
        painted = list(engine.map(paint, waiting, description=text, on_gpu=on_gpu, processes=processes, out=work))
    finally:
        inpainting.load_filling.cache_clear()
        inpainting.open_images.cache_clear()
    with write_folder(out) as path:
        write_json(path / "filling.json", {"filling": filling, "counts": counts})
        for written in painted:
            subset, number = written.parent.name.split("-")
            (path / subset).mkdir(exist_ok=True)
            shutil.move(written, path / subset / f"shard-{number}.parquet")
    return {subset: float(count) for subset, count in counts.items()}
