"""`trivium odmap`: how much does a model of pictures and texts guess?

    trivium odmap --model open_clip:ViT-B-32/openai --model ./my_clip --out leaderboard

It is asked about pictures from which an object was painted out, as the graph asks its own models. Kinds of models,
measures and the page: docs/odmap.md.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from trivium.core.errors import BadInput


def options(parser: ArgumentParser) -> None:
    """What the command takes."""
    add = parser.add_argument
    told = "open_clip:ViT-B-32/openai, hf:OWNER/NAME, sentence_transformers:NAME, npy:FOLDER, or a folder of one of "
    told += "these or of the graph (models/decorrelation/cells/NAME); NAME=MODEL gives it a name; may be repeated"
    add("--model", action="append", metavar="MODEL", help=told)
    add("--out", type=Path, metavar="FOLDER", help="for the page, CSV, Markdown and JSON")
    add("--dataset", default="coco", help="a data set of the project (%(default)s)")
    add("--filling", help="what painted the queries (default: as for most of the project's own models)")
    add("--positives", type=Path, metavar="FOLDER", help="right answers of ECCV Caption and CxC, on COCO")
    told = "a folder or hub name of a BLIP captioner, which is asked what it sees; NAME=CAPTIONER gives it a name; "
    add("--captioner", action="append", default=[], metavar="CAPTIONER", help=f"{told}may be repeated")
    add("--batch", type=int, default=64, help="number of pictures to encode at a time (%(default)s)")
    told = "write the pictures and sentences to embed for npy:FOLDER, and ask no model"
    add("--inputs", type=Path, metavar="FOLDER", help=told)


def _named(captioners: Sequence[str]) -> dict[str, str]:
    """{name: where}; of `--captioner` without a name the last part; `BadInput` where one comes twice."""
    named: dict[str, str] = {}
    for captioner in captioners:
        name, sign, where = captioner.partition("=")
        shown = name if sign else Path(captioner).name
        if shown in named:
            raise BadInput("two captioners have the same name", field="--captioner", got=shown,
                           expected="NAME=CAPTIONER")  # fmt: skip
        named[shown] = where if sign else captioner
    return named


def run(arguments: Namespace) -> None:
    """Ask the models of the command line; the status is 1 when one of them could not be asked."""
    if arguments.inputs is None and (not arguments.model or arguments.out is None):
        arguments.refuse("--model and --out are needed, or --inputs")
    if arguments.batch < 1:
        arguments.refuse("--batch should be at least 1")
    if arguments.inputs is not None:
        from trivium.decorrelation.benchmark.benchmark_set import read_benchmark
        from trivium.decorrelation.benchmark.npy import write_inputs

        write_inputs(read_benchmark(Path(), arguments.dataset, arguments.filling), arguments.inputs)
        print(f"Inputs: {arguments.inputs}. Add pictures.npy and captions.npy, then: --model npy:{arguments.inputs}")
        return
    from trivium.decorrelation.benchmark.leaderboard import odmap
    from trivium.page.leaderboard import write_leaderboard

    board = odmap(
        arguments.model,
        captioners=_named(arguments.captioner),
        batch_size=arguments.batch,
        told=lambda line: print(line, flush=True),
        **{name: getattr(arguments, name) for name in ("dataset", "filling", "positives")},
    )
    write_leaderboard(board, arguments.out)
    print(board)
    print(f"Page: {arguments.out / 'index.html'}")
    for name, why in board.failed.items():
        print(f"odmap: {name} was not asked: {why}", file=sys.stderr)
    if board.failed:
        raise SystemExit(1)
