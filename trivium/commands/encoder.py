"""`trivium encoder`: fetch the public weights of an encoder that may be listed beside the papers'.

trivium encoder
trivium encoder bge --out models/frozen/bge
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from trivium.core.errors import BadInput

DOWNLOADS = Path(".work/downloads")


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = argparse.ArgumentParser(
        prog="trivium encoder",
        description="Fetch the public weights of an encoder of texts or pictures, and say which line of params.yaml "
        "gives it a row in KVQAE's tables.",
        epilog="Which encoders there are, and how they read: docs/kvqae.md, section 3. Licences: docs/pins.md.",
    )
    made.add_argument("name", nargs="?", metavar="NAME", help="of the encoder; without one all are listed")
    made.add_argument("--out", type=Path, metavar="FOLDER", help="a new folder; models/frozen/NAME by default")
    return made


def main(argv: Sequence[str] | None = None) -> None:
    """List, or fetch one."""
    read = parser()
    arguments = read.parse_args(argv)
    if arguments.out and not arguments.name:
        read.error("NAME is needed")
    try:
        print("\n".join(_fetched(arguments.name, arguments.out) if arguments.name else _listed()))
    except BadInput as error:
        print(f"encoder: {error}", file=sys.stderr)
        raise SystemExit(1) from None


def _listed() -> list[str]:
    from trivium.sources.kvqae.frozen_encoders import FROZEN
    from trivium.sources.pins import Pins

    return [
        f"{name:10} {source.bytes / 1e9:5.1f} GB  {source.description} ({source.hub}; {source.licence})"
        for name, source in Pins(FROZEN).sources.items()
    ]


def _fetched(name: str, out: Path | None) -> list[str]:
    from trivium.kvqae.retrieval.text_encoders import SECTION, TEXT_ENCODERS
    from trivium.sources.kvqae.frozen_encoders import fetch_encoder
    from trivium.vision.encoder_registry import SECTION as IMAGES

    folder = out or Path("models/frozen") / name
    files = fetch_encoder(name, folder, DOWNLOADS)
    section = SECTION if name in TEXT_ENCODERS else IMAGES
    return [f"{folder}: {', '.join(files)}", f"Add to {section} of params.yaml:", f"    {name}: {{model: {folder}}}"]


if __name__ == "__main__":
    main()
