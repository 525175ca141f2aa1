"""Ask a trained reader every evaluation question (complexity.md §2)."""

from functools import partial
from pathlib import Path

from pydantic import Field

from trivium.complexity.readers.finetuning import answer_job
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, stage
from trivium.core.tasks import run_task

LOADS = {"trivium.complexity.readers.kinds": "complexity.finetune.models.${item.name}.kind"}  # of the family, per cell


class AnswerParameters(Parameters):
    """Section `complexity.answer`."""

    batch_size: int = Field(ge=1, description="Readings together; halves itself when GPU memory runs out")


@stage("complexity.answer", metrics="metrics/complexity/answer_{name}_{seed}.json")
def main(
    parameters: AnswerParameters,
    context: Context,
    *,
    name: str,
    seed: int,
    model: Path = Path("models/complexity/readers/{name}/seed-{seed}"),
    questions: Path = Path("data/complexity/raw/calor/questions.jsonl"),
    texts: Path = Path("data/complexity/raw/calor/frames/test.jsonl"),
    out: Path = Path("data/complexity/predictions/{name}/seed-{seed}.jsonl"),
) -> dict[str, float]:
    """Write an answer a question to --out; the metrics are those of `answer_job`."""
    task = partial(answer_job, model=model, questions=questions, texts=texts, batch_size=parameters.batch_size)
    return run_task(context, task, out, description="answers")
