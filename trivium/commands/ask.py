"""Ask a question of your own about a picture of your own (kvqae.md, the whole pipeline on one question).

    trivium ask --image photo.jpg "Which constituency did this man represent?"

Prints the answer, then the passages it was read in and what each re-ranker and each system gave to their scores. Uses
what the last `make repro` made; exit code 1, with one clear message, on bad input. `make ask` opens the same as a page.
"""

import argparse
import os
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trivium.errors import BadInput
from trivium.files.reading import LARGEST_IMAGE, read_bytes
from trivium.harness.arithmetic import settle

if TYPE_CHECKING:  # seconds to import, and `--help` does not need it
    from trivium.kvqae.asking.answered_question import Answer, Support

WIDTH = 100  # of a line of text


def lines(answer: "Answer") -> Iterator[str]:
    """The answer for a terminal; the answer's place in a passage stands in «»."""
    yield f"{answer.text or '(no answer)'}   (probability {answer.score:.3f}, {sum(answer.seconds.values()):.1f} s)"
    yield from (f"note: {note}" for note in answer.notes)
    for rank, support in enumerate(answer.supports, 1):
        yield ""
        yield f"{rank}. {_printable(support.title)}"
        if support.reranking is not None:
            yield f"   {support.score:+.2f} = {_contributions(support.reranking)}"
        yield f"   {sum(support.contributions.values()):+.2f} = {_contributions(support.contributions)}"
        yield textwrap.fill(_printable(_marked(support)), WIDTH, initial_indent="   ", subsequent_indent="   ")


def _contributions(contributions: Mapping[str, float]) -> str:
    from trivium.kvqae.asking.systems import label_of

    return "  ".join(f"{label_of(system)} {value:+.2f}" for system, value in contributions.items() if value)


def _marked(support: "Support") -> str:
    if support.mark is None:
        return support.text
    start, end = support.mark
    return f"{support.text[:start]}«{support.text[start:end]}»{support.text[end:]}"


def _printable(text: str) -> str:
    """Without control characters: a text cannot move a terminal's cursor."""
    return "".join(character if character.isprintable() else " " for character in text)


def read_image(path: Path) -> bytes:
    """The bytes of a picture's file.

    Raises:
        BadInput: it is not there, cannot be read, or is too large.
    """
    return read_bytes(path, LARGEST_IMAGE)


def prepare_arithmetic() -> None:
    """Compute as the stages did, on one thread unless `OMP_NUM_THREADS` says otherwise; before torch is imported.

    On the sample's networks two threads gain nothing, and on a busy machine their waiting for each other cost ten times
    the work.
    """
    threads = os.environ.get("OMP_NUM_THREADS", "1")
    settle()
    os.environ["OMP_NUM_THREADS"] = threads


def main(argv: Sequence[str] | None = None) -> None:
    """Answer the question of the command line."""
    from trivium.kvqae.retrieval.fusion import PASSAGE_ROWS

    parser = argparse.ArgumentParser(prog="trivium ask", description="Answer a question about a picture")
    parser.add_argument("question", help="such as: Which constituency did this man represent?")
    parser.add_argument("--image", type=Path, help="the picture; without it the text alone has to do")
    parser.add_argument("--row", default="dpr_few_shot_image", help=f"one of {', '.join(PASSAGE_ROWS)} (%(default)s)")
    parser.add_argument("--no-rerank", action="store_true", help="read what was retrieved, in the first stage's order")
    arguments = parser.parse_args(argv)
    prepare_arithmetic()
    try:
        if not arguments.question.strip():  # said before anything is loaded
            raise BadInput("the question is empty")
        image = None if arguments.image is None else read_image(arguments.image)
        from trivium.kvqae.asking.pipeline import Asker

        with Asker(Path.cwd(), arguments.row) as asker:
            answer = asker.ask(arguments.question, image, rerank=not arguments.no_rerank)
            print("\n".join(lines(answer)))
    except BadInput as error:
        print(f"ask: {_printable(str(error))}", file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
