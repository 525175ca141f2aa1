"""Answers that were paid for: what a kill, a full disk, two processes or an experiment of DVC's leave of them."""

import json
import resource
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml

from tests import tiny_project
from tests.complexity.tiny_readers import questions
from tests.prompting.loopback_endpoint import Loopback, failed, said
from tests.stages.complexity.test_prompt import INSTRUCTION, MODEL, example, reader
from trivium.complexity.prompting import JOURNAL
from trivium.formats.frame_corpora import write_examples, write_texts
from trivium.formats.squad import write_squad
from trivium.prompting.answer_cache import FILE, AnswerCache, Reply
from trivium.prompting.asking import ask_all
from trivium.prompting.endpoint import EndpointModel


def test_the_cache_survives_a_line_cut_short(tmp_path):
    cache = AnswerCache(tmp_path)
    cache.put("a", Reply("été\n\u2028 \x85 «a»", "stop", 1, 2), model="m")
    cache.put("b", Reply("b", "stop", 1, 2), model="m")
    whole = (tmp_path / FILE).read_bytes()
    for cut in range(1, 30, 7):
        (tmp_path / FILE).write_bytes(whole[:-cut])
        again = AnswerCache(tmp_path)
        assert again.get("a") == cache.get("a")
        # Only the end of the line is missing: the record is whole.
        assert (again.broken, len(again)) == ((0, 2) if cut == 1 else (1, 1))
        again.put("c", Reply("c", "length", 0, 0), model="m")
        later = AnswerCache(tmp_path)
        assert later.get("c") == Reply("c", "length", 0, 0)
        assert (later.broken, len(later)) == (again.broken, len(again))
    (tmp_path / FILE).write_bytes(whole + b'[1]\n{"key": 3}\n\xff\n\n' + whole.replace(b'"a"', b'"d"'))
    again = AnswerCache(tmp_path)
    assert (again.broken, len(again)) == (3, 3)


@pytest.mark.parametrize("room", [0, 1, 40, 90])
def test_a_full_disk_is_no_answer_and_harms_none(tmp_path, room):
    cache = AnswerCache(tmp_path)
    cache.put("k0", Reply("before", "stop", 1, 2), model="m")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / FILE).stat().st_size + room, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            cache.put("k1", Reply("while full", "stop", 1, 2), model="m")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert cache.get("k1") is None
    cache.put("k2", Reply("after", "stop", 1, 2), model="m")
    again = AnswerCache(tmp_path)
    assert again.get("k0") == Reply("before", "stop", 1, 2)
    assert again.get("k2") == Reply("after", "stop", 1, 2)
    assert (len(again), again.broken) == (2, 1 if room else 0)


def test_answers_of_two_folders_are_joined(tmp_path):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    cache = AnswerCache(ours)
    cache.merge(theirs)
    assert not theirs.exists()
    for folder, keys in ((ours, "ab"), (theirs, "bcd")):
        for key in keys:
            AnswerCache(folder).put(key, Reply(f"« {key} » {folder.name}\u2028", "stop", 1, 2), model="m")
    (ours / FILE).write_bytes((ours / FILE).read_bytes() + b'{"key": "e", "cut')
    (theirs / FILE).write_bytes((theirs / FILE).read_bytes()[:-9])
    for _ in range(2):
        cache = AnswerCache(ours)
        cache.merge(theirs)
        assert (len(cache), cache.broken) == (3, 2)
        assert (ours / FILE).read_bytes().count(b"\n") == 4
    # Of two replies the first counts.
    assert [cache.get(key).content for key in "abc"] == ["« a » ours\u2028", "« b » ours\u2028", "« c » theirs\u2028"]
    # The copy has whole lines only, and leaves DVC's own file, to which its place was linked, as it is.
    kept = tmp_path / "linked"
    kept.hardlink_to(theirs / FILE)
    before = kept.read_bytes()
    cache.copy_to(theirs)
    copied = AnswerCache(theirs)
    assert (len(copied), copied.broken) == (3, 0)
    assert [copied.get(key) for key in "abc"] == [cache.get(key) for key in "abc"]
    assert kept.read_bytes() == before


def test_runs_at_once_pay_once_and_hold_up_nobody_else(tmp_path):
    chats = {key: [{"role": "user", "content": key}] for key in "abcd"}
    pace = {"requests_per_minute": 60000, "parallel": 2, "timeout_s": 5, "backoff_s": 0.01, "key_variable": None}
    with Loopback(lambda *_: said("yes", delay=0.1)) as server:
        model = EndpointModel(label="Tiny", endpoint=server.address, model="tiny", **pace)
        caches = [AnswerCache(tmp_path) for _ in range(3)]
        with AnswerCache(tmp_path).lock_model("another model"), ThreadPoolExecutor(3) as pool:
            runs = list(pool.map(lambda cache: ask_all(model, chats, cache), caches))
        assert [{key: reply.content for key, reply in replies.items()} for replies, _ in runs] == [
            dict.fromkeys(chats, "yes")
        ] * 3
        assert sorted(counts["cached"] for _, counts in runs) == [0, 4, 4]
        assert server.answered == 4
        with AnswerCache(tmp_path).lock_model("tiny"):
            ask_all(model, chats, caches[0])  # nothing is missing: nothing is waited for
    assert [cache.broken for cache in caches] == [0, 0, 0]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The stage of prompted models alone, its inputs in git."""
    folder = tmp_path / "project"
    inputs = {"train": "train.json", "questions": "questions.jsonl", "texts": "texts.jsonl"}
    words = [f"--{name} {path}" for name, path in inputs.items()]
    stage = {
        "cmd": " ".join(
            [f"{sys.executable} -m stages complexity.prompt", *words, "--out-cache cache --out out --metrics m.json"]
        ),
        "deps": list(inputs.values()),
        "params": ["complexity.prompt"],
        "outs": [{"cache": {"persist": True}}, "out"],
        "metrics": [{"m.json": {"cache": False}}],
    }
    section = {"seed": 0, "instruction": INSTRUCTION, "models": {"tiny": MODEL | {"retries": 0, "parallel": 1}}}
    files = {
        "dvc.yaml": yaml.safe_dump({"stages": {"complexity-prompt": stage}}),
        "params.yaml": yaml.safe_dump({"run": {"mlflow": False}, "complexity": {"prompt": section}}),
        ".gitignore": ".work\n/data/\n/cache\n/out\n",
    }
    folder.mkdir()
    examples = [example(number) for number in range(12)]
    write_texts(folder / "texts.jsonl", [each.text for each in examples])
    write_examples(folder / "questions.jsonl", examples)
    write_squad(folder / "train.json", questions(30))
    return tiny_project.start(folder, files, monkeypatch)


def test_an_experiment_that_breaks_off_in_a_folder_that_vanishes_loses_no_answer(project):
    def dvc(*command, fails=False):
        return tiny_project.run("dvc", *command, folder=project, fails=fails)

    with Loopback(lambda number, payload: reader(number, payload) if number < 7 else failed(500)) as server:
        endpoint = ("-S", f"complexity.prompt.models.tiny.endpoint={server.address}")
        assert "the endpoint fails" in dvc("exp", "run", "--temp", *endpoint, fails=True)
        assert not list((project / ".dvc" / "tmp" / "exps" / "standalone").glob("tmp*"))
        assert len(AnswerCache(project / JOURNAL)) == server.answered == 7
        server.behave = reader
        dvc("exp", "run", "--temp", "--name", "rest", *endpoint)
        assert server.answered == 12
        refs = tiny_project.run("git", "for-each-ref", "--format=%(refname)", "refs/exps", folder=project).split()
        (rest,) = [ref for ref in refs if ref.endswith("/rest")]
        metrics = json.loads(tiny_project.run("git", "show", f"{rest}:m.json", folder=project))
        assert (metrics["tiny_cached"], metrics["tiny_requests"]) == (7, 5)
        # The workspace has them, too, though it never saw these experiments.
        assert not (project / "cache").exists()
        dvc("exp", "run", *endpoint)
        assert server.answered == 12
    assert len(AnswerCache(project / "cache")) == 12
