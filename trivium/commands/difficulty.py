"""`trivium difficulty`: what makes the questions of any set hard for the models that answered them, and how sure it is.

    trivium difficulty --questions dev.json --answers camembert.json mt5=mt5.jsonl --out difficulty

Forms of files, factors and statistics: docs/difficulty.md.
"""

import re
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import get_args

from trivium.complexity.difficulty.analysis import difficulty
from trivium.complexity.difficulty.comparison import compare_models
from trivium.complexity.difficulty.material import DifficultySettings, Judge, Missing
from trivium.complexity.difficulty.partitions import write_partitions
from trivium.complexity.factors.own_factors import MEMBERS
from trivium.complexity.partitions import MEAN
from trivium.core.errors import BadInput
from trivium.core.parameters import validate
from trivium.formats.answer_files import model_names
from trivium.language.languages import LANGUAGES
from trivium.page.difficulty import write_difficulty

# Before the names of options in messages.
_NAMED = re.compile(r"(?<=\n  )difficulty\.|(?<=field ')(?=factors|language|missing'|parser)")
_NUMBERS = ("risk", "power", "smallest_set", "confidence", "resamples", "margin", "draws", "seed")


def options(parser: ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    text = "SQuAD 1.1 or 2.0, PIAF, XQuAD, FQuAD, MRQA, or flat records (JSON, Parquet)"
    add("--questions", type=Path, required=True, help=text)
    text = "one file for each model, named as the model, or NAME=FILE: {id: answer}, lines with prediction or "
    text += "prediction_text, samples of lm-evaluation-harness, KILT; several files of one NAME are its trainings"
    add("--answers", nargs="+", required=True, metavar="FILE", help=text)
    add("--out", type=Path, required=True, help="folder for the page, CSV, JSON and py-irt's file")
    add("--title", help="title of the page (default: the name of the questions' file)")
    add("--language", help=f"code of ISO 639-1, with rules for {', '.join(LANGUAGES)} (default: detected)")
    add("--missing", choices=get_args(Missing), help=_described("missing"))
    add("--judge", choices=get_args(Judge), default=_default("judge"), help=f"{_described('judge')} (%(default)s)")
    add("--verdicts", type=Path, help="human verdicts, CSV or Label Studio's JSON: κ of every judge")
    text = "further factors: CSV with a column id and columns of yes/no or numbers; module:function; or "
    add("--factors", nargs="+", default=(), metavar="FACTOR", help=text + ", ".join(MEMBERS))
    text = "an installed pipeline of spaCy, or its folder, that parses the contexts: adds three factors"
    add("--parser", metavar="spacy:NAME", help=text)
    add("--compare", nargs=2, metavar=("A", "B"), help="which of two models is better, and mostly on which questions")
    text = "write parts of increasing difficulty as SQuAD files with cards (partitions/)"
    add("--partitions", action="store_true", help=text)
    for name in _NUMBERS:
        default, option = _default(name), f"--{name.replace('_', '-')}"
        add(option, type=type(default), default=default, help=f"{_described(name)} (%(default)s)")


def _described(name: str) -> str:
    return str(DifficultySettings.model_fields[name].description).replace("%", "%%")


def _default(name: str) -> object:
    return DifficultySettings.model_fields[name].default


def run(arguments: Namespace) -> None:
    """Analyse the set of the command line."""
    values = {name: getattr(arguments, name) for name in ("judge", "missing", *_NUMBERS)}
    try:
        settings = validate(DifficultySettings, values, "difficulty", Path("--"))
        names = model_names(arguments.answers)
        if arguments.compare and not set(arguments.compare) <= set(names):
            raise BadInput("no such model", field="--compare", got=arguments.compare, choices=names)
        sys.path.insert(0, str(Path.cwd()))  # where module:function is looked for first
        choices = {name: getattr(arguments, name) for name in ("language", "factors", "parser", "verdicts")}
        result = difficulty(arguments.questions, names, settings=settings, **choices)
    except BadInput as error:
        raise BadInput(_NAMED.sub("--", str(error).removeprefix("--: "))) from None
    comparison = compare_models(result, *arguments.compare) if arguments.compare else None
    parts = write_partitions(result, arguments.out) if arguments.partitions else []
    title = arguments.title or arguments.questions.stem
    write_difficulty(result, arguments.out, title=title, comparison=comparison, partitions=parts)
    print(result)
    if comparison is not None:
        print(comparison)
    for row in parts:
        if row["model"] == MEAN:
            print(f"{row['partition']}: {row['examples']} questions, mean {100 * row['score']:.1f}")
    if arguments.partitions and not parts:
        print("No factor makes most models worse: there are no partitions.")
    unwritten = [] if comparison is not None else ["comparison.csv"]
    unwritten += [] if arguments.partitions else ["partitions.csv", "partitions"]
    if older := [name for name in unwritten if (arguments.out / name).exists()]:
        print(f"Not of this run, as it was not asked for them: {', '.join(older)}")
    print(f"Page: {arguments.out / 'index.html'}")
