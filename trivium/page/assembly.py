"""The page: a landing screen and a page a pipeline, each one self-contained file, from the parts that exist."""

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from markupsafe import Markup

from trivium.harness.arithmetic import Portable
from trivium.page.common import environment
from trivium.page.contents import ARTICLES
from trivium.page.glossary import GLOSSARY

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
    """What a pipeline gave at the thorough scale, with commit and date: the sections of its page."""
    return environment().get_template("thorough.html").render(result=result)


def weaker_html(result: dict[str, Any]) -> str:
    """What `make weaker` found, with commit and date: a row a world."""
    return environment().get_template("weaker.html").render(result=result)
