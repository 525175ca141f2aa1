"""`trivium kb`: what it takes, what it refuses, and a base that it makes and asks."""

from argparse import Namespace
from pathlib import Path

import pytest
from PIL import Image

from tests.kvqae.asking.own_folder import close, settings, write_entry, write_folder
from tests.kvqae.asking.test_building import make
from tests.kvqae.tiny_encoders import write_clip, write_onnx
from tests.prompting.loopback_endpoint import Loopback, failed, said
from trivium.commands import cli, kb
from trivium.commands.kb_models import foreign, image_encoder, is_stand_in, reader_of, text_encoder
from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark.family import find_model
from trivium.kvqae.asking.encoding import models_of
from trivium.kvqae.asking.endpoints import EMPTY, EndpointReader

ROOT = Path(__file__).parents[2]
TEXTS = {7: ("Old mill", "It stands in Bern."), 9: ("Inn", "Beer is served in Basel.")}


def test_encoders_of_the_graph_by_their_names(tmp_path):
    write_onnx(tmp_path / "arcface" / "model.onnx")
    assert image_encoder(f"arcface={tmp_path / 'arcface'}") == ("arcface", str(tmp_path / "arcface"))
    for side in ("question", "passage"):
        (tmp_path / "dpr" / side).mkdir(parents=True)
    assert text_encoder(f"dpr_few_shot={tmp_path / 'dpr'}") == ("dpr_few_shot", str(tmp_path / "dpr"))
    (tmp_path / "modules.json").write_text("[]")
    assert text_encoder(f"mine={tmp_path}") == ("mine", str(tmp_path))


def test_a_model_by_its_folder_is_as_good_as_the_registered_one(tmp_path):
    """The same CLIP, once as the graph's encoder and once as any model of open_clip: the same vectors."""
    write_clip(tmp_path / "clip")
    name, model = image_encoder(f"mine={tmp_path / 'clip'}")
    assert (name, model) == ("mine", f"open_clip:{tmp_path / 'clip'}")
    told = settings(tmp_path, write_folder(tmp_path / "museum", 1))
    told = told.model_copy(update={"image_encoders": {**told.image_encoders, name: model}})
    own, other = models_of(told, foreign)[0]
    assert own.digest != other.digest
    picture = [Image.open(tmp_path / "museum" / "tower_00.png").convert("RGB")]
    assert own.load().embed(picture) == pytest.approx(other.load().embed(picture), abs=1e-6)


@pytest.mark.parametrize("model", ["open_clip:ViT-B-32/openai", "hf:owner/clip", "sentence_transformers:clip"])
def test_new_weights_under_an_old_name_make_another_model(tmp_path, monkeypatch, model):
    weights = tmp_path / "snapshot" / "model.safetensors"
    weights.parent.mkdir()
    monkeypatch.setattr("open_clip.download_pretrained", lambda _: str(weights))
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(weights.parent))
    digests, identities = [], []
    for content in (b"old", b"newer", b"old"):
        weights.write_bytes(content)
        digests.append(foreign(*image_encoder(f"mine={model}")).digest)
        identities.append(find_model(model).identity())
    assert digests[0] == digests[2] != digests[1]
    assert identities[0] != identities[1]  # kept answers of `trivium odmap`


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("nowhere", "'--image-encoder': no such folder, and no kind of model"),
        ("arcface=nowhere", "'--image-encoder': no such folder; .* expected arcface=FOLDER"),
        ("open_clip:ViT-B-33/openai", "no such configuration of open_clip"),
        ("npy:somewhere", "expected a model, not stored embeddings|no such"),
        ("clip=open_clip:ViT-B-32/openai", "with a NAME= that no encoder of the graph has"),
    ],
)
def test_models_that_are_refused(asked, message):
    with pytest.raises(BadInput, match=message):
        image_encoder(asked)


def test_text_encoders_that_are_refused(tmp_path):
    with pytest.raises(BadInput, match=r"no such text encoder; got 'folder'.*dpr_few_shot"):
        text_encoder("folder")
    for asked, lacks in (("dpr_few_shot", "question"), ("mine", "modules.json")):
        with pytest.raises(BadInput, match=f"nowhere/{lacks}: .*no such text encoder"):
            text_encoder(f"{asked}={tmp_path / 'nowhere'}")


def test_a_model_of_a_project_with_the_samples_world_is_a_stand_in(tmp_path):
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text("utf-8"), "utf-8")
    (tmp_path / "dvc.yaml").write_text("")
    assert is_stand_in(tmp_path / "models/kvqae/base/clip")
    assert not is_stand_in(tmp_path / "brought/clip")


def run(capsys, *arguments):
    """(status, what was printed, what was complained of)."""
    status = 0
    try:
        cli.run("kb", [str(each) for each in arguments])
    except SystemExit as ended:
        status = int(ended.code or 0)
    said = capsys.readouterr()
    return status, said.out, said.err


def test_what_is_refused_before_anything_is_written(tmp_path, capsys):
    museum = write_folder(tmp_path / "museum", 1)
    write_clip(tmp_path / "clip")
    (tmp_path / "modules.json").write_text("[]")
    encoder = ["--image-encoder", f"clip={tmp_path / 'clip'}"]
    for arguments, message in (
        ([tmp_path / "nowhere", "--out", tmp_path / "base", *encoder], "no such folder or table"),
        ([museum, "--out", tmp_path / "base"], "no encoder of pictures"),
        ([museum, "--out", tmp_path / "clip", *encoder], "the folder holds something else"),
        (
            [museum, "--out", tmp_path / "base", *encoder, *encoder],
            "two systems have the same name; got ['bm25', 'clip",
        ),
        ([museum, "--out", tmp_path / "base", *encoder, "--text-encoder", f"clip={tmp_path}"], "the same name"),
        ([museum, "--out", tmp_path / "base", *encoder, "--text-encoder", f"bm25={tmp_path}"], "the same name"),
        (["--out", tmp_path / "base"], "there is no base yet"),
    ):
        status, _, complained = run(capsys, *arguments)
        assert status == 1
        assert message in complained
    assert not (tmp_path / "base").exists()
    (tmp_path / "clip" / "open_clip_model.safetensors").write_bytes(b"cut off")
    assert run(capsys, museum, "--out", tmp_path / "base", *encoder)[0] == 1
    assert not list(tmp_path.glob("base/**/*"))


def test_a_folder_that_may_not_be_read_costs_nothing(tmp_path, capsys, monkeypatch):
    museum = write_folder(tmp_path / "museum", 2)
    write_clip(tmp_path / "clip")
    make(tmp_path / "base", settings(tmp_path, museum))
    capsys.readouterr()
    before = {path: path.read_bytes() for path in (tmp_path / "base").rglob("*") if path.is_file()}
    close(museum, monkeypatch)
    encoder = ["--image-encoder", f"clip={tmp_path / 'clip'}"]
    for arguments in ([museum, "--out", tmp_path / "new", *encoder], ["--out", tmp_path / "base"]):
        status, _, complained = run(capsys, *arguments)
        assert (status, complained) == (1, f"trivium kb: {museum}: a folder cannot be read: Permission denied\n")
    monkeypatch.undo()
    assert not (tmp_path / "new").exists()
    assert {path: path.read_bytes() for path in (tmp_path / "base").rglob("*") if path.is_file()} == before


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_base_is_made_and_made_again_and_asked(tmp_path, capfd, monkeypatch):
    monkeypatch.setenv("TQDM_DISABLE", "1")
    museum = write_folder(tmp_path / "museum", 20)
    (museum / "empty.txt").write_text("", "utf-8")
    write_clip(tmp_path / "clip")
    out = tmp_path / "base"
    status, told, complained = run(capfd, museum, "--out", out, "--image-encoder", f"clip={tmp_path / 'clip'}")
    assert status == 0, complained
    assert "20 entries, 20 passages, 20 pictures" in told
    assert "clip: 20 pictures with a vector, 20 encoded now" in told
    assert "empty text: 1; each is listed in" in told
    write_entry(museum, "tower_99", 99)
    assert run(capfd, "--out", out)[0] == 0
    assert "21 entries" in kb.summary(out)[0]
    assert "1 encoded now" in kb.summary(out)[1]
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.chdir(tmp_path)  # no project
    cli.run("ask", ["--kb", "base", "--image", "museum/tower_07.png", "Where is it?"])
    assert "picture: tower 07" in capfd.readouterr().out
    (tmp_path / "q.csv").write_text("question,image\nWhere?,museum/tower_07.png\nWhere?,nowhere.png\n", "utf-8")
    cli.run("ask", ["--kb", "base", "--batch", "q.csv", "--out", "a_b.csv"])
    assert "a_b.csv: questions: 2, answered: 0, problems: 1\nnote: Nobody reads" in capfd.readouterr().out


def test_an_endpoint_reads_and_is_asked_once(tmp_path):
    with Loopback(lambda number, payload: said("basel.")) as server:
        readers = [EndpointReader(server.address, "tiny", None, tmp_path / "answers") for _ in range(2)]
        for reader in readers:  # the second one has looked for kept answers before the first one asked
            found = reader.read("Where is beer?", {7: 2.0, 9: 1.0}, TEXTS, "Inn")
        assert len(server.requests) == 1
        told = server.requests[0][0]["messages"][0]["content"]
        assert "The picture shows: Inn" in told
        assert "[2] Inn: Beer is served in Basel." in told
    assert (found.text, found.passage, TEXTS[9][1][slice(*found.span)]) == ("basel.", 9, "Basel")
    assert found.score is None


@pytest.mark.parametrize(
    ("content", "text", "note"),
    [
        ("unknown.", "", "tiny read: it does not find the answer in the passages."),
        (" ", "", f"tiny read: {EMPTY}."),
        ("In Rome", "In Rome", ""),
    ],
)
def test_an_endpoint_that_does_not_know_or_says_something_else(tmp_path, content, text, note):
    with Loopback(lambda number, payload: said(content)) as server:
        found = EndpointReader(server.address, "tiny", None, tmp_path).read("Where?", {7: 2.0}, TEXTS, None)
    assert (found.text, found.passage, found.span, found.note) == (text, -1, None, note)


def test_an_endpoint_that_refuses(tmp_path):
    with Loopback(lambda number, payload: failed(400, "too long")) as server:
        reader = EndpointReader(server.address, "tiny", None, tmp_path)
        with pytest.raises(BadInput, match="the endpoint refuses the question"):
            reader.read("Where?", {7: 2.0}, TEXTS, None)


def test_readers_that_are_refused(tmp_path):
    with pytest.raises(BadInput, match="an endpoint needs the name of its model"):
        reader_of(Namespace(reader="http://localhost:1/v1", reader_model=None), tmp_path)
    with pytest.raises(BadInput, match="no such reader"):
        reader_of(Namespace(reader=str(tmp_path / "nowhere")), tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kb", "nowhere", "who?"], "no base"),
        (["--kb", "nowhere", "who?", "--reader", "http://localhost:1/v1", "--reader-model", "m"], "no base"),
        (["--kb", "b", "--batch", "no.csv", "--out", "a.csv"], "no such file"),
    ],
)
def test_asking_a_base_that_is_not_there(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    with pytest.raises(SystemExit) as ended:
        cli.run("ask", arguments)
    assert ended.value.code == 1
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
