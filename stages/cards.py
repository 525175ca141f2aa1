"""A model is exported as a folder with a card: what it is, from what it was made, how well it does."""

from collections.abc import Mapping
from pathlib import Path


def write_card(
    folder: Path,
    *,
    title: str,
    description: str,
    base: str,
    data: str,
    metrics: Mapping[str, float],
    licence: str,
) -> None:
    """Write `README.md` into an exported model's folder, in the hub's format (YAML front matter, then Markdown).

    Args:
        folder: the exported model; must exist.
        title, description: what the model is and does.
        base: the weights it started from.
        data: what it was trained on (say so when that is the sample world).
        metrics: flat scores on validation.
        licence: SPDX name of the weights' licence.
    """
    rows = "\n".join(f"| {name} | {value:.4f} |" for name, value in sorted(metrics.items()))
    table = f"| measure | value |\n|---|---|\n{rows}\n" if rows else "No measure was taken.\n"
    text = (
        f"---\nlicense: {licence}\nlibrary_name: transformers\n---\n# {title}\n\n{description}\n\n"
        f"- started from: {base}\n- trained on: {data}\n\n## Scores\n{table}"
    )
    (folder / "README.md").write_text(text, encoding="utf-8")
