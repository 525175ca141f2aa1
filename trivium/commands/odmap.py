"""`trivium odmap`: how much does a model of pictures and texts guess?

    trivium odmap --set coco_lama.parquet --model open_clip:ViT-B-32/openai --model ./my_clip --out leaderboard

It is asked about pictures from which an object was painted out, as the graph asks its own models: those of a released
set, or of a built project. Kinds of models, measures and the page: docs/odmap.md.
"""

import os
import re
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput

PRECISIONS = ("float32", "bfloat16", "float16")


def options(parser: ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    text = "open_clip:ViT-B-32/openai, hf:OWNER/NAME, sentence_transformers:NAME, npy:FOLDER, or a folder of one of "
    text += "these or of the graph (models/decorrelation/cells/NAME); NAME=MODEL gives it a name; may be repeated"
    add("--model", action="append", default=[], metavar="MODEL", help=text)
    add("--out", type=Path, metavar="FOLDER", help="for the page, CSV, JSON and values by query")
    text = "a released set: a file, a folder, or OWNER/NAME of the hub (default: that of the project in this folder)"
    add("--set", metavar="SET", help=text)
    add("--dataset", help="which of several sets (of the project's: coco)")
    text = "a captioner's sentences, a .jsonl file of id and caption; NAME=FILE gives it a name; may be repeated"
    add("--captioner", action="append", default=[], metavar="FILE", help=text)
    group = parser.add_argument_group("a vision-language model behind an endpoint")
    group.add_argument("--endpoint", help="base URL of an OpenAI-compatible server, such as http://localhost:8000/v1")
    group.add_argument("--vlm", action="append", default=[], metavar="MODEL", help="its name there; may be repeated")
    group.add_argument("--key-variable", metavar="VARIABLE", help="environment variable with the endpoint's key")
    group.add_argument("--questions", type=int, metavar="N", help="about so many painted pictures (default: all)")
    group.add_argument("--requests-per-minute", type=float, default=600, metavar="N", help="at most (%(default)g)")
    group = parser.add_argument_group("how models compute")
    group.add_argument("--batch", type=int, default=64, help="number of pictures to encode at a time (%(default)s)")
    group.add_argument("--device", help="cpu, cuda or cuda:N (default: the first GPU, or the CPU)")
    group.add_argument("--precision", choices=PRECISIONS, default="float32", help="of networks (%(default)s)")
    text = "how many BLIP's matching head scores again (default: as in the graph; 0: none, which a CPU wants)"
    group.add_argument("--candidates", type=int, metavar="N", help=text)
    group.add_argument("--cache", type=Path, metavar="FOLDER", help="what is kept (~/.cache/trivium/odmap)")
    group = parser.add_argument_group("instead of asking")
    group.add_argument("--export", type=Path, metavar="SET", help="write the project's set as one file")
    text = "write the pictures and sentences to embed for npy:FOLDER"
    group.add_argument("--inputs", type=Path, metavar="FOLDER", help=text)


def _named(option: str, values: Sequence[str]) -> dict[str, str]:
    """{name: value} of `NAME=VALUE`, or of a path by its last part; `BadInput` where a name comes twice."""
    named: dict[str, str] = {}
    for text in values:
        name, sign, value = text.partition("=")
        if not sign:
            name, value = Path(text).name, text
        if name in named:
            raise BadInput("two of the same name", field=option, got=name, expected="NAME=…")
        named[name] = value
    return named


def _choose_device(device: str) -> None:
    """Hide all other devices from this process, before any network is loaded; `BadInput`: no such device."""
    kind = re.fullmatch(r"cpu|cuda(:(\d+))?", device)
    if kind is None:
        raise BadInput("no such device", field="--device", got=device, expected="cpu, cuda or cuda:N")
    if device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        return
    import torch

    count, number = torch.cuda.device_count(), int(kind[2] or 0)
    if number >= count:
        raise BadInput("no such GPU here", field="--device", got=device, expected=f"{count} GPUs")
    visible = [name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name]
    os.environ["CUDA_VISIBLE_DEVICES"] = (visible or [str(place) for place in range(count)])[number]


def run(arguments: Namespace) -> None:
    """Ask the models of the command line; the status is 1 when one of them could not be asked."""
    asks = arguments.model or arguments.captioner or arguments.vlm
    instead = [one for one in (arguments.export, arguments.inputs) if one is not None]
    if not instead and (not asks or arguments.out is None):
        arguments.refuse("--model, --captioner or --vlm, and --out are needed; or --export, or --inputs")
    for option in ("batch", "questions"):
        if (count := getattr(arguments, option)) is not None and count < 1:
            arguments.refuse(f"--{option} should be at least 1")
    if bool(arguments.vlm) != bool(arguments.endpoint):
        arguments.refuse("--endpoint and --vlm belong together")
    if arguments.set and Path(arguments.set).suffix == ".parquet" and not Path(arguments.set).is_file():
        raise BadInput("no such file", field="--set", got=arguments.set)  # the hub has no such name
    for option in ("out", "inputs"):
        if (folder := getattr(arguments, option)) is not None and folder.exists() and not folder.is_dir():
            raise BadInput("not a folder", field=f"--{option}", got=str(folder), expected="a folder, or nothing there")
    if arguments.device:
        _choose_device(arguments.device)
    from trivium.decorrelation.benchmark.benchmark_set import open_set, project_set

    chosen = {"released": arguments.set, "dataset": arguments.dataset, "cache": arguments.cache}
    if arguments.export is not None:
        with write_atomically(arguments.export) as path:
            shutil.copyfile(project_set(dataset=arguments.dataset), path)
        print(f"Set: {arguments.export}. Anyone can ask it: trivium odmap --set {arguments.export} --model …")
        return
    if arguments.inputs is not None:
        from trivium.decorrelation.benchmark.embeddings import write_inputs

        write_inputs(open_set(**chosen), arguments.inputs)
        print(f"Inputs: {arguments.inputs}. Add pictures.npy and captions.npy, then: --model npy:{arguments.inputs}")
        return
    from trivium.decorrelation.benchmark.hallucination import endpoint_model
    from trivium.decorrelation.benchmark.leaderboard import odmap
    from trivium.page.leaderboard import write_leaderboard

    board = odmap(
        arguments.model,
        captioners=_named("--captioner", arguments.captioner),
        vlms=[
            endpoint_model(arguments.endpoint, name, arguments.key_variable, arguments.requests_per_minute)
            for name in arguments.vlm
        ],
        questions=arguments.questions,
        batch_size=arguments.batch,
        precision=arguments.precision,
        candidates=arguments.candidates,
        report=lambda line: print(line, flush=True),
        **chosen,
    )
    write_leaderboard(board, arguments.out)
    if board.rows:
        print(board)
    print(f"Page: {arguments.out / 'index.html'}")
    for name, why in board.failed.items():
        print(f"odmap: {name} was not asked: {why}", file=sys.stderr)
    if board.failed:
        raise SystemExit(1)
