"""What a model of KVQAE started from, by its source; and the records of downloads."""

import pytest

from trivium.commands.sharing.licence import Start, data_licences, kvqae_start, start_in
from trivium.commands.sharing.lineage import Lineage
from trivium.core.tables import write_json
from trivium.nets.cards import write_card

PUBLISHED = "models/kvqae/published/dpr"


def lineage(source, *inputs):
    return Lineage("kvqae-dpr_pretrain", "", {}, (), frozenset(inputs), {}, {"KVQAE's encoders": source})


@pytest.fixture
def project(tmp_path):
    write_json(tmp_path / PUBLISHED / "provenance.json", {})
    record = {"from": "google-bert/bert-base-uncased", "revision": None, "licence": "apache-2.0", "sha256": {}}
    write_json(tmp_path / "models/kvqae/base/provenance.json", {"bert": record})
    (tmp_path / "models/kvqae/base/text").mkdir()
    return tmp_path


def test_the_samples_encoder_is_minilm(project):
    found = kvqae_start(project, lineage("sample", PUBLISHED))
    assert (found.hub_name, found.licence) == ("sentence-transformers/all-MiniLM-L6-v2", "apache-2.0")


def test_the_hubs_is_bert(project):
    assert kvqae_start(project, lineage("hub", PUBLISHED)) == Start("google-bert/bert-base-uncased", "apache-2.0")


def test_a_published_checkpoint_comes_first(project):
    record = {"from": "PaulLerner/dpr", "revision": None, "licence": "not stated", "sha256": {}}
    write_json(project / PUBLISHED / "provenance.json", {"dpr_question": record})
    assert kvqae_start(project, lineage("hub", PUBLISHED)) == Start("PaulLerner/dpr", None)
    assert kvqae_start(project, lineage("hub")).licence == "apache-2.0"


@pytest.mark.parametrize("licence", ["mit", None])
def test_the_users_has_what_its_card_states(project, licence):
    write_card(
        project / "models/kvqae/base/text", title="", description="", base="", data="", metrics={}, licence=licence
    )
    assert kvqae_start(project, lineage("local")).licence == licence


def test_a_name_that_is_none_of_the_hub_is_no_base_model():
    assert Start("a/b and more", "mit").hub_name is None
    assert Start("a network", "mit").hub_name is None
    assert Start("owner/name", "mit").hub_name == "owner/name"


def test_weights_without_a_record_have_no_licence(tmp_path):
    assert start_in(tmp_path / "clip").licence is None


def test_records_are_found_at_any_depth_and_once(tmp_path):
    records = {"counts": {"a": 1}, "sources": {"viquae_dataset": {"from": "a/b", "licence": "cc-by-4.0"}}}
    for name in ("questions", "again"):
        write_json(tmp_path / f"data/kvqae/raw/provenance/{name}.json", records)
    write_json(tmp_path / "data/kvqae/raw/triviaqa/provenance.json", {"t": {"from": "c/d", "licence": "not stated"}})
    found = data_licences(tmp_path, lineage("hub", "data/kvqae/raw/viquae", "data/kvqae/raw/triviaqa", "models/x"))
    assert sorted(found, key=lambda each: each.name) == [Start("a/b", "cc-by-4.0"), Start("c/d", None)]
