"""Stage `complexity-prompt`. What prompted models answer, where an endpoint is given."""

from pathlib import Path

from pydantic import Field, field_validator

from trivium.complexity.prompting import JOURNAL, Messages, PromptedModel, answer, draw_examples, messages_of
from trivium.core.atomic import write_folder
from trivium.core.parameters import Parameters
from trivium.core.stage import stage
from trivium.core.tables import write_json
from trivium.core.tracking import project_root
from trivium.formats.answer_files import write_predictions
from trivium.formats.frame_corpora import read_examples
from trivium.formats.squad import read_squad
from trivium.prompting.answer_cache import AnswerCache

PROMPTS = "prompts.json"


class PromptParameters(Parameters):
    """Section `complexity.prompt`."""

    seed: int = Field(ge=0, description="Draws the examples from the training questions")
    instruction: str = Field(min_length=1, description="Opens every prompt")
    models: dict[str, PromptedModel] = Field(description="Models by name")

    @field_validator("models")
    @classmethod
    def _file_names(cls, models: dict[str, PromptedModel]) -> dict[str, PromptedModel]:
        if bad := [name for name in models if not name.isidentifier() or not name.isascii()]:
            raise ValueError(f"names of files: expected letters, digits and _; got {bad}")
        return models


@stage("complexity.prompt", metrics="metrics/complexity/prompt.json")
def main(
    parameters: PromptParameters,
    *,
    train: Path = Path("data/complexity/raw/fquad/train.json"),
    questions: Path = Path("data/complexity/raw/calor/questions.jsonl"),
    texts: Path = Path("data/complexity/raw/calor/frames/test.jsonl"),
    out_cache: Path = Path("data/complexity/prompt_cache"),
    out: Path = Path("data/complexity/prompted"),
) -> dict[str, float]:
    """Write --out/<model>.jsonl for every model with an endpoint, and a prompt of each to --out/prompts.json.

    Answers in --out-cache are added to the journal first; at the end it is a copy of the journal.

    Returns:
        `<model>_run` (0 or 1); for those run `_questions`, `_cached`, the counts of `Endpoint`, `_refused` (no answer),
        `_not_kept` (silence that is not final: asked again in the next run), one count each of `KINDS`,
        `_reasoned` (replies that thoughts were cut off), `_cut` (at max_tokens), `_prompt_tokens`, `_completion_tokens`
        (of all answers, paid for now or before); `cache_broken_lines`.
    """
    examples = read_examples(questions, texts)
    training = read_squad(train).questions
    shown = {
        name: draw_examples(training, model.examples, parameters.seed, {example.text.text for example in examples})
        for name, model in parameters.models.items()
    }
    cache = AnswerCache(project_root() / JOURNAL)
    cache.merge(out_cache)
    metrics = {"cache_broken_lines": float(cache.broken)}
    prompts: dict[str, Messages] = {}
    with write_folder(out) as folder:
        for name, model in parameters.models.items():
            chats = {
                row.id: messages_of(parameters.instruction, shown[name], row.question, row.text.text)
                for row in examples
            }
            prompts[name] = chats[examples[0].id]
            metrics[f"{name}_run"] = float(model.endpoint is not None)
            if model.endpoint is not None:
                answers, counts = answer(model, examples, chats, cache)
                write_predictions(folder / f"{name}.jsonl", answers)
                metrics |= {f"{name}_{key}": float(value) for key, value in counts.items()}
        write_json(folder / PROMPTS, prompts)
    cache.copy_to(out_cache)
    return metrics
