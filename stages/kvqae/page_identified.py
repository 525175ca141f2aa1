"""Stage `kvqae-page_identified`. Render Tables 3 and 7 where a model chose the entity, one cell for each model."""

from pathlib import Path

from trivium.core.stage import stage
from trivium.core.tables import read_json
from trivium.page.html import write_part
from trivium.page.kvqae.findings import identified_html
from trivium.page.published import SearchedParameters, add_base_note


@stage("kvqae.page_identified")
def main(parameters: SearchedParameters, *, chosen: Path, measured: Path, out: Path) -> None:
    """Render what stage `identify` measured of a model; `chosen` holds its `identifier.json`."""
    sections = {"identified": identified_html(read_json(chosen / "identifier.json"), read_json(measured))}
    write_part(out, parameters.world, add_base_note(sections, parameters.base))
