"""`trivium ask`: ask a question of your own about a picture of your own.

    trivium ask --image photo.jpg "Which constituency did this man represent?"
    trivium ask --kb museum --image photo.jpg "Who painted this?"
    trivium ask --kb museum --batch questions.csv --out answers.csv
    trivium ask --kb birds --batch infoseek_val.jsonl --set infoseek --pictures oven --out answers.csv
    trivium ask --image photo.jpg "Who painted this?" --identify http://localhost:8000/v1 --identify-model NAME

Prints the answer, then the passages it was read in and what each re-ranker and each system gave to their scores. Uses
what the last `make repro` made, or with `--kb` a base of one's own (docs/own_pictures.md). `make ask` opens the same as
a page.
"""

import os
import textwrap
from argparse import ArgumentParser, Namespace, _ArgumentGroup
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from trivium.core.arithmetic import settle
from trivium.core.reading import LARGEST_IMAGE, read_bytes

if TYPE_CHECKING:  # seconds to import, and `--help` does not need it
    from trivium.kvqae.asking.answer import Answer
    from trivium.kvqae.asking.asker import Asker

WIDTH = 100  # of a line of text


def lines(answer: "Answer") -> Iterator[str]:
    """Yield the lines of an answer for a terminal; its place in a passage stands in «»."""
    from trivium.kvqae.asking.answer import INVENTED

    notes = [] if answer.score is None else [f"probability {answer.score:.3f}"]
    notes += [f"{answer.seconds:.1f} s", *[INVENTED] * answer.invented]
    yield f"{_printable(answer.text) or '(no answer)'}   ({', '.join(notes)})"
    for entry in answer.entries:
        known = entry.probability is not None
        probability = f"probability {entry.probability:.3f}" if known else "no probability: too few pictures"
        yield f"picture: {_printable(entry.title)}   ({probability}{'' if entry.sure else ', not sure'})"
    if answer.alike:
        yield f"picture: most like that of {_printable(answer.alike)}"
    yield from (f"note: {note}" for note in answer.notes)
    for rank, support in enumerate(answer.supports, 1):
        yield ""
        yield f"{rank}. {_printable(support.title)}"
        if support.reranking is not None:
            yield f"   {support.score:+.2f} = {_contributions(support.reranking)}"
        yield f"   {sum(support.contributions.values()):+.2f} = {_contributions(support.contributions)}"
        text = support.text
        if support.mark is not None:
            start, end = support.mark
            text = f"{text[:start]}«{text[start:end]}»{text[end:]}"
        yield textwrap.fill(_printable(text), WIDTH, initial_indent="   ", subsequent_indent="   ")


def _contributions(contributions: Mapping[str, float]) -> str:
    from trivium.kvqae.asking.answer import label_of

    return "  ".join(f"{label_of(system)} {value:+.2f}" for system, value in contributions.items() if value)


def _printable(text: str) -> str:
    """Replace control characters: a text cannot move a terminal's cursor."""
    return "".join(character if character.isprintable() else " " for character in text)


def prepare_arithmetic() -> None:
    """Compute as the stages did, on one thread unless `OMP_NUM_THREADS` says otherwise; before torch is imported.

    On the sample's networks two threads gain nothing, and on a busy machine their waiting for each other cost ten times
    the work.
    """
    threads = os.environ.get("OMP_NUM_THREADS", "1")
    settle()
    os.environ["OMP_NUM_THREADS"] = threads


def options(parser: ArgumentParser) -> None:
    """Declare the command's arguments."""
    from trivium.commands.ask_batch import SETS

    add = parser.add_argument
    add("question", nargs="?", help="for example: Which constituency did this man represent?")
    add("--image", type=Path, help="the picture; without it the text alone has to do")
    add("--face", type=int, help="which face is meant, from 1, from left to right; 0: the whole picture")
    add("--no-rerank", action="store_true", help="read what was retrieved, in the first stage's order")
    own = parser.add_argument_group("a base of your own, made by `trivium kb`")
    add = own.add_argument
    add("--kb", type=Path, metavar="FOLDER", help="the base; nothing of a project is used then")
    add("--batch", type=Path, metavar="CSV", help="questions, with columns question and image")
    add("--out", type=Path, metavar="CSV", help="for the answers of --batch")
    add("--set", choices=SETS, help="--batch is a file of this public set; its answers are scored")
    add("--pictures", type=Path, metavar="FOLDER", help="with the pictures of --set, named by their ids")
    add("--bem", type=Path, metavar="FOLDER", help="a model that judges answers of Encyclopedic-VQA")
    results = "search results or embeddings of somebody else's, in place of looking at the pictures of --batch"
    add("--entries", type=Path, metavar="FILE", help=results)
    add_models(parser, own)


def add_models(parser: ArgumentParser, own: _ArgumentGroup) -> None:
    """Declare the arguments that name who reads, and who chooses the entity."""
    reader = "a folder of a BERT reader, or an endpoint such as http://localhost:8000/v1; else only passages are shown"
    own.add_argument("--reader", metavar="READER", help=reader)
    own.add_argument("--reader-model", metavar="NAME", help="the endpoint's name for the model")
    own.add_argument(
        "--stand-ins", action="store_true", help="let the sample's reader read, too: it knows no real world"
    )
    group = parser.add_argument_group("identify the entity first")
    address = "an endpoint whose model chooses among the best entities by name and picture; both are sent to it"
    group.add_argument("--identify", metavar="ADDRESS", help=address)
    group.add_argument("--identify-model", metavar="NAME", help="the endpoint's name for the model")
    group.add_argument("--key-variable", metavar="VARIABLE", help="environment variable with the endpoints' key")


def open_base(folder: Path, arguments: Namespace) -> "Asker":
    """Open a base of one's own; `BadInput`: there is none, or a model is missing."""
    from trivium.commands.kb import BASE
    from trivium.commands.kb_models import foreign, identifier_of, reader_of
    from trivium.kvqae.asking.asker import Asker
    from trivium.kvqae.asking.building import read_base
    from trivium.kvqae.asking.own_base import OwnBase

    base, journal = folder.resolve() / BASE, folder / "endpoint_answers"  # Java stays where it was started
    read_base(base)  # before answers are kept beside it
    reader = reader_of(arguments, journal)
    return Asker(lambda: OwnBase(base, foreign, reader), identifier_of(arguments, journal))


def open_graph(root: Path, arguments: Namespace) -> "Asker":
    """Open what `make repro` made in a project."""
    from trivium.commands.kb_models import identifier_of
    from trivium.kvqae.asking.asker import Asker
    from trivium.kvqae.asking.graph import GraphBase
    from trivium.kvqae.reader.prompted import JOURNAL

    return Asker(lambda: GraphBase(root), identifier_of(arguments, root / JOURNAL))


def _ask_table(arguments: Namespace) -> None:
    """Answer the questions of a table, or of a public set."""
    from trivium.commands import ask_batch

    name, table, out = arguments.set, arguments.batch, arguments.out
    entries = None if arguments.entries is None else ask_batch.read_entries(arguments.entries)
    # What is wrong with the questions is said before anything is loaded.
    if name is None:
        rows = ask_batch.read_questions(table)
        with open_base(arguments.kb, arguments) as asker:
            counts = ask_batch.answer_all(asker.ask, rows, table, out, entries)
        print(f"{out}: " + ", ".join(f"{name.replace('_', ' ')}: {count}" for name, count in counts.items()))
    else:
        questions, rows = ask_batch.questions_of(name, table, arguments.pictures)
        judge = None
        if arguments.bem is not None:
            from trivium.nets.answer_equivalence import AnswerEquivalence
            from trivium.nets.device import pick_device

            judge = AnswerEquivalence(arguments.bem, pick_device())
        with open_base(arguments.kb, arguments) as asker:
            scores = ask_batch.answer_set(asker.ask, name, questions, rows, judge, out, entries)
        print(f"{out}: {scores.pop('set')}, {scores.pop('measure')}")
        for name, value in scores.items():
            print(f"{name:28} {value if isinstance(value, int) else f'{value:.4g}'}")
    if isinstance(asker.base.reader, str):
        print(f"note: {asker.base.reader}")


def _ask_one(arguments: Namespace) -> None:
    from trivium.kvqae.asking.answer import decode_given
    from trivium.vision.decoding import PIXELS

    image = None if arguments.image is None else read_bytes(arguments.image, LARGEST_IMAGE)
    if image is not None:  # what is wrong with it is said before anything is loaded
        decode_given(image, arguments.image, {"max_side": 64, "max_pixels": PIXELS})
    base = arguments.kb
    with open_graph(Path.cwd(), arguments) if base is None else open_base(base, arguments) as asker:
        rerank, face = not arguments.no_rerank, arguments.face
        answer = asker.ask(arguments.question, image, rerank=rerank, face=face, file=arguments.image)
    print("\n".join(lines(answer)))


def run(arguments: Namespace) -> None:
    """Answer the question of the command line, or those of a table."""
    named = {name for name, value in vars(arguments).items() if value is not None and value is not False}
    batch, pictured = "batch" in named, named & {"pictures", "entries"}
    wrong = {
        "--batch needs --kb and --out": batch and not {"kb", "out"} <= named,
        "--set needs --batch and --pictures or --entries, and --pictures needs --set": (
            not (batch and pictured) if "set" in named else "pictures" in named
        ),
        "--entries needs --batch": "entries" in named and not batch,
        "--bem needs --set encyclopedic_vqa": "bem" in named and arguments.set != "encyclopedic_vqa",
        "--face needs --image": "face" in named and not batch and "image" not in named,
        "--reader and --stand-ins need --kb": "kb" not in named and bool(named & {"reader", "stand_ins"}),
        "with --batch, pictures stand in the table, and the most probable face is looked at": (
            batch and bool(named & {"image", "face"})
        ),
        "a question, or --batch, is needed": batch == bool((arguments.question or "").strip()),
    }
    for problem, is_wrong in wrong.items():
        if is_wrong:
            arguments.refuse(problem)
    prepare_arithmetic()
    (_ask_table if batch else _ask_one)(arguments)
