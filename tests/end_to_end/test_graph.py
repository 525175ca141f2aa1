"""What users do with the graph: run it, run it again, share it, change a weight, queue, compare."""

import hashlib
import json
import re
import shutil
from pathlib import Path

import boto3
import pytest
import yaml
from moto.server import ThreadedMotoServer

from tests.end_to_end.conftest import Project, clone_of, warm
from tests.end_to_end.test_dvc_yaml import STAGES
from tests.page.outline import PAGES

SHOWN = {"headline", "report", "track"}  # what shows all pipelines


def stages_run(output: str) -> list[str]:
    """Names of the stages that a `dvc repro` really ran, but for `code`."""
    names = [line.split("'")[1] for line in output.splitlines() if line.startswith("Running stage")]
    return [name for name in names if name != "code"]


def test_everything_declared_is_there(built):
    lock = yaml.safe_load((built.folder / "dvc.lock").read_text())
    declared = [out["path"] for stage in lock["stages"].values() for out in stage.get("outs", [])]
    assert declared
    assert [path for path in declared if not (built.folder / path).exists()] == []
    html = "".join((built.folder / "metrics/report" / name).read_text() for name in sorted(PAGES))
    titles = (*(f"Table {number}" for number in range(1, 8)), "Figure 2", "Figure 4", "Figure 5", "Sample world")
    for title in titles:
        assert title in html


@pytest.mark.parametrize("pipeline", ["kvqae", "decorrelation", "complexity"])
def test_metrics_are_flat_numbers(built, pipeline):
    """All JSON there, except tables for the page, which dvc.yaml declares as outputs."""
    declared = [out for stage in STAGES.values() for out in stage.get("outs", [])]
    tables = {path for out in declared for path in (out if isinstance(out, dict) else [out])}
    files = [
        file
        for file in (built.folder / "metrics" / pipeline).glob("*.json")
        if str(file.relative_to(built.folder)) not in tables
    ]
    assert len(files) > 10
    for file in files:
        values = json.loads(file.read_text())
        assert all(isinstance(value, (int, float)) for value in values.values()), file.name


def test_every_plot_has_data(built):
    told = json.loads(built.run("dvc", "plots", "show", "--json"))
    assert "errors" not in told
    plots = yaml.safe_load((built.folder / "metrics/dvc.yaml").read_text())["plots"]
    lock = yaml.safe_load((built.folder / "dvc.lock").read_text())
    outs = [out["path"] for stage in lock["stages"].values() for out in stage.get("outs", [])]
    curves = {path for path in outs if "/curves/" in path}
    assert len(curves) > 10
    assert told["data"].keys() == {*(name for plot in plots for name in plot), *curves}
    assert [name for name, (drawn,) in told["data"].items() if not drawn["content"]["data"]["values"]] == []


def test_unchanged_runs_nothing(built):
    assert stages_run(built.run("dvc", "repro")) == []


@pytest.mark.slow
def test_a_lock_that_a_kill_left_broken_costs_no_stage(clone):
    """Cut between two stages the lock is valid: the run cache answers, but for what has nothing that DVC may cache."""
    lock, rwlock = clone.folder / "dvc.lock", clone.folder / ".dvc" / "tmp" / "rwlock"
    whole = lock.read_text()
    lock.write_text("")
    rwlock.write_text("")
    said = clone.run("python", "-m", "trivium", "repro")
    assert "DVC refuses 'dvc.lock': it is back from Git" in said
    assert "while it wrote 'rwlock': the file is removed" in said
    assert stages_run(said) == []
    half = len(whole) // 2
    lock.write_text(whole[: half + re.search(r"^  \S+:$", whole[half:], re.MULTILINE).start()])
    assert set(stages_run(clone.run("python", "-m", "trivium", "repro"))) <= {"track", "complexity-prompt"}
    assert yaml.safe_load(lock.read_text()) == yaml.safe_load(whole)
    assert clone.run("git", "status", "--porcelain", "--", ":!dvc.lock") == ""


def test_nothing_half_done_is_left(built):
    work = built.folder / ".work"
    left = [path for path in work.rglob("*") if path.is_file()]
    assert left == []
    assert list(built.folder.rglob("*.partial*")) == []


def test_fresh_metrics_do_not_change_the_tree(built):
    assert built.run("git", "status", "--porcelain") == ""


def cached_outputs(project: Project, stages: str = "") -> list[Path]:
    """What only DVC keeps: the outputs in dvc.lock, of stages whose names begin so, that git does not track."""
    lock = yaml.safe_load((project.folder / "dvc.lock").read_text())
    tracked = set(project.run("git", "ls-files", "-z").split("\0"))
    wanted = [stage for name, stage in lock["stages"].items() if name.startswith(stages)]
    paths = [out["path"] for stage in wanted for out in stage.get("outs", [])]
    return [project.folder / path for path in paths if path not in {*tracked, "code.yaml"}]  # made anew by each run


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def pushed_wiped_and_pulled(project, *remote_setup, stages=""):
    """Push, remove cache and outputs, pull; what is missing then, and the stages that run again."""
    for command in remote_setup:
        project.run("dvc", *command)
    names = sorted(yaml.safe_load((project.folder / "dvc.lock").read_text())["stages"])
    targets = [name for name in names if stages and name.startswith(stages)]
    project.run("dvc", "push", "-q", "--run-cache", *targets)
    project.run("dvc", "cache", "dir", "--local", str(project.folder / ".dvc" / "cache"))
    shutil.rmtree(project.folder / ".dvc" / "cache", ignore_errors=True)
    outputs = cached_outputs(project, stages)
    assert {path.relative_to(project.folder).parts[0] for path in outputs} == {"data", "models", "metrics"}
    for path in outputs:
        remove(path)
    project.run("dvc", "pull", "-q", "--run-cache", *targets)
    missing = [path for path in outputs if not path.exists()]  # before `dvc repro` restores what it can by itself
    alone = ["--single-item", "code"] if targets else []  # what these need is no longer in the cache
    return missing, stages_run(project.run("dvc", "repro", *alone, *targets))


def test_cached_outputs_are_those_that_git_does_not_track(tmp_path):
    project = Project(tmp_path)
    project.run("git", "init", "-q")
    outs = [{"path": path, "md5": "0"} for path in ("data/a", "metrics/kept.json", "metrics/cached.csv")]
    stages = {"toy": {"cmd": "toy", "outs": outs}, "publish": {"cmd": "toy"}}
    (tmp_path / "dvc.lock").write_text(yaml.safe_dump({"stages": stages}))
    for name in ("data/a/part", "metrics/kept.json", "metrics/cached.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    project.run("git", "add", "metrics/kept.json")
    found = cached_outputs(project)
    assert found == [tmp_path / "data/a", tmp_path / "metrics/cached.csv"]
    for path in found:
        remove(path)
    left = {path.name for path in tmp_path.rglob("*") if path.is_file() and ".git" not in path.parts}
    assert left == {"dvc.lock", "kept.json"}


def test_directory_remote(clone, tmp_path):
    setup = ("remote", "add", "--local", "-d", "shared", str(tmp_path / "remote"))
    assert pushed_wiped_and_pulled(clone, setup) == ([], [])


@pytest.mark.slow
def test_s3_remote(clone, monkeypatch):
    """A few stages by name: the server, a Python program, takes as long for each file as the rest does for ten."""
    server = ThreadedMotoServer(port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        address = f"http://{host}:{port}"
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "testing")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        boto3.client("s3", endpoint_url=address).create_bucket(Bucket="trivium")
        setup = (
            ("remote", "add", "--local", "-d", "s3", "s3://trivium/cache"),
            ("remote", "modify", "--local", "s3", "endpointurl", address),
        )
        assert pushed_wiped_and_pulled(clone, *setup, stages="complexity-f") == ([], [])
    finally:
        server.stop()


@pytest.fixture(scope="module")
def experiment(built, tmp_path_factory):
    """A clone after an experiment with a change in each pipeline, and the stages that it ran."""
    project = clone_of(built, tmp_path_factory.mktemp("experiment") / "clone")
    weight = "kvqae.fuse.weights.bm25_image.arcface=0.65"  # of a row that nothing is trained or read on
    changes = (weight, "complexity.factors.f5.elements=3", "decorrelation.page.significance=0.01")
    settings = [word for change in changes for word in ("-S", change)]
    with warm(project) as environment:
        output = project.run("dvc", "exp", "run", "-n", "changed", *settings, **environment)
    return project, stages_run(output)


def of_pipeline(stages, pipeline):
    """Its stages, without the number of a cell, and those that show all pipelines."""
    return {name.split("@")[0] for name in stages if name.startswith(f"{pipeline}-") or "-" not in name}


def test_a_weight_reruns_only_fusion_and_what_follows(experiment):
    ran = of_pipeline(experiment[1], "kvqae")
    assert {"kvqae-fuse", "kvqae-evaluate"} <= ran
    shown = {"kvqae-page_retrieval", "kvqae-page_results", *SHOWN}
    assert ran <= {"kvqae-fuse", "kvqae-evaluate", "kvqae-evaluate_reranking", *shown}


def test_a_threshold_reruns_only_the_analysis(experiment):
    ran = of_pipeline(experiment[1], "complexity")
    assert {"complexity-factors", "complexity-validate"} <= ran
    assert ran <= {f"complexity-{name}" for name in ("factors", "validate", "page_results")} | SHOWN


def test_what_only_sections_show_renders_these_sections_alone(experiment):
    ran = of_pipeline(experiment[1], "decorrelation")
    assert "decorrelation-page_results" in ran
    assert ran <= {"decorrelation-page_results", "decorrelation-page_entities"} | SHOWN


def test_nothing_writes_into_the_cache(experiment):
    """Outputs may be hard links to it: what a stage wrote in place would change what was kept of another run."""
    project, _ = experiment
    kept = list(Path(project.run("dvc", "cache", "dir").strip(), "files", "md5").glob("??/*"))
    assert kept
    digests = {path: hashlib.md5(path.read_bytes()).hexdigest() for path in kept}
    assert [path for path in kept if path.parent.name + path.name.removesuffix(".dir") != digests[path]] == []


@pytest.mark.slow
def test_a_queue_of_three_weights_is_compared(clone):
    # A row that nothing is re-ranked or read from: three runs of few stages.
    weight = "kvqae.fuse.weights.bm25_image.arcface"
    clone.run("dvc", "exp", "run", "--queue", "-S", f"{weight}=0.35,0.55,0.75")
    # Foreground worker: `dvc queue start` leaves a process behind that outlives the test.
    clone.run("dvc", "exp", "run", "--run-all")
    table = json.loads(clone.run("dvc", "exp", "show", "--json"))
    shown = json.dumps(table)
    weights = {value for value in ("0.35", "0.55", "0.75") if f'"arcface": {value}' in shown}
    assert weights == {"0.35", "0.55", "0.75"}
    assert shown.count('"kvqae_fused_mrr"') >= 4
