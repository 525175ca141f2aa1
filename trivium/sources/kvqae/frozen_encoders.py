"""Public weights of encoders that may be listed beside the papers', fetched one at a time by an encoder's name."""

import shutil
from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.tables import write_json
from trivium.nets.cards import write_card
from trivium.sources.brought import PROVENANCE
from trivium.sources.pins import Pins
from trivium.sources.repositories import fetched

FROZEN = Path(__file__).parents[1] / "frozen_encoders.yaml"


def fetch_encoder(name: str, out: Path, downloads: Path) -> tuple[str, ...]:
    """Download an encoder's weights and lay them out as its class reads them.

    Args:
        name: of the encoder, and of its pin.
        out: the folder; complete or absent. `provenance.json` in it keeps revision, digests and licence.
        downloads: see `fetched`.

    Returns:
        The names of its files.

    Raises:
        BadInput: no such encoder, a folder that is there already, or see `fetched`.
    """
    pins = Pins(FROZEN)
    source = pins.source(name)
    if out.exists():
        raise BadInput("it is there already", file=out, expected="a new folder")
    with fetched([name], out, downloads, pins) as (beside, files):
        for file, path in files[name].items():
            (beside / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, beside / file)
        write_json(beside / PROVENANCE, pins.summary([name]))
        write_card(
            beside,
            title=name,
            description=f"{source.description}, as its publisher has released it.",
            base=str(source.hub),
            data="see its publisher's card",
            metrics={},
            licence=source.licence,
        )
    return tuple(files[name])
