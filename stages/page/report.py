"""Stage `report`. The page: index.html, a page a pipeline from the parts that exist, and the reproduction matrix."""

import sys
from pathlib import Path
from typing import Any

from trivium.claims.verdicts import judge, read_evidence
from trivium.core.arithmetic import Portable
from trivium.core.atomic import write_text
from trivium.core.parameters import Parameters, shared
from trivium.core.stage import stage
from trivium.core.tables import read_json
from trivium.page import real as real_texts
from trivium.page.contents import ARTICLES, read_articles, render_page
from trivium.page.html import render
from trivium.page.reproduction import read_cells, read_log, reproduction_page
from trivium.page.thorough import claims_html, front_html


class PageParameters(Parameters):
    """Section `report`: the page has nothing of its own to choose."""

    portable: Portable = shared("run.portable", description="How the numbers were computed")
    prompted_readers: dict[str, dict[str, Any]] = shared(
        "kvqae.prompted_readers", description="Models behind endpoints"
    )
    identifiers: dict[str, dict[str, Any]] = shared("kvqae.identifiers", description="Models that choose the entity")


@stage("report")
def main(
    parameters: PageParameters,
    *,
    parts: Path = Path("metrics/report/parts"),
    thorough: Path = Path("metrics/thorough"),
    published: Path = Path("tests/published"),
    log: Path = Path("reproductions"),
    real: Path = Path("metrics/real"),
    out: Path = Path("metrics/report/index.html"),
) -> None:
    """Assemble --out, `index.html`, and its neighbours, from parts and `make thorough`.

    The reproduction matrix comes from what the papers print and from the log of signed runs, what came out on real
    texts from `make real`. A section whose part is not there names the stage that makes it.
    """
    members = {"kvqae.prompted_readers": parameters.prompted_readers, "kvqae.identifiers": parameters.identifiers}
    articles = read_articles(parts, members)
    for article in articles:
        name = article["pipeline"]
        judged = list(judge(name, read_evidence(thorough, name)))
        if claims := claims_html(judged, thorough, name):
            section = {"id": f"{name}-claims", "title": "What holds in every world", "html": claims, "folded": False}
            article["sections"].insert(0, section)
            sentence = article["claim"] or ""
            article["claim"] = f"{sentence}{front_html(judged, name, sentence)}" or None
        if (dated := thorough / f"{name}.json").exists():
            shown = {section["id"] for section in article["sections"]}  # a kept one may have left the page since
            html = render("thorough.html", result=read_json(dated), shown=shown)
            article["sections"].append({"id": f"{name}-thorough", "title": "Thorough", "html": html, "folded": True})
    cells, signed, portable = read_cells(published), read_log(log), parameters.portable
    by_pipeline = {article["pipeline"]: article for article in articles}
    front = {"numbers": len(cells), "signatures": len(signed), "real": real_texts.html(real)}
    made = {"index.html": render_page("landing.html", portable, articles=by_pipeline, **front),
            "reproduction.html": reproduction_page(cells, signed, portable)}  # fmt: skip
    for pipeline, contents in ARTICLES.items():
        absent = {"pipeline": pipeline, "title": contents.title, "sections": []}
        made[f"{pipeline}.html"] = render_page("page.html", portable, article=by_pipeline.get(pipeline, absent))
    for name, text in made.items():
        write_text(out.with_name(name), text)
    for missing in (name for article in articles for name in article["missing"]):
        print(f"the page lacks what {missing} makes", file=sys.stderr)
