import shutil

import pytest
from safetensors.torch import load_file

from tests.kvqae.tiny_bert import write_tiny_bert
from tests.kvqae.tiny_encoders import write_clip, write_imagenet, write_onnx
from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.nets.cards import licence_of
from trivium.sources.kvqae.models import check_base_models, validate_base_models


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mine")
    write_tiny_bert(folder / "text")
    write_clip(folder / "clip")
    write_imagenet(folder / "imagenet")
    write_onnx(folder / "arcface" / "model.onnx")
    return folder


@pytest.fixture
def mine(base, tmp_path):
    return shutil.copytree(base, tmp_path / "mine")


def test_good_models_are_brought(mine, tmp_path):
    out = tmp_path / "base"
    counts = check_base_models(mine, out)
    weights = load_file(mine / "text" / "model.safetensors")
    assert counts == {"text_parameters": sum(tensor.numel() for tensor in weights.values())}
    assert validate_base_models(out) == counts
    provenance = read_json(out / "provenance.json")
    assert {"text/vocab.txt", "text/tokenizer.json"} & set(provenance)
    # The licence of what starts from the text encoder is what the user's card says, else not known.
    assert licence_of(out / "text", without_card="apache-2.0") is None
    assert "text/README.md" not in provenance
    (mine / "text" / "README.md").write_text("---\nlicense: cc-by-4.0\n---\nMine.\n")
    check_base_models(mine, tmp_path / "with_card")
    assert licence_of(tmp_path / "with_card" / "text", without_card="apache-2.0") == "cc-by-4.0"


def test_an_overlap_list_is_brought_where_there_is_one(mine, tmp_path):
    assert "identities_listed" not in check_base_models(mine, tmp_path / "without")
    assert not (tmp_path / "without" / "overlap").exists()
    (mine / "overlap").mkdir()
    (mine / "overlap" / "identities.txt").write_text("# mine\nQ1\nQ2\n")
    assert check_base_models(mine, tmp_path / "with")["identities_listed"] == 2
    assert "overlap/identities.txt" in read_json(tmp_path / "with" / "provenance.json")
    (mine / "overlap" / "identities.txt").write_text("m.0abc\n")
    with pytest.raises(BadInput, match=r"identities\.txt:1: not a Wikidata id"):
        check_base_models(mine, tmp_path / "broken")
    assert not (tmp_path / "broken").exists()
