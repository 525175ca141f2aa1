"""Model cards: what a model is, what it was made from, and its scores."""

from collections.abc import Mapping
from pathlib import Path

import yaml

CARD = "README.md"


def write_card(
    folder: Path,
    *,
    title: str,
    description: str,
    base: str | Path,
    data: str,
    metrics: Mapping[str, float],
    licence: str | None,
    library: str = "transformers",
) -> None:
    """Write `README.md` into an exported model's folder, in the hub's format (YAML front matter, then Markdown).

    `base` are the weights it started from, `data` what it was trained on (say so when that is the sample world),
    `metrics` scores on validation, `library` loads the model. `licence` is the SPDX name of the weights' licence; None:
    unknown, left out.
    """
    rows = "\n".join(f"| {name} | {value:.4f} |" for name, value in sorted(metrics.items()))
    table = f"| measure | value |\n|---|---|\n{rows}\n" if rows else "No measure was taken.\n"
    licence_line = f"license: {licence}\n" if licence is not None else ""
    text = (
        f"---\n{licence_line}library_name: {library}\n---\n# {title}\n\n{description}\n\n"
        f"- started from: {base}\n- trained on: {data}\n\n## Scores\n{table}"
    )
    (folder / CARD).write_text(text, encoding="utf-8")


def licence_of(folder: Path, *, without_card: str) -> str | None:
    """The licence that a model's card states, None where it states none or is broken; `without_card` without a card."""
    if not (folder / CARD).is_file():
        return without_card
    _, *parts = (folder / CARD).read_text(encoding="utf-8", errors="replace").split("---\n", 2)
    try:  # impossible dates, numbers and tags raise other errors than YAML's
        front = yaml.safe_load(parts[0]) if len(parts) == 2 else None
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError):
        return None
    licence = front.get("license") if isinstance(front, dict) else None
    return licence if isinstance(licence, str) else None
