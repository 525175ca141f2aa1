"""Compare models on one set: which look at the picture, and which repeat what usually occurs together.

    board = odmap({"mine": my_model, "clip": "open_clip:ViT-B-32/openai"}, released="coco_lama.parquet")
    print(board)

`my_model` has the two methods that `embeddings.py` names; what a text may be, `family.py` says.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from scipy.stats import rankdata, spearmanr

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.parameters import read_beside
from trivium.decorrelation.benchmark.answers import (
    Interval,
    Scores,
    SetAnswers,
    TrainedModel,
    answer,
    by_chance,
    interval,
    score,
)
from trivium.decorrelation.benchmark.benchmark_set import BenchmarkSet, open_set
from trivium.decorrelation.benchmark.embeddings import KeptEmbeddings, Precision, embed
from trivium.decorrelation.benchmark.family import NamedModel, find_model
from trivium.decorrelation.benchmark.hallucination import CaptionerScores, VlmScores, ask_vlm, chair, read_captions
from trivium.nets.device import pick_device
from trivium.prompting.endpoint import EndpointModel

TRAININGS: list[dict[str, Any]] = read_beside(__file__, "trainings.yaml")
UNKNOWN = "Nothing is known of whether its training sets hold this test."


def known_training(model: str, dataset: str) -> list[str]:
    """What is known of the training sets of such as `open_clip:ViT-B-32/openai`, and a public data set's test."""
    name = model.lower()
    entries = (entry for entry in TRAININGS if dataset in entry["datasets"] and re.search(entry["models"], name))
    return [entry["note"] for entry in entries] or [UNKNOWN]


RANKED = ("odmap@1", "image_to_text_r@1")
PAIRED = "pair_both"
_HEADS = {"  ODmAP@1": "odmap@1", "     @5": "odmap@5", "    @10": "odmap@10",
          "  still named (less is better)": "still_named", "  pairs": PAIRED, "   R@1": RANKED[1]}  # fmt: skip


@dataclass(frozen=True)
class BoardRow:
    """A model's row.

    Attributes:
        model, source: its name, and where it comes from, or the class of a Python object.
        odmap_rank, recall_rank: from 1, by the means of RANKED; equal means share a rank.
        looks: how many models it leads by ODmAP@1, with an interval of the difference above 0, that it does not lead by
            R@1, less those of which the reverse is true; below 0 it repeats.
        behind: how far it is behind the first by ODmAP@1, with the interval over pictures; None for the first.
        notes: of its training sets.
    """

    model: str
    source: str
    scores: Scores
    odmap_rank: int
    recall_rank: int
    looks: int
    behind: tuple[float, Interval] | None
    notes: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Leaderboard:
    """Models, captioners and vision-language models that were asked one set.

    Attributes:
        rows: by ODmAP@1, the best first.
        chance: {measure: expected of a random order, or of guessing}.
        failed: {model or captioner: why it could not be asked}.
        captioners: {name: what it names that is not there}.
        vlms: {name: what a vision-language model says is there}.
    """

    benchmark: BenchmarkSet
    rows: tuple[BoardRow, ...]
    chance: Mapping[str, float]
    failed: Mapping[str, str]
    captioners: Mapping[str, CaptionerScores]
    vlms: Mapping[str, VlmScores]

    @property
    def scores(self) -> dict[str, Scores]:
        """{model: its values}, the best first."""
        return {row.model: row.scores for row in self.rows}

    @property
    def correlation(self) -> float | None:
        """Spearman's ρ of ODmAP@1 and of pairs, both sides right, over models; None for fewer than three, or ties."""
        columns = [[row.scores.mean(measure) for row in self.rows] for measure in (RANKED[0], PAIRED)]
        if len(self.rows) < 3 or any(len(set(column)) == 1 for column in columns):
            return None
        return float(spearmanr(*columns).statistic)

    def __repr__(self) -> str:
        """The table in percent, a line a model, and what to expect of sentences in random order."""
        if not self.rows:
            return ""
        width = max(len("random order"), *(len(row.model) for row in self.rows))

        def line(name: str, mean: Callable[[str], float | None], ranks: str = "") -> str:
            means = {head: mean(measure) for head, measure in _HEADS.items()}
            cells = (f"{'' if value is None else f'{100 * value:.1f}':>{len(head)}}" for head, value in means.items())
            return f"{name:{width}}{''.join(cells)}{ranks}".rstrip()

        lines = [line(row.model, row.scores.mean, f"  {row.odmap_rank:4}{row.recall_rank:9}") for row in self.rows]
        heading = f"{'model':{width}}{''.join(_HEADS)}  rank, by R@1"
        return "\n".join([heading, *lines, line("random order", self.chance.get)])


def odmap(
    models: Mapping[str, Any] | Sequence[str] = (),
    project: str | Path = ".",
    *,
    released: str | Path | None = None,
    dataset: str | None = None,
    captioners: Mapping[str, str | Path] | None = None,
    vlms: Sequence[EndpointModel] = (),
    questions: int | None = None,
    batch_size: int = 64,
    precision: Precision = "float32",
    candidates: int | None = None,
    cache: str | Path | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> Leaderboard:
    """Ask models a released set, or the test queries of a built project.

    Args:
        models: {name: a Python object with `encode_images` and `encode_texts`, or what `--model` takes}, or a list of
            the latter.
        project, released, dataset, cache: see `open_set`.
        captioners: {name: file of its captions}; see `read_captions`.
        vlms: vision-language models, which are asked in words; see `ask_vlm`.
        questions: about so many painted pictures are they asked; None: all.
        batch_size: pictures at a time.
        precision: that networks compute in.
        candidates: how many a matching head scores again, at least 10; 0: none; None: as many as in the graph.
        report: takes a line of what is to be done without a GPU, then one of each model that is done.

    Raises:
        BadInput: no model, one name twice, a model that `find_model` refuses, no such set, or every model failed. A
            model that fails later is listed in `failed`, and the others stand.
        Exception: whatever a Python object raises.
    """
    if not models and not captioners and not vlms:
        raise BadInput("no model", field="--model")
    named: dict[str, Any] = {}
    for name, model in models.items() if isinstance(models, Mapping) else ((None, model) for model in models):
        chosen: Any = find_model(model) if isinstance(model, str) else model
        if (name := name or chosen.name) in named:
            raise BadInput("two models of one name", field="--model", got=name, expected="NAME=MODEL")
        named[name] = chosen
    benchmark = open_set(project, released, dataset=dataset, cache=cache)
    if named and pick_device().type == "cpu":
        texts = len({*benchmark.captions.texts, *benchmark.pairs.texts})
        pictures = len(benchmark.pictures.names) + len(benchmark.painted.names)
        report(
            f"No GPU: a model encodes {texts} captions, then {pictures} pictures, unless its vectors are kept or given."
        )
    options: dict[str, Any] = {"batch_size": batch_size, "precision": precision, "candidates": candidates}
    scores: dict[str, Scores] = {}
    captioned: dict[str, CaptionerScores] = {}
    answered: dict[str, VlmScores] = {}
    failed: dict[str, str] = {}

    def judge_captions(file: Path) -> CaptionerScores:
        return chair(benchmark, read_captions(file, benchmark))

    tasks: list[tuple[dict[str, Any], str, Callable[[], Any]]] = [
        *((scores, name, partial(_ask, model, benchmark, name, **options)) for name, model in named.items()),
        *((captioned, name, partial(judge_captions, Path(file))) for name, file in (captioners or {}).items()),
        *((answered, vlm.label, partial(ask_vlm, benchmark, vlm, questions)) for vlm in vlms),
    ]
    for results, name, ask in tasks:
        try:
            results[name] = ask()
        except Exception as error:  # of a library: hours of the others would be lost
            is_own = results is scores and not isinstance(named[name], NamedModel)
            if is_own and not isinstance(error, BadInput):
                raise
            failed[name] = str(error) if isinstance(error, BadInput) else f"{type(error).__name__}: {error}"
            report(f"{name} cannot be asked: {failed[name]}")
            continue
        if results is scores:
            report(f"{name}: ODmAP@1 {100 * scores[name].values['odmap@1'].mean():.1f}")
        elif words := answered.get(name):
            report(f"{name}: {words.questions - words.unreadable} of {words.questions} answers say yes or no")
    if not (scores or captioned or answered):
        raise BadInput("\n  ".join(["no model could be asked", *(f"{name}: {why}" for name, why in failed.items())]))
    rows = rank(benchmark, scores, named) if scores else ()
    return Leaderboard(benchmark, rows, by_chance(benchmark), failed, captioned, answered)


def _ask(
    model: Any, benchmark: BenchmarkSet, name: str, *, batch_size: int, precision: Precision, candidates: int | None
) -> Scores:
    """Ask and judge a Python object, or a `NamedModel`, which answers from the cache where it has answered before.

    Its vectors lie there, too, for other candidates. `BadInput`: see `embed` and `NamedModel.load`; or a damaged
    file in the cache.
    """
    if not isinstance(model, NamedModel):
        vectors = embed(model, benchmark, name, batch_size, precision)
        return score(benchmark, answer(benchmark, vectors, model, batch_size, candidates))
    encoder = _digest(model.identity(), precision)
    file = benchmark.kept / f"{_digest(encoder, candidates)}.npz"
    if not file.is_file():
        loaded = model.load()
        if isinstance(loaded, TrainedModel):
            answers = loaded.answer(benchmark)
        elif isinstance(loaded, KeptEmbeddings):
            answers = answer(benchmark, loaded.vectors(benchmark))
        else:
            vectors = embed(loaded, benchmark, name, batch_size, precision, benchmark.kept / encoder)
            answers = answer(benchmark, vectors, loaded, batch_size, candidates)
        with write_atomically(file) as path, path.open("wb") as stream:
            np.savez(stream, **asdict(answers))
    try:
        with np.load(file, allow_pickle=False) as parts:
            answers = SetAnswers(**parts)
    except (OSError, EOFError, ValueError, TypeError, BadZipFile) as error:
        raise BadInput(f"a damaged file of answers: {error}", file=file, expected="remove it") from None
    return score(benchmark, answers)


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def rank(benchmark: BenchmarkSet, scores: Mapping[str, Scores], models: Mapping[str, Any]) -> tuple[BoardRow, ...]:
    """The rows of models that were asked the set; of equal ones the first that was given comes first."""
    names = list(scores)
    odmaps, recalls = ([scores[name].values[measure] for name in names] for measure in RANKED)
    by_odmap, by_recall = (
        rankdata([-values.mean() for values in column], method="min").astype(int) for column in (odmaps, recalls)
    )

    def lead(one: int, other: int) -> Interval:
        return interval(benchmark, odmaps[one] - odmaps[other], benchmark.queries.pictures)

    looks = [0] * len(names)
    for one, other in permutations(range(len(names)), 2):
        bounds = lead(one, other)
        if bounds is not None and bounds[0] > 0 and recalls[one].mean() <= recalls[other].mean():
            looks[one] += 1
            looks[other] -= 1
    best, *others = np.argsort(by_odmap, kind="stable").tolist()
    rows = []
    for place in (best, *others):
        name, model = names[place], models[names[place]]
        source = model.label if isinstance(model, NamedModel) else f"Python: {type(model).__name__}"
        behind = None if place == best else (float((odmaps[best] - odmaps[place]).mean()), lead(best, place))
        ranks = int(by_odmap[place]), int(by_recall[place])
        notes = () if benchmark.invented else tuple(known_training(source, benchmark.dataset))
        rows.append(BoardRow(name, source, scores[name], *ranks, looks[place], behind, notes))
    return tuple(rows)
