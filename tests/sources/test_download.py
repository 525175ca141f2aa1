import hashlib
import shutil
from pathlib import Path
from unittest import mock

import pytest
import yaml
from huggingface_hub import HfApi, hf_hub_download

from tests.sources.loopback import serve
from trivium.core.errors import BadInput
from trivium.sources.download import Hub, Request, authorization, download
from trivium.sources.pins import FilePin, Pins

DATA = bytes(range(256)) * 4096  # 1 MiB
DIGEST = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def ask(hub, tmp_path):
    hub.files["/file"] = DATA

    def fetch(path="/file", **pin):
        return download(Request(hub.url + path, f"test: {path} at revision abc", **pin), tmp_path / "folder" / "file")

    with mock.patch("huggingface_hub.constants.HF_HUB_DOWNLOAD_TIMEOUT", 0.3):
        yield fetch


def left(tmp_path):
    return sorted(path.name for path in (tmp_path / "folder").iterdir())


def test_file_arrives_whole_and_nothing_else(ask, tmp_path):
    assert ask(sha256=DIGEST, size=len(DATA)) == FilePin(sha256=DIGEST, size=len(DATA))
    assert (tmp_path / "folder" / "file").read_bytes() == DATA
    assert left(tmp_path) == ["file"]


def test_cut_connection_resumes_where_it_stopped(ask, hub, tmp_path):
    hub.cut["/file"] = [300_000, 200_000]
    ask()
    ranges = [headers.get("Range") for headers in hub.asked("/file")]
    assert ranges == [None, "bytes=300000-", "bytes=500000-"]
    assert (tmp_path / "folder" / "file").read_bytes() == DATA


def test_later_call_goes_on_with_what_a_digest_can_check(ask, hub, tmp_path, capsys):
    hub.cut["/file"] = [300_000, *[0] * 20]
    with pytest.raises(BadInput, match=r"gave up after 2 tries.*run again to go on.*300000 bytes"):
        ask(sha256=DIGEST)
    assert left(tmp_path) == ["file.part"]
    assert capsys.readouterr().err.count("trying again") == 2  # once after the bytes that came, once of two tries
    hub.cut.clear()
    ask(sha256=DIGEST)
    assert hub.asked("/file")[-1]["Range"] == "bytes=300000-"
    assert (tmp_path / "folder" / "file").read_bytes() == DATA


def test_many_cuts_are_survived_while_bytes_come(ask, hub):
    hub.cut["/file"] = [50_000] * 15
    assert ask().sha256 == DIGEST


def test_a_changed_file_is_not_spliced(ask, hub, tmp_path):
    hub.cut["/file"] = [300_000, *[0] * 20]
    with pytest.raises(BadInput):
        ask()
    hub.cut.clear()
    hub.files["/file"] = DATA[::-1]
    ask()
    assert (tmp_path / "folder" / "file").read_bytes() == DATA[::-1]


def test_an_error_of_the_server_is_tried_again(ask, hub, capsys):
    hub.status["/file"] = [503]
    assert ask().sha256 == DIGEST
    assert "test: /file at revision abc: the server answered 503; trying again" in capsys.readouterr().err


def test_range_ignored_starts_over_cleanly(ask, hub):
    hub.ranges = False
    hub.cut["/file"] = [300_000]
    assert ask(sha256=DIGEST).size == len(DATA)


def test_kill_between_last_byte_and_new_name(ask, hub, tmp_path):
    ask()
    shutil.move(tmp_path / "folder" / "file", tmp_path / "folder" / "file.part")
    ask(sha256=DIGEST, size=len(DATA))
    assert left(tmp_path) == ["file"]
    assert len(hub.asked("/file")) == 1
    (tmp_path / "folder" / "file").rename(tmp_path / "folder" / "file.part")
    assert ask(sha256=DIGEST).size == len(DATA)  # its size unknown, it comes anew


def test_wrong_digest_is_refused_and_removed(ask, tmp_path):
    with pytest.raises(BadInput, match=rf"wrong sha256.*removed.*{DIGEST}.*expected {'0' * 64}"):
        ask(sha256="0" * 64)
    assert left(tmp_path) == []


def test_spoilt_target_is_refused_and_removed(ask, tmp_path):
    ask()
    (tmp_path / "folder" / "file").write_bytes(b"spoilt")
    with pytest.raises(BadInput, match="wrong sha256"):
        ask(sha256=DIGEST)
    assert left(tmp_path) == []


def test_missing_file_names_file_and_revision(ask, hub):
    with pytest.raises(BadInput, match=r"test: /other at revision abc: not found \(404\)"):
        ask("/other")
    assert len(hub.asked("/other")) == 1  # no use in trying again


def test_gated_file_says_where_to_ask_and_where_to_put_it(ask, hub, tmp_path):
    hub.gated.add("/file")
    with pytest.raises(BadInput) as error:
        ask(page="https://example.org/ask")
    for part in ("401", "https://example.org/ask", "HF_TOKEN", str(tmp_path / "folder" / "file")):
        assert part in str(error.value)


def test_refused_token_is_never_shown(ask, hub, monkeypatch, capsys):
    hub.gated.add("/file")
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    with pytest.raises(BadInput, match="was refused") as error:
        ask()
    assert "hf_wrong" not in str(error.value) + "".join(capsys.readouterr())


def test_token_stays_with_the_hub_when_redirected(hub, ask, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "secret")
    with serve() as storage:
        storage.files["/blob"] = DATA
        hub.redirects["/file"] = f"{storage.url}/blob"
        hub.gated.add("/file")
        storage.cut["/blob"] = [300_000]
        assert ask().sha256 == DIGEST
        assert [headers.get("Range") for headers in storage.asked("/blob")] == [None, "bytes=300000-"]
        assert not any("Authorization" in headers for headers in storage.asked("/blob"))
        assert all(headers["Authorization"] == "Bearer secret" for headers in hub.asked("/file"))


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://hub.example/a", True),
        ("http://hub.example/a", False),
        ("https://other.example/a", False),
        ("https://hub.example.evil.example/a", False),
    ],
)
def test_token_goes_to_the_hub_over_tls_only(url, sent, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.example")
    monkeypatch.setenv("HF_TOKEN", "secret")
    assert authorization(url) == ({"Authorization": "Bearer secret"} if sent else {})


def test_slow_answer_is_tried_again(ask, hub):
    hub.slow["/file"] = [1.0]
    assert ask().sha256 == DIGEST
    assert len(hub.asked("/file")) == 2


def test_nothing_is_tried_again_where_the_hub_is_switched_off(ask, hub, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(BadInput, match=r"test: /file at revision abc: .*unset the `HF_HUB_OFFLINE`"):
        ask()
    assert not hub.asked("/file")


def test_full_disk_is_seen_before_the_body(ask, monkeypatch, tmp_path):
    monkeypatch.setattr("trivium.sources.brought.free_space", lambda _: 1000)
    with pytest.raises(BadInput, match="not enough disk for test: /file"):
        ask(size=len(DATA))
    assert "file" not in left(tmp_path)


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
