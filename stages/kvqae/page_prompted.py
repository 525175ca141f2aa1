"""Stage `kvqae-page_prompted`. Render the scores of a model behind an endpoint, one cell for each model."""

from pathlib import Path

from trivium.core.stage import stage
from trivium.core.tables import read_json
from trivium.page.html import write_part
from trivium.page.kvqae.findings import prompted_html
from trivium.page.published import SearchedParameters, add_base_note


@stage("kvqae.page_prompted")
def main(parameters: SearchedParameters, *, answered: Path, measured: Path, out: Path) -> None:
    """Render what stage `read_prompted` measured of a model; `answered` holds its `reader.json`."""
    sections = {"prompted": prompted_html(read_json(answered / "reader.json"), read_json(measured))}
    write_part(out, parameters.world, add_base_note(sections, parameters.base))
