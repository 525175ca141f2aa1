"""`trivium encoder`: fetch the public weights of an encoder of texts or pictures, for a row of KVQAE's tables.

    trivium encoder
    trivium encoder bge --out models/frozen/bge

Which encoders there are, and how they read: docs/kvqae.md, section 3. Licences: docs/pins.md.
"""

import shutil
from argparse import ArgumentParser, Namespace
from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.tables import write_json
from trivium.nets.cards import write_card
from trivium.sources.brought import PROVENANCE
from trivium.sources.pins import Pins
from trivium.sources.repositories import fetched

DOWNLOADS = Path(".work/downloads")
FROZEN = Path(__file__).with_name("frozen_encoders.yaml")


def options(parser: ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="of the encoder; without one all are listed")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="a new folder; models/frozen/NAME by default")


def run(arguments: Namespace) -> None:
    """List, or fetch one."""
    from trivium.kvqae.retrieval.text_encoders import SECTION, TEXT_ENCODERS
    from trivium.vision.encoder_registry import SECTION as IMAGES

    name = arguments.name
    if name is None:
        if arguments.out:
            arguments.refuse("NAME is needed")
        for key, source in Pins(FROZEN).sources.items():
            print(f"{key:10} {source.bytes / 1e9:5.1f} GB  {source.description} ({source.hub}; {source.licence})")
        return
    folder = arguments.out or Path("models/frozen") / name
    files = fetch_encoder(name, folder, DOWNLOADS)
    section = SECTION if name in TEXT_ENCODERS else IMAGES
    print(f"{folder}: {', '.join(files)}\nAdd to {section} of params.yaml:\n    {name}: {{model: {folder}}}")


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
    with fetched([name], out, downloads, pins) as (temporary, files):
        for file, path in files[name].items():
            (temporary / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, temporary / file)
        write_json(temporary / PROVENANCE, pins.summary([name]))
        write_card(
            temporary,
            title=name,
            description=f"{source.description}, as its publisher has released it.",
            base=str(source.hub),
            data="see its publisher's card",
            metrics={},
            licence=source.licence,
        )
    return tuple(files[name])
