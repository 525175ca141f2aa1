"""Decorrelation's models as KVQAE's image encoder: four rows, so that architecture and training are not confounded."""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from trivium.page.html import render

ROWS = {
    "kvqae": "KVQAE's own CLIP (RN50; the sample's: like the others, trained otherwise)",
    "zero_shot": "Decorrelation's CLIP, untouched",
    "finetune": "fine-tuned on D",
    "ours": "fine-tuned on D ∪ D′",
}
MEASURES = {"mrr": "MRR", "precision@1": "P@1", "hits@20": "Hits@20"}
TRAINED = ("ours", "finetune")  # the question: these two differ in D' alone
UNTRAINED = "At this scale no such model was trained: the released one stands alone."


def verdict(test: Mapping[str, Any], level: float) -> str:
    """What a paired test of D ∪ D' against D alone says, in a sentence."""
    if test["p"] > level:
        return "Whether a retrieval model looks at the image makes no difference here that could be told from chance."
    better = test["difference"] > 0
    return f"The model that was made to look at the image finds entities {'better' if better else 'worse'}."


def entities_html(found: Mapping[str, Any], *, level: float, confidence: float) -> Markup:
    """The table of stage `entities`.

    Args:
        found: questions, entities, questions about none of them, `rows` (row → measure → value, interval), `tests`; of
            `ROWS` those in use.
        level: p up to which a difference counts as shown.
        confidence: of the intervals.
    """
    tests = {(test["row"], test["against"]): test for test in found["tests"] if test["measure"] == "mrr"}
    said = verdict(tests[TRAINED], level) if TRAINED in tests else UNTRAINED
    return render(
        "decorrelation_entities.html", found=found, labels=ROWS, trained=TRAINED, measures=MEASURES, tests=tests,
        confidence=confidence, verdict=said,
    )  # fmt: skip
