"""The card of what leaves, by huggingface_hub's ModelCard and DatasetCard: nothing in it that is not so.

It warns where anything that it was made from is the sample's, says under which licence the weights or data came that
it started from, or that nobody has said so, and shows code that loads the files beside it.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal

from huggingface_hub import (
    DatasetCard,
    DatasetCardData,
    EvalResult,
    ModelCard,
    ModelCardData,
)

from trivium.commands.sharing.licence import KNOWN, OWN, Start, data_licences
from trivium.commands.sharing.package import Artifact, Described
from trivium.core.tables import read_json
from trivium.kvqae.asking.artifacts import Artifacts

_INVENTED = (
    "> **Made from an invented world.** {what} {verb} the sample's: generated texts and drawn pictures of people and "
    "things that do not exist. {use}"
)
_USE = {
    "model": "This model shows that the pipeline works; it is of no use on real questions, texts or pictures.",
    "dataset": "This data set shows how the pipeline's output looks; it says nothing about the real world.",
}


def card_of(kind: Literal["model", "dataset"], artifact: Artifact, described: Described) -> str:
    """The text of the card.

    Raises:
        BadInput: the stage's measures are not what `dvc.lock` says.
    """
    scores = {**_scores(artifact, described.measures), **(described.further or {})}
    licences = _licences(kind, artifact, described)
    fields: dict[str, Any] = {
        "language": described.language,
        "tags": ["trivium", *described.tags],
        **_licence_fields(licences),
        **(described.front or {}),
    }
    body = _body(kind, artifact, described, licences, scores)
    if kind == "dataset":
        data: Any = DatasetCardData(
            pretty_name=described.title, task_categories=[described.task] if described.task else None, **fields
        )
        return str(DatasetCard(f"---\n{data.to_yaml()}\n---\n{body}"))
    results = _results(artifact, described, scores)
    data = ModelCardData(
        library_name=described.library,
        pipeline_tag=described.task,
        base_model=described.start.hub_name if described.start else None,
        model_name=described.title if results else None,
        eval_results=results or None,
        **fields,
    )
    return str(ModelCard(f"---\n{data.to_yaml()}\n---\n{body}"))


def _scores(artifact: Artifact, measures: str) -> dict[str, float]:
    """Those of the stage that match."""
    found: dict[str, float] = {}
    for path in artifact.lineage.outputs:
        if path.startswith("metrics/") and path.endswith(".json"):
            Artifacts(artifact.project).use(path)
            values = read_json(artifact.project / path)
            found |= {name: float(value) for name, value in values.items() if re.fullmatch(measures, name)}
    return found


def _licences(kind: str, artifact: Artifact, described: Described) -> list[Start]:
    """Of the weights for a model, of the data for a data set."""
    if kind == "model":
        return [described.start] if described.start else []
    found = data_licences(artifact.project, artifact.lineage)
    if artifact.lineage.invented:
        found.append(Start("what the sample invents (this project's own licence)", OWN))
    # People's own files have no record of a licence.
    local = [what for what, source in artifact.lineage.data.items() if source == "local"]
    return [*found, *(Start(f"{what}, the user's own files", None) for what in local)]


def _licence_fields(licences: list[Start]) -> dict[str, str]:
    stated = {each.licence for each in licences}
    if not stated or None in stated:
        return {}
    (licence, *others) = sorted(str(each) for each in stated)
    if not others and licence in KNOWN:
        return {"license": licence}
    return {"license": "other", "license_name": "see-the-card"}


def _results(artifact: Artifact, described: Described, scores: Mapping[str, float]) -> list[EvalResult]:
    data = ", ".join(artifact.lineage.data) or "its own data"
    return [
        EvalResult(
            task_type=described.task or "other",
            dataset_type="trivium-sample" if artifact.lineage.invented else "trivium",
            dataset_name=f"the sample's invented counterparts of {data}" if artifact.lineage.invented else data,
            metric_type=name,
            metric_value=round(value, 4),
        )
        for name, value in scores.items()
    ]


def _body(
    kind: str, artifact: Artifact, described: Described, licences: list[Start], scores: Mapping[str, float]
) -> str:
    lineage = artifact.lineage
    parts = [f"# {described.title}"]
    if lineage.invented:
        what = ", ".join(lineage.invented)
        verb = "is" if len(lineage.invented) == 1 else "are"
        parts.append(_INVENTED.format(what=what[0].upper() + what[1:], verb=verb, use=_USE[kind]))
    if lineage.stand_ins and not lineage.invented:
        parts.append(f"> {', '.join(lineage.stand_ins)}: the sample's small stand-ins, not the public weights.")
    parts += [described.about, *described.notes]
    parts.append(f"## Use\n\n```python\n{described.usage.strip()}\n```")
    rows = [f"- stage: `{lineage.stage}` of Trivium's graph, output `{artifact.path}`"]
    rows += [f"- data: {what} ({source})" for what, source in lineage.data.items()]
    rows += [f"- started from: {described.start.name}"] if described.start else []
    parts.append("## Where it is from\n\n" + "\n".join(rows))
    said = [f"- {each.name}: {each.licence or 'nobody has stated it here; ask before you use it'}" for each in licences]
    said = said or ["- It started from no weights of others; what it was trained on stands above."]
    parts.append("## Licence of what it was made from\n\n" + "\n".join(said))
    if scores:
        table = "\n".join(f"| {name} | {value:.4f} |" for name, value in sorted(scores.items()))
        parts.append(f"## Scores\n\n| measure | value |\n|---|---|\n{table}")
    return "\n\n".join(parts) + "\n"
