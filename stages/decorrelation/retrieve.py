"""Stage `decorrelation-retrieve`. Captions that a model retrieves for painted and untouched test pictures."""

from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.stage import Context, run_stage
from trivium.decorrelation.retrieval.answers import RetrieveParameters, ask

LOADS = {"trivium.decorrelation.models.kinds": "${item.model}"}  # of these families a cell loads its own member alone


def main(
    parameters: RetrieveParameters,
    context: Context,
    *,
    dataset: str,
    model: Path,
    raw: Path = Path("data/decorrelation/raw/{dataset}"),
    removals: Path = Path("data/decorrelation/removals/{dataset}"),
    painted: Path,
    out: Path,
) -> dict[str, float]:
    """Ask --model about the test pictures of --dataset: painted, drawn again, untouched; tables go to --out."""
    if dataset not in parameters.candidates:
        raise BadInput("no number of candidates for the data set", field="candidates", got=dataset,
                       choices=parameters.candidates)  # fmt: skip
    return ask(
        parameters,
        candidates=parameters.candidates[dataset],
        model=model,
        raw=raw,
        removals=removals,
        painted=painted,
        engine=context.engine,
        work=context.work,
        out=out,
    )


if __name__ == "__main__":
    run_stage(main, "decorrelation.retrieve", RetrieveParameters)
