"""Stage `decorrelation-retrieve`. Captions that models retrieve for painted and untouched test pictures."""

from pathlib import Path

from trivium.core.atomic import remove_folder, write_atomically
from trivium.core.stage import Context, stage
from trivium.core.tables import read_json, write_json
from trivium.decorrelation.matrix import read_cells
from trivium.decorrelation.retrieval.ranking import RetrieveParameters, ask

LOADS = {"trivium.decorrelation.painting.fillings": "none"}  # names of fillings alone are asked for


@stage("decorrelation.retrieve", metrics="metrics/decorrelation/retrieve.json")
def main(
    parameters: RetrieveParameters,
    context: Context,
    *,
    used: Path = Path("params.yaml"),
    models: Path = Path("models/decorrelation/cells"),
    raw: Path = Path("data/decorrelation/raw"),
    removals: Path = Path("data/decorrelation/removals"),
    painted: Path = Path("data/decorrelation/painted"),
    out: Path = Path("data/decorrelation/retrieved"),
) -> dict[str, float]:
    """Ask the model of every cell of `used` (a params.yaml) about its data set's test pictures.

    The folders hold one of their own for each cell, or data set. A stage that was killed goes on with the cell, and
    within it with the shard, that it lacks.
    """
    metrics: dict[str, float] = {}
    retrieved = context.work / "retrieved"
    for name, cell in read_cells(used).items():
        candidates = parameters.candidates_of(cell.dataset)
        finished = context.work / f"{name}.json"
        if not finished.exists():
            counts = ask(
                parameters,
                candidates=candidates,
                model=models / name,
                raw=raw / cell.dataset,
                removals=removals / cell.dataset,
                painted=painted / cell.dataset / cell.queries,
                engine=context.engine,
                work=context.work / name,
                out=retrieved / name,
            )
            write_json(finished, counts)
            remove_folder(context.work / name)
        metrics |= {f"{name}_{what}": value for what, value in read_json(finished).items()}
    with write_atomically(out) as partial:
        retrieved.replace(partial)
    return metrics
