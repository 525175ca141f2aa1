"""The local world: the same raw files and base models, brought by the user; checked as what is downloaded."""

from pathlib import Path

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput, naming
from trivium.core.image_shards import write_images
from trivium.core.reading import LARGEST_IMAGE, read_bytes
from trivium.core.tables import write_json
from trivium.formats.pictures import PICTURES, is_picture
from trivium.nets.cards import CARD, write_card
from trivium.sources.brought import bring, digests, require_files
from trivium.sources.kvqae.arcface import FACE_MODEL, bring_face_model, bring_identities
from trivium.sources.kvqae.raw import (
    IMAGE_FOLDERS,
    QUESTIONS,
    TABLES,
    leave_out_sources,
    validate_kvqae,
    validate_triviaqa,
    write_parts,
)

PUBLIC = ("arcface", "clip", "imagenet")  # image encoders whose weights every source gives; others bring their own


def check_kvqae(source: Path, out: Path) -> dict[str, float]:
    """Check a folder laid out as `data/kvqae/raw` and bring it there, but for TriviaQA; returns counts.

    Images come as shards, or as plain files in `images/kb/` and `images/questions/`, which are packed into shards.
    `provenance/local.json` keeps the digests.
    """
    require_files(source, TABLES)
    with write_parts(out) as temporary:
        for folder in IMAGE_FOLDERS:
            bring_images(source / "images" / folder, temporary / "images" / folder)
        with naming(source, instead_of=temporary):
            counts = validate_kvqae(source, temporary / "images")
        bring(source, temporary, TABLES)
        write_json(temporary / "provenance" / "local.json", digests(temporary))
    return counts


def check_triviaqa(source: Path, viquae: Path, out: Path) -> dict[str, float]:
    """Check the user's `triviaqa/` and bring it, without training questions that ViQuAE's were made from."""
    counts = validate_triviaqa(source)
    with write_atomically(out) as temporary:
        bring(source, temporary, QUESTIONS)
        counts |= leave_out_sources(temporary, viquae, counts["triviaqa_train"])
        write_json(temporary / "provenance.json", digests(temporary))
    return counts


def check_base_models(source: Path, out: Path) -> dict[str, float]:
    """Check a folder laid out as `models/kvqae/base` (`text/`, `arcface/`, `clip/`, `imagenet/`) and bring it there.

    `overlap/identities.txt` may be left out. `arcface/` holds `model.onnx`, or a state dict that is converted.

    Returns:
        The counts of `validate_base_models` and `bring_identities`.
    """
    with write_atomically(out) as temporary:
        bring_face_model((source / FACE_MODEL).parent, temporary / FACE_MODEL)
        for folder in ("clip", "imagenet", "text"):
            files = (path for path in sorted((source / folder).rglob("*")) if path.is_file())
            bring(source, temporary, (str(path.relative_to(source)) for path in files))
        with naming(source, instead_of=temporary):
            counts = validate_base_models(temporary)
        counts |= bring_identities(source, temporary)
        write_json(temporary / "provenance.json", digests(temporary))
        if not (temporary / "text" / CARD).exists():  # models that start from it name its licence
            said = "Brought by the user, without a card."
            write_card(temporary / "text", title="Text encoder", description=said, base="not known", data="not known",
                       metrics={}, licence=None)  # fmt: skip
    return counts


def bring_images(source: Path, out: Path) -> None:
    """Copy image shards, or pack plain image files into shards; `BadInput` when there are neither."""
    shards = sorted(source.glob("shard-*.parquet"))
    if shards:
        bring(source, out, (shard.name for shard in shards))
        return
    files = sorted(path for path in source.glob("*") if is_picture(path))
    if not files:
        raise BadInput("no images", file=source, expected="shard-*.parquet, or image files", choices=PICTURES)
    write_images(out, ((path.name, read_bytes(path, LARGEST_IMAGE)) for path in files))


def validate_base_models(base: Path) -> dict[str, float]:
    """Load text, face, CLIP and ImageNet encoders as the stages do; returns the text encoder's parameters.

    Raises:
        BadInput: a file is not there, is of another format, or its weights do not fit its configuration.
    """
    import torch  # seconds to import, and only this needs it

    from trivium.kvqae.retrieval.text_encoder import load_text_encoder
    from trivium.vision.encoder_registry import ENCODERS

    files = [f"{name}/{file}" for name in PUBLIC for file in ENCODERS[name].files]
    require_files(base, ["text/config.json", "text/model.safetensors", *files])
    cpu = torch.device("cpu")
    text, _ = load_text_encoder(base / "text", cpu)
    for name in PUBLIC:
        ENCODERS[name].load(base / name, cpu)
    return {"text_parameters": float(sum(weights.numel() for weights in text.parameters()))}
