from collections import Counter
from pathlib import Path

import pytest

from stages.kvqae import world as kvqae
from tests.sources.small_commons import serve_commons
from tests.sources.small_hub import REVISION, jpeg, lines, parquet, serve_kvqae, serve_models, tar_of, triviaqa
from trivium.core import stage
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.stage import execute
from trivium.core.tables import read_json, read_json_lines
from trivium.formats.questions import read_questions
from trivium.kvqae.source_questions import check_no_leak
from trivium.sources.download import Hub
from trivium.sources.kvqae.hub import INDEX_BYTES, PREVIEW_BYTES, fetch_kvqae, fetch_triviaqa, images_in_tar
from trivium.sources.kvqae.kilt import SmallerBaseParameters
from trivium.sources.kvqae.models import fetch_base_models
from trivium.sources.pins import Pins


@pytest.fixture
def pins(hub, tmp_path, monkeypatch):
    path = tmp_path / "pins.yaml"
    monkeypatch.setattr("trivium.sources.pins.PINS", path)
    path.write_text(serve_kvqae(hub))
    return path


@pytest.fixture
def fetch(pins, tmp_path):
    return lambda **smaller: fetch_kvqae(tmp_path / "raw", tmp_path / "work", **smaller)


@pytest.fixture
def trivia(fetch, pins, tmp_path):
    """Fetch TriviaQA for the questions that are there."""
    fetch()
    raw = tmp_path / "raw"
    return lambda: fetch_triviaqa(raw / "triviaqa", raw / "viquae", tmp_path / "work")


def rows(path):
    return [record for _, record in read_json_lines(path)]


def test_kvqae_end_to_end(fetch, tmp_path):
    counts, raw = fetch(), tmp_path / "raw"
    articles = rows(raw / "articles.jsonl")
    assert [article["wikipedia_id"] for article in articles] == ["10", "11", "12", "13"]
    assert articles[0]["text"] == ["Ada\n", "Ada was born in 1910.\n", "Section::::Life.\n"]
    assert articles[0]["wikidata_info"] == {"wikidata_id": "Q1", "aliases": ["Ada II"]}

    entities = {entity["id"]: entity for entity in rows(raw / "wikidata.jsonl")}
    assert entities.keys() == {"Q5", "Q1", "Q2", "Q3"}
    assert entities["Q1"]["aliases"] == {"en": [{"language": "en", "value": "Ada II"}]}
    assert entities["Q1"]["claims"]["P31"][0]["mainsnak"]["datavalue"]["value"]["id"] == "Q5"
    assert entities["Q3"]["claims"].keys() == {"P18"}
    assert entities["Q3"]["claims"]["P18"][0]["mainsnak"]["datavalue"]["value"] == "512px-Bridge.png"

    (question,) = read_questions(raw / "viquae" / "train.jsonl")
    assert (question.image, question.wikidata_id) == ("512px-question-Q1.jpg", "Q1")
    assert question.answers == ("1910", "the year 1910")

    images = Images(raw / "images" / "kb")
    assert images.names == ["512px-Ada.jpg", "512px-Bridge.png"]
    assert images.read("512px-Ada.jpg") == jpeg("red")
    assert len(Images(raw / "images" / "questions").names) == 3
    assert counts["kb_images"] == 2
    assert counts["kb_images_missing"] == counts["entities_whose_image_is_missing"] == 1
    assert counts["articles"] == 4
    assert counts["kb_images_not_wanted"] == 1
    assert counts["kb_images_not_an_image"] == 1
    assert counts["entities_humans_with_faces"] == counts["entities_non_humans"] == 1
    assert not list((tmp_path / "work").rglob("*.tar*")), "downloads are removed when they are used up"


def test_triviaqa_is_fetched_by_itself(hub, trivia, tmp_path):
    address = "/datasets/who/triviaqa/"
    assert not [path for path, _ in hub.requests if path.startswith(address)], "no table of retrieval waits for it"
    counts = trivia()
    assert counts == {f"triviaqa_{split}": 3 for split in ("train", "validation", "test")} | {
        "triviaqa_train_seen_in_viquae": 0
    }
    for split in ("train", "validation", "test"):
        questions = rows(tmp_path / "raw" / "triviaqa" / f"{split}.jsonl")
        assert [record["id"] for record in questions] == [f"{split}-{i}" for i in range(3)]
        assert questions[0]["output"] == {
            "original_answer": "Paris",
            "answer": ["Paris", "City of Light"],
        }
    assert read_json(tmp_path / "raw" / "triviaqa" / "provenance.json")["triviaqa"]["from"] == "who/triviaqa"
    assert not (tmp_path / "work" / "triviaqa").exists()


def test_a_smaller_base_needs_neither_kilt_nor_the_archive_of_images(fetch, hub, tmp_path, monkeypatch):
    with serve_commons() as commons:
        monkeypatch.setattr("trivium.sources.kvqae.hub.COMMONS", commons.api)
        commons.files = {"Ada.jpg": jpeg("red"), "Bridge.png": jpeg("green")}
        base = SmallerBaseParameters(articles=3, heap_gib=1, threads=1)
        counts = fetch(base=base)
    raw = tmp_path / "raw"
    assert [article["wikipedia_title"] for article in rows(raw / "articles.jsonl")] == ["Ada", "Bob", "Bridge"]
    assert {entity["id"] for entity in rows(raw / "wikidata.jsonl")} == {"Q5", "Q1", "Q2", "Q3"}
    assert dict(Images(raw / "images" / "kb").stream()) == {
        "512px-Ada.jpg": jpeg("red"), "512px-Bridge.png": jpeg("green")
    }  # fmt: skip
    expected = {
        "base_chosen_from": 3, "base_subjects": 3, "base_negatives": 0, "kb_images": 2, "kb_images_missing": 1,
        "kb_images_not_on_commons": 1, "questions_whose_article_is_missing": 0,
    }  # fmt: skip
    assert expected.items() <= counts.items()
    fetched = {path.split("/resolve/")[0] for path, _ in hub.requests if not path.startswith("/api/")}
    assert fetched == {"/datasets/who/kb", "/datasets/who/questions", "/datasets/who/images"}
    assert [path for path in (tmp_path / "work").iterdir() if path.is_dir()] == []


def test_a_killed_run_of_a_smaller_base_goes_on_with_the_images(fetch, hub, tmp_path, monkeypatch):
    base = SmallerBaseParameters(articles=3, heap_gib=1, threads=1)
    with serve_commons() as commons:
        monkeypatch.setattr("trivium.sources.kvqae.hub.COMMONS", commons.api)
        commons.files = {"Ada.jpg": jpeg("red"), "Bridge.png": jpeg("green")}
        commons.answers["api"] = [(500, "")] * 2
        with pytest.raises(BadInput, match="gave up after 2 tries"):
            fetch(base=base)
        assert not (tmp_path / "raw").exists()
        hub.requests.clear()
        assert fetch(base=base)["kb_images"] == 2
    assert hub.requests == []


def test_question_asked_twice_is_not_trained_on(trivia, hub, tmp_path):
    questions = triviaqa("train")
    questions[1]["input"] = "When was BOB born"  # validation asks it, under another id
    files = {f"with_viquae_{split}.jsonl": lines(triviaqa(split)) for split in ("validation", "test")}
    hub.repository("who/triviaqa", {"without_viquae.parquet": parquet(questions), **files}, kind="dataset")
    counts = trivia()
    assert (counts["triviaqa_train"], counts["triviaqa_train_seen_in_viquae"]) == (2, 1)
    assert [record["id"] for record in rows(tmp_path / "raw" / "triviaqa" / "train.jsonl")] == ["train-0", "train-2"]
    assert check_no_leak(tmp_path / "raw" / "viquae", tmp_path / "raw" / "triviaqa") == 0


def test_abbreviated_revision_is_completed_and_recorded(fetch, pins, tmp_path, capsys):
    fetch()
    lock = Pins(pins)
    assert lock.revision("viquae_dataset") == REVISION
    assert lock.revision("viquae_images") == "a" * 40
    assert lock.file("kilt", "kilt_knowledgesource.json").sha256 is not None
    assert "warning: kilt: kilt_knowledgesource.json sha256" in capsys.readouterr().err
    provenance = read_json(tmp_path / "raw" / "provenance" / "viquae.json")["sources"]["viquae_dataset"]
    assert (provenance["from"], provenance["revision"]) == ("who/questions", REVISION)


def test_nothing_is_fetched_twice_whatever_code_changes_between_two_runs(pins, hub, tmp_path, monkeypatch):
    """Any module's change gives the stage another work folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text((Path(__file__).parents[3] / "params.yaml").read_text())
    last = f"/datasets/who/all_images/resolve/{'a' * 40}/parts/images.tar.gz.partac"
    end = hub.files.pop(last)
    arguments = ["--source", "hub", "--out", "raw", "--metrics", "world.json"]
    for attempt in ("first", "second", "third"):
        monkeypatch.setattr(stage, "_fingerprint", lambda *_, attempt=attempt: attempt)
        if attempt == "second":
            hub.files[last] = end
            hub.cut[last] = [len(end) // 2, *[0] * 20]
            monkeypatch.setattr("time.sleep", lambda _: None)
        if attempt == "third":
            hub.cut.clear()
            execute(kvqae.main, "kvqae.world", kvqae.KvqaeWorldParameters, arguments)
        else:
            with pytest.raises(BadInput, match=r"partac.*(not found|gave up)"):
                execute(kvqae.main, "kvqae.world", kvqae.KvqaeWorldParameters, arguments)
    assert Images(tmp_path / "raw" / "images" / "kb").names == ["512px-Ada.jpg", "512px-Bridge.png"]
    contents = [path for path, _ in hub.requests if not path.startswith("/api/")]
    assert {path for path in contents if contents.count(path) > 1} == {last}
    assert hub.asked(last)[-1]["Range"] == "bytes=100-"  # whole chunks count
    assert [path for path in (tmp_path / ".work" / "downloads").iterdir() if path.is_dir()] == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"revision": "fffffff"}, "no such revision; got 'fffffff'"),
        ({"hub": "who/nothing"}, r"who/nothing: the hub refused to list the repository \(404\)"),
        ({"files": {"none.jsonl": {}}}, r"who/questions: none.jsonl at revision .*not found \(404\)"),
    ],
)
def test_what_is_not_on_the_hub(change, message, hub, pins, tmp_path):
    import yaml

    tree = yaml.safe_load(pins.read_text())
    tree["viquae_dataset"] |= change
    pins.write_text(yaml.safe_dump(tree))
    with pytest.raises(BadInput, match=message):
        Hub(tmp_path / "downloads", Pins(pins)).fetch("viquae_dataset")


def test_disk_for_everything_is_asked_before_the_first_byte(fetch, hub, monkeypatch):
    # Five sources of 1 000 bytes, and one of them as archive and as result at once.
    monkeypatch.setattr("trivium.sources.brought.free_space", lambda _: 5_999)
    with pytest.raises(BadInput, match="not enough disk for the hub's viquae_dataset, viquae_wikipedia, kilt"):
        fetch()
    # Three, one twice, and besides each preview twice and the index.
    monkeypatch.setattr("trivium.sources.brought.free_space", lambda _: 4_000 + 2 * 7 * PREVIEW_BYTES + INDEX_BYTES - 1)
    with pytest.raises(
        BadInput, match=r"viquae_wikipedia, viquae_images and previews of Commons; .*expected '3\.0 GB'|3\.0 GB"
    ):
        fetch(base=SmallerBaseParameters(articles=7))
    assert hub.requests == []


def test_base_models_in_the_layout_of_every_world(hub, pins, tmp_path):
    import torch
    from safetensors.torch import load_file

    state = {"conv1.weight": torch.arange(6.0).reshape(2, 3), "bn1.num_batches_tracked": torch.tensor(3)}
    bert = {"config.json": b"{}", "model.safetensors": b"bert", "vocab.txt": b"a\n"}
    clip = {"open_clip_config.json": b"{}", "open_clip_model.safetensors": b"clip"}
    pins.write_text(serve_models(hub, bert, clip, b"arcface", state))
    out = tmp_path / "base"
    sizes = fetch_base_models(out, tmp_path / "work")
    assert {path.name: path.read_bytes() for path in (out / "text").iterdir()} == bert
    assert {path.name: path.read_bytes() for path in (out / "clip").iterdir()} == clip
    assert (out / "arcface" / "model.onnx").read_bytes() == b"arcface"
    assert read_json(out / "imagenet" / "config.json") == {"architecture": "resnet50", "size": 224}
    loaded = load_file(out / "imagenet" / "model.safetensors")
    assert all(torch.equal(loaded[name], tensor) for name, tensor in state.items())
    assert sizes["text_bytes"] == 4
    assert "identities_listed" not in sizes


def test_an_overlap_list_of_the_users_joins_the_hubs_models(hub, pins, tmp_path):
    files = {"model.safetensors": b"x"}
    clip = {"open_clip_config.json": b"{}", "open_clip_model.safetensors": b"clip"}
    pins.write_text(serve_models(hub, files, clip, b"arcface", {}))
    (tmp_path / "mine" / "overlap").mkdir(parents=True)
    (tmp_path / "mine" / "overlap" / "identities.txt").write_text("Q5\n")
    out = tmp_path / "base"
    with pytest.raises(BadInput, match=r"identities.txt: this list does not say whom .* trained on WebFace600K"):
        fetch_base_models(out, tmp_path / "work", brought=tmp_path / "mine")
    (tmp_path / "mine" / "arcface").mkdir()
    (tmp_path / "mine" / "arcface" / "model.onnx").write_bytes(b"mine, of MS-Celeb-1M")
    sizes = fetch_base_models(out, tmp_path / "work", brought=tmp_path / "mine")
    assert (sizes["identities_listed"], (out / "overlap" / "identities.txt").read_text()) == (1, "Q5\n")
    assert (out / "arcface" / "model.onnx").read_bytes() == b"mine, of MS-Celeb-1M"
    assert list(read_json(out / "provenance.json")["arcface"]) == ["model.onnx"]


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_images_do_not_depend_on_where_the_archive_is_cut(parts, tmp_path):
    images = {
        "a.jpg": jpeg("red"),
        "sub/a.jpg": jpeg("blue"),
        "b.PNG": jpeg("green"),
        "note.txt": b"x",
        "c.jpg": jpeg("white"),
    }
    data = tar_of(images)
    size = -(-len(data) // parts)
    paths = []
    for part in range(parts):
        paths.append(tmp_path / f"part{part}")
        paths[-1].write_bytes(data[part * size : (part + 1) * size])
    counts = Counter()
    assert dict(images_in_tar(paths, {"a.jpg", "b.PNG"}, counts)) == {"a.jpg": jpeg("red"), "b.PNG": jpeg("green")}
    assert counts == {"twice": 1, "not_an_image": 1, "not_wanted": 1}
    assert [name for name, _ in images_in_tar(paths, images, counts)] == ["a.jpg", "b.PNG", "c.jpg"]


@pytest.mark.parametrize("data", [tar_of({"a.jpg": bytes(range(256)) * 64})[:-400], b"no archive"], ids=["cut", "none"])
def test_broken_archive(data, tmp_path):
    (tmp_path / "part").write_bytes(data)
    with pytest.raises(BadInput, match="broken archive"):
        list(images_in_tar([tmp_path / "part"], {"a.jpg"}, Counter()))
