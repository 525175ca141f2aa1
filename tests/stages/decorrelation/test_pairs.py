"""Stage `pairs`: which captions are drawn, how they are written, what is dropped."""

import io
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest
import torch
from PIL import Image
from transformers import BlipConfig, BlipForConditionalGeneration, BlipImageProcessor

from sample.scene_models.scene_networks import save_bert_tokenizer
from stages.decorrelation import phrases
from stages.decorrelation.pairs import main
from tests.decorrelation.tiny_corpus import write_coco
from trivium.core.engine import LocalEngine
from trivium.core.image_shards import write_images
from trivium.core.stage import Context
from trivium.core.tables import read_table
from trivium.core.tracking import Tracker
from trivium.decorrelation.captions.pairs import PairsParameters
from trivium.decorrelation.models.blip import BEGIN_CAPTION
from trivium.decorrelation.removals import PAIRS, write_removals
from trivium.formats.pictures import Removal, removal_id

PARAMETERS = PairsParameters(captions_an_image=1, beams=1, max_tokens=6, batch=2, seed=0)


def removal(picture: int, name: str, remaining: tuple[str, ...], split: str = "train", drawn: bool = True) -> Removal:
    return Removal(
        removal_id(picture, name), picture, f"{picture}.jpg", split, name, (name,), remaining, "", 48, 64, 0.1, drawn
    )  # type: ignore[arg-type]


REMOVALS = [
    removal(0, "frisbee", ("dog",)),
    removal(1, "dog", ("frisbee", "person"), drawn=False),
    removal(1, "person", ("dog", "frisbee")),
    removal(5, "cat", ("car",)),
    removal(3, "car", ("bicycle", "person")),  # no caption of picture 3 names a car
    removal(8, "dog", ("frisbee",), split="test"),
]


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    raw = write_coco(folder / "raw")
    context = Context(tracker=Tracker(), work=folder, engine=LocalEngine(1))
    parameters = phrases.PhrasesParameters(matching="strict", chunker="rules", spacy_model="none", chunk=100)
    phrases.main(
        parameters, context, dataset="coco", raw=raw, out=folder / "phrases.parquet", out_classes=folder / "classes.csv"
    )
    write_removals(folder / "removals" / "removals.parquet", REMOVALS)
    painted = [(each.id, _png(each.picture)) for each in REMOVALS if each.split == "train" and each.drawn]
    write_images(folder / "painted" / "train", painted)
    return folder


def _png(seed: int) -> bytes:
    buffer = io.BytesIO()
    Image.frombytes("RGB", (32, 24), random.Random(seed).randbytes(3 * 32 * 24)).save(buffer, "PNG")
    return buffer.getvalue()


DIFFERENT = {"different_captions": 3}


def run(world: Path, out: Path, captions: str, **changes: object) -> tuple[dict[str, float], list[dict]]:
    context = Context(tracker=Tracker(), work=out, engine=LocalEngine(1))
    looks = {"painted": world / "painted", "base": out} if captions == "captioner" else {}
    metrics = main(
        PARAMETERS.model_copy(update=changes), context, dataset="coco", filling="cv2", captions=captions, phrases=world / "phrases.parquet",
        removals=world / "removals", out=out / "pairs.parquet", **looks,
    )  # fmt: skip
    table = read_table(out / "pairs.parquet")
    assert table.schema.equals(PAIRS)
    return metrics, table.to_pylist()


def with_removals(world: Path, folder: Path, removals: list[Removal]) -> Path:
    """The world's phrases beside other removals."""
    shutil.copy(world / "phrases.parquet", folder)
    write_removals(folder / "removals" / "removals.parquet", removals)
    return folder


def test_noun_phrase_removal_writes_one_caption_a_drawn_training_removal(world, tmp_path):
    metrics, rows = run(world, tmp_path, "noun_phrase")
    assert [row["removal"] for row in rows] == ["0_frisbee", "1_person", "5_cat"]
    assert metrics == {"removals": 4, "pairs": 3, "pictures": 3, "dropped_unnamed": 1, "dropped_emptied": 0} | DIFFERENT
    for row, (gone, stays) in zip(
        rows, [("frisbee", ["dog"]), ("person", ["dog", "frisbee"]), ("cat", ["car"])], strict=True
    ):
        assert row["caption"] // 5 == row["picture"]
        assert gone not in row["text"].lower()
        assert all(name in row["text"].lower() for name in stays)


def test_grammatical_captions_are_whole_sentences(world, tmp_path):
    _, plain = run(world, tmp_path / "plain", "noun_phrase", captions_an_image=5)
    _, whole = run(world, tmp_path / "whole", "grammatical", captions_an_image=5)
    texts = {row["caption"]: (row["text"], other["text"]) for row, other in zip(plain, whole, strict=True)}
    assert texts[0] == ("A dog.", "A dog.")
    assert texts[1] == ("There is a dog.", "There is a dog.")


def test_every_drawn_removal_of_a_picture_gives_a_pair(world, tmp_path):
    """With removals.training: all a picture has several."""
    several = [removal(1, "person", ("dog", "frisbee")), removal(1, "dog", ("frisbee", "person")), REMOVALS[0]]
    metrics, rows = run(with_removals(world, tmp_path, several), tmp_path, "noun_phrase")
    assert sorted(row["removal"] for row in rows) == ["0_frisbee", "1_dog", "1_person"]
    assert metrics == {"removals": 3, "pairs": 3, "pictures": 2, "dropped_unnamed": 0, "dropped_emptied": 0} | DIFFERENT


def test_fewer_captions_are_the_first_of_more(world, tmp_path):
    drawn = []
    for count in (1, 2, 5):
        _, rows = run(world, tmp_path / str(count), "noun_phrase", captions_an_image=count)
        assert Counter(row["picture"] for row in rows) == {0: count, 1: count, 5: count}
        drawn.append({row["caption"]: row["text"] for row in rows})
    assert drawn[0].items() <= drawn[1].items() <= drawn[2].items()


def test_the_seed_decides_which_caption(world, tmp_path):
    chosen = {}
    for seed in range(12):
        _, rows = run(world, tmp_path / str(seed), "noun_phrase", seed=seed)
        chosen[seed] = tuple(row["caption"] for row in rows)
    assert chosen[0] == tuple(row["caption"] for row in run(world, tmp_path / "again", "noun_phrase")[1])
    assert len(set(chosen.values())) > 4


def test_prompts_name_what_remains(world, tmp_path):
    _, rows = run(world, tmp_path, "prompt")
    assert len(rows) == 3
    assert "dog" in rows[0]["text"]
    assert "frisbee" not in rows[0]["text"]


def _write_captioner(folder: Path) -> None:
    """A captioner of random weights, in the format of the released ones."""
    tokenizer = save_bert_tokenizer(["a dog and two cats on red grass"], folder)
    begin = tokenizer.convert_tokens_to_ids(BEGIN_CAPTION)
    size = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    size |= {"initializer_range": 0.5}  # pictures have different captions
    text = {**size, "vocab_size": len(tokenizer), "max_position_embeddings": 16, "encoder_hidden_size": 16,
            "bos_token_id": begin, "eos_token_id": tokenizer.sep_token_id, "sep_token_id": tokenizer.sep_token_id,
            "pad_token_id": tokenizer.pad_token_id}  # fmt: skip
    torch.manual_seed(0)
    config = BlipConfig(text_config=text, vision_config={**size, "image_size": 32, "patch_size": 8}, projection_dim=8)
    BlipForConditionalGeneration(config).save_pretrained(folder)
    BlipImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)


@pytest.mark.parametrize("beams", [1, 2])
def test_the_captioner_looks_at_the_painted_pictures_in_any_batch(world, tmp_path, beams):
    texts = []
    for batch in (1, 3):
        _write_captioner(tmp_path / str(batch) / "captioner")
        metrics, rows = run(world, tmp_path / str(batch), "captioner", batch=batch, beams=beams, captions_an_image=5)
        assert metrics["pairs"] + metrics["dropped_emptied"] == 3
        assert metrics["different_captions"] == len({row["text"] for row in rows})
        texts.append([(row["removal"], row["text"]) for row in rows])
    assert texts[0] == texts[1]
    assert texts[0]
