"""`make compare`: what differs, in few columns."""

import subprocess

from tests.tiny_project import run, start
from trivium.commands.compare import main

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
    main([])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 160
    assert {line.split()[0] for line in lines[1:]} == {"fuse.weight", "mrr"}
    head, weights = lines[0].split(), lines[1].split()[1:]
    assert sorted(head[2:]) == ["weight-2", "weight-3", "weight-4"]
    assert dict(zip(head, weights, strict=True))["weight-3"] == "3"
