"""Answers a second of each kind of model, readers in batches and one at a time: `python -m bench.answers`.

The sample's configurations with the weights they start from: an untrained generative reader writes to its limit, so
that its figure is the slowest it can be. The peer is the same reader asked one question at a time; the answers must
be the same.

A prompted model is as fast as its endpoint. `prompted` asks a real local server, `transformers serve` with the sample's
Llama, on the same cores. An endpoint that answers at once shows the limit which asking itself sets (`prompted_asking`):
requests, and every answer forced to disk; and a rerun reads the cache and asks nothing (`prompted_cached`).
"""

import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from bench import harness
from sample.encoders.french_stand_ins import ComplexityBaseModelsParameters, make_stand_ins
from sample.french.french_world import build_french
from stages.complexity.prompt import PromptParameters
from tests.complexity.local_server import serving, write_chat_template
from tests.prompting.loopback_endpoint import Loopback, said
from trivium.complexity.prompting.prompted_models import PromptedModel
from trivium.complexity.prompting.prompts import Messages, messages_of
from trivium.complexity.readers.interface import READERS, Reader, Reading, settings_of
from trivium.formats.squad import write_squad
from trivium.harness.parameters import read_parameters, section_of, validate
from trivium.prompting.answer_cache import AnswerCache, key_of
from trivium.prompting.asking import ask_all

PARAMS = Path("params.yaml")
QUESTIONS, ALONE, SERVED, BATCH = 512, 32, 64, 64
PROMPTED, SERVED_MODEL = "mixtral", "llama"
MODELS = ("camembert", "minilm", "mt5", "llama")  # one of every kind, and real weights


def world(folder: Path) -> tuple[dict[str, Reader], list[Reading]]:
    """Readers by name, and what they are asked: the sample's French."""
    tree = read_parameters(PARAMS)
    base = section_of(tree, "complexity.base_models", PARAMS) | {"models": MODELS}
    finetune = section_of(tree, "complexity.finetune", PARAMS)
    french = build_french(0, train=QUESTIONS, validation=20, evaluation=60, frame_texts=20)
    write_squad(folder / "train.json", french.fquad["train"])
    parameters = validate(ComplexityBaseModelsParameters, base, "complexity.base_models", PARAMS)
    make_stand_ins(parameters, folder, folder / "base")
    models = {name: settings_of(finetune["models"][name]) for name in MODELS}
    torch.manual_seed(0)
    readers = {
        name: READERS[models[name].kind].start(folder / "base" / models[name].base, models[name]) for name in MODELS
    }
    for reader in readers.values():
        reader.module.eval()
    return readers, [Reading(each.id, each.question, each.context) for each in french.fquad["train"]]


def figures(reader: Reader, readings: list[Reading]) -> dict[str, float]:
    """Answers a second in batches of `BATCH` and alone, and how many answers differ between the two."""
    alone, together = SimpleNamespace(), SimpleNamespace()

    def ask(kept: Any, asked: list[Reading], batch: int) -> None:
        kept.answers = reader.answer(asked, batch)

    seconds = harness.measure(lambda: ask(together, readings, BATCH), repeats=1)
    one_by_one = harness.measure(lambda: ask(alone, readings[:ALONE], 1), repeats=1)
    rates = len(readings) / seconds, len(alone.answers) / one_by_one
    pairs = zip(alone.answers, together.answers[: len(alone.answers)], strict=True)
    return {
        "answers_a_second": rates[0],
        "times_faster_than_one_at_a_time": rates[0] / rates[1],
        "answers_that_differ": float(sum(one != other for one, other in pairs)),
    }


def prompted_figures(folder: Path, readings: list[Reading]) -> dict[str, float]:
    """Answers a second of a prompted model at a real local server, at an endpoint that answers at once, and cached.

    Args:
        folder: holds the sample's base models.
        readings: what is asked; the server is asked the first `SERVED`, and writes as much as the Llama reader may.
    """
    tree = read_parameters(PARAMS)
    parameters = validate(PromptParameters, section_of(tree, "complexity.prompt", PARAMS), "complexity.prompt", PARAMS)
    tokens = tree["complexity"]["finetune"]["models"][SERVED_MODEL]["answer_tokens"]
    chats = [messages_of(parameters.instruction, [], each.question, each.context) for each in readings]
    kept = SimpleNamespace()

    def ask(model: PromptedModel, asked: dict[str, Messages], cache: Path) -> None:
        kept.replies, kept.counts = ask_all(model, asked, AnswerCache(cache))

    def cold(model: PromptedModel, asked: dict[str, Messages]) -> float:
        """Answers a second with an empty cache."""
        seconds = harness.measure(lambda: ask(model, asked, Path(tempfile.mkdtemp(dir=folder))), repeats=1)
        return len(kept.replies) / seconds

    local = {"requests_per_minute": 1e9, "key_variable": None}
    served = folder / "base" / SERVED_MODEL
    write_chat_template(served)
    with serving(served) as address:
        changes = {"endpoint": address, "model": str(served), "max_tokens": tokens, "parallel": 2}
        model = parameters.models[PROMPTED].model_copy(update=local | changes)
        asked = {key_of(model.model, chat, model.sampling): chat for chat in chats[:SERVED]}
        found = {"answers_a_second": cold(model, asked), "served_questions": float(len(asked))}
        written = sum(reply.completion_tokens for reply in kept.replies.values())
        found["tokens_an_answer"] = written / len(kept.replies)
    with Loopback(lambda number, payload: said("la légion")) as server:
        model = parameters.models[PROMPTED].model_copy(update=local | {"endpoint": server.address})
        asked = {key_of(model.model, chat, model.sampling): chat for chat in chats}
        found["asking_answers_a_second"] = cold(model, asked)
        ask(model, asked, folder / "cached")
        first = kept.replies
        cached = harness.measure(lambda: ask(model, asked, folder / "cached"), repeats=5)
    return found | {
        "cached_answers_a_second": kept.counts["cached"] / cached,
        "answers_that_differ": float(sum(kept.replies[key] != reply for key, reply in first.items())),
    }


def main() -> None:
    """Every reader, one after the other; then a prompted model."""
    with tempfile.TemporaryDirectory() as folder:
        readers, readings = world(Path(folder))
        found: dict[str, Any] = {"questions": len(readings), "batch": BATCH}
        for name, reader in readers.items():
            found |= {f"{name}_{figure}": value for figure, value in figures(reader, readings).items()}
        found |= {f"prompted_{figure}": value for figure, value in prompted_figures(Path(folder), readings).items()}
    harness.write("answers", found | {"versions": harness.versions("torch", "transformers", "peft", "openai")})


if __name__ == "__main__":
    main()
