"""Stage `complexity-difficulty`. What makes questions hard, without frames: of the evaluation set, and of yours."""

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field, field_validator

from trivium.complexity.difficulty.analysis import difficulty
from trivium.complexity.difficulty.material import DifficultySettings, Judge, brought_sets
from trivium.core.atomic import write_atomically
from trivium.core.stage import Context, run_stage
from trivium.page.difficulty import write_difficulty

EVALUATION = "evaluation"


class DifficultyParameters(DifficultySettings):
    """Section `complexity.difficulty`."""

    elsewhere: ClassVar = {"run": "complexity.finetune.run", "seeds": "complexity.finetune.seeds"}
    run: tuple[str, ...] = Field(min_length=1, description="Fine-tuned readers whose answers are analysed")
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = Field(
        min_length=1, description="Of the readers; the first one's answers are analysed"
    )

    @field_validator("judge")
    @classmethod
    def _computed(cls, judge: Judge) -> Judge:
        if judge == "llm":
            raise ValueError("a stage asks no endpoint: the command `trivium difficulty` does")
        return judge


def main(
    parameters: DifficultyParameters,
    context: Context,
    *,
    questions: Path = Path("data/complexity/evaluation.json"),
    predictions: Path = Path("data/complexity/predictions"),
    brought: Path = Path("brought/complexity/difficulty"),
    out: Path = Path("metrics/complexity/difficulty"),
) -> dict[str, float]:
    """Write a folder a set into --out: the evaluation questions with the readers' answers, and every set brought.

    Returns:
        Counts, every model's means, how far models agree on what is hard, and the effects; of a set brought with its
        name before them.
    """
    sets = {EVALUATION: (questions, _answers(predictions, parameters))} | brought_sets(brought, {EVALUATION})
    settings = DifficultySettings(**parameters.model_dump(exclude={"run", "seeds"}))
    metrics: dict[str, float] = {}
    with write_atomically(out) as beside:
        for name, (file, answers) in sets.items():
            print(f"{name}:")
            found = difficulty(file, answers, settings=settings)
            write_difficulty(found, beside / name, title=name)
            prefix = "" if name == EVALUATION else f"{name}_"
            metrics |= {f"{prefix}{key}": value for key, value in found.metrics.items()}
    return metrics


def _answers(predictions: Path, parameters: DifficultyParameters) -> dict[str, Path]:
    """Each reader's answers of its first seed."""
    return {name: predictions / name / f"seed-{parameters.seeds[0]}.jsonl" for name in parameters.run}


if __name__ == "__main__":
    run_stage(main, "complexity.difficulty", DifficultyParameters, metrics="metrics/complexity/difficulty.json")
