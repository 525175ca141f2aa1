"""Stage `complexity-difficulty`. What makes questions of the evaluation set hard, without frames."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from trivium.complexity.difficulty.analysis import difficulty
from trivium.complexity.difficulty.material import DifficultySettings
from trivium.core.atomic import write_atomically
from trivium.core.parameters import shared
from trivium.core.stage import stage
from trivium.page.difficulty import write_difficulty

EVALUATION = "evaluation"


class DifficultyParameters(DifficultySettings):
    """Section `complexity.difficulty`."""

    run: tuple[str, ...] = shared("complexity.finetune.run", min_length=1, description="Readers that are analysed")
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = shared(
        "complexity.finetune.seeds", min_length=1, description="Of the readers; the first one's answers are analysed"
    )


@stage("complexity.difficulty", metrics="metrics/complexity/difficulty.json")
def main(
    parameters: DifficultyParameters,
    *,
    questions: Path = Path("data/complexity/evaluation.json"),
    predictions: Path = Path("data/complexity/predictions"),
    out: Path = Path("metrics/complexity/difficulty"),
) -> dict[str, float]:
    """Analyse the readers' answers to the evaluation questions into `out`/evaluation, as `trivium difficulty` does.

    Returns:
        Counts, every model's means, how far models agree on what is hard, and the effects.
    """
    answers = {name: predictions / name / f"seed-{parameters.seeds[0]}.jsonl" for name in parameters.run}
    settings = DifficultySettings(**parameters.model_dump(exclude={"run", "seeds"}))
    result = difficulty(questions, answers, settings=settings)
    with write_atomically(out) as folder:
        write_difficulty(result, folder / EVALUATION, title=EVALUATION)
    return result.metrics
