"""Folders in open_clip's format that need nothing but themselves."""

from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.tables import read_json

CONFIG = "open_clip_config.json"
_TOWERS = {"vision_cfg": "timm_model_name", "text_cfg": "hf_model_name", "multimodal_cfg": "hf_model_name"}


def require_offline(folder: Path) -> dict[str, Any]:
    """Check an open_clip folder before it is loaded: open_clip would ask the hub for half a minute, or run its code.

    Returns:
        The configuration of the text tower.

    Raises:
        BadInput: no configuration, one without towers, a tower that is a model of the hub, or a tokenizer whose code is
            to be trusted.
    """
    path = folder / CONFIG
    model = _part(read_json(path), "model_cfg", path, "")
    for name, key in _TOWERS.items():
        if name == "multimodal_cfg" and name not in model:
            continue
        tower = _part(model, name, path, "model_cfg.")
        field, value = f"model_cfg.{name}.{key}", tower.get(key)
        # open_clip builds timm's own architectures here; the others lie elsewhere.
        if value and (key == "hf_model_name" or ":" in str(value)):
            expected = "a tower whose configuration and weights are in this folder"
            raise BadInput("a model of the hub", file=path, field=field, got=value, expected=expected)
        options = tower.get("tokenizer_kwargs") or {}
        if "trust_remote_code" in options:
            problem = "code beside a tokenizer is not trusted"
            raise BadInput(problem, file=path, field=f"model_cfg.{name}.tokenizer_kwargs", got=options)
    return _part(model, "text_cfg", path, "model_cfg.")


def _part(value: Any, name: str, path: Path, before: str) -> dict[str, Any]:
    part = value.get(name) if isinstance(value, dict) else None
    if not isinstance(part, dict):
        raise BadInput("missing or not an object", file=path, field=before + name, got=part, expected="as open_clip's")
    return part
