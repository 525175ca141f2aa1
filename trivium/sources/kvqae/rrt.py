"""The Re-Ranking Transformer: downloaded, brought by the user, or left out (§4, §8).

Its folder holds `config.json` and `model.safetensors`, `extractor/` (which features it reads, and what makes them), and
`landmarks.txt`, where it is known: the Wikidata ids of the knowledge base's entities that its training showed. The
authors' checkpoint, such as `r50_gldv2.pt`, holds under "state" the network's tensors (and under "optim" what trained
them).
"""

from collections.abc import Mapping
from pathlib import Path

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.tables import write_json
from trivium.kvqae.rerankers.local_features import SIDES
from trivium.kvqae.rerankers.model_files import LANDMARKS, read_entities
from trivium.kvqae.rerankers.rrt import build_rrt, load_rrt, save_rrt
from trivium.nets.cards import CARD, write_card
from trivium.nets.reranking_transformer import RerankingTransformer
from trivium.nets.weights import load_weights
from trivium.sources.brought import PROVENANCE, bring, hash_files, require_files
from trivium.sources.download import fetch_into
from trivium.sources.plain_weights import read_pickled, rename
from trivium.vision.local_descriptors.delg_files import GLOBAL_FILE
from trivium.vision.local_descriptors.extractors import CONFIG as EXTRACTOR_CONFIG
from trivium.vision.local_descriptors.extractors import DELG_FILES, read_kind
from trivium.vision.local_descriptors.folder import LOCAL_DIMENSION

EXTRACTOR = "extractor"
NOT_STATED = "not stated"  # a licence in pins.yaml
DELG_DIMENSION = 2048  # of DELG's global descriptors


def write_rrt_card(folder: Path, *, base: str, data: str, metrics: Mapping[str, float], licence: str | None) -> None:
    """Write the model's card; of `metrics` the scores of validation, where it was trained here."""
    description = (
        "Tells from global and local descriptors whether two images show the same thing (Tan et al., ICCV 2021); "
        "`extractor/` says which descriptors."
    )
    scores = {name: value for name, value in metrics.items() if name.startswith("validation_")}
    title = "Re-Ranking Transformer"
    write_card(folder, title=title, description=description, base=base, data=data, metrics=scores, licence=licence,
               library="pytorch")  # fmt: skip


def fetch_rrt(out: Path, downloads: Path, local: Path | None) -> dict[str, float]:
    """Download the authors' checkpoint and keep it as safetensors.

    Its features are read from files of DELG's own tool; `rrt/landmarks.txt` is brought along where there is one.
    """
    with fetch_into(["rrt"], out, downloads) as (temporary, files, pins):
        (checkpoint,) = files["rrt"].values()
        model = read_checkpoint(checkpoint)
        save_rrt(model, temporary)
        write_json(temporary / EXTRACTOR / EXTRACTOR_CONFIG, {"kind": DELG_FILES, "global_dimension": DELG_DIMENSION})
        counts = bring_landmarks(local / "rrt", temporary) if local else {}
        origin = pins.summary(["rrt"])["rrt"]
        licence = None if origin["licence"] == NOT_STATED else origin["licence"]
        write_rrt_card(temporary, base=origin["from"], data="Google Landmarks v2", metrics={}, licence=licence)
        write_json(temporary / PROVENANCE, origin)
    return counts | {"parameters": float(sum(weights.numel() for weights in model.parameters()))}


def has_features(brought: Path | None) -> bool:
    """Whether the user's folder has an extractor, or DELG's files for both sides."""
    if brought is None:
        return False
    extractor = brought / "rrt" / EXTRACTOR
    if (extractor / EXTRACTOR_CONFIG).is_file() and read_kind(extractor) != DELG_FILES:
        return True
    return all(next((brought / "delg" / side).glob(f"*{GLOBAL_FILE}"), None) is not None for side in SIDES)


def bring_extractor(folder: Path, out: Path) -> None:
    """Copy the extractor's files into the model's folder."""
    bring(folder, out / EXTRACTOR, (file.name for file in folder.iterdir() if file.is_file()))


def bring_landmarks(source: Path, out: Path) -> dict[str, float]:
    """Check and copy the user's overlap list; without a list nothing is written."""
    if not (source / LANDMARKS).is_file():
        return {}
    listed = read_entities(source / LANDMARKS)
    bring(source, out, [str(LANDMARKS)])
    return {"overlap": float(len(listed))}


HEADS = 4  # of all published checkpoints; no tensor shows it
_NAMES = (  # in order: pattern, replacement
    (r"^remap\.", "global_projection."),
    (r"^scale_encoder\.", "scale_embeddings."),
    (r"^seg_encoder\.", "segment_embeddings."),
    (r"^classifier\.", "classifier."),
    (r"^encoder\.layers\.(\d+)\.self_attn\.in_proj_(weight|bias)$", r"layers.\1.in_projection.\2"),
    (r"^encoder\.layers\.(\d+)\.self_attn\.out_proj\.", r"layers.\1.out_projection."),
    (r"^encoder\.layers\.(\d+)\.linear1\.", r"layers.\1.widen."),
    (r"^encoder\.layers\.(\d+)\.linear2\.", r"layers.\1.narrow."),
    (r"^encoder\.layers\.(\d+)\.norm1\.", r"layers.\1.norm_attention."),
    (r"^encoder\.layers\.(\d+)\.norm2\.", r"layers.\1.norm_feed_forward."),
)


def read_checkpoint(path: Path) -> RerankingTransformer:
    """Read the network of the authors' checkpoint; only plain tensors are unpickled."""
    state = read_pickled(path, "state")
    weights = {rename(name.removeprefix("module."), _NAMES, path): value for name, value in state.items()}
    for name in ("global_projection.weight", "layers.0.widen.weight"):
        if name not in weights or weights[name].dim() != 2:
            expected = f"for tokens of {LOCAL_DIMENSION}"
            raise BadInput("not a checkpoint of RRT", file=path, field=name, expected=expected)
    layers = {name.split(".")[1] for name in weights if name.startswith("layers.")}
    global_dimension, hidden = weights["global_projection.weight"].shape[1], len(weights["layers.0.widen.weight"])
    model = build_rrt(global_dimension=global_dimension, layers=len(layers), heads=HEADS, hidden=hidden)
    load_weights(model, weights, path)
    return model


MODEL = ("config.json", "model.safetensors")


def bring_rrt(source: Path, out: Path) -> dict[str, float]:
    """Copy the user's model from `rrt/` in their folder, with its `extractor/`; `landmarks.txt` may be missing."""
    source = source / "rrt"
    require_files(source, MODEL)
    model = load_rrt(source)
    metrics = {"parameters": float(sum(weights.numel() for weights in model.parameters()))}
    with write_atomically(out) as temporary:
        bring(source, temporary, [*MODEL, *([CARD] if (source / CARD).is_file() else [])])
        bring_extractor(source / EXTRACTOR, temporary)
        metrics |= bring_landmarks(source, temporary)
        write_json(temporary / PROVENANCE, hash_files(temporary))
        if not (temporary / CARD).exists():
            write_rrt_card(temporary, base="the user's own", data="not known", metrics=metrics, licence=None)
    return metrics
