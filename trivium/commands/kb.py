"""`trivium kb`: a folder of texts and pictures becomes a knowledge base that questions are asked of.

    trivium kb my_museum --out museum --image-encoder open_clip:ViT-B-32/openai

The folder it writes is a small DVC project: `dvc repro` there does the same again, as does this command without a
source. Vectors are kept by the hash of what they describe. Forms of the source, encoders and readers:
docs/own_pictures.md. Faces: docs/faces.md.
"""

import os
import subprocess
import sys
from argparse import SUPPRESS, ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.tables import read_csv

if TYPE_CHECKING:  # seconds to import
    from trivium.kvqae.asking.models import BaseSettings

PARAMS, GRAPH, SECTION = "params.yaml", "dvc.yaml", "kb"
ENTRIES, BASE, STORES = "entries", "base", "vectors"
SHOWN = 5  # problems of each kind


def options(parser: ArgumentParser) -> None:
    """What the command takes."""
    add = parser.add_argument
    told = "a folder with name.txt or name.md and name.jpg, name-2.jpg …; or a CSV or JSONL with title, text and image "
    add("source", nargs="?", type=Path, help=f"{told}(default: what the base was made of before)")
    add("--out", type=Path, metavar="FOLDER", help="folder of the base")
    told = "open_clip:ViT-B-32/openai, hf:OWNER/NAME, sentence_transformers:NAME or a folder of one of these; "
    told += "arcface=FOLDER, imagenet=FOLDER or clip=FOLDER for an encoder of the graph; may be repeated"
    add("--image-encoder", action="append", default=[], metavar="[NAME=]MODEL", help=told)
    told = "a text encoder beside BM25: a folder of sentence-transformers, or dpr_few_shot=FOLDER, with question/ and "
    told += "passage/; may be repeated"
    add("--text-encoder", action="append", default=[], metavar="NAME=FOLDER", help=told)
    add("--reader", metavar="FOLDER", help="a BERT reader, used unless `trivium ask` names another")
    told = "take encoders, weights and reader of a project after `make repro`; the sample's know only an invented world"
    add("--checkout", type=Path, metavar="FOLDER", help=told)
    add("--words", type=int, help="largest number of words in a passage (default: 100, or as in the checkout)")
    add("--stage", choices=[ENTRIES, BASE], help=SUPPRESS)


def settings_of(arguments: Namespace) -> "BaseSettings":
    """What the command line says.

    Raises:
        BadInput: no source, or an encoder that is not known.
    """
    from trivium.commands.endpoints import is_stand_in
    from trivium.commands.kb_models import from_checkout, image_encoder, text_encoder
    from trivium.core.parameters import validate
    from trivium.kvqae.asking.building import VERSION
    from trivium.kvqae.asking.models import BaseSettings

    if not arguments.source.exists():  # a wrong path is named before a missing encoder
        raise BadInput("no such folder or table", file=arguments.source)
    values: dict[str, Any] = {} if arguments.checkout is None else from_checkout(arguments.checkout)
    values |= {"version": VERSION, "source": str(arguments.source.resolve())}
    told = {
        "image_encoders": dict(map(image_encoder, arguments.image_encoder)),
        "text_encoders": dict(map(text_encoder, arguments.text_encoder)),
        "reader": arguments.reader and str(Path(arguments.reader).resolve()),
        "words": arguments.words,
    }
    values |= {name: value for name, value in told.items() if value not in (None, {})}
    encoders = [*values.get("image_encoders", {}).values(), *values.get("text_encoders", {}).values()]
    values["invented"] = any(is_stand_in(Path(encoder["model"].rpartition(":")[2])) for encoder in encoders)
    return validate(BaseSettings, values, SECTION, Path("the command line"))


def read_settings(folder: Path) -> "BaseSettings":
    """What a base was told before.

    Raises:
        BadInput: there is no base.
    """
    from trivium.core.parameters import read_parameters, section_of, validate
    from trivium.kvqae.asking.models import BaseSettings

    path = folder / PARAMS
    if not path.is_file():
        raise BadInput("there is no base yet: name the folder or file to make it from", file=folder,
                       expected=f"`python -m trivium kb FOLDER --out {folder}`")  # fmt: skip
    return validate(BaseSettings, section_of(read_parameters(path), SECTION, path), SECTION, path)


def check(settings: "BaseSettings", out: Path) -> None:
    """Refuse what would fail later, before anything is written.

    Raises:
        BadInput: a source that cannot be read, pictures without an encoder, models that are not there, or an `out` that
            is something else.
    """
    from trivium.commands.kb_models import check_model
    from trivium.kvqae.asking.entries import read_source

    source, place = settings.source.resolve(), out.resolve()
    if place == source or source in place.parents or place in source.parents:
        raise BadInput("the base and its source must not lie inside each other", field="--out", got=str(out))
    if out.exists() and not (out / GRAPH).is_file() and (not out.is_dir() or any(out.iterdir())):
        expected = "a new folder, or a base"
        raise BadInput("the folder holds something else", field="--out", got=str(out), expected=expected)
    entries = read_source(settings.source).entries
    if not settings.image_encoders and any(entry.pictures for entry in entries):
        raise BadInput("no encoder of pictures, and the source has some", field="--image-encoder",
                       expected="such as open_clip:ViT-B-32/openai, or --checkout with a built project")  # fmt: skip
    for name, entry in settings.image_encoders.items():
        check_model(name, entry)


def write_project(out: Path, settings: "BaseSettings") -> None:
    """Parameters and graph of a base's own DVC project."""
    models = [Path(each.model) for each in [*settings.image_encoders.values(), *settings.text_encoders.values()]]
    folders = sorted(str(model) for model in models if model.is_dir())
    told: dict[str, dict[str, Any]] = {
        # It looks at the source itself, and an unreadable picture does not stop it.
        ENTRIES: {"always_changed": True, "params": [f"{SECTION}.source", f"{SECTION}.words"]},
        BASE: {"deps": [ENTRIES, *folders], "params": [SECTION]},
    }
    kept = {"cache": False, "persist": True}  # what is deleted is gone; stages replace their outputs themselves
    stages = {
        name: {"cmd": f"python -m trivium kb --stage {name}", **stage, "outs": [{name: kept}]}
        for name, stage in told.items()
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, content in ((PARAMS, {SECTION: settings.model_dump(mode="json")}), (GRAPH, {"stages": stages})):
        with write_atomically(out / name) as beside:
            beside.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), "utf-8")
    if not (out / ".dvc").is_dir():
        (out / ".dvc").mkdir()
        (out / ".dvc" / "config").write_text("[core]\n    no_scm = true\n    analytics = false\n", "utf-8")


def reproduce(out: Path) -> None:
    """Have DVC run what is to be run.

    Raises:
        BadInput: a stage failed; it has said why.
    """
    before = {"PYTHONPATH": Path(__file__).resolve().parents[2], "PATH": Path(sys.executable).parent}
    paths = {name: os.pathsep.join(filter(None, [str(path), os.environ.get(name)])) for name, path in before.items()}
    command = [sys.executable, "-m", "dvc", "repro", "--quiet"]
    if subprocess.run(command, cwd=out, env=os.environ | paths, check=False).returncode:
        raise BadInput("the base was not made anew, and what was there before stays", file=out)


def run_stage(name: str) -> None:
    """Run a stage of the project in the current folder; raises as `gather` and `build`."""
    settings = read_settings(Path())
    if name == ENTRIES:
        from trivium.kvqae.asking.building import gather

        gather(settings.source, settings.words, Path(ENTRIES))
        return
    from trivium.commands.kb_models import foreign
    from trivium.kvqae.asking.building import build
    from trivium.kvqae.asking.models import models_of

    build(settings, Path(ENTRIES), Path(BASE), Path(STORES), *models_of(settings, foreign))


def summary(out: Path) -> list[str]:
    """What a base has, in words."""
    from trivium.commands.endpoints import is_stand_in
    from trivium.kvqae.asking.asker import WOULD_READ
    from trivium.kvqae.asking.building import LISTED, read_base

    described, settings = read_base(out / BASE)
    lines = [f"{out}: {described['entries']} entries, {described['passages']} passages, "
             f"{described['pictures']} pictures"]  # fmt: skip
    for name, count in described["pictures_with_vector"].items():
        lines.append(f"  {name}: {count} pictures with a vector, {described['encoded_now'][name]} encoded now")
    problems = [row for _, row in read_csv(out / BASE / LISTED)][1:]
    for kind, count in sorted(described["counts"].items()):
        lines.append(f"  {kind.replace('_', ' ')}: {count}")
        several = [row for row in problems if row[0] == kind]
        lines += [f"    {place}{f' ({detail})' if detail else ''}" for _, place, detail in several[:SHOWN]]
        if count > SHOWN:
            lines.append(f"    … all of them are listed in {out / BASE / LISTED}")
    if settings.invented:
        lines.append("  warning: these models are the sample's stand-ins; they know an invented world only")
    if settings.reader is None or is_stand_in(Path(settings.reader)):
        who = "nobody" if settings.reader is None else "only the sample's stand-in (`trivium ask --stand-ins`)"
        lines.append(f"  {who} reads; `trivium ask` shows passages. {WOULD_READ}")
    return lines


def run(arguments: Namespace) -> None:
    """Make a base, or make it again."""
    if arguments.stage is not None:
        run_stage(arguments.stage)
        return
    if arguments.out is None:
        arguments.refuse("--out is needed")
    told = [arguments.image_encoder, arguments.text_encoder, arguments.reader, arguments.checkout, arguments.words]
    if arguments.source is None and any(told):
        arguments.refuse("options need the source: without it, the base is made again as it was told before")
    settings = read_settings(arguments.out) if arguments.source is None else settings_of(arguments)
    check(settings, arguments.out)
    write_project(arguments.out, settings)
    reproduce(arguments.out)
    print("\n".join(summary(arguments.out)))
