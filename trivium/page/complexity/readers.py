"""What complexity's page says of a model beside its scores: name, training, answers, replies, whether it is weak."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from trivium.core.registry import member_names
from trivium.core.tables import read_json

Metrics = Mapping[str, float]
BASELINES = {
    "best_overlap_sentence": "Sentence with most words of the question",
    "random_span": "Random span, as long as an answer",
}
MEASURES = {
    "rouge_l_paper": "ROUGE-L in the paper’s setting",
    "rouge_l": "Unicode-aware ROUGE-L",
    "em": "EM",
    "f1": "F1",
}
FINETUNED = member_names("trivium.complexity.readers.kinds")
_REPLIES = (
    ("unwrapped", "taken out of quotation marks or the label of the prompt"),
    ("talked", "not words of the text: talk, scored as it is"),
    ("cut", "cut at the longest answer"),
    ("empty", "empty"),
    ("refused", "refused, scored as no answer"),
)
_CUTS = (
    ("contexts_cut", "about a text whose end did not fit into the prompt"),
    ("answers_behind_cut", "whose reference answer lies behind that cut, in part at least: not to be answered"),
    ("not_ended", "answers cut at the longest answer"),
)
_LEAKS = (
    ("calor_test_texts_in_fquad", "evaluation texts overlap with contexts of the adaptation corpus"),
    ("calor_texts_in_train_and_test", "with the frame parser’s training texts"),
    ("calor_texts_in_validation_and_test", "with its validation texts"),
    (
        "fquad_contexts_in_train_and_validation",
        "validation contexts of the adaptation corpus overlap with training ones",
    ),
)


def display_names(complexity: Mapping[str, Any], published: Mapping[str, Any], models: Iterable[str]) -> dict[str, str]:
    """What each model is called on the page: its `label` in params.yaml, else the paper's name, else its own.

    Args:
        complexity: that section of params.yaml.
        published: tests/published/complexity.yaml.
        models: those with scores, brought ones and baselines too.
    """
    known = {model: row["label"] for model, row in published["table_1"]["rows"].items()} | BASELINES
    for section in ("finetune", "prompt"):
        known |= {model: settings["label"] for model, settings in complexity[section]["models"].items()}
    named = {model: known.get(model, model) for model in [*known, *models]}
    times = Counter(named.values())
    return {model: name if times[name] == 1 else f"{name} ({model})" for model, name in named.items()}


def weakness(model: str, metrics: Metrics, exact: float, *, meant: bool) -> str | None:
    """Why a model's scores say little, or None.

    A model is weak when its gain over the best-overlap sentence may be 0, when its own answers do as well at other
    questions with the same element, when fewer than `exact` of its answers are exactly right, or when params.yaml says
    so (`meant`).
    """
    reasons = []
    if metrics.get(f"{model}_over_baseline_low", 1) <= 0:
        reasons.append("not clearly above the sentence with most words of the question")
    if metrics.get(f"{model}_shuffled_rouge_l", 0) >= metrics[f"{model}_rouge_l_low"]:
        reasons.append("no better than its own answers shuffled: it guesses, it does not read")
    if metrics[f"{model}_em"] < exact:
        reasons.append(f"only {100 * metrics[f'{model}_em']:.0f} % exactly right")
    if meant:
        reasons.append("a small configuration, there to exercise the path: params.yaml calls it weak")
    return "; ".join(reasons) or None


def first_seeds(scores: pa.Table) -> dict[str, int]:
    """{model: its first seed, -1 where it has none}."""
    seeds: dict[str, int] = {}
    for model, seed in zip(scores["model"].to_pylist(), scores["seed"].to_pylist(), strict=True):
        seeds[model] = min(seed, seeds.get(model, seed))
    return seeds


def first_answers(scores: pa.Table, models: list[str]) -> dict[str, list[dict[str, Any]]]:
    """{question: rows of its answers, one a model in their order, of the model's first seed}."""
    seeds = first_seeds(scores)
    rows = [row for row in scores.to_pylist() if row["seed"] == seeds[row["model"]]]
    by_question: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: models.index(row["model"])):
        by_question[row["id"]].append(row)
    return by_question


def trainings(folder: Path, seeds: Mapping[str, int]) -> dict[str, str]:
    """{model: its size and how long it was trained}, from the metrics of stage finetune.

    Args:
        folder: of the metrics.
        seeds: {fine-tuned model: the seed that is told of}; steps and sizes are the same for all.
    """
    told = {}
    for model, seed in seeds.items():
        found = read_json(folder / f"finetune_{model}_{seed}.json")
        size = _count(found["parameters"])
        if found["parameters_trained"] < found["parameters"]:
            size = f"{_count(found['parameters_trained'])} of {size}"
        told[model] = f"{size} parameters, {found['steps']:.0f} steps = {found['epochs']:.1f} epochs"
    return told


def _count(parameters: float) -> str:
    if parameters >= 1e9:
        return f"{parameters / 1e9:.1f} B"
    return f"{parameters / 1e6:.1f} M" if parameters >= 1e5 else f"{parameters / 1e3:.0f} k"


def replies(models: Iterable[str], metrics: Metrics) -> list[tuple[str, int, list[tuple[str, int]]]]:
    """Of each prompted model that ran: questions asked, and how many replies were unusual in which way."""
    return [
        (
            model,
            int(metrics[f"{model}_questions"]),
            [(text, int(metrics[f"{model}_{kind}"])) for kind, text in _REPLIES],
        )
        for model in models
        if metrics[f"{model}_run"]
    ]


def cuts(folder: Path, seeds: Mapping[str, int]) -> list[tuple[str, int, list[tuple[str, int]]]]:
    """Of each fine-tuned model that could not read or write to the end: questions asked, and how often, as `replies`.

    Args:
        folder: of the metrics of stage answer.
        seeds: {fine-tuned model: the seed that is told of}.
    """
    told = []
    for model, seed in seeds.items():
        found = read_json(folder / f"answer_{model}_{seed}.json")
        if counts := [(text, int(found[name])) for name, text in _CUTS if found[name]]:
            told.append((model, int(found["questions"]), counts))
    return told


def leaks(metrics: Metrics) -> list[tuple[int, str]]:
    """How many texts of one split stand in another, from the metrics of stage world."""
    return [(int(metrics[name]), text) for name, text in _LEAKS]
