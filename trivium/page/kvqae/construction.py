"""KVQAE's Table 1, our own statistics, and how many questions each step of the construction keeps (kvqae.md §2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from markupsafe import Markup

from trivium.page.html import Column, render, table, thousands

ABSENT, RELEASED = "–", "released_"  # RELEASED: metrics of the data set as published
Kind = Literal["count", "decimal", "percent"]
Metrics = Mapping[str, Mapping[str, float]]  # stage → its metrics

# Key of stage `rebuild`'s metrics → its label, how it is printed, and its name among the paper's values.
STATISTICS: dict[str, tuple[str, Kind, str | None]] = {
    "questions": ("Questions", "count", "questions"),
    "images": ("Images", "count", "unique_images"),
    "entities": ("Entities", "count", None),
    "words_mean": ("Words a question, mean", "decimal", "mean_words"),
    "vocabulary": ("Vocabulary, words", "count", "vocabulary"),
    "most_frequent_answer_share": ("Most frequent answer, share", "percent", "most_frequent_answer_share"),
    "test_answers_in_train": ("Test answers also in training", "percent", "answer_overlap"),
    "test_entities_in_train": ("Test entities also in training", "percent", "entity_overlap"),
    "persons_share": ("Questions about persons", "percent", None),
}


@dataclass(frozen=True)
class Step:
    """A step that keeps some of what enters it.

    Attributes:
        stage: whose metrics these are.
        label: what is done, and to what.
        entered: key of the count that enters.
        kept: key of the count that is kept; or of the count that is not, if `lost`.
        reasons: keys of the counts of what was left out or turned down.
        lost: see `kept`.
        per_question: key of a number a question, shown instead of the share that is kept.
        dropped_share: key of the share that is dropped as the paper counts, shown instead of the share that is kept.
        published: a text, and the names of the paper's values to print in it.
    """

    stage: str
    label: str
    entered: str
    kept: str
    reasons: tuple[str, ...] = ()
    published: tuple[str, ...] | None = None
    lost: bool = False
    per_question: str = ""
    dropped_share: str = ""


STEPS = (
    Step(
        "mentions",
        "Named entities that are mentions of their question",
        "entities",
        "mentions",
        ("dropped_label", "dropped_dependency"),
        ("{} a question", "mentions_per_question"),
        per_question="mentions_a_question",
    ),
    Step(
        "link",
        "Mentions linked to an article that holds the answer",
        "mentions",
        "linked",
        ("no_link", "distance_too_large", "no_article", "answer_not_in_article", "claimed_by_nearer_mention"),
        ("{} % kept", "linked"),
    ),
    Step(
        "subjects",
        "Entities of a concrete type; persons deceased",
        "linked",
        "kept",
        ("no_item", "abstract_type", "living_person", "no_kb_image"),
        ("{} % dropped", "wikidata_dropped"),
        dropped_share="dropped_share",
    ),
    Step(
        "candidate_images",
        "Entities with a free image; left out: their other files",
        "questions",
        "questions_without_image",
        (
            "no_commons_category",
            "licence_restricted",
            "licence_unknown",
            "reference",
            "not_at_hand",
            "unreadable",
            "near_duplicate",
        ),
        ("{} % dropped", "without_image"),
        lost=True,
        dropped_share="share_without_image",
    ),
    Step(
        "generate",
        "Mentions made ambiguous",
        "with_images",
        "generated",
        ("repeated_mention", "no_mention", "name_remains", "answer_in_question"),
    ),
    Step(
        "rebuild",
        "Questions kept by the annotators",
        "annotated",
        "kept",
        ("discarded", "dropped_naming_the_entity", "dropped_giving_the_answer"),
        ("{} of {} discarded", "discarded", "annotated"),
    ),
)
AGREEMENT: tuple[tuple[str, str, Kind, str | None], ...] = (
    ("kappa_discard", "Fleiss’ κ, discard", "decimal", "kappa_discard"),
    ("kappa_change_question", "Fleiss’ κ, change the question", "decimal", None),
    ("kappa_change_image", "Fleiss’ κ, change the image", "decimal", None),
    ("edited_share", "Kept questions that were edited", "percent", "edited"),
    ("edit_words", "Edit distance of the edited ones, words", "decimal", "edit_words"),
    ("agreement_questions", "Questions behind κ", "count", "kappa_questions"),
)


def cell(value: float | None, kind: Kind) -> str:
    """A number as the tables print it: a count, two decimals, or a share in per cent; a dash where there is none."""
    if value is None:
        return ABSENT
    if kind == "percent":
        return f"{100 * value:.1f} %"
    return thousands(value) if kind == "count" else f"{value:.2f}"


def _printed(value: float, kind: Kind) -> str:
    """A published value, whose shares are in per cent."""
    return f"{value:,}".replace(",", " ") + (" %" if kind == "percent" else "")


def construction_sections(metrics: Metrics, published: Mapping[str, Any], *, simulated: bool) -> dict[str, Markup]:
    """Table 1 and the steps.

    Args:
        metrics: of the stages of the construction.
        published: tests/published/kvqae.yaml.
        simulated: whether annotators of real questions were simulated: what they decided stands beside nothing of the
            paper's, and is left out.
    """
    note = Markup()
    if simulated:
        released = {name: value for name, value in metrics["rebuild"].items() if name.startswith(RELEASED)}
        metrics, note = {**metrics, "rebuild": released}, render("kvqae_nobody_annotated.html")
    return {
        "table-1": note + statistics_html(metrics["rebuild"], published),
        "construction": note + construction_html(metrics, published),
    }


def statistics_html(rebuild: Mapping[str, float], published: Mapping[str, Any]) -> Markup:
    """Table 1: the released set, the rebuilt one, and what the paper's text says of its own."""
    rows = []
    for name, (label, kind, theirs) in STATISTICS.items():
        ours = [cell(rebuild.get(prefix + name), kind) for prefix in (RELEASED, "")]
        rows.append([label, *ours, _printed(published["table_1"]["values"][theirs], kind) if theirs else ABSENT])
    columns = ["Statistic", "released", "rebuilt", Column("ViQuAE\npaper", "published")]
    introduction = (
        "Our own statistics of the released set and of the one that the stages rebuild from TriviaQA. The paper’s "
        "table compares ViQuAE with KVQA; the text at hand has lost it, so that there is no column about KVQA: the "
        "paper’s column holds what its prose says of ViQuAE."
    )
    caption = "All three splits together; overlaps between training and test."
    return Markup("<p>{}</p>\n").format(introduction) + table(columns, rows, caption)


def construction_html(metrics: Metrics, published: Mapping[str, Any]) -> Markup:
    """The funnel from TriviaQA to the rebuilt set, and how far its annotators agree, beside the paper's numbers."""
    printed, computed = published["construction"]["values"], metrics.get("rebuild", {})
    steps = [_step(step, metrics.get(step.stage, {}), printed) for step in STEPS]
    columns = ["Step", "in", "kept", "share", Column("paper", "published"), Column("left out", "left")]
    caption = "What each step keeps, and why it leaves out the rest. Only what is kept goes on to the next step."
    agreement = [
        [
            label,
            cell(computed.get(name), kind),
            cell(computed.get(f"{name}_expected"), kind),
            ABSENT if paper is None else _printed(printed[paper], kind),
        ]
        for name, label, kind, paper in AGREEMENT
    ]
    known = (
        "Annotation. Known: what the simulated annotators’ own chances of seeing the opposite make κ, and their edits; "
        "there is none where people annotated. A discarded question counts as changed in all three decisions."
    )
    return table(columns, steps, caption) + table(
        ["Quantity", "computed", "known", Column("paper", "published")], agreement, known
    )


def _step(step: Step, found: Mapping[str, float], printed: Mapping[str, Any]) -> list[str]:
    entered, kept = found.get(step.entered), found.get(step.kept)
    if step.lost and entered is not None and kept is not None:
        kept = entered - kept
    share = cell(kept / entered if entered and kept is not None else None, "percent")
    if step.per_question in found:
        share = f"{cell(found[step.per_question], 'decimal')} a question"
    if step.dropped_share in found:
        share = f"{cell(found[step.dropped_share], 'percent')} dropped"
    paper = ABSENT
    if step.published is not None:
        text, *names = step.published
        paper = text.format(*(_printed(printed[name], "count") for name in names))
    reasons = [f"{name.replace('_', ' ')} {cell(found[name], 'count')}" for name in step.reasons if found.get(name)]
    return [step.label, cell(entered, "count"), cell(kept, "count"), share, paper, ", ".join(reasons) or ABSENT]
