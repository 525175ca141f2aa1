"""Stage `complexity-page_examples`. The example browser: texts with their frames, and what every model answered."""

from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from trivium.complexity.effects.factor_table import read_names
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.page.common import write_part
from trivium.page.complexity.examples import examples_html
from trivium.page.complexity.material import read_answered, read_published, read_questions_with_factors
from trivium.page.complexity.readers import first_answers


class ExamplesPageParameters(Parameters):
    """Section `complexity.page.examples`."""

    elsewhere: ClassVar = {
        "world": "world.calor",
        "readers": "complexity.finetune.models",
        "prompted": "complexity.prompt.models",
    }
    world: str = Field(description="Where the evaluation texts come from")
    readers: dict[str, dict[str, Any]] = Field(description="Models that are fine-tuned")
    prompted: dict[str, dict[str, Any]] = Field(description="Models that are prompted")
    examples: int = Field(ge=1, description="Questions in the example browser")
    margin: int = Field(
        default=400, ge=0, description="Characters of a long text before its first and after its last marked word"
    )
    answer_characters: int = Field(default=300, ge=1, description="Characters of an answer that the browser shows")
    seed: int = Field(ge=0, description="Of the draw of questions")


def main(
    parameters: ExamplesPageParameters,
    context: Context,
    *,
    questions: Path = Path("data/complexity/raw/calor/questions.jsonl"),
    texts: Path = Path("data/complexity/raw/calor/frames/test.jsonl"),
    scores: Path = Path("data/complexity/scores.parquet"),
    factors: Path = Path("data/complexity/factors.parquet"),
    published: Path = Path("tests/published/complexity.yaml"),
    out: Path = Path("metrics/report/parts/complexity/examples.json"),
) -> dict[str, float]:
    """Render the browser of some examples."""
    known = read_answered(scores, read_published(published), parameters.readers, parameters.prompted)
    names = read_names(factors)
    examples, table = read_questions_with_factors(questions, texts, factors)
    sections, shown = examples_html(
        examples,
        {row["id"]: {factor: row[factor] for factor in names} for row in table.to_pylist()},
        first_answers(known.rows, list(known.ordered)),
        names,
        known.labels,
        count=parameters.examples,
        seed=parameters.seed,
        margin=parameters.margin,
        longest=parameters.answer_characters,
    )
    write_part(out, parameters.world, sections)
    return {"examples": float(shown)}


if __name__ == "__main__":
    run_stage(main, "complexity.page.examples", ExamplesPageParameters, metrics="metrics/complexity/page_examples.json")
