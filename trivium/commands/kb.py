"""`trivium kb`: a folder of texts and pictures becomes a knowledge base that questions are asked of.

    trivium kb my_museum --out museum --image-encoder open_clip:ViT-B-32/openai
    trivium kb --out museum

Without a source, the base is made again of what it was made of before. Vectors are kept by the hash of what they
describe. Forms of the source, and encoders: docs/own_pictures.md. Faces: docs/faces.md.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.core.errors import BadInput

if TYPE_CHECKING:  # seconds to import
    from trivium.kvqae.asking.encoding import BaseSettings

BASE, STORES = "base", "vectors"


def options(parser: ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    forms = "a folder with name.txt or name.md and name.jpg, name-2.jpg …; or a CSV or JSONL with title, text and image"
    add("source", nargs="?", type=Path, help=f"{forms} (default: what the base was made of before)")
    add("--out", type=Path, metavar="FOLDER", help="folder of the base")
    models = "open_clip:ViT-B-32/openai, hf:OWNER/NAME, sentence_transformers:NAME or a folder of one of these; "
    models += "NAME=FOLDER for an encoder of the graph, such as arcface, clip, dinov2 or vit; may be repeated"
    add("--image-encoder", action="append", default=[], metavar="[NAME=]MODEL", help=models)
    folders = "a text encoder beside BM25: a folder of sentence-transformers, or dpr_few_shot=FOLDER, with question/ "
    folders += "and passage/; may be repeated"
    add("--text-encoder", action="append", default=[], metavar="NAME=FOLDER", help=folders)
    add("--words", type=int, help="largest number of words in a passage (default: 100)")


def settings_of(arguments: Namespace) -> "BaseSettings":
    """Return the settings that the command line names; `BadInput`: a source or an encoder is not there."""
    from trivium.commands.kb_models import image_encoder, is_stand_in, text_encoder
    from trivium.core.parameters import validate
    from trivium.kvqae.asking.encoding import VERSION, BaseSettings

    if not arguments.source.exists():  # a wrong path is named before a missing encoder
        raise BadInput("no such folder or table", file=arguments.source)
    images, texts = map(image_encoder, arguments.image_encoder), map(text_encoder, arguments.text_encoder)
    named = {"image_encoders": list(images), "text_encoders": list(texts)}
    names = ["bm25", *(name for several in named.values() for name, _ in several)]
    if len(set(names)) < len(names):
        raise BadInput("two systems have the same name", field="--image-encoder, --text-encoder", got=names,
                       expected="another NAME= for one")  # fmt: skip
    values: dict[str, Any] = {name: dict(several) for name, several in named.items()}
    values |= {"version": VERSION, "source": str(arguments.source.resolve())}
    values |= {} if arguments.words is None else {"words": arguments.words}
    models = [*values["image_encoders"].values(), *values["text_encoders"].values()]
    values["invented"] = any(is_stand_in(Path(model.rpartition(":")[2])) for model in models)
    return validate(BaseSettings, values, "kb", Path("the command line"))


def summary(out: Path) -> list[str]:
    """Return the lines that say what a base has."""
    from trivium.kvqae.asking.building import LISTED, read_base

    described, settings = read_base(out / BASE)
    lines = [f"{out}: {described['entries']} entries, {described['passages']} passages, "
             f"{described['pictures']} pictures"]  # fmt: skip
    for name, count in described["pictures_with_vector"].items():
        lines.append(f"  {name}: {count} pictures with a vector, {described['encoded_now'][name]} encoded now")
    if counts := described["counts"]:
        counted = ", ".join(f"{kind.replace('_', ' ')}: {count}" for kind, count in sorted(counts.items()))
        lines.append(f"  {counted}; each is listed in {out / BASE / LISTED}")
    if settings.invented:
        lines.append("  warning: these models are the sample's stand-ins; they know an invented world only")
    return lines


def run(arguments: Namespace) -> None:
    """Make a base, or make it again; what would fail later is refused before anything is written."""
    from trivium.commands.kb_models import foreign
    from trivium.kvqae.asking.building import DESCRIBED, build, read_base
    from trivium.kvqae.asking.encoding import models_of
    from trivium.kvqae.asking.entries import read_source

    out = arguments.out
    if out is None:
        arguments.refuse("--out is needed")
    named = [arguments.image_encoder, arguments.text_encoder, arguments.words]
    is_base = (out / BASE / DESCRIBED).is_file()
    if arguments.source is not None:
        settings = settings_of(arguments)
    elif any(named):
        arguments.refuse("options need the source: without it, the base is made again as it was made before")
    elif is_base:
        _, settings = read_base(out / BASE)
    else:
        raise BadInput("there is no base yet: name the folder or file to make it from", file=out,
                       expected=f"`python -m trivium kb FOLDER --out {out}`")  # fmt: skip
    is_begun = out.is_dir() and {path.name for path in out.iterdir() if path.name[0] != "."} <= {STORES}
    if out.exists() and not is_base and not is_begun:
        expected = "a new folder, or a base"
        raise BadInput("the folder holds something else", field="--out", got=str(out), expected=expected)
    source = read_source(settings.source)
    if not settings.image_encoders and any(entry.pictures for entry in source.entries):
        raise BadInput("no encoder of pictures, and the source has some", field="--image-encoder",
                       expected="such as open_clip:ViT-B-32/openai")  # fmt: skip
    build(settings, source, out / BASE, out / STORES, *models_of(settings, foreign))
    print("\n".join(summary(out)))
