"""`make compare`: what differs, in few columns."""

import subprocess

from tests.tiny_project import run, start
from trivium.commands import cli
from trivium.commands.compare import BASELINE, stale_numbers

STAGE = "import json, yaml; w = yaml.safe_load(open('params.yaml'))['fuse']['weight']; json.dump({'mrr': w / 4, 'n': 3}, open('metrics/headline.json', 'w'))"
FILES = {
    "params.yaml": "fuse: {weight: 1, depth: 100}\nother: {seed: 0}\n",
    "metrics/.gitkeep": "",
    "stage.py": STAGE,
    "dvc.yaml": """
stages:
  headline:
    cmd: python stage.py
    params: [fuse.weight]
    metrics: [metrics/headline.json: {cache: false}]
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
    assert {line.split()[0] for line in lines[1:]} == {"fuse.weight", "mrr"}
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


def test_numbers_that_a_variant_did_not_make_anew_are_told():
    evaluated, read = "metrics/kvqae/evaluate.json", "metrics/kvqae/read.json"
    lock = {
        "fuse": stage(outs=[("runs", "1")], weight=1),
        "evaluate": stage([("runs", "1")], [(evaluated, "2")]),
        "read": stage([("runs", "0")], [(read, "3")]),
        "headline": stage([(evaluated, "2"), (read, "3")], [("metrics/headline.json", "4")]),
    }
    stale = stale_numbers(lock, {"weight": 1})
    assert "kvqae_em_fused" in stale, "what the reader read has been made anew, and its answers have not"
    assert not stale & {"kvqae_bm25_mrr", "complexity_nothing"}
    assert "kvqae_bm25_mrr" in stale_numbers(lock, {"weight": 2}), "fusion has not run with this weight"
    lock["headline"] = stage([(evaluated, "0"), (read, "3")], [("metrics/headline.json", "4")])
    assert "kvqae_bm25_mrr" in stale_numbers(lock, {"weight": 1}), "the headline is of another evaluation"
