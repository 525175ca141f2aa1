"""Stage `report`. The page: metrics/report/index.html."""

from pathlib import Path

from trivium.errors import BadInput
from trivium.files.atomic import write_atomically
from trivium.files.tables import read_json
from trivium.harness.parameters import Parameters
from trivium.harness.stage import Context, run_stage
from trivium.page.assembly import page, thorough_html, weaker_html

PIPELINES = ("kvqae", "decorrelation", "complexity")


class PageParameters(Parameters):
    """Section `report`: the page has nothing to choose."""


def _place(fragment: Path) -> tuple[int, str]:
    """Pipelines stand in the order of the papers; any other after them, by name."""
    known = fragment.stem in PIPELINES
    return PIPELINES.index(fragment.stem) if known else len(PIPELINES), fragment.stem


def main(parameters: PageParameters, context: Context, *, fragments: Path, thorough: Path, out: Path) -> None:
    """Assemble `index.html` from the fragments, and the dated results of `make thorough` and `make weaker`."""
    found = []
    for file in sorted(fragments.glob("*.json"), key=_place):
        fragment = read_json(file)
        missing = {"pipeline", "title", "world", "sections"} - set(fragment)
        if missing:
            raise BadInput("fragment lacks keys", file=file, got=sorted(missing))
        for title, html, dated in (
            ("Weaker and other worlds", weaker_html, thorough / f"{file.stem}_weaker.json"),
            ("Thorough", thorough_html, thorough / file.name),
        ):
            if dated.exists():
                name = f"{fragment['pipeline']}-{title.split()[0].lower()}"
                fragment["sections"].append({"id": name, "title": title, "html": html(read_json(dated))})
        found.append(fragment)
    with write_atomically(out) as beside:
        beside.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    run_stage(main, "report", PageParameters)
