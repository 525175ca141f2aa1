"""Models side by side on one set: who looks at the picture, and who repeats what usually stands together.

    board = odmap({"mine": my_model, "clip": "open_clip:ViT-B-32/openai"}, released="coco_lama.parquet")
    print(board)

`my_model` is an `Embedder`; what a text may be, `family.py` says.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scipy.stats import rankdata, spearmanr

from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark.benchmark_set import BenchmarkSet, open_set
from trivium.decorrelation.benchmark.chair import CaptionerScores, Captions, chair, read_captions, write_captions
from trivium.decorrelation.benchmark.embedder import Embedder, Precision
from trivium.decorrelation.benchmark.family import NamedModel, find_model, local_folder, split_name
from trivium.decorrelation.benchmark.hub import model_folder
from trivium.decorrelation.benchmark.kept import ask_kept
from trivium.decorrelation.benchmark.scores import Interval, Scores, by_chance, interval, score
from trivium.decorrelation.benchmark.yes_no import VlmScores, ask_vlm
from trivium.prompting.asking import EndpointModel

TRAININGS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("trainings.yaml").read_text(encoding="utf-8"))
UNKNOWN = "Nothing is known of whether its training sets hold this test."


def known_training(model: str, dataset: str) -> list[str]:
    """What is known of the training sets of such as `open_clip:ViT-B-32/openai`, and a public data set's test."""
    name = model.lower()
    fits = (each for each in TRAININGS if dataset in each["datasets"] and re.search(each["models"], name))
    return [each["note"] for each in fits] or [UNKNOWN]


_EMBEDDED = "ECCV Caption's and CxC's measures are by its embeddings (ITC) alone, without its matching head."
_CAPTION_TOKENS = 20  # as in the graph
RANKED = ("odmap@1", "image_to_text_r@1")
PAIRED = "pair_both"


@dataclass(frozen=True)
class BoardRow:
    """A model's place.

    Attributes:
        model: its name.
        source: what was asked for, or the class of a Python object.
        scores: its values.
        odmap_rank, recall_rank: from 1, by the means of RANKED; equal means share a rank.
        looks: how many models it leads by ODmAP@1, with an interval of the difference above 0, that it does not lead by
            R@1, less those of which the reverse is true; below 0 it repeats.
        behind: how far it is behind the first by ODmAP@1, and the interval of this difference over pictures; None for
            the first.
        notes: of its training sets, and of what it is.
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
    """What was found.

    Attributes:
        asked: the set.
        rows: by ODmAP@1, the best first.
        chance: {measure: expected of a random order, or of guessing}.
        failed: {model or captioner: why it could not be asked}.
        captioners: {name: what it names that is not there}.
        vlms: {name: what a vision-language model says is there}.
    """

    asked: BenchmarkSet
    rows: tuple[BoardRow, ...]
    chance: Mapping[str, float]
    failed: Mapping[str, str]
    captioners: Mapping[str, CaptionerScores] = field(default_factory=dict)
    vlms: Mapping[str, VlmScores] = field(default_factory=dict)

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
        heads = ("ODmAP@1", "@5", "@10", "still named (less is better)", "pairs", "R@1")
        names = ("odmap@1", "odmap@5", "odmap@10", "still_named", PAIRED, "image_to_text_r@1")
        widths = (9, 7, 7, 30, 7, 6)

        def figures(values: Sequence[float | None]) -> str:
            cells = ("" if value is None else f"{100 * value:.1f}" for value in values)
            return "".join(f"{cell:>{space}}" for cell, space in zip(cells, widths, strict=True))

        heading = "".join(f"{head:>{space}}" for head, space in zip(heads, widths, strict=True))
        lines = [f"{'model':{width}}{heading}  rank, by R@1"]
        for row in self.rows:
            means = [row.scores.mean(name) for name in names]
            lines.append(f"{row.model:{width}}{figures(means)}  {row.odmap_rank:4}{row.recall_rank:9}")
        lines.append(f"{'random order':{width}}{figures([self.chance.get(name) for name in names])}".rstrip())
        return "\n".join(lines)


def odmap(
    models: Mapping[str, Embedder | str] | Sequence[str] = (),
    project: str | Path = ".",
    *,
    released: str | Path | None = None,
    dataset: str | None = None,
    filling: str | None = None,
    positives: str | Path | None = None,
    captioners: Mapping[str, Captions | str] | None = None,
    vlms: Sequence[EndpointModel] = (),
    questions: int | None = None,
    batch_size: int = 64,
    precision: Precision = "float32",
    candidates: int | None = None,
    cache: str | Path | None = None,
    told: Callable[[str], None] | None = None,
) -> Leaderboard:
    """Ask models a released set, or the test queries of a built project.

    Args:
        models: {name: a Python object with `encode_images` and `encode_texts`, or what `--model` takes}, or a list of
            the latter. What an object calls its `source` is told as such, and its `note` is shown.
        project, released, dataset, filling, positives, cache: see `open_set`.
        captioners: {name: an object with `caption`, a folder or hub name of a BLIP captioner, or a `.jsonl` file of
            captions}.
        vlms: vision-language models, which are asked in words; see `ask_vlm`.
        questions: about so many painted pictures are they asked; None: all.
        batch_size: pictures at a time.
        precision: that networks compute in.
        candidates: how many a matching head scores again, at least 10; 0: none; None: as many as in the graph.
        told: takes a line a model that is done.

    Raises:
        BadInput: no model, one name twice, one that is not known by its name, no such set, or every model failed. A
            folder that cannot be read, or a model that fails later, is listed in `failed`, and the others stand.
        Exception: whatever a Python object raises.
    """
    if not models and not captioners and not vlms:
        raise BadInput("no model", field="--model")
    say = told or (lambda line: None)
    failed: dict[str, str] = {}

    def fail(name: str, why: str) -> None:
        failed[name] = why
        say(f"{name} cannot be asked: {why}")

    given = _find_models(models, fail)
    asked = open_set(project, released, dataset=dataset, filling=filling, positives=positives, cache=cache)
    scores: dict[str, Scores] = {}
    notes: dict[str, tuple[str, ...]] = {}
    for name, chosen in given.items():
        try:
            loaded: Any = chosen.load() if isinstance(chosen, NamedModel) else chosen
            scores[name] = score(asked, *ask_kept(loaded, chosen, asked, name, batch_size, precision, candidates))
            notes[name] = _notes(asked, chosen, loaded)
            say(f"{name}: ODmAP@1 {100 * scores[name].values['odmap@1'].mean():.1f}")
        except BadInput as error:
            fail(name, str(error))
        except Exception as error:  # of a library: hours of the others would be lost
            if not isinstance(chosen, NamedModel):
                raise
            fail(name, f"{type(error).__name__}: {error}")
    written: dict[str, CaptionerScores] = {}
    for name, captioner in (captioners or {}).items():
        try:
            written[name] = chair(asked, _captions(captioner, asked, name, batch_size))
        except BadInput as error:
            fail(name, str(error))
    answered: dict[str, VlmScores] = {}
    for vlm in vlms:
        try:
            answered[vlm.label] = words = ask_vlm(asked, vlm, questions)
            say(f"{vlm.label}: {words.asked - words.unreadable} of {words.asked} answers say yes or no")
        except BadInput as error:
            fail(vlm.label, str(error))
    if not (scores or written or answered):
        raise BadInput("\n  ".join(["no model could be asked", *(f"{name}: {why}" for name, why in failed.items())]))
    sources = {name: _source(model) for name, model in given.items()}
    rows = rank(asked, scores, sources, notes) if scores else ()
    return Leaderboard(asked, rows, by_chance(asked), failed, written, answered)


def _find_models(
    models: Mapping[str, Embedder | str] | Sequence[str], fail: Callable[[str, str], None]
) -> dict[str, Embedder | NamedModel]:
    """{name: model}; a folder that cannot be read fails alone. Raises `BadInput` as `odmap`."""
    given: dict[str, Embedder | NamedModel] = {}
    failed: set[str] = set()
    for name, model in models.items() if isinstance(models, Mapping) else ((None, each) for each in models):
        problem = None
        try:
            chosen: Embedder | NamedModel = find_model(model) if isinstance(model, str) else model
            shown = name or (chosen.name if isinstance(chosen, NamedModel) else type(chosen).__name__)
        except BadInput as error:
            own, rest = split_name(str(model))
            folder = local_folder(rest)
            if folder is None:
                raise
            shown, problem = name or own or folder.resolve().name, str(error)
        if shown in given or shown in failed:
            raise BadInput("two models of one name", field="--model", got=shown, expected="NAME=MODEL")
        if problem is None:
            given[shown] = chosen
        else:
            failed.add(shown)
            fail(shown, problem)
    return given


def _captions(captioner: Captions | str, asked: BenchmarkSet, name: str, batch_size: int) -> Sequence[str]:
    if not isinstance(captioner, str):
        return write_captions(captioner, asked, name, batch_size)
    if captioner.endswith(".jsonl"):
        return read_captions(Path(captioner), asked)
    from trivium.decorrelation.captions.captioner import Captioner

    loaded = Captioner(model_folder(captioner), beams=1, max_tokens=_CAPTION_TOKENS)
    return write_captions(loaded, asked, name, batch_size)


def rank(
    asked: BenchmarkSet,
    scores: Mapping[str, Scores],
    sources: Mapping[str, str],
    notes: Mapping[str, tuple[str, ...]],
) -> tuple[BoardRow, ...]:
    """The rows of models that were all asked `asked`; of equal ones the first that was given comes first."""
    names = list(scores)
    by_odmap, by_recall = (
        rankdata([-scores[name].values[measure].mean() for name in names], method="min").astype(int)
        for measure in RANKED
    )
    order = np.argsort(by_odmap, kind="stable").tolist()
    best = scores[names[order[0]]].values[RANKED[0]]
    looks = _looks(asked, list(scores.values()))
    rows = []
    for place in order:
        name, own = names[place], scores[names[place]]
        lost = best - own.values[RANKED[0]]
        behind = None if place == order[0] else (float(lost.mean()), interval(asked, lost, own.pictures[RANKED[0]]))
        ranks = int(by_odmap[place]), int(by_recall[place])
        rows.append(BoardRow(name, sources[name], own, *ranks, looks[place], behind, notes[name]))
    return tuple(rows)


def _looks(asked: BenchmarkSet, scores: Sequence[Scores]) -> list[int]:
    looks = [0] * len(scores)
    for one, other in permutations(range(len(scores)), 2):
        ahead, behind = scores[one], scores[other]
        bounds = interval(asked, ahead.values[RANKED[0]] - behind.values[RANKED[0]], ahead.pictures[RANKED[0]])
        if bounds is not None and bounds[0] > 0 and ahead.values[RANKED[1]].mean() <= behind.values[RANKED[1]].mean():
            looks[one] += 1
            looks[other] -= 1
    return looks


def _source(model: Embedder | NamedModel) -> str:
    if isinstance(model, NamedModel):
        return f"{model.family}:{Path(model.where).name if Path(model.where).is_dir() else model.where}"
    return getattr(model, "source", None) or f"Python: {type(model).__name__}"


def _notes(asked: BenchmarkSet, model: Embedder | NamedModel, loaded: Any) -> tuple[str, ...]:
    known = [] if asked.invented else known_training(_source(model), asked.dataset)
    matched = asked.positives is not None and getattr(loaded, "match", None) is not None
    return tuple(note for note in (getattr(loaded, "note", ""), *[_EMBEDDED] * matched, *known) if note)
