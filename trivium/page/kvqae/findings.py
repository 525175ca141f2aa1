"""What KVQAE's numbers show, whichever way they go: every sentence is computed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from markupsafe import Markup

from trivium.page.html import probability, render, signed
from trivium.page.thorough import claim_html, not_asked_html, verdict

# What must be seen on the sample: above by whatever, above significantly, or whatever it is.
Expected = Literal["above", "significant", "open"]


@dataclass(frozen=True)
class Finding:
    """Two rows on the same questions, in words.

    Attributes:
        better, other: what the rows are.
        measure: its name.
        value, other_value: of the two, in [0, 1].
        p: of the paired randomisation test.
        expected: of `better`.
    """

    better: str
    other: str
    measure: str
    value: float
    other_value: float
    p: float
    expected: Expected = "open"

    def sentence(self, level: float) -> str:
        """`A beats B in M: x % → y %, +d points, p = …`, or what it does instead; and whether more was expected."""
        difference = self.value - self.other_value
        if self.p <= level and difference:
            verb = "beats" if difference > 0 else "is beaten by"
        elif difference > 0:
            verb = "is above, but not significantly,"
        elif difference < 0:
            verb = "is below, but not significantly,"
        else:
            verb = "equals"
        gain = ("+" if difference > 0 else "") + signed(100 * difference, 1)
        values = f"{100 * self.other_value:.1f} % → {100 * self.value:.1f} %"
        said = f"{self.better} {verb} {self.other} in {self.measure}: {values}, {gain} points, p {probability(self.p)}."
        if self.expected == "open" or (difference > 0 and (self.expected == "above" or self.p <= level)):
            return said
        wanted = f"with p ≤ {level:g}" if self.expected == "significant" else "to be above"
        return f"{said} Expected {wanted}: does not hold here."


@dataclass(frozen=True)
class Retrieved:
    """A comparison of two rows of a block: keys of block, rows and measure, names for them, and what is expected."""

    block: str
    rows: tuple[str, str]
    names: tuple[str, str]
    measure: tuple[str, str]
    where: str = ""
    expected: Expected = "open"


_TEXT = ("text", "initial"), ("Text re-ranking", "the initial ranking")
_IMAGE_ADDS = ("text_image", "text"), ("Re-ranking by text and image", "text re-ranking")
_BOTH_ADD = ("text_image", "initial"), ("Re-ranking by text and image", "the initial ranking")
_KEPT = ("text_initial", "initial"), ("Text re-ranking that keeps the initial scores", "the initial ranking")
_P1, _MRR = ("precision@1", "P@1"), ("mrr", "MRR")
# Section → what its blocks are asked.
RETRIEVAL = {
    "table-3": (
        *(
            Retrieved(
                "passage", ("dpr_few_shot_image", text), ("Text (D_f) and image", name), _MRR, expected="significant"
            )
            for text, name in (("dpr_few_shot", "its text alone, D_f,"), ("bm25_dpr_few_shot", "both texts, B + D_f,"))
        ),
        Retrieved(
            "passage", ("dpr_few_shot", "dpr_zero_shot"), ("Few-shot DPR", "zero-shot DPR"), _MRR, expected="above"
        ),
    )
}
RERANKING = {
    "table-5": tuple(
        Retrieved(
            "article_face", ("image", alone), ("ArcFace + RRT", name), measure, "Where a face is found: ", "above"
        )
        for alone, name in (("arcface", "ArcFace alone"), ("rrt", "RRT alone"))
        for measure in (_P1, _MRR)
    ),
    "table-6": (
        Retrieved("passage", *_TEXT, _P1, expected="significant"),
        Retrieved("passage", *_TEXT, _MRR),
        Retrieved("passage", *_IMAGE_ADDS, _P1, expected="above"),
        Retrieved("passage", *_BOTH_ADD, _P1),
        Retrieved("passage", *_KEPT, _P1),
    ),
}
# Rows of stage `read` whose exact match it compares, their names, and what is expected.
READING: tuple[tuple[str, str, str, str, Expected], ...] = (
    ("few_shot_fused", "few_shot_text", "Reading the multimodal list", "reading the text-only list", "above"),
    ("few_shot_fused", "zero_shot_fused", "The few-shot reader", "the zero-shot reader", "above"),
    ("few_shot_reranked", "few_shot_fused", "Reading the re-ranked list", "reading the initial list", "above"),
    (
        "few_shot_reranked_chosen",
        "few_shot_fused_chosen",
        "With the number of passages chosen on validation, reading the re-ranked list",
        "reading the initial list",
        "open",
    ),
    (
        "zero_shot_reranked",
        "zero_shot_fused",
        "Zero-shot, reading the re-ranked list",
        "reading the initial list",
        "open",
    ),
    ("few_shot_semi_oracle", "few_shot_reranked", "The semi-oracle", "reading the re-ranked list", "above"),
    ("few_shot_full_oracle", "few_shot_semi_oracle", "The full oracle", "the semi-oracle", "above"),
    ("few_shot_reranked_weighted", "few_shot_reranked", "Weighting by the re-rankers’ scores", "no weighting", "open"),
    ("few_shot_reranked", "few_shot_max_reranked", "The loss averaged over passages", "the max-pooled loss", "open"),
)


def within(block: str, title: str) -> Retrieved:
    """What the image adds to text re-ranking on the subset of a block."""
    return Retrieved(block, *_IMAGE_ADDS, _P1, f"{title}: ")


def retrieval_findings(blocks: Mapping[str, Any], wanted: Sequence[Retrieved], level: float) -> list[str]:
    """Sentences about rows of blocks as `evaluate` and `evaluate_reranking` write them, as far as they exist."""
    sentences = []
    for each in wanted:
        rows = blocks.get(each.block, {"rows": []})["rows"]
        places = {row["name"]: place for place, row in enumerate(rows)}
        if not places.keys() >= set(each.rows):
            continue
        measure, label = each.measure
        first, second = (places[name] for name in each.rows)
        value, other_value = (rows[place]["values"][measure] for place in (first, second))
        p = blocks[each.block]["p"][measure][first][second]
        found = Finding(*each.names, label, value, other_value, p, each.expected)
        sentences.append(each.where + found.sentence(level))
    return sentences


def reading_findings(metrics: Mapping[str, float], level: float) -> list[str]:
    """Sentences about the pairs of rows whose exact match stage `read` compared."""
    sentences = []
    for row, other, name, other_name, expected in READING:
        p = metrics.get(f"{row}_over_{other}_em_p")
        if p is not None:
            found = Finding(name, other_name, "EM", metrics[f"{row}_em"], metrics[f"{other}_em"], p, expected)
            sentences.append(found.sentence(level))
    return sentences


def findings_html(sentences: Sequence[str], introduction: str = "") -> Markup:
    """The sentences as a list, after an introduction if there is one."""
    return render("kvqae_findings.html", sentences=sentences, introduction=introduction)


def first_claim_html(blocks: Mapping[str, Any], level: float) -> Markup:
    """What KVQAE's page begins with: whether the picture finds passages that the question's words do not find."""
    sentence = "Looking at the picture, too, finds the right passage more often than reading the question alone."
    asked = blocks["passage"]
    places = {row["name"]: place for place, row in enumerate(asked["rows"])}
    if not places.keys() >= {"dpr_few_shot", "dpr_few_shot_image"}:
        return not_asked_html(sentence)
    both, text = places["dpr_few_shot_image"], places["dpr_few_shot"]
    seen, unseen = (100 * asked["rows"][place]["values"]["mrr"] for place in (both, text))
    p = asked["p"]["mrr"][both][text]
    found = (
        f"Mean reciprocal rank of the first passage that holds the answer: {seen:.1f} % with the picture, "
        f"{unseen:.1f} % without it; {asked['questions']} test questions, p {probability(p)}."
    )
    return claim_html(sentence, verdict(seen - unseen, p, level), found)
