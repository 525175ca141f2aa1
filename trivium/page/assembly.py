"""The page: a landing screen and a page a pipeline, each one self-contained file, from the parts that exist."""

import platform
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trivium.core.arithmetic import Portable
from trivium.page.contents import ARTICLES, GLOSSARY, TIPS
from trivium.page.html import render, source
from trivium.page.reproduction import PIPELINES, Cell, last_signed, tables

# What `run.portable` means for whoever compares the page with another.
ARITHMETIC: dict[Portable, str] = {
    "intel": "Without a GPU, these numbers are the same to the bit on every Intel processor that has AVX-512.",
    "x86": "Without a GPU, these numbers are the same to the bit on every Intel or AMD processor that has AVX2.",
    False: "They were computed as fast as their machine can, and differ in their last digits on another.",
}


def pages(
    articles: Sequence[dict[str, Any]], cells: Sequence[Cell], log: Sequence[Mapping[str, Any]],
    portable: Portable = "intel", real: str = "",
) -> dict[str, str]:  # fmt: skip
    """Render all: `index.html`, `reproduction.html` and `{pipeline}.html`; of a pipeline that has not run it says so.

    Args:
        articles: as `read_articles` has them, their HTML escaped.
        cells: the papers' numbers.
        log: who got what on real data, the oldest first.
        portable: `run.portable`, with which they were computed.
        real: HTML of what came out on real texts (`real.html`).
    """
    by_pipeline = {article["pipeline"]: article for article in articles}
    front = {"articles": by_pipeline, "numbers": len(cells), "signatures": len(log), "real": real}
    made = {"index.html": _render("landing.html", portable, **front),
            "reproduction.html": reproduction_page(cells, log, portable)}  # fmt: skip
    for pipeline, contents in ARTICLES.items():
        absent = {"pipeline": pipeline, "title": contents.title, "sections": []}
        made[f"{pipeline}.html"] = page(by_pipeline.get(pipeline, absent), portable)
    return made


def page(article: Mapping[str, Any], portable: Portable = "intel") -> str:
    """Render the page of one pipeline."""
    return _render("page.html", portable, article=article)


def reproduction_page(cells: Sequence[Cell], log: Sequence[Mapping[str, Any]], portable: Portable = "intel") -> str:
    """Render the reproduction matrix: every number of the papers beside the last signed one at each scale."""
    values = {"pipelines": PIPELINES, "tables": tables(cells), "last": last_signed(log)}
    return _render("reproduction.html", portable, log=log, **values)


def machine(processor: Path = Path("/proc/cpuinfo")) -> str:
    """On which kind of machine the page was made, in a sentence."""
    cpu = processor.read_text(encoding="utf-8") if processor.exists() else ""
    makers = {"GenuineIntel": "an Intel", "AuthenticAMD": "an AMD"}
    maker = next((name for vendor, name in makers.items() if vendor in cpu), "another")
    return f"Made on {maker} processor ({platform.machine()}) {'with' if ' avx512f' in cpu else 'without'} AVX-512."


def _render(template: str, portable: Portable, **values: Any) -> str:
    """A whole page, on whose lines no number is parted from its unit or its p."""
    arithmetic = f"run.portable: {str(portable).lower()}. {ARITHMETIC[portable]}"
    html = render(template, contents=ARTICLES, arithmetic=arithmetic, machine=machine(), glossary=GLOSSARY,
                  tips=GLOSSARY | TIPS, script=source("script.js"), **values)  # fmt: skip
    joined = re.sub(r"\bp (=|&lt;|≤) (?=\d)", "p\xa0\\1\xa0", str(html))  # Markup would be escaped again
    return re.sub(r"(?<=\d) %", "\xa0%", joined)
