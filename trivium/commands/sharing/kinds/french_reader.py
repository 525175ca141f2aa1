"""Readers of French questions: extractive and encoder-decoder ones in transformers' format, adapters in peft's."""

import json
from collections.abc import Mapping
from json import dumps
from pathlib import Path

from trivium.commands.sharing.licence import Start, start_in
from trivium.commands.sharing.package import Artifact, Described, Kind
from trivium.complexity.readers.interface import SETTINGS
from trivium.core.errors import BadInput
from trivium.core.tables import read_json

_EXTRACTIVE = """
import torch
from transformers import AutoModelForQuestionAnswering, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained({name})
model = AutoModelForQuestionAnswering.from_pretrained({name}).eval()
question = "Où naquit la reine ?"
context = "La reine naquit à Paris. Elle mourut en 1252."
inputs = tokenizer(question, context, truncation="only_second", max_length={tokens}, return_offsets_mapping=True,
                   return_tensors="pt")
offsets = inputs.pop("offset_mapping")[0]
inside = torch.tensor([part == 1 for part in inputs.sequence_ids()])
{types}with torch.inference_mode():
    output = model(**inputs)
scores = output.start_logits[0][:, None] + output.end_logits[0][None, :]
allowed = inside[:, None] & inside[None, :]
allowed &= torch.ones_like(allowed).triu().tril({longest} - 1)  # at most {longest} tokens
best = scores.masked_fill(~allowed, -torch.inf).argmax()
start, end = (int(each) for each in torch.unravel_index(best, scores.shape))
answer = context[offsets[start, 0] : offsets[end, 1]].strip()
print(answer)
"""
# Segments as in training: of some tokenizers, CamemBERT's among them, they are not the tokenizer's own.
_TYPES = """inputs["token_type_ids"] = (inside.cumsum(0) > 0).long()[None]
"""
_SEQ2SEQ = """
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained({name})
model = AutoModelForSeq2SeqLM.from_pretrained({name}).eval()
question = "Où naquit la reine ?"
context = "La reine naquit à Paris. Elle mourut en 1252."
prompt = {template}.format(question=question, context=context)
inputs = tokenizer(prompt, truncation=True, max_length={tokens}, return_token_type_ids=False, return_tensors="pt")
written = model.generate(**inputs, max_new_tokens={longest}, do_sample=False, num_beams=1)
answer = tokenizer.decode(written[0], skip_special_tokens=True).strip()
print(answer)
"""
_CAUSAL = """
from peft import AutoPeftModelForCausalLM
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained({base})
model = AutoPeftModelForCausalLM.from_pretrained({name}).eval()
question = "Où naquit la reine ?"
context = "La reine naquit à Paris. Elle mourut en 1252."
prompt = {template}.format(question=question, context=context)
inputs = tokenizer(prompt, return_token_type_ids=False, return_tensors="pt")
written = model.generate(**inputs, max_new_tokens={longest}, do_sample=False, num_beams=1)
answer = tokenizer.decode(written[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True).strip()
print(answer)
"""
_ADAPTER, _BASE = "adapter_config.json", "base.json"


class FrenchReader(Kind):
    """By the kind that its settings name (complexity.md §2)."""

    name, kind, pattern = "french_reader", "model", "models/complexity/readers/*/seed-*"

    @staticmethod
    def describe(artifact: Artifact) -> Described:
        """An adapter names its base model by its name on the hub."""
        settings = read_json(artifact.source / SETTINGS)
        start = start_in(artifact.project / "models/complexity/base" / settings["base"])
        usage = {"extractive": _EXTRACTIVE, "seq2seq": _SEQ2SEQ, "causal": _CAUSAL}[settings["kind"]]
        files: Mapping[str, Path | bytes] = artifact.files()
        if settings["kind"] == "causal":
            files = _adapter(artifact, start)
        return Described(
            title=f"{settings['label']}, reader of French questions, {artifact.source.name}",
            about="Answers a question from a French context with words of that context; one of the readers whose "
            "errors say what makes reading hard.",
            notes=("A small configuration that hardly reads: it shows that the path works, no more.",)
            if settings.get("weak")
            else (),
            usage=usage.format(
                name=dumps(artifact.target.name),
                base=dumps(start.hub_name),
                tokens=settings["max_tokens"],
                longest=settings["answer_tokens"],
                types=_TYPES if settings["kind"] == "extractive" and _has_types(artifact) else "",
                template=dumps(settings.get("template"), ensure_ascii=False),
            ),
            files=files,
            start=start,
            library="peft" if settings["kind"] == "causal" else "transformers",
            task={"extractive": "question-answering", "seq2seq": "text2text-generation"}.get(
                settings["kind"], "text-generation"
            ),
            language="fr",
        )


def _has_types(artifact: Artifact) -> bool:
    return int(read_json(artifact.source / "config.json").get("type_vocab_size", 1)) > 1


def _adapter(artifact: Artifact, start: Start) -> dict[str, Path | bytes]:
    if start.hub_name is None:
        problem = "an adapter of weights that nobody else has: without them it is nothing"
        raise BadInput(problem, file=artifact.source, got=start.name, expected="a base model of the hub")
    config = read_json(artifact.source / _ADAPTER) | {"base_model_name_or_path": start.hub_name}
    return {**artifact.files(_BASE), _ADAPTER: json.dumps(config, indent=2).encode()}
