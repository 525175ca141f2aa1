"""Answers a second of each kind of reader beside two peers, and of a prompted model: `python -m bench.answers`.

The sample's configurations with the weights they start from: an untrained generative reader writes to its limit, so
that its figure is the slowest it can be. The popular way is transformers' question by question, by `generate` where an
answer is written; it does `ALONE` questions. An expert takes batches of similar length, merges LoRA's matrices into the
weights, and writes greedily in a loop of a few lines. The answers must be the same; the batch is a parameter, and so
the same for both.

A prompted model is as fast as its endpoint. `prompted` asks a real local server, `transformers serve` with the sample's
Llama, on the same cores. An endpoint that answers at once shows the limit which asking itself sets (`prompted_asking`):
requests, and every answer forced to disk; and a rerun reads the cache and asks nothing (`prompted_cached`).
"""

import copy
import math
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from bench import harness
from sample.encoders.french_stand_ins import ComplexityBaseModelsParameters, make_stand_ins
from sample.french.french_world import build_french
from stages.complexity.prompt import PromptParameters
from tests.complexity.local_server import serving, write_chat_template
from tests.prompting.loopback_endpoint import Loopback, said
from trivium.complexity.prompting import Messages, PromptedModel, messages_of
from trivium.complexity.readers.interface import READERS, Reader, Reading, settings_of
from trivium.core.parameters import read_parameters, section_of, validate
from trivium.formats.squad import write_squad
from trivium.nets.device import autocast
from trivium.prompting.answer_cache import AnswerCache, key_of
from trivium.prompting.asking import ask_all

PARAMS = Path("params.yaml")
QUESTIONS, ALONE, SERVED, BATCH = 256, 32, 64, 64
LORA = 0.02  # deviation of the matrices that training would have changed
EXTRACTIVE_WHY = "every window becomes an object with its tokens' places, so that training and reading share it"
WRITING_WHY = "contexts are cut until the prompt fits, and `generate` prepares every token's inputs anew"
ADAPTED_WHY = (
    "LoRA's matrices stay apart from the frozen weights, three products for one: merged in float32, as here, they give "
    "the same answers, but in bf16, as on a GPU, the sums are rounded, and half of the answers are others"
)
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
        for name, weights in reader.module.named_parameters():
            if "lora_B" in name:  # 0 at first: merged or not, answers would be those of the base model
                torch.nn.init.normal_(weights, std=LORA)
    return readers, [Reading(each.id, each.question, each.context) for each in french.fquad["train"]]


def by_length(texts: Sequence[Sequence[int]], batch: int) -> list[list[int]]:
    """Their numbers in batches, the longest first."""
    order = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
    return [order[start : start + batch] for start in range(0, len(order), batch)]


@torch.inference_mode()
def extract(reader: Any, batch: int, readings: Sequence[Reading]) -> list[str]:
    """The best span of each context, windows in batches of similar length."""
    settings, tokenizer, module = reader.settings, reader.tokenizer, reader.module
    encoded = tokenizer(
        [each.question for each in readings], [each.context for each in readings], truncation="only_second",
        max_length=settings.max_tokens, stride=settings.stride, return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )  # fmt: skip
    best = [(-math.inf, 0, 0)] * len(readings)
    for rows in by_length(encoded["input_ids"], batch):
        part = tokenizer.pad({"input_ids": [encoded["input_ids"][row] for row in rows]}, return_tensors="pt")
        inside = torch.zeros(part["input_ids"].shape, dtype=torch.bool)
        for row, line in zip(rows, inside, strict=True):
            line[[place for place, text in enumerate(encoded.sequence_ids(row)) if text == 1]] = True
        if module.config.type_vocab_size > 1:  # from the context on, to the end
            part["token_type_ids"] = (inside.cumsum(1) > 0) * part["attention_mask"]
        with autocast(module.device):
            output = module(**part.to(module.device))
        outside = ~inside
        outside[:, 0] = False  # the first token says "not in this window"
        starts, ends = (
            logits.float().cpu().masked_fill(outside, -math.inf).log_softmax(1)
            for logits in (output.start_logits, output.end_logits)
        )
        width = inside.shape[1]
        near = torch.ones(width, width, dtype=torch.bool).triu().tril(settings.answer_tokens - 1)
        fits = near & inside[:, :, None] & inside[:, None]
        scores, places = (starts[:, :, None] + ends[:, None]).masked_fill(~fits, -math.inf).flatten(1).max(1)
        for row, score, place in zip(rows, scores.tolist(), places.tolist(), strict=True):
            owner, characters = encoded["overflow_to_sample_mapping"][row], encoded["offset_mapping"][row]
            found = (score, -characters[place // width][0], -characters[place % width][1])
            best[owner] = max(best[owner], found)
    return [each.context[-left:-right].strip() for each, (_, left, right) in zip(readings, best, strict=True)]


def prompts(reader: Any, readings: Sequence[Reading]) -> list[str]:
    """The template filled; the sample's contexts are short enough for all of it."""
    return [reader.settings.template.format(question=each.question, context=each.context) for each in readings]


@torch.inference_mode()
def by_generate(reader: Any, readings: Sequence[Reading]) -> list[str]:
    """What transformers' `generate` writes, prompt by prompt."""
    module, tokenizer, answers = reader.module, reader.tokenizer, []
    for prompt in prompts(reader, readings):
        tokens = tokenizer(prompt, return_tensors="pt", return_token_type_ids=False).to(module.device)
        with autocast(module.device):
            written = module.generate(**tokens)[0]
        before = 1 if module.config.is_encoder_decoder else tokens["input_ids"].shape[1]
        answers.append(tokenizer.decode(written[before:], skip_special_tokens=True).strip())
    return answers


@torch.inference_mode()
def by_loop(reader: Any, module: Any, batch: int, readings: Sequence[Reading]) -> list[str]:
    """The same by a loop over the tokens, in batches of similar length."""
    tokenizer, both = reader.tokenizer, module.config.is_encoder_decoder
    encoded, answers = tokenizer(prompts(reader, readings))["input_ids"], [""] * len(readings)
    for rows in by_length(encoded, batch):
        tokens = {"input_ids": [encoded[row] for row in rows]}
        tokens = tokenizer.pad(tokens, padding_side="right" if both else "left", return_tensors="pt").to(module.device)
        mask, going = tokens["attention_mask"], torch.ones(len(rows), 1, dtype=torch.bool, device=module.device)
        if both:
            with autocast(module.device):
                read = module.get_encoder()(**tokens)
            first = going * module.config.decoder_start_token_id
            inputs = {"encoder_outputs": read, "attention_mask": mask, "decoder_input_ids": first}
        else:
            inputs = {**tokens, "position_ids": (mask.cumsum(1) - 1).clamp(min=0), "logits_to_keep": 1}
        written: list[Tensor] = []
        while going.any() and len(written) < reader.settings.answer_tokens:
            with autocast(module.device):
                output = module(**inputs, use_cache=True)
            written.append(torch.where(going, output.logits[:, -1:].argmax(-1), tokenizer.eos_token_id))
            going = going & (written[-1] != tokenizer.eos_token_id)
            inputs |= {"decoder_input_ids" if both else "input_ids": written[-1]}
            inputs["past_key_values"] = output.past_key_values
            if not both:
                mask = torch.cat([mask, torch.ones_like(written[-1])], dim=1)
                inputs |= {"attention_mask": mask, "position_ids": mask.sum(1, keepdim=True) - 1}
        texts = tokenizer.batch_decode(torch.cat(written, dim=1), skip_special_tokens=True)
        for row, text in zip(rows, texts, strict=True):
            answers[row] = text.strip()
    return answers


def race(reader: Any, readings: list[Reading]) -> dict[str, Any]:
    """All readings, after the answers have been compared.

    Raises:
        AssertionError: a peer answers something else.
    """
    few, module = readings[:ALONE], copy.deepcopy(reader.module)
    if reader.name == "extractive":
        why, kind = EXTRACTIVE_WHY, "torch, batches of windows"
        popular, expert = partial(extract, reader, 1, few), partial(extract, reader, BATCH, readings)
    else:
        adapted = reader.name == "causal"
        why, kind = (ADAPTED_WHY, "torch, LoRA merged, a loop") if adapted else (WRITING_WHY, "torch, a loop")
        merged = module.merge_and_unload() if adapted else module
        popular, expert = partial(by_generate, reader, few), partial(by_loop, reader, merged, BATCH, readings)
    answers = [each.text for each in reader.answer(readings, BATCH)]
    for peer, found in (("transformers", popular()), (kind, expert())):
        differ = sum(one != other for one, other in zip(answers[: len(found)], found, strict=True))
        if differ:
            raise AssertionError(f"{differ} answers of {reader.settings.label} are others by {peer}")
    return harness.race(
        lambda: reader.answer(readings, BATCH),
        harness.Peer("transformers, one by one", popular, len(few) / len(readings)),
        harness.Peer(kind, expert),
        gflop=harness.gflop(expert),
        gigabytes=1e-9 * sum(weights.nbytes for weights in reader.module.parameters()),
        why=why,
    )


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
        races = {f"{name}, {len(readings)} questions": race(reader, readings) for name, reader in readers.items()}
        for name, each in zip(readers, races.values(), strict=True):
            found[f"{name}_answers_a_second"] = len(readings) / each["seconds"]
        found |= {f"prompted_{figure}": value for figure, value in prompted_figures(Path(folder), readings).items()}
    found |= {"races": races, "versions": harness.versions("torch", "transformers", "peft", "openai")}
    harness.write("answers", found)


if __name__ == "__main__":
    main()
