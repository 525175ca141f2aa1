"""Families of models, and how a model is found by what a user typed (docs/odmap.md).

    open_clip:ViT-B-32/openai   hf:openai/clip-vit-base-patch32   sentence_transformers:clip-ViT-B-32
    npy:my_embeddings           ./my_model

A folder without a prefix belongs to the family that knows its files.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import version
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.decorrelation.benchmark.answers import TrainedModel
from trivium.decorrelation.benchmark.benchmark_set import hub_folder
from trivium.decorrelation.benchmark.embeddings import KeptEmbeddings
from trivium.decorrelation.benchmark.libraries import KINDS, OpenClipModel, SentenceTransformersModel, load_hugging_face
from trivium.nets.open_clip_folder import CONFIG, require_offline

_HF_CONFIG, _MODULES = "config.json", "modules.json"
_OWNERS = {"sentence_transformers": "sentence-transformers"}  # of names without one: the library's own models
_LIBRARIES = ("torch", "transformers", "open_clip_torch", "sentence-transformers")
_HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")
# Of the hub neither code nor pickles; sentencepiece's models bear the last but one suffix.
_FILES = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja"]
_ROBOT = "SFconvertbot"


def model_folder(source: str, owner: str = "") -> Path:
    """A model's folder: the `source` itself, or that of the hub's files; a name without one belongs to `owner`.

    Only what is needed is fetched, and nothing that could run. Raises as `hub_folder`.
    """
    if Path(source).is_dir():
        return Path(source)
    name = source if "/" in source or not owner else f"{owner}/{source}"
    folder = hub_folder(name, "--model", _FILES)
    if any(folder.rglob("*.safetensors")):
        return folder
    import huggingface_hub as hub

    # Of older models only a revision that the hub's own robot has proposed holds safetensors.
    proposed = hub.HfApi().get_repo_discussions(
        name, author=_ROBOT, discussion_type="pull_request", discussion_status="open"
    )
    for number in [proposal.num for proposal in proposed if proposal.author == _ROBOT][:1]:
        folder = hub_folder(name, "--model", _FILES, revision=f"refs/pr/{number}")
    return folder


def _check_hub_name(source: str, file: str) -> None:
    """Refuse what is neither a folder with this file nor a name that the hub could have."""
    folder = Path(source)
    if folder.is_dir() and not (folder / file).is_file():
        raise BadInput("no configuration", file=folder / file)
    if not folder.is_dir() and not _HUB_NAME.fullmatch(source):
        raise BadInput("no such folder", field="--model", got=source, expected="a folder, or the hub's OWNER/NAME")


def _config(folder: Path) -> dict[str, Any]:
    """The configuration of a folder; empty where there is none."""
    config = read_json(folder / _HF_CONFIG) if (folder / _HF_CONFIG).is_file() else None
    return config if isinstance(config, dict) else {}


def _is_trained(folder: Path) -> bool:
    """Whether a graph has saved a model in the folder: its configuration names the kind."""
    return "kind" in _config(folder)


def _check_hf(source: str) -> None:
    _check_hub_name(source, _HF_CONFIG)
    if Path(source).is_dir() and not _is_trained(Path(source)):
        _transformers_kind(Path(source))


def _transformers_kind(folder: Path) -> str:
    """The name in KINDS of a folder's network, by `model_type` of its configuration; `BadInput` for any other."""
    kind = str(_config(folder).get("model_type"))
    if kind in KINDS:
        return kind
    problem = "a model of another kind than those of pictures and texts"
    for tower, other in (("vision", "text"), ("text", "vision")):
        if kind.endswith(f"_{tower}_model"):
            problem = f"a model without a {other} tower"
    raise BadInput(problem, file=folder / _HF_CONFIG, field="model_type", got=kind, choices=KINDS)


def _load_hf(source: str) -> Any:
    folder = model_folder(source)
    return TrainedModel(folder) if _is_trained(folder) else load_hugging_face(folder, _transformers_kind(folder))


def _check_open_clip(source: str) -> None:
    """Refuse a folder without weights, and a name that open_clip's lists lack, with close ones."""
    import open_clip

    folder = Path(source)
    if folder.is_dir():
        require_offline(folder)
        if not any(path.suffix in (".safetensors", ".bin", ".pth") for path in folder.iterdir()):
            raise BadInput("no weights", file=folder, expected="open_clip_model.safetensors")
        return
    configuration, _, tag = source.partition("/")
    names = {name.lower(): name for name in open_clip.list_models()}
    if configuration not in names.values():
        near = get_close_matches(configuration.lower(), names, n=5, cutoff=0.5)
        choices = [names[name] for name in near or names]
        raise BadInput("no such configuration of open_clip", field="--model", got=configuration, choices=choices)
    tags = open_clip.list_pretrained_tags_by_model(configuration)
    if tag not in tags:
        expected = f"open_clip:{configuration}/TAG" if tags else "a configuration with released weights"
        raise BadInput("no such weights of this configuration", field="--model", got=tag, expected=expected,
                       choices=tags)  # fmt: skip


@dataclass(frozen=True)
class Family:
    """One kind of models.

    Attributes:
        file: that a folder of it has; a graph's is recognised by the kind that its configuration names.
        check: refuses what can be refused before anything is downloaded or loaded, by `BadInput`.
        load: a model with both towers in float32 on its device, or what answers a set itself (`TrainedModel`,
            `KeptEmbeddings`).
    """

    file: str
    check: Callable[[str], Any]
    load: Callable[[str], Any]


FAMILIES = {  # in the order in which a folder is looked at: that of sentence-transformers may hold config.json, too
    "open_clip": Family(CONFIG, _check_open_clip, OpenClipModel),
    "sentence_transformers": Family(
        _MODULES,
        lambda source: _check_hub_name(source, _MODULES),
        lambda source: SentenceTransformersModel(model_folder(source, _OWNERS["sentence_transformers"])),
    ),
    "hf": Family(_HF_CONFIG, _check_hf, _load_hf),
    "npy": Family("pictures.npy", KeptEmbeddings, KeptEmbeddings),
    "graph": Family(_HF_CONFIG, lambda source: read_json(Path(source) / _HF_CONFIG), TrainedModel),
}


@dataclass(frozen=True)
class NamedModel:
    """A model's name on the leaderboard, the name of its family in `FAMILIES`, and what that loads."""

    name: str
    family: str
    source: str

    @property
    def label(self) -> str:
        """Where it comes from, a folder by its name alone."""
        folder = Path(self.source)
        return f"{self.family}:{folder.name if folder.is_dir() else self.source}"

    def load(self) -> Any:
        """See `Family.load`."""
        return FAMILIES[self.family].load(self.source)

    def files(self) -> Path:
        """The model's folder, or its file of weights; downloaded where they are not there yet."""
        if self.family != "open_clip" or Path(self.source).is_dir():
            return model_folder(self.source, _OWNERS.get(self.family, ""))
        import open_clip

        name, _, tag = self.source.partition("/")
        try:
            return Path(open_clip.download_pretrained(open_clip.get_pretrained_cfg(name, tag)))
        except (OSError, RuntimeError) as error:
            raise BadInput(f"cannot be had from open_clip: {error}", got=self.source) from None

    def identity(self) -> list[Any]:
        """What tells this model from any other: its files, the revision on the hub, versions of libraries."""
        place = self.files()
        files = [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.is_file())
        states = [[str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns] for path in files]
        return [self.family, self.source, states, [version(name) for name in _LIBRARIES]]


def find_model(text: str) -> NamedModel:
    """The model of `FAMILY:SOURCE`, of a folder, or of `NAME=` and one of these; checked as far as is quick.

    Raises:
        BadInput: no such family, a folder that belongs to no family, or what its family refuses.
    """
    name, equals, rest = text.partition("=")
    if not (equals and name) or re.search(r"[:/\\]", name):
        name, rest = "", text
    family, _, source = rest.partition(":")
    folder = Path(rest)
    if folder.is_dir():
        family, source = _family_of(folder), rest
    if family not in FAMILIES or not source:
        choices = [f"{family}:" for family in sorted(FAMILIES)]
        raise BadInput("no such folder, and no kind of model", field="--model", got=rest,
                       expected="a folder, or KIND:MODEL", choices=choices)  # fmt: skip
    FAMILIES[family].check(source)
    return NamedModel(name or (folder.resolve().name if folder.is_dir() else rest), family, source)


def _family_of(folder: Path) -> str:
    if _is_trained(folder):
        return "graph"
    for family, kind in FAMILIES.items():
        if (folder / kind.file).is_file():
            return family
    files = dict.fromkeys(kind.file for kind in FAMILIES.values())
    raise BadInput("a folder without a model of any kind", file=folder, expected=f"one of {', '.join(files)}")
