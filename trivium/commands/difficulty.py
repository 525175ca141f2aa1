"""`trivium difficulty`: what makes the questions of any set hard for the models that answered them, and how sure it is.

    trivium difficulty --questions dev.json --answers camembert.json mt5=mt5.jsonl --out difficulty

Forms of files, factors and statistics: docs/difficulty.md.
"""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import get_args

from trivium.complexity.difficulty.analysis import difficulty
from trivium.complexity.difficulty.comparison import compare_models
from trivium.complexity.difficulty.judges import LlmJudge
from trivium.complexity.difficulty.material import DifficultySettings, Judge, Missing
from trivium.complexity.difficulty.partitions import write_partitions
from trivium.complexity.factors.question_members import MEMBERS
from trivium.complexity.partitions import MEAN
from trivium.complexity.prompting import JOURNAL
from trivium.core.errors import BadInput
from trivium.core.parameters import validate
from trivium.formats.answer_files import model_names
from trivium.language.reading.languages import LANGUAGES
from trivium.page.difficulty import write_difficulty
from trivium.prompting.asking import EndpointModel

_NUMBERS = ("risk", "power", "smallest_set", "confidence", "resamples", "margin", "draws", "seed")


def options(parser: ArgumentParser) -> None:
    """What the command takes."""
    add = parser.add_argument
    told = "SQuAD 1.1 or 2.0, PIAF, XQuAD, FQuAD, MRQA, or flat records (JSON, Parquet)"
    add("--questions", type=Path, required=True, help=told)
    told = "one file for each model, named as the model, or NAME=FILE: {id: answer}, lines with prediction or "
    told += "prediction_text, samples of lm-evaluation-harness, KILT; several files of one NAME are its trainings"
    add("--answers", nargs="+", required=True, metavar="FILE", help=told)
    add("--out", type=Path, required=True, help="folder for the page, CSV, JSON and py-irt's file")
    add("--title", help="title of the page (default: the name of the questions' file)")
    add("--language", help=f"code of ISO 639-1, with rules for {', '.join(LANGUAGES)} (default: detected)")
    add("--missing", choices=get_args(Missing), help=_described("missing"))
    add("--judge", choices=get_args(Judge), default=_default("judge"), help=f"{_described('judge')} (%(default)s)")
    add("--verdicts", type=Path, help="human verdicts, CSV or Label Studio's JSON: κ of every judge")
    told = "further factors: CSV with a column id and columns of yes/no or numbers; module:function; or "
    add("--factors", nargs="+", default=(), metavar="FACTOR", help=told + ", ".join(MEMBERS))
    add("--syntax", type=Path, help="CoNLL-U of the contexts, which adds three factors")
    add("--parser", metavar="spacy:NAME", help="the same by an installed pipeline of spaCy, or its folder")
    add("--compare", nargs=2, metavar=("A", "B"), help="which of two models is better, and mostly on which questions")
    told = "write parts of increasing difficulty as SQuAD files with cards (partitions/)"
    add("--partitions", action="store_true", help=told)
    for name in _NUMBERS:
        default, option = _default(name), f"--{name.replace('_', '-')}"
        add(option, type=type(default), default=default, help=f"{_described(name)} (%(default)s)")
    add = parser.add_argument_group("a language model as the judge (--judge llm)").add_argument
    add("--endpoint", help="base URL of an OpenAI-compatible server, such as http://localhost:8000/v1")
    add("--judge-model", help="the endpoint's name for the model")
    add("--key-variable", help="environment variable with the key (default: none is needed)")
    told = "largest number of requests a minute (%(default)g)"
    add("--requests-per-minute", type=float, default=600, help=told)
    add("--parallel", type=int, default=8, help="number of requests at a time (%(default)s)")
    add("--cache", type=Path, default=JOURNAL, help="folder that keeps the verdicts (%(default)s)")


def _described(name: str) -> str:
    return str(DifficultySettings.model_fields[name].description).replace("%", "%%")


def _default(name: str) -> object:
    return DifficultySettings.model_fields[name].default


def _judge(arguments: Namespace) -> LlmJudge | None:
    """The judge behind the endpoint, if one is asked for.

    Raises:
        BadInput: an endpoint without --judge llm, or that without an endpoint and model.
    """
    told = [arguments.endpoint is not None, arguments.judge_model is not None]
    if arguments.judge != "llm":
        if any(told):
            problem = "an endpoint is given, but no language model is the judge"
            raise BadInput(problem, field="--judge", got=arguments.judge, expected="llm")
        return None
    if not all(told):
        problem = "the judge is a language model, but its endpoint or name is missing"
        raise BadInput(problem, field="--judge", got="llm", expected="--endpoint and --judge-model too")
    values = {
        "label": "judge",
        "endpoint": arguments.endpoint,
        "model": arguments.judge_model,
        "max_tokens": 512,  # one word is asked for; some models think first
        "requests_per_minute": arguments.requests_per_minute,
        "parallel": arguments.parallel,
        "timeout_s": 120.0,
        "backoff_s": 1.0,
        "key_variable": arguments.key_variable,
    }
    return LlmJudge(validate(EndpointModel, values, "judge", Path("--")), arguments.cache)


def run(arguments: Namespace) -> None:
    """Analyse the set of the command line."""
    judge = _judge(arguments)
    values = {name: getattr(arguments, name) for name in ("judge", "missing", *_NUMBERS)}
    try:
        settings = validate(DifficultySettings, values, "difficulty", Path("--"))
    except BadInput as error:  # whose names are those of options
        raise BadInput(str(error).removeprefix("--: ").replace("difficulty.", "--")) from None
    names = model_names(arguments.answers)
    if arguments.compare and not set(arguments.compare) <= set(names):  # before a judge is paid
        raise BadInput("no such model", field="--compare", got=arguments.compare, choices=names)
    sys.path.insert(0, str(Path.cwd()))  # where module:function is looked for first
    given = {name: getattr(arguments, name) for name in ("language", "factors", "syntax", "parser", "verdicts")}
    found = difficulty(arguments.questions, names, settings=settings, judge=judge, **given)
    comparison = compare_models(found, *arguments.compare) if arguments.compare else None
    parts = write_partitions(found, arguments.out) if arguments.partitions else []
    title = arguments.title or arguments.questions.stem
    write_difficulty(found, arguments.out, title=title, comparison=comparison, partitions=parts)
    if judge is not None:
        print("Judge: " + ", ".join(f"{name} {count}" for name, count in judge.counts.items()) + ".")
    print(found)
    if comparison is not None:
        print(comparison)
    for row in parts:
        if row["model"] == MEAN:
            print(f"{row['partition']}: {row['examples']} questions, mean {100 * row['score']:.1f}")
    if arguments.partitions and not parts:
        print("No factor makes most models worse: there are no partitions.")
    print(f"Page: {arguments.out / 'index.html'}")
