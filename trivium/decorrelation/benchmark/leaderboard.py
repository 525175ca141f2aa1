"""Models side by side on one set: who looks at the picture, and who repeats what usually stands together.

    board = odmap({"mine": my_model, "clip": "open_clip:ViT-B-32/openai"}, released="coco_lama.parquet")
    print(board)

`my_model` is an `Embedder`; what a text may be, `family.py` says.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import yaml
from scipy.stats import rankdata, spearmanr

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark.answers import SetAnswers, answer
from trivium.decorrelation.benchmark.benchmark_set import BenchmarkSet, open_set
from trivium.decorrelation.benchmark.chair import CaptionerScores, chair, read_captions
from trivium.decorrelation.benchmark.embedder import Embedder, Precision, embed
from trivium.decorrelation.benchmark.family import NamedModel, find_model
from trivium.decorrelation.benchmark.scores import Interval, Scores, by_chance, interval, score
from trivium.decorrelation.benchmark.yes_no import VlmScores, ask_vlm
from trivium.prompting.asking import EndpointModel

T = TypeVar("T")
TRAININGS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("trainings.yaml").read_text(encoding="utf-8"))
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
        model: its name.
        source: where it comes from, or the class of a Python object.
        scores: its values.
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
        benchmark: the set.
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

        def line(name: str, cells: Iterable[str]) -> str:
            return f"{name:{width}}" + "".join(f"{cell:>{len(head)}}" for head, cell in zip(_HEADS, cells, strict=True))

        def percents(means: Iterable[float | None]) -> list[str]:
            return ["" if mean is None else f"{100 * mean:.1f}" for mean in means]

        lines = [line("model", _HEADS) + "  rank, by R@1"]
        for row in self.rows:
            ranks = f"  {row.odmap_rank:4}{row.recall_rank:9}"
            lines.append(line(row.model, percents(map(row.scores.mean, _HEADS.values()))) + ranks)
        lines.append(line("random order", percents(map(self.chance.get, _HEADS.values()))).rstrip())
        return "\n".join(lines)


def odmap(
    models: Mapping[str, Embedder | str] | Sequence[str] = (),
    project: str | Path = ".",
    *,
    released: str | Path | None = None,
    dataset: str | None = None,
    filling: str | None = None,
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
        project, released, dataset, filling, cache: see `open_set`.
        captioners: {name: file of its captions}; see `read_captions`.
        vlms: vision-language models, which are asked in words; see `ask_vlm`.
        questions: about so many painted pictures are they asked; None: all.
        batch_size: pictures at a time.
        precision: that networks compute in.
        candidates: how many a matching head scores again, at least 10; 0: none; None: as many as in the graph.
        report: takes a line a model that is done.

    Raises:
        BadInput: no model, one name twice, a model that `find_model` refuses, no such set, or every model failed. A
            model that fails later is listed in `failed`, and the others stand.
        Exception: whatever a Python object raises.
    """
    if not models and not captioners and not vlms:
        raise BadInput("no model", field="--model")
    named = _find_models(models)
    benchmark = open_set(project, released, dataset=dataset, filling=filling, cache=cache)
    failed: dict[str, str] = {}

    def attempt(name: str, ask: Callable[[], T], *, own: bool) -> dict[str, T]:
        """{name: what `ask` returns}, empty where it fails; what an object of the caller's own raises goes on."""
        try:
            return {name: ask()}
        except BadInput as error:
            failed[name] = str(error)
        except Exception as error:  # of a library: hours of the others would be lost
            if own:
                raise
            failed[name] = f"{type(error).__name__}: {error}"
        report(f"{name} cannot be asked: {failed[name]}")
        return {}

    scores: dict[str, Scores] = {}
    for name, model in named.items():
        ask = partial(_ask, model, benchmark, name, batch_size, precision, candidates)
        for answers in attempt(name, ask, own=not isinstance(model, NamedModel)).values():
            scores[name] = score(benchmark, answers)
            report(f"{name}: ODmAP@1 {100 * scores[name].values['odmap@1'].mean():.1f}")
    written: dict[str, CaptionerScores] = {}
    for name, file in (captioners or {}).items():
        captions = attempt(name, partial(read_captions, Path(file), benchmark), own=False)
        written |= {name: chair(benchmark, texts) for name, texts in captions.items()}
    answered: dict[str, VlmScores] = {}
    for vlm in vlms:
        answered |= attempt(vlm.label, partial(ask_vlm, benchmark, vlm, questions), own=False)
        if words := answered.get(vlm.label):
            report(f"{vlm.label}: {words.questions - words.unreadable} of {words.questions} answers say yes or no")
    if not (scores or written or answered):
        raise BadInput("\n  ".join(["no model could be asked", *(f"{name}: {why}" for name, why in failed.items())]))
    rows = rank(benchmark, scores, named) if scores else ()
    return Leaderboard(benchmark, rows, by_chance(benchmark), failed, written, answered)


def _find_models(models: Mapping[str, Embedder | str] | Sequence[str]) -> dict[str, Embedder | NamedModel]:
    """{name: model}; raises `BadInput` as `odmap`."""
    named: dict[str, Embedder | NamedModel] = {}
    for name, model in models.items() if isinstance(models, Mapping) else ((None, model) for model in models):
        chosen: Any = find_model(model) if isinstance(model, str) else model
        name = name or chosen.name
        if name in named:
            raise BadInput("two models of one name", field="--model", got=name, expected="NAME=MODEL")
        named[name] = chosen
    return named


def _ask(
    model: Any,
    benchmark: BenchmarkSet,
    name: str,
    batch_size: int,
    precision: Precision,
    candidates: int | None,
) -> SetAnswers:
    """Ask a model; one that was chosen by its name answers from the cache where it has answered before.

    Its vectors lie there, too, for other candidates and other sets. `model` is an `Embedder` or what `find_model`
    found; see `embed` and `answer` for the rest.

    Raises:
        BadInput: see `embed` and `NamedModel.load`; or a damaged file in the cache.
    """
    if not isinstance(model, NamedModel):
        return answer(benchmark, embed(model, benchmark, name, batch_size, precision), model, batch_size, candidates)
    parts_kept = [field.name for field in fields(SetAnswers)]  # other ones in a later version
    encoder = _digest(model.identity(), precision)
    file = benchmark.kept / f"{_digest(encoder, candidates, parts_kept)}.npz"
    if file.is_file():
        try:
            with np.load(file, allow_pickle=False) as parts:
                return SetAnswers(**parts)
        except (OSError, ValueError, TypeError) as error:
            raise BadInput(f"a damaged file of answers: {error}", file=file, expected="remove it") from None
    loaded = model.load()
    if hasattr(loaded, "answer"):  # a model of a graph, or vectors that another tool has made
        answers: SetAnswers = loaded.answer(benchmark)
    else:
        kept = benchmark.kept.parent / "embeddings" / encoder
        vectors = embed(loaded, benchmark, name, batch_size, precision, kept)
        answers = answer(benchmark, vectors, loaded, batch_size, candidates)
    with write_atomically(file) as path, path.open("wb") as stream:
        np.savez(stream, **asdict(answers))
    return answers


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def rank(
    benchmark: BenchmarkSet, scores: Mapping[str, Scores], models: Mapping[str, Embedder | NamedModel]
) -> tuple[BoardRow, ...]:
    """The rows of models that were asked the set; of equal ones the first that was given comes first."""
    names = list(scores)
    by_odmap, by_recall = (
        rankdata([-scores[name].values[measure].mean() for name in names], method="min").astype(int)
        for measure in RANKED
    )
    order = np.argsort(by_odmap, kind="stable").tolist()
    best = scores[names[order[0]]].values[RANKED[0]]
    looks = _looks(benchmark, list(scores.values()))
    rows = []
    for place in order:
        name, own = names[place], scores[names[place]]
        lost = best - own.values[RANKED[0]]
        bounds = interval(benchmark, lost, benchmark.queries.pictures)
        behind = None if place == order[0] else (float(lost.mean()), bounds)
        ranks = int(by_odmap[place]), int(by_recall[place])
        source = _source(models[name])
        notes = () if benchmark.invented else tuple(known_training(source, benchmark.dataset))
        rows.append(BoardRow(name, source, own, *ranks, looks[place], behind, notes))
    return tuple(rows)


def _looks(benchmark: BenchmarkSet, scores: Sequence[Scores]) -> list[int]:
    looks = [0] * len(scores)
    for one, other in permutations(range(len(scores)), 2):
        ahead, behind = scores[one].values, scores[other].values
        bounds = interval(benchmark, ahead[RANKED[0]] - behind[RANKED[0]], benchmark.queries.pictures)
        if bounds is not None and bounds[0] > 0 and ahead[RANKED[1]].mean() <= behind[RANKED[1]].mean():
            looks[one] += 1
            looks[other] -= 1
    return looks


def _source(model: Embedder | NamedModel) -> str:
    if isinstance(model, NamedModel):
        folder = Path(model.source)
        return f"{model.family}:{folder.name if folder.is_dir() else model.source}"
    return f"Python: {type(model).__name__}"
