import json
import struct
import zlib

import pytest

from tests.sources.small_hub import ENTITIES, articles, jpeg, lines, triviaqa, viquae
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images, write_images
from trivium.core.tables import read_json
from trivium.formats.questions import SPLITS, read_questions
from trivium.sources.brought import sha256_of
from trivium.sources.kvqae.kilt import human_type, to_article, to_entity, to_question
from trivium.sources.kvqae.raw import check_kvqae, check_triviaqa, validate_kvqae


def png_of(width, height):
    """A PNG's header and no pixel."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


@pytest.fixture
def mine(tmp_path):
    """A user's folder: three entities with images, an article without one, a question a split."""
    folder = tmp_path / "mine"
    entities = [human_type()]
    for record in articles()[:3]:
        _, part, image = ENTITIES[record["wikidata_info"]["wikidata_id"]]
        entities.append(to_entity(record | {"image": image}, part != "non_humans", folder, 1))
    tables = {"articles": [to_article(record, folder, 1) for record in articles()], "wikidata": entities}
    for split, qid in zip(SPLITS, ENTITIES, strict=True):
        tables[f"viquae/{split}"] = [to_question(viquae(split, qid), folder, 1)]
        tables[f"triviaqa/{split}"] = [to_question(record, folder, 1) for record in triviaqa(split)]
    for name, records in tables.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.jsonl").write_bytes(lines(records))
    write_images(folder / "images" / "kb", [(image, jpeg("red")) for *_, image in ENTITIES.values()])
    write_images(folder / "images" / "questions", [(f"512px-question-{qid}.jpg", jpeg("white")) for qid in ENTITIES])
    return folder


def change(path, row, **fields):
    """Set fields (dots for nesting) of one record, rows from 1."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for name, value in fields.items():
        *parents, last = name.split("__")
        record = records[row - 1]
        for parent in parents:
            record = record[parent]
        record[last] = value
    path.write_bytes(lines(records))


def check(mine, name, out):
    if name == "triviaqa":
        return check_triviaqa(mine / "triviaqa", mine / "viquae", out)
    return check_kvqae(mine, out)


def test_good_folder_is_brought_and_counted(mine, tmp_path):
    counts = check_kvqae(mine, tmp_path / "raw")
    expected = {
        "articles": 4, "articles_without_text": 0, "articles_without_entity": 1, "articles_without_image": 1,
        "entities": 4, "entities_without_image": 1, "entities_whose_image_is_missing": 0,
        "kb_images": 3, "questions_images": 3, "kb_images_tiny": 0, "kb_images_unreadable": 0,
        "viquae_train": 1, "viquae_validation": 1, "viquae_test": 1,
        "questions_whose_entity_has_no_image": 0,
        "questions_whose_article_is_missing": 0, "questions_whose_image_is_missing": 0,
    }  # fmt: skip
    assert expected.items() <= counts.items()
    raw = tmp_path / "raw"
    assert validate_kvqae(raw).items() <= counts.items()
    digests = read_json(raw / "provenance" / "local.json")
    assert digests["articles.jsonl"] == sha256_of(mine / "articles.jsonl")
    assert len(digests) == 7
    assert read_questions(raw / "viquae" / "test.jsonl")[0].wikidata_id == "Q3"


def test_triviaqa_is_brought_by_itself_without_what_viquae_was_made_from(mine, tmp_path):
    change(mine / "viquae/train.jsonl", 1, original_question="question 0")
    counts = check_triviaqa(mine / "triviaqa", mine / "viquae", tmp_path / "triviaqa")
    expected = {"triviaqa_train": 2, "triviaqa_train_seen_in_viquae": 1, "triviaqa_validation": 3, "triviaqa_test": 3}
    assert counts == expected
    train = tmp_path / "triviaqa" / "train.jsonl"
    assert [question.id for question in read_questions(train)] == ["train-1", "train-2"]
    assert len(read_questions(mine / "triviaqa" / "train.jsonl")) == 3
    assert read_json(tmp_path / "triviaqa" / "provenance.json")["train.jsonl"] == sha256_of(train)


def test_what_is_brought_stays_the_users(mine, tmp_path):
    check_kvqae(mine, tmp_path / "raw")
    assert (tmp_path / "raw" / "articles.jsonl").read_bytes() == (mine / "articles.jsonl").read_bytes()
    assert not (tmp_path / "raw" / "articles.jsonl").samefile(mine / "articles.jsonl")


def test_plain_image_files_are_packed(mine, tmp_path):
    shards = mine / "images" / "questions"
    images = dict(Images(shards).stream())
    for shard in shards.iterdir():
        shard.unlink()
    for name, data in images.items():
        (shards / name).write_bytes(data)
    check_kvqae(mine, tmp_path / "raw")
    assert dict(Images(tmp_path / "raw" / "images" / "questions").stream()) == images


def test_what_later_stages_do_without_is_counted(mine, tmp_path):
    change(mine / "articles.jsonl", 2, text=["Bob\n", "  \n"])
    change(mine / "wikidata.jsonl", 3, claims={"P569": []})  # Bob loses his image
    kb = [
        ("512px-Ada.jpg", b"no image"),
        ("512px-Bridge.png", png_of(1, 1)),
        ("large.png", png_of(20_000, 20_000)),
    ]
    write_images(mine / "images" / "kb", kb)
    counts = check_kvqae(mine, tmp_path / "raw")
    expected = {
        "articles_without_text": 1, "articles_without_image": 2, "entities_without_image": 2,
        "entity_properties_not_used": 1, "questions_whose_entity_has_no_image": 1,
        "kb_images": 3, "kb_images_unreadable": 1, "kb_images_tiny": 1, "kb_images_huge": 1,
    }  # fmt: skip
    assert expected.items() <= counts.items()


def test_questions_are_joined_to_articles_by_their_entity(mine, tmp_path, capsys):
    """`kilt_id` is the TriviaQA question in KILT. Up to a tenth of questions may lack an article, and is told."""
    lines = [
        {**json.loads(line), "kilt_id": "tc_33"} for line in (mine / "viquae/train.jsonl").read_text().splitlines()
    ]
    more = [{**lines[0], "id": f"more-{number}"} for number in range(7)]
    (mine / "viquae/train.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [*lines, *more]))
    assert validate_kvqae(mine)["questions_whose_article_is_missing"] == 0
    change(mine / "viquae/test.jsonl", 1, wikidata_id="Q77")
    assert validate_kvqae(mine)["questions_whose_article_is_missing"] == 1
    assert "no article for the entities of 1 of 10 questions" in capsys.readouterr().err
    change(mine / "viquae/validation.jsonl", 1, wikidata_id="Q78")
    message = r"articles.jsonl: field 'wikidata_info.wikidata_id': questions and articles do not fit together; got 'no article"
    with pytest.raises(BadInput, match=message):
        check_kvqae(mine, tmp_path / "raw")


def test_a_public_set_may_lack_images_of_questions(mine, tmp_path, capsys):
    change(mine / "viquae/test.jsonl", 1, image="gone.jpg")
    change(mine / "viquae/train.jsonl", 1, image=None)
    counts = validate_kvqae(mine, may_lack_images=True)
    assert counts["questions_whose_image_is_missing"] == 2
    assert "test.jsonl: 1 of 1 questions have no image" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["viquae", "triviaqa"])
@pytest.mark.parametrize(("first", "second"), [("train", "test"), ("train", "validation"), ("validation", "test")])
def test_a_question_id_of_another_split_is_refused(mine, tmp_path, name, first, second):
    shared = read_questions(mine / name / f"{first}.jsonl")[-1].id
    change(mine / name / f"{second}.jsonl", 1, id=shared)
    message = rf"mine/{name}/{second}\.jsonl:1: field 'id': question id also in {first}\.jsonl; got '{shared}'; expected every"
    with pytest.raises(BadInput, match=message):
        check(mine, name, tmp_path / "raw")


def test_an_entity_stands_once(mine, tmp_path):
    path = mine / "wikidata.jsonl"
    path.write_bytes(2 * path.read_bytes())
    with pytest.raises(BadInput, match=r"wikidata\.jsonl:5: field 'id': Wikidata item twice, the first in row 1"):
        check_kvqae(mine, tmp_path / "raw")
