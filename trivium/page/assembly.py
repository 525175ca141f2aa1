"""The page: a landing screen and a page a pipeline, each one self-contained file, from the parts that exist."""

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import numpy as np
from markupsafe import Markup

from trivium.harness.arithmetic import Portable
from trivium.page.common import environment
from trivium.page.contents import ARTICLES
from trivium.page.glossary import GLOSSARY
from trivium.page.worlds import compared

# What `run.portable` means for whoever compares the page with another.
ARITHMETIC: dict[Portable, str] = {
    "intel": "On processors these numbers are the same to the bit wherever an Intel processor has AVX2.",
    "x86": "On processors these numbers are the same to the bit wherever an Intel or AMD processor has AVX2.",
    False: "They were computed as fast as their machine can, and differ in their last digits on another.",
}


def pages(articles: Sequence[dict[str, Any]], portable: Portable = "intel") -> dict[str, str]:
    """Render all: `index.html`, and `{pipeline}.html` of each; of a pipeline that has not run its page says so.

    Args:
        articles: as `read_articles` has them; the HTML of a section was rendered, and escaped, by the stage
            of its part.
        portable: `run.portable`, with which they were computed.
    """
    there = {article["pipeline"]: article for article in articles}
    found = {"index.html": _render("landing.html", portable, articles=there, known=ARTICLES)}
    for pipeline, known in ARTICLES.items():
        article = there.get(pipeline) or {"pipeline": pipeline, "title": known.title, "sections": []}
        found[f"{pipeline}.html"] = page(article, portable)
    return found


def page(article: Mapping[str, Any], portable: Portable = "intel") -> str:
    """Render the page of one pipeline."""
    return _render("page.html", portable, article=article, known=ARTICLES)


def _render(template: str, portable: Portable, **values: Any) -> str:
    templates = resources.files("trivium.page") / "templates"
    return (
        environment()
        .get_template(template)
        .render(
            arithmetic=f"run.portable: {str(portable).lower()}. {ARITHMETIC[portable]}",
            glossary=GLOSSARY,
            style=Markup((templates / "style.css").read_text(encoding="utf-8")),
            script=Markup((templates / "script.js").read_text(encoding="utf-8")),
            **values,
        )
    )


def thorough_html(result: dict[str, Any]) -> str:
    """What `make thorough` found, with commit and date: its sections; of several worlds also comparisons and metrics.

    Of one world the sections show what matters; thousands of metrics of single trainings stay in the file.
    """
    seeds = sorted(result["seeds"], key=int)
    rows, comparisons = [], []
    if len(seeds) > 1:
        comparisons = compared(result["pipeline"], {seed: result["seeds"][seed] for seed in seeds})
        names = [name for name in result["seeds"][seeds[0]] if all(name in result["seeds"][seed] for seed in seeds)]
        for name in names:
            values = np.array([result["seeds"][seed][name] for seed in seeds])
            mean, deviation = float(values.mean()), float(values.std(ddof=1))
            rows.append({"name": name, "values": values.tolist(), "mean": mean, "deviation": deviation})
    template = environment().get_template("thorough.html")
    return template.render(result=result, seeds=seeds, rows=rows, comparisons=comparisons)


def weaker_html(result: dict[str, Any]) -> str:
    """What `make weaker` found, with commit and date: a row a world."""
    return environment().get_template("weaker.html").render(result=result)
