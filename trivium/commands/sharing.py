"""What the graph has made, on its way to others: where it is from, its card and its files.

What the card says of each kind of output stands in `sharing.yaml`; its files are made in `sharing_kinds.py`. Everything
about its origin stands in `dvc.lock`, and is of the files that lie there: `Artifacts` compares their hashes first.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from huggingface_hub import DatasetCard, DatasetCardData, EvalResult, ModelCard, ModelCardData

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.kvqae.asking.artifacts import LOCK, Artifacts
from trivium.nets.cards import CARD, licence_of
from trivium.sources.brought import PROVENANCE
from trivium.sources.minilm import MINILM

KINDS: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
SAMPLE = "sample"
# What a stage with --source, or a parameter `world.NAME`, stands for; others bring nothing of their own.
DATA = {
    "kvqae-world": "ViQuAE and its knowledge base",
    "kvqae-triviaqa": "TriviaQA",
    "kvqae-sources": "TriviaQA and Wikimedia Commons, as the construction reads them",
    "kvqae-annotations": "the annotators' judgements",
    "kvqae-rrt": "photographs of landmarks",
    "coco": "COCO",
    "flickr30k": "Flickr30k",
    "control": "the control scenes",
    "fquad": "FQuAD",
    "calor": "Calor",
}
WEIGHTS = {
    "kvqae-base_models": "KVQAE's encoders",
    "decorrelation_models": "decorrelation's models",
    "complexity_models": "complexity's models",
}
# Identifiers that the hub knows; what is none of them it shows as "other", with a name.
LICENCES = {"apache-2.0", "mit", "bsd-3-clause", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "cc0-1.0",
            "llama2"}  # fmt: skip
OWN = "apache-2.0"  # of this repository, and so of what the sample invents
UNKNOWN = ("other", "not stated")  # of a user's own files; in pins.yaml
MEASURES = r"validation_(?:mrr|em|f1|rouge_l|r@1|text_r@1|auc|accuracy)"
INVENTED = (
    "> **Made from an invented world.** {what} {verb} the sample's: generated texts and drawn pictures of people and "
    "things that do not exist. {use}"
)
USE = {
    "model": "This model shows that the pipeline works; it is of no use on real questions, texts or pictures.",
    "dataset": "This data set shows how the pipeline's output looks; it says nothing about the real world.",
}


@dataclass(frozen=True)
class Lineage:
    """What `dvc.lock` says of an output and its ancestors.

    Attributes:
        stage: that made it.
        parameters: of the stage, by dotted key.
        outputs: of the stage.
        inputs: of the stage and of all before it.
        data, weights: {what: sample, hub or local}, see `DATA` and `WEIGHTS`.
    """

    stage: str
    parameters: Mapping[str, Any]
    outputs: tuple[str, ...]
    inputs: frozenset[str]
    data: Mapping[str, str]
    weights: Mapping[str, str]

    @property
    def invented(self) -> list[str]:
        """Of `data`, what is the sample's."""
        return [what for what, source in self.data.items() if source == SAMPLE]


@dataclass(frozen=True)
class Start:
    """Weights, or data, that something was made from; the licence is None where their owner states none."""

    name: str
    licence: str | None

    @property
    def hub_name(self) -> str | None:
        """`OWNER/NAME`, where they are of the hub."""
        match = re.match(r"[\w.-]+/[\w.-]+", self.name)
        return match[0] if match and (match[0] == self.name or self.name == MINILM["from"]) else None


@dataclass(frozen=True)
class Artifact:
    """An output that leaves.

    Attributes:
        project: the repository of the graph.
        path: of the output there.
        lineage: what it was made from.
        target: the folder, or OWNER/NAME of a repository, where it goes.
        hub: whether it is a repository.
        work: a folder for files that have to be made; they are gone when it has left.
    """

    project: Path
    path: str
    lineage: Lineage
    target: str
    hub: bool
    work: Path

    @property
    def source(self) -> Path:
        """The output."""
        return self.project / self.path

    def files(self, *left_out: str) -> dict[str, Path | bytes]:
        """{path in the output: file}, but for these and its card."""
        paths = sorted(path for path in self.source.rglob("*") if path.is_file())
        named = {str(path.relative_to(self.source)): path for path in paths}
        return {name: path for name, path in named.items() if name not in {CARD, *left_out}}


@dataclass(frozen=True)
class Prepared:
    """What the function of a kind says of an output.

    Attributes:
        files: {path there: a file, or bytes}.
        words: for the braces in `sharing.yaml`.
        start: the weights that a model started from; None where it started from none.
        variant: which texts of `sharing.yaml` hold, where there are several.
        notes: what a reader has to know besides.
        further: {measure: value} of other stages.
        configs: of a data set: {configuration: {split: pattern of files}}.
    """

    files: Mapping[str, Path | bytes]
    words: Mapping[str, Any] = field(default_factory=dict)
    start: Start | None = None
    variant: str = ""
    notes: tuple[str, ...] = ()
    further: Mapping[str, float] = field(default_factory=dict)
    configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def read_lock(project: Path) -> dict[str, Any]:
    """The stages of `dvc.lock`.

    Raises:
        BadInput: it is not there, or not whole.
    """
    file = project / LOCK
    if not file.is_file():
        raise BadInput("not there: run `make repro` first", file=file)
    try:
        # libyaml, where it is there: PyYAML's own parser takes seconds.
        stages = yaml.load(file.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))["stages"]
        return {name: stage for name, stage in stages.items() if stage["cmd"]}
    except (yaml.YAMLError, TypeError, KeyError, AttributeError):
        raise BadInput("it cannot be read; if DVC is writing it, try again in a moment", file=file) from None


def outputs_of(stages: Mapping[str, Any]) -> dict[str, str]:
    """{path: the stage that made it}."""
    return {out["path"]: name for name, stage in stages.items() for out in stage.get("outs", ())}


def read_lineage(project: Path, path: str) -> Lineage:
    """The lineage of an output, of which nothing was made anew since.

    Args:
        project: the repository.
        path: of the output, as `dvc.yaml` has it.

    Raises:
        BadInput: no stage has made it, or it is not what it was when its stage, or one before it, had run.
    """
    stages = read_lock(project)
    makers = outputs_of(stages)
    if path not in makers:
        raise BadInput(f"{LOCK} does not know it as a stage's output: run `make repro` first", file=project / path)
    Artifacts(project).use(path)
    own = stages[makers[path]]
    sources: dict[str, str] = {}
    inputs: set[str] = set()
    seen: set[str] = set()
    waiting = [makers[path]]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        sources |= _sources(name, stages[name])
        for dep in stages[name].get("deps", ()):
            inputs.add(dep["path"])
            waiting += _makers(PurePosixPath(dep["path"]), makers)
    return Lineage(
        makers[path],
        own.get("params", {}).get("params.yaml") or {},
        tuple(out["path"] for out in own["outs"]),
        frozenset(inputs),
        {what: sources[key] for key, what in DATA.items() if key in sources},
        {what: sources[key] for key, what in WEIGHTS.items() if key in sources},
    )


def _sources(name: str, stage: Mapping[str, Any]) -> dict[str, str]:
    sources = {"control": SAMPLE} if name == "decorrelation-world@control" else {}  # whatever the parameters say
    if source := re.search(r"--source (\S+)", stage["cmd"]):
        sources[name] = source[1]
    for key, value in (stage.get("params", {}).get("params.yaml") or {}).items():
        if world := re.fullmatch(r"world\.(\w+)", key):
            sources[world[1]] = value
    return sources


def _makers(path: PurePosixPath, makers: Mapping[str, str]) -> list[str]:
    """The stages of the output that is at a path or around it, and of those below it."""
    around = [makers[str(place)] for place in (path, *path.parents) if str(place) in makers]
    return around or [stage for made, stage in makers.items() if path in PurePosixPath(made).parents]


def start_in(folder: Path) -> Start:
    """What `provenance.json` says in the folder of a base model."""
    path = folder / PROVENANCE
    return _start(read_json(path)) if path.is_file() else Start(f"weights of {folder.name}, brought by the user", None)


def kvqae_start(project: Path, lineage: Lineage) -> Start:
    """What KVQAE's text models start from: the authors' checkpoint, the encoder that the user brings, BERT, MiniLM."""
    for path in sorted(path for path in lineage.inputs if path.startswith("models/kvqae/published/")):
        if records := list(read_json(project / path / PROVENANCE).values()):
            return _start(records[0])
    source = lineage.weights.get("KVQAE's encoders", SAMPLE)
    if source == SAMPLE:
        return Start(MINILM["from"], MINILM["licence"])
    base = project / "models/kvqae/base"
    if source == "hub":
        return _start(read_json(base / PROVENANCE)["bert"])
    return Start("a text encoder that the user brought", licence_of(base / "text", without_card=UNKNOWN[0]))


def data_licences(project: Path, lineage: Lineage) -> list[Start]:
    """Every licence that the records of downloads state, of the folders that an output was made from.

    A user's own data have no such record.
    """
    starts: dict[Start, None] = {}
    for path in sorted(path for path in lineage.inputs if path.startswith("data/")):
        folder = project / path if (project / path).is_dir() else (project / path).parent
        places = {folder, folder.parent}  # the raw folder of KVQAE is several outputs
        names = (PROVENANCE, "sources.json", "provenance/*.json")
        for file in sorted({file for place in places for name in names for file in place.glob(name)}):
            starts |= dict.fromkeys(map(_start, _records(read_json(file))))
    return list(starts)


def _records(tree: Any) -> Iterator[Mapping[str, Any]]:
    """Every object, at any depth, that states a licence."""
    if isinstance(tree, dict):
        if isinstance(tree.get("licence"), str):
            yield tree
        for value in tree.values():
            yield from _records(value)


def _start(record: Mapping[str, Any]) -> Start:
    licence = record["licence"]
    return Start(str(record.get("from") or record.get("url") or "a source"), None if licence in UNKNOWN else licence)


def pattern_of(path: str) -> str | None:
    """The pattern in `sharing.yaml` of an output; None where it does not leave."""
    parts = len(PurePosixPath(path).parts)
    return next((one for one in KINDS if parts == one.count("/") + 1 and PurePosixPath(path).match(one)), None)


def shareable(project: Path) -> dict[str, str]:
    """{path: model or dataset} of all that was made and can leave.

    Raises:
        BadInput: see `read_lock`.
    """
    patterns = {path: pattern_of(path) for path in sorted(outputs_of(read_lock(project)))}
    return {path: KINDS[one]["kind"] for path, one in patterns.items() if one and (project / path).exists()}


def card_of(artifact: Artifact, said: Mapping[str, Any], prepared: Prepared) -> str:
    """The text of the card.

    Args:
        artifact: the output.
        said: of its kind, in `sharing.yaml`.
        prepared: its files, and what holds of it alone.

    Raises:
        BadInput: the stage's measures are not what `dvc.lock` says.
    """
    said = {name: _of_variant(value, prepared.variant) for name, value in said.items()}
    title = said["title"].format(**prepared.words)
    scores = _scores(artifact, said.get("measures", MEASURES)) | dict(prepared.further)
    licences = _licences(artifact, said["kind"], prepared)
    fields: dict[str, Any] = {"language": said.get("language"), "tags": ["trivium", *said.get("tags", ())]}
    fields |= _licence_fields(licences)
    text = _body(artifact, said, prepared, title, licences, scores)
    if said["kind"] == "dataset":
        fields["configs"] = [
            {"config_name": name, "data_files": [{"split": split, "path": path} for split, path in files.items()]}
            for name, files in prepared.configs.items()
        ]
        data: Any = DatasetCardData(pretty_name=title, task_categories=[said["task"]], **fields)
        return str(DatasetCard(f"---\n{data.to_yaml()}\n---\n{text}"))
    names = ", ".join(artifact.lineage.data) or "its own data"
    invented = bool(artifact.lineage.invented)
    results = [
        EvalResult(
            task_type=said.get("task") or "other",
            dataset_type="trivium-sample" if invented else "trivium",
            dataset_name=f"the sample's invented counterparts of {names}" if invented else names,
            metric_type=name,
            metric_value=round(value, 4),
        )
        for name, value in scores.items()
    ]
    data = ModelCardData(
        library_name=said["library"],
        pipeline_tag=said.get("task"),
        base_model=prepared.start.hub_name if prepared.start else None,
        model_name=title if results else None,
        eval_results=results or None,
        **fields,
    )
    return str(ModelCard(f"---\n{data.to_yaml()}\n---\n{text}"))


def _of_variant(value: Any, variant: str) -> Any:
    return value.get(variant) if isinstance(value, Mapping) else value


def _scores(artifact: Artifact, measures: str) -> dict[str, float]:
    """Those of the stage that match."""
    scores: dict[str, float] = {}
    for path in artifact.lineage.outputs:
        if path.startswith("metrics/") and path.endswith(".json"):
            Artifacts(artifact.project).use(path)
            values = read_json(artifact.project / path)
            scores |= {name: float(value) for name, value in values.items() if re.fullmatch(measures, name)}
    return scores


def _licences(artifact: Artifact, kind: str, prepared: Prepared) -> list[Start]:
    """Of the weights for a model, of the data for a data set."""
    if kind == "model":
        return [prepared.start] if prepared.start else []
    starts = data_licences(artifact.project, artifact.lineage)
    if artifact.lineage.invented:
        starts.append(Start("what the sample invents (this project's own licence)", OWN))
    # People's own files have no record of a licence.
    local = [what for what, source in artifact.lineage.data.items() if source == "local"]
    return [*starts, *(Start(f"{what}, the user's own files", None) for what in local)]


def _licence_fields(licences: list[Start]) -> dict[str, str]:
    stated = {start.licence for start in licences}
    if not stated or None in stated:
        return {}
    (licence, *others) = sorted(map(str, stated))
    if not others and licence in LICENCES:
        return {"license": licence}
    return {"license": "other", "license_name": "see-the-card"}


def _body(
    artifact: Artifact,
    said: Mapping[str, Any],
    prepared: Prepared,
    title: str,
    licences: list[Start],
    scores: Mapping[str, float],
) -> str:
    lineage = artifact.lineage
    stand_ins = [what for what, source in lineage.weights.items() if source == SAMPLE]
    parts = [f"# {title}"]
    if invented := ", ".join(lineage.invented):
        verb = "is" if len(lineage.invented) == 1 else "are"
        parts.append(INVENTED.format(what=invented[0].upper() + invented[1:], verb=verb, use=USE[said["kind"]]))
    elif stand_ins:
        parts.append(f"> {', '.join(stand_ins)}: the sample's small stand-ins, not the public weights.")
    notes = [said["notes"].format(**prepared.words)] if "notes" in said else []
    parts += [said["about"], *notes, *prepared.notes]
    parts.append(f"## Use\n\n```python\n{said['usage'].format(**prepared.words).strip()}\n```")
    rows = [f"- stage: `{lineage.stage}` of Trivium's graph, output `{artifact.path}`"]
    rows += [f"- data: {what} ({source})" for what, source in lineage.data.items()]
    rows += [f"- started from: {prepared.start.name}"] if prepared.start else []
    parts.append("## Where it is from\n\n" + "\n".join(rows))
    rows = [f"- {one.name}: {one.licence or 'nobody has stated it here; ask before you use it'}" for one in licences]
    rows = rows or ["- It started from no weights of others; what it was trained on stands above."]
    parts.append("## Licence of what it was made from\n\n" + "\n".join(rows))
    if scores:
        table = "\n".join(f"| {name} | {value:.4f} |" for name, value in sorted(scores.items()))
        parts.append(f"## Scores\n\n| measure | value |\n|---|---|\n{table}")
    return "\n\n".join(parts) + "\n"
