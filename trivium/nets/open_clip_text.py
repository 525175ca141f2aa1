"""The text tower of an open_clip folder: looked at before open_clip, which would let transformers run code for it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trivium.errors import BadInput

CONFIG = "open_clip_config.json"


def text_settings(folder: Path) -> Mapping[str, Any]:
    """Section `text_cfg` of the configuration; empty where open_clip will say what is wrong with the folder.

    Raises:
        BadInput: the tower is a model of transformers; open_clip asks the hub for it, and whether its code may run.
    """
    try:
        settings = json.loads((folder / CONFIG).read_text(encoding="utf-8"))["model_cfg"]["text_cfg"]
    except (OSError, ValueError, TypeError, KeyError):
        return {}
    if not isinstance(settings, Mapping):
        return {}
    if tower := settings.get("hf_model_name"):
        raise BadInput("a text tower of transformers", file=folder / CONFIG, field="model_cfg.text_cfg.hf_model_name",
                       got=tower, expected="open_clip's own text tower")  # fmt: skip
    return settings
