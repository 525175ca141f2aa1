"""Stage `decorrelation-retrieve`. Captions that each model retrieves for painted and untouched test pictures."""

from pathlib import Path

import torch

from trivium.decorrelation.matrix import read_cells
from trivium.decorrelation.retrieval.answers import Order, RetrieveParameters, ask
from trivium.errors import BadInput
from trivium.files.atomic import write_atomically
from trivium.harness.engine import LocalEngine
from trivium.harness.stage import Context, run_stage


def main(
    parameters: RetrieveParameters,
    context: Context,
    *,
    used: Path,
    models: Path,
    raw: Path,
    removals: Path,
    painted: Path,
    out: Path,
) -> dict[str, float]:
    """Ask the models of --models, the cells of --used, about test pictures: painted, drawn again, untouched.

    A folder a cell goes to --out. With GPUs a process takes one, else there are as many as `run.workers`.
    """
    cells = read_cells(used)
    orders = {}
    for name, cell in cells.items():
        if cell.dataset not in parameters.candidates:
            raise BadInput("no number of candidates for the data set", field="candidates", got=cell.dataset,
                           choices=parameters.candidates)  # fmt: skip
        orders[name] = Order(
            parameters,
            parameters.candidates[cell.dataset],
            models / name,
            raw / cell.dataset,
            removals / cell.dataset,
            painted / cell.dataset / cell.queries,
            context.work / name,
            context.work / "kept",
            context.work / "made" / name,
        )
    gpus = torch.cuda.device_count()
    engine = LocalEngine(gpus) if gpus else context.engine
    metrics: dict[str, float] = {}
    for name, found in zip(orders, engine.map(ask, orders.values(), description="cells"), strict=True):
        metrics |= {f"{name}_{key}": value for key, value in found.items()}
    with write_atomically(out) as beside:
        (context.work / "made").replace(beside)
    return metrics


if __name__ == "__main__":
    run_stage(main, "decorrelation.retrieve", RetrieveParameters)
