"""The page: a landing screen and a page a pipeline, each one self-contained file, from the parts that exist."""

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from markupsafe import Markup

from trivium.core.arithmetic import Portable
from trivium.page.contents import ARTICLES
from trivium.page.html import render
from trivium.page.reproduction import PIPELINES, Cell, last_signed, signed, tables

# Short names that the pages use, in words: a list behind a link, and a tip wherever a table's head bears one.
GLOSSARY = {
    "B": "BM25: a passage counts by the question's words that it holds, rare ones more.",
    "D": "DPR: question and passage as vectors of a network that was trained on TriviaQA, zero-shot.",
    "D_f": "DPR that was also trained on ViQuAE's training questions, few-shot.",
    "A": "ArcFace: the face in the picture as a vector.",
    "F·A": "ArcFace where a face is found, nothing elsewhere.",
    "I": "ImageNet: the picture as a vector of a network that was trained to tell a thousand kinds of things.",
    "C": "CLIP: the picture as a vector of a network that was trained on pictures and their captions.",
    "MRR": "Mean reciprocal rank: 1 where the first result is right, 1/2 where the second is the first right one, …",
    "P@k": "Precision at k: the share of right ones among the first k results.",
    "Hits@k": "The share of questions with a right one among the first k results.",
    "EM": "Exact match: the answer is one of the accepted ones, but for case, articles and punctuation.",
    "F1": "The overlap of the answer's words with those of the best accepted answer.",
    "semi-oracle": "The reader is given a relevant passage among those retrieved, where there is one.",
    "full oracle": "The reader is given relevant passages alone.",
    "ODmAP@k": (
        "How often, among the first k captions of a picture from which something was painted out, one is about what is "
        "still there and not about what is gone, averaged over precision at each right place."
    ),
    "R@k": "Recall at k: the share of pictures (or captions) for which one of their own is among the first k.",
    "D′": "Pictures from which an object was painted out, with captions that no longer name it.",
    "δ": "Points of the mean score that questions with a factor have more than those without; below 0 they are harder.",
    "ROUGE-L": "The longest common row of words of answer and reference, as precision and recall together.",
    "κ": "Cohen's kappa: how far two judges agree beyond what chance alone would give, 1 at most.",
    "Holm": "A correction of many tests at once: the chance of any false alarm among them stays at the level.",
    "p": "How often chance alone would give a difference as large as this.",
}
# What `run.portable` means for whoever compares the page with another.
ARITHMETIC: dict[Portable, str] = {
    "intel": "On processors these numbers are the same to the bit wherever an Intel processor has AVX2.",
    "x86": "On processors these numbers are the same to the bit wherever an Intel or AMD processor has AVX2.",
    False: "They were computed as fast as their machine can, and differ in their last digits on another.",
}


def pages(
    articles: Sequence[dict[str, Any]],
    cells: Sequence[Cell],
    log: Sequence[Mapping[str, Any]],
    portable: Portable = "intel",
) -> dict[str, str]:
    """Render all: `index.html`, `reproduction.html` and `{pipeline}.html`; of a pipeline that has not run it says so.

    Args:
        articles: as `read_articles` has them; the HTML of a section was rendered, and escaped, by the stage
            of its part.
        cells: the papers' numbers.
        log: who got what on real data, the oldest first.
        portable: `run.portable`, with which they were computed.
    """
    there = {article["pipeline"]: article for article in articles}
    found = {
        "index.html": _render(
            "landing.html", portable, articles=there, known=ARTICLES, numbers=len(cells), signatures=len(log)
        ),
        "reproduction.html": reproduction_page(cells, log, portable),
    }
    for pipeline, known in ARTICLES.items():
        article = there.get(pipeline) or {"pipeline": pipeline, "title": known.title, "sections": []}
        found[f"{pipeline}.html"] = page(article, portable)
    return found


def page(article: Mapping[str, Any], portable: Portable = "intel") -> str:
    """Render the page of one pipeline."""
    return _render("page.html", portable, article=article, known=ARTICLES)


def reproduction_page(cells: Sequence[Cell], log: Sequence[Mapping[str, Any]], portable: Portable = "intel") -> str:
    """Render the reproduction matrix: every number of the papers beside the last signed one at each scale."""
    return _render(
        "reproduction.html",
        portable,
        known=ARTICLES,
        pipelines=PIPELINES,
        tables=tables(cells),
        log=log,
        last=last_signed(log),
        signed=signed,
    )


def _render(template: str, portable: Portable, **values: Any) -> str:
    templates = resources.files("trivium.page") / "templates"
    return render(
        template,
        arithmetic=f"run.portable: {str(portable).lower()}. {ARITHMETIC[portable]}",
        glossary=GLOSSARY,
        style=Markup((templates / "style.css").read_text(encoding="utf-8")),
        script=Markup((templates / "script.js").read_text(encoding="utf-8")),
        **values,
    )
