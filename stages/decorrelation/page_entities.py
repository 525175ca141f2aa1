"""Stage `decorrelation-page_entities`. KVQAE's entities before and after decorrelation, on the page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from markupsafe import Markup
from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_json
from trivium.page.html import render, write_part

# One row an encoder, so that architecture and training are not confounded.
ROWS = {
    "kvqae": "KVQAE's own CLIP (RN50; the sample's: like the others, trained otherwise)",
    "zero_shot": "Decorrelation's CLIP, untouched",
    "finetune": "fine-tuned on D",
    "ours": "fine-tuned on D ∪ D′",
}
MEASURES = {"mrr": "MRR", "precision@1": "P@1", "hits@20": "Hits@20"}
TRAINED = ("ours", "finetune")  # the question: these two differ in D' alone
UNTRAINED = "At this scale no such model was trained: the released one stands alone."


class EntitiesPageParameters(Parameters):
    """Section `decorrelation.page_entities`: nothing of its own."""

    places: ClassVar = {
        "coco": "world.coco",
        "confidence": "decorrelation.entities.confidence",
        "significance": "decorrelation.page.significance",
    }
    coco: str = Field(description="Where COCO's data comes from")
    confidence: float = Field(gt=0, lt=1, description="Of intervals")
    significance: float = Field(gt=0, lt=1, description="p up to which a difference counts as shown")


def verdict(test: Mapping[str, Any], level: float) -> str:
    """What a paired test of D ∪ D' against D alone says, in a sentence."""
    if test["p"] > level:
        return "Whether a retrieval model looks at the image makes no difference here that could be told from chance."
    better = test["difference"] > 0
    return f"The model that was made to look at the image finds entities {'better' if better else 'worse'}."


def entities_html(measured: Mapping[str, Any], *, level: float, confidence: float) -> Markup:
    """The table of what stage `entities` measured, with the verdict; it has those of `ROWS` that are in use."""
    tests = {(test["row"], test["against"]): test for test in measured["tests"] if test["measure"] == "mrr"}
    said = verdict(tests[TRAINED], level) if TRAINED in tests else UNTRAINED
    return render(
        "decorrelation_entities.html", measured=measured, labels=ROWS, trained=TRAINED, measures=MEASURES, tests=tests,
        confidence=confidence, verdict=said,
    )  # fmt: skip


def main(
    parameters: EntitiesPageParameters,
    context: Context,
    *,
    entities: Path = Path("metrics/decorrelation/entities_table.json"),
    out: Path = Path("metrics/report/parts/decorrelation/entities.json"),
) -> None:
    """Make the table of stage entities."""
    html = entities_html(read_json(entities), level=parameters.significance, confidence=parameters.confidence)
    write_part(out, parameters.coco, {"entities": html})


if __name__ == "__main__":
    run_stage(main, "decorrelation.page_entities")
