from pathlib import Path

import pytest
import yaml
from huggingface_hub import HfApi, hf_hub_download

from trivium.sources.pins import Pins
from trivium.sources.repositories import Hub

OLD, NEW = "a" * 40, "b" * 40


def write_pins(path, url, revision=OLD):
    common = {"description": "x", "licence": "x", "bytes": 1}
    tree = {
        "texts": common | {"hub": "who/texts", "kind": "dataset", "revision": revision, "files": {"one.txt": {}}},
        "page": common | {"url": url, "files": {"two.txt": {}}},
    }
    path.write_text(yaml.safe_dump(tree))
    return Pins(path)


@pytest.fixture
def pins(hub, tmp_path):
    hub.repository("who/texts", {"one.txt": b"one"}, kind="dataset", commits=(OLD, NEW))
    hub.files["/here/two.txt"] = hub.files["/there/two.txt"] = b"two"
    return write_pins(tmp_path / "pins.yaml", f"{hub.url}/here")


def fetched(folder, pins):
    hub = Hub(folder, pins)
    return {name: hub.fetch(name) for name in ("texts", "page")}


def test_where_a_download_lies_depends_on_its_place_and_revision(pins, hub, tmp_path):
    first, again = fetched(tmp_path / "d", pins), fetched(tmp_path / "d", pins)
    assert first == again
    assert first["texts"]["one.txt"] == tmp_path / "d" / "texts" / OLD / "one.txt"
    contents = [path for path, _ in hub.requests if path.endswith("txt")]
    assert len(contents) == len(set(contents)) == 2
    later = fetched(tmp_path / "d", write_pins(tmp_path / "later.yaml", f"{hub.url}/there", NEW))
    assert later["texts"]["one.txt"] == tmp_path / "d" / "texts" / NEW / "one.txt"
    assert later["page"]["two.txt"] != first["page"]["two.txt"]
    here = Hub(tmp_path / "d", pins)
    assert here.bytes_there("texts") == 3
    here.drop("texts", "page")
    assert here.bytes_there("texts") == 0
    assert [path.name for path in (tmp_path / "d").iterdir() if path.is_dir()] == []


@pytest.mark.parametrize("kind", ["dataset", "model"])
def test_huggingface_hub_reads_the_loopback_and_asks_for_what_we_ask_for(hub, tmp_path, kind):
    """The library is the oracle of the server that our tests stand on, and of our addresses."""
    files = {"one.txt": b"one", "parts/two & three.gz.part": b"two"}
    hub.repository("who/texts", files, kind=kind, commits=(OLD, NEW))
    api = HfApi(endpoint=hub.url, token=False)
    assert [commit.commit_id for commit in api.list_repo_commits("who/texts", repo_type=kind)] == [OLD, NEW]
    common = {"repo_type": kind, "revision": OLD, "token": False}
    tree = list(api.list_repo_tree("who/texts", recursive=True, repo_type=kind, revision=OLD, token=False))
    assert {entry.path: entry.size for entry in tree} == {name: len(data) for name, data in files.items()}
    hub.requests.clear()
    for name, data in files.items():
        path = hf_hub_download("who/texts", name, endpoint=hub.url, cache_dir=tmp_path / "cache", **common)
        assert Path(path).read_bytes() == data
    theirs = [path for path, _ in hub.requests]
    hub.requests.clear()
    source = {
        "description": "x",
        "licence": "x",
        "bytes": 1,
        "hub": "who/texts",
        "kind": kind,
        "revision": OLD,
        "list": "*",
    }
    (tmp_path / "pins.yaml").write_text(yaml.safe_dump({"texts": source}))
    fetched_files = Hub(tmp_path / "d", Pins(tmp_path / "pins.yaml")).fetch("texts")
    assert {name: path.read_bytes() for name, path in fetched_files.items()} == files
    contents = [path for path, _ in hub.requests if "/resolve/" in path]
    assert contents == theirs == sorted(hub.heads)
