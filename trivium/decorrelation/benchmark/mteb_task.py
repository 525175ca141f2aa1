"""ODmAP as a task of mteb (Muennighoff et al., EACL 2023), and models of mteb as models of the leaderboard.

    mteb.evaluate(model, odmap_task("trivium"))          # its tools, our figures
    odmap({"theirs": MtebEmbedder(model)}, "trivium")    # our page, its model

Here alone is mteb imported, which is an extra. It fetches models by names of its own and runs code that lies beside
some of them; so whoever asks it for one does so in Python, and no command does (docs/odmap.md).
"""

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import datasets
from PIL import Image
from torch.utils.data import DataLoader

from trivium.core.errors import BadInput, how_to_install
from trivium.decorrelation.benchmark.answers import answer
from trivium.decorrelation.benchmark.benchmark_set import BenchmarkSet, open_set
from trivium.decorrelation.benchmark.embedder import embed
from trivium.decorrelation.benchmark.scores import measures_of, score

try:
    from mteb import AbsTask, TaskMetadata
    from mteb.types import PromptType
except ModuleNotFoundError as error:
    if error.name != "mteb":
        raise
    raise BadInput("mteb is not installed", expected=how_to_install("mteb")) from None

_COLUMNS = {"image": datasets.Image(mode="RGB"), "text": datasets.Value("string")}
_BATCH = 32  # mteb's own
_ABOUT = (
    "How much a model of pictures and texts guesses: it chooses captions for pictures from which objects were painted "
    "out, and ODmAP counts those as wrong that name what is gone."
)
_INVENTED = " The pictures and captions of this set are invented."


def odmap_task(
    project: str | Path = ".",
    released: str | Path | None = None,
    *,
    dataset: str | None = None,
    filling: str | None = None,
    positives: str | Path | None = None,
) -> "ODmAPTask":
    """A released set, or that of a built project, as a task for `mteb.evaluate`.

    The revision of its data is the set's fingerprint. Its name ends with a digest of it: mteb keeps results by name,
    and would take those of other queries for these. Arguments and what is raised: see `open_set`.
    """
    asked = open_set(project, released, dataset=dataset, filling=filling, positives=positives)
    # A class a set: mteb holds metadata to be the class's, and looks for them there.
    return type("ODmAP", (ODmAPTask,), {"metadata": _metadata(asked)})(asked)


class MtebEmbedder:
    """An encoder of mteb, with `encode` for pictures and texts, as an `Embedder`.

    `task` is for models that read in which one they are asked; `options` are for `encode`, besides `batch_size`.
    """

    def __init__(self, model: Any, batch_size: int = _BATCH, task: TaskMetadata | None = None, **options: Any) -> None:
        self._model, self._batch_size = model, batch_size
        where = {"task_metadata": task or _described(), "hf_split": "test", "hf_subset": "default"}
        self._options = {"show_progress_bar": False, "batch_size": batch_size} | options | where
        self.source = f"mteb:{getattr(getattr(model, 'mteb_model_meta', None), 'name', None) or type(model).__name__}"

    def encode_images(self, images: Sequence[Image.Image]) -> Any:
        """(n, d); pictures are queries."""
        return self._encode("image", [{"bytes": _uncompressed(image), "path": None} for image in images])

    def encode_texts(self, texts: Sequence[str]) -> Any:
        """(n, d); captions are documents."""
        return self._encode("text", list(texts))

    def _encode(self, modality: str, things: list[Any]) -> Any:
        # A whole `Dataset` with ids: mteb's wrappers ask for its features, and the one with a cache for more.
        rows = datasets.Dataset.from_dict(
            {"id": list(map(str, range(len(things)))), modality: things},
            datasets.Features({"id": datasets.Value("string"), modality: _COLUMNS[modality]}),
        )
        return self._model.encode(
            DataLoader(rows, batch_size=self._batch_size, collate_fn=_columns),
            prompt_type=PromptType.query if modality == "image" else PromptType.document,
            **self._options,
        )


def _uncompressed(image: Image.Image) -> bytes:
    with io.BytesIO() as stream:
        image.save(stream, "BMP")
        return stream.getvalue()


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0] if name != "id"}


class ODmAPTask(AbsTask):
    """See `odmap_task`."""

    abstask_prompt = "Find the sentences that describe the given picture."

    def __init__(self, asked: BenchmarkSet, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._asked = asked

    def load_data(self, num_proc: int | None = None, **kwargs: Any) -> None:
        """The set is there already: pictures are read as they are encoded."""
        self.dataset = {"default": {"test": self._asked}}
        self.data_loaded = True

    def _evaluate_subset(
        self,
        model: Any,
        data_split: BenchmarkSet,
        *,
        hf_split: str,
        hf_subset: str,
        encode_kwargs: Any,
        prediction_folder: Path | None = None,
        **kwargs: Any,
    ) -> dict[str, float]:
        options = {"batch_size": _BATCH} | encode_kwargs
        encoder = MtebEmbedder(model, task=self.metadata, **options)
        vectors = embed(encoder, data_split, encoder.source, options["batch_size"])
        answers = answer(data_split, vectors)
        if prediction_folder is not None:
            found = dict(zip(data_split.queries.ids, answers.captions.tolist(), strict=True))
            self._save_task_predictions(found, model, prediction_folder, hf_split=hf_split, hf_subset=hf_subset)
        scores = score(data_split, vectors, answers)
        means = {measure: scores.mean(measure) for measure in measures_of(data_split)}
        return {_score_name(measure): mean for measure, mean in means.items() if mean is not None}

    def _calculate_descriptive_statistics_from_split(self, split: str, **kwargs: Any) -> Any:
        asked = self._asked
        parts = {
            "pictures": asked.pictures.names,
            "painted_pictures": asked.painted.names,
            "captions": asked.captions.ids,
        }
        counts = {f"num_{name}": len(things) for name, things in parts.items()}
        return {"num_samples": sum(counts.values())} | counts


def _score_name(measure: str) -> str:
    return measure.replace("@", "_at_")


def _metadata(asked: BenchmarkSet) -> TaskMetadata:
    revision = "-".join([asked.fingerprint, *([asked.positives.digest] if asked.positives else [])])
    name = f"ODmAP_{asked.dataset}_{asked.filling}_{hashlib.sha256(revision.encode()).hexdigest()[:8]}"
    return _described(name, f"{asked.dataset}/{asked.filling}", revision, _INVENTED if asked.invented else "")


def _described(name: str = "ODmAP", path: str = "none", revision: str = "none", invented: str = "") -> TaskMetadata:
    return TaskMetadata(
        name=name,
        description=_ABOUT + invented,
        dataset={"path": path, "revision": revision},
        type="Any2AnyRetrieval",
        category="i2t",
        modalities=["image", "text"],
        eval_splits=["test"],
        eval_langs=["eng-Latn"],
        main_score=_score_name("odmap@1"),
        task_subtypes=["Image Text Retrieval"],
        is_public=False,
    )
