"""The readers' public base models: downloaded as pinned, or brought by the user; checked before anything trains.

Nothing is unpickled: a repository that has only `pytorch_model.bin` is read as plain tensors and kept as safetensors.
"""

from collections.abc import Sequence
from math import prod
from pathlib import Path

from safetensors import SafetensorError, safe_open
from transformers import AutoConfig, AutoTokenizer

from trivium.core.errors import BadInput
from trivium.core.tables import read_json, write_json
from trivium.nets.weights import WEIGHTS
from trivium.sources.brought import PROVENANCE, bring_models, link
from trivium.sources.download import fetch_into
from trivium.sources.plain_weights import INDEX, MINILM, keep_plain, save_minilm

ARCHITECTURES = {  # `model_type` of the configuration
    "camembert": "camembert",
    "minilm": "bert",
    "t5": "t5",
    "flan_t5": "t5",
    "mt5": "mt5",
    "llama": "llama",
}


def fetch_models(models: Sequence[str], out: Path, downloads: Path) -> dict[str, float]:
    """Download models of `ARCHITECTURES` as pinned and write a checked Hugging Face folder each, with its provenance.

    MiniLM comes from its package. Returns `<model>_parameters`.
    """
    counts: dict[str, float] = {}
    names = [model for model in models if model != "minilm"]
    with fetch_into(names, out, downloads) as (temporary, files, pins):
        for model in models:
            folder = temporary / model
            folder.mkdir()
            if model == "minilm":
                save_minilm(folder)
                write_json(folder / PROVENANCE, MINILM)
            else:
                for file, path in files[model].items():
                    link(path.parent, folder, [file])
                write_json(folder / PROVENANCE, pins.summary([model])[model])
            counts[f"{model}_parameters"] = check_model(model, folder)
    return counts


def check_models(models: Sequence[str], source: Path, out: Path) -> dict[str, float]:
    """Check the user's folders, one a model, and bring them; returns `<model>_parameters`."""
    return {f"{model}_parameters": count for model, count in bring_models(models, source, out, check_model).items()}


def check_model(model: str, folder: Path) -> float:
    """Give a folder plain weights and a fast tokenizer, and check them; returns the number of parameters."""
    keep_plain(folder)
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        raise BadInput(f"not a model: {error}", file=folder, expected="a Hugging Face folder") from None
    if config.model_type != ARCHITECTURES[model]:
        raise BadInput("another architecture", file=folder / "config.json", field="model_type", got=config.model_type,
                       expected=ARCHITECTURES[model])  # fmt: skip
    if len(tokenizer) > config.vocab_size:
        raise BadInput("more tokens than embeddings", file=folder, got=len(tokenizer), expected=str(config.vocab_size))
    if not (folder / "tokenizer.json").exists():  # the repository has only a SentencePiece model
        tokenizer.save_pretrained(folder / "fast")
        for path in (folder / "fast").iterdir():
            path.replace(folder / path.name)  # a new file: the one it replaces may be a link to the user's
        (folder / "fast").rmdir()
    names = sorted(set(read_json(folder / INDEX)["weight_map"].values())) if (folder / INDEX).exists() else [WEIGHTS]
    count = 0
    for name in names:
        try:
            with safe_open(folder / name, "pt") as weights:
                count += sum(prod(weights.get_slice(key).get_shape()) for key in weights.keys())  # noqa: SIM118
        except (OSError, SafetensorError) as error:
            raise BadInput(f"weights cannot be read: {error}", file=folder / name) from None
    return float(count)
