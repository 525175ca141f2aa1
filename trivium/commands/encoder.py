"""`trivium encoder`: fetch the public weights of an encoder of texts or pictures, for a row of KVQAE's tables.

    trivium encoder
    trivium encoder bge --out models/frozen/bge

Which encoders there are, and how they read: docs/kvqae.md, section 3. Licences: docs/pins.md.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

DOWNLOADS = Path(".work/downloads")


def options(parser: ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="of the encoder; without one all are listed")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="a new folder; models/frozen/NAME by default")


def run(arguments: Namespace) -> None:
    """List, or fetch one."""
    from trivium.kvqae.retrieval.text_encoders import SECTION, TEXT_ENCODERS
    from trivium.sources.kvqae.frozen_encoders import FROZEN, fetch_encoder
    from trivium.sources.pins import Pins
    from trivium.vision.encoder_registry import SECTION as IMAGES

    name = arguments.name
    if name is None:
        if arguments.out:
            arguments.refuse("NAME is needed")
        for known, source in Pins(FROZEN).sources.items():
            print(f"{known:10} {source.bytes / 1e9:5.1f} GB  {source.description} ({source.hub}; {source.licence})")
        return
    folder = arguments.out or Path("models/frozen") / name
    files = fetch_encoder(name, folder, DOWNLOADS)
    section = SECTION if name in TEXT_ENCODERS else IMAGES
    print(f"{folder}: {', '.join(files)}\nAdd to {section} of params.yaml:\n    {name}: {{model: {folder}}}")
