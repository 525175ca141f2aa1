"""`make compare`: what differs, in few columns."""

import json
import subprocess

from tests.tiny_project import run, start
from trivium.commands import cli
from trivium.commands.compare import BASELINE, State, md5_at, stale_numbers

MEASURED = "metrics/kvqae/evaluate.json"
STAGE = f"""
import json, yaml
weight = yaml.safe_load(open("params.yaml"))["fuse"]["weight"]
json.dump({{"passage_bm25_mrr": weight / 4, "n": 3}}, open("{MEASURED}", "w"))
"""
FILES = {
    "params.yaml": "fuse: {weight: 1, depth: 100}\nother: {seed: 0}\n",
    "metrics/kvqae/.gitkeep": "",
    "stage.py": STAGE,
    "dvc.yaml": f"""
stages:
  evaluate:
    cmd: python stage.py
    params: [fuse.weight]
    metrics: [{MEASURED}: {{cache: false}}]
""",
}


def test_three_experiments_fit_a_terminal(tmp_path, monkeypatch, capsys):
    folder = start(tmp_path, FILES, monkeypatch)
    run("dvc", "repro", "-q", folder=folder)
    run("git", "add", "-A", folder=folder)
    run("git", "commit", "-q", "-m", "Built", folder=folder)
    for weight in (2, 3, 4):
        run("dvc", "exp", "run", "-q", "-n", f"weight-{weight}", "-S", f"fuse.weight={weight}", folder=folder)
    subprocess.run(["git", "checkout", "-q", "."], cwd=folder, check=True)
    cli.run("compare")
    *lines, advice = capsys.readouterr().out.splitlines()
    assert advice.startswith("HEAD's numbers may be another machine's: `dvc exp save -n baseline`")
    assert max(map(len, lines)) <= 160
    assert {line.split()[0] for line in lines[1:]} == {"fuse.weight", "kvqae_bm25_mrr"}
    head, weights = lines[0].split(), lines[1].split()[1:]
    assert sorted(head[2:]) == ["weight-2", "weight-3", "weight-4"]
    assert dict(zip(head, weights, strict=True))["weight-3"] == "3"
    run("dvc", "exp", "save", "-q", "-n", BASELINE, folder=folder)
    run("dvc", "exp", "apply", "-q", "weight-2", folder=folder)
    cli.run("compare")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:2] == ["workspace", BASELINE]
    assert lines[1].split()[1:3] == ["2", "1"]
    run("dvc", "exp", "apply", "-q", BASELINE, folder=folder)
    assert "weight: 1" in (folder / "params.yaml").read_text()


def stage(deps=(), outs=(), **params):
    return {
        "cmd": "x",
        "deps": [{"path": path, "md5": md5} for path, md5 in deps],
        "outs": [{"path": path, "md5": md5} for path, md5 in outs],
        "params": {"params.yaml": params},
    }


def test_numbers_that_a_variant_did_not_make_anew_are_told(tmp_path):
    read, answers = "metrics/kvqae/read.json", {"kvqae_em_fused", "kvqae_em_reranked"}

    def state(runs, dep, weight=1, path="runs", part=""):
        """Reading reads `path`; its md5 was `dep` then, and fusion's output is `runs` now."""
        lock = {
            "fuse": stage(outs=[("runs", runs)], weight=1),
            "evaluate": stage([("runs", runs)], [(MEASURED, "2")]),
            "read": stage([(path, dep)], [(read, "3")]),
        }
        if part:
            lock["more"] = stage(outs=[("all/more", part)])
        return State({"weight": weight}, lock, {})

    def stale(new, old):
        return stale_numbers(new, old, tmp_path)

    fresh = state("1", "1")
    assert stale(fresh, fresh) == set()
    now = stale(state("2", "1"), fresh)
    assert answers <= now, "what the reader read has been made anew, and its answers have not"
    assert not now & {"kvqae_bm25_mrr", "complexity_camembert_rouge_l"}
    assert "kvqae_bm25_mrr" in stale(state("1", "1", weight=2), fresh), "fusion has not run with this weight"
    # A part of an output: what DVC's list of the folder says of it.
    for md5, files in {"aa.dir": {"dpr/x": "1", "bm25/x": "1"}, "bb.dir": {"dpr/x": "1", "bm25/x": "2"}}.items():
        listed = [{"relpath": path, "md5": content} for path, content in files.items()]
        (tmp_path / md5[:2]).mkdir()
        (tmp_path / md5[:2] / md5[2:]).write_text(json.dumps(listed), encoding="utf-8")
    for path, expected in {"runs/dpr": False, "runs/bm25": True}.items():
        new, old = state("bb.dir", "5", path=path), state("aa.dir", "5", path=path)
        assert (answers <= stale(new, old)) == expected
        assert not answers & stale(state("bb.dir", "6", path=path), old), "read anew"
    known = md5_at("runs/bm25", {"runs": "aa.dir"}, tmp_path)
    assert known == "117377ee812144934bfce669436ab027.dir", "DVC's md5 of a folder with the file x of md5 1"
    old = state("aa.dir", known, path="runs/bm25")
    assert answers <= stale(state("bb.dir", "6", path="runs/bm25"), old), "read anew, and then fusion has run again"
    assert answers <= stale(state("cc.dir", "5", path="runs/dpr"), state("aa.dir", "5", path="runs/dpr")), "not cached"
    # Several outputs.
    new, old = state("1", "5", path="all", part="2"), state("1", "5", path="all", part="1")
    assert answers <= stale(new, old)
    assert not answers & stale(old, old)
