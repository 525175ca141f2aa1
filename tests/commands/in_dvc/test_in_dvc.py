"""Our package is in DVC wherever the environment's Python starts, and DVC is still what it was written for."""

import ast
import hashlib
import importlib
import subprocess
import sys
import sysconfig
from pathlib import Path

import dvc
import pytest

from trivium.commands import in_dvc

INSTALLED = Path(sysconfig.get_path("purelib")) / in_dvc.INSTALLED_AS
# What is replaced, as DVC 3.67 has it: by place the first digits of its source's SHA-256. Where one differs, read what
# changed there, mend ours if it must be, and put the new digits here.
READ = {
    "dvc.commands.metrics:CmdMetricsDiff": "e0468bfae2b0",
    "dvc.dependency.param:read_param_file": "eeadc2f68430",
    "dvc.utils.serialize._common:_dump_data": "4fcd507dcce2",
    "dvc.utils.serialize._common:_modify_data": "dff6e1ccd9d6",
    "dvc.dvcfile:Lockfile": "f3be351658e7",
    "dvc.rwlock:_edit_rwlock": "a0139e850b63",
    "dvc.repo.reproduce:collect_stages": "b0e1483d82f2",
    "dvc.repo.experiments.executor.base:BaseExecutor._repro_and_track": "59200b55cbe1",
    "dvc.repo.experiments.executor.base:BaseExecutor._get_top_level_paths": "7eb428d0bd45",
    "dvc.repo.experiments.executor.base:BaseExecutor.reproduce": "5cdfe813d126",
    "dvc.stage.utils:_get_stage_files": "79dcd2971e40",
    "dvc.repo.experiments.queue.base:BaseStashQueue._stash_exp": "ad293621e6a3",
    "dvc.repo.experiments.queue.base:BaseStashQueue._pack_args": "c98800ccad71",
    "dvc.repo.experiments.queue.workspace:WorkspaceQueue": "6dbc1ac2907a",
    "dvc.repo.experiments.queue.tempdir:TempDirQueue.get": "3f8a590e3d6e",
    "dvc.stage.cache:StageCache._load_cache": "3fc4ccc10114",
    "dvc.stage.cache:StageCache._load": "bd47ce3d08f5",
    "dvc.stage.run:prepare_kwargs": "32e356aebbe4",
    "dvc_data.hashfile.cache:Cache": "72e439c263de",
    "diskcache.core:Cache._sql": "e4fa9bbca304",
    "diskcache.core:Cache._transact": "95001fdfc2ad",
    "dvc_data.hashfile.db.local:LocalHashFileDB.check": "7ac40064373e",
    "dvc_data.hashfile.db:HashFileDB.check": "8e517cc36615",
    "dvc_data.index.checkout:apply": "e8e9b3af6488",
    "dvc_data.index.checkout:_create_files": "b974c9b5e591",
    "dvc_data.index.index:ObjectStorage": "5e362e73132b",
    "dvc.repo:Repo.data_index": "311445f75221",
    "dvc.repo:Repo.drop_data_index": "f3ba05495bf1",
    "dulwich.file:_GitFile.abort": "134f8a355415",
}


def as_dvc_wrote_it(place):
    """The source in DVC's file, whatever was put in its place."""
    module, _, name = place.partition(":")
    text = Path(importlib.import_module(module).__file__).read_text(encoding="utf-8")
    node = ast.parse(text)
    for part in name.split("."):
        node = next(each for each in node.body if getattr(each, "name", None) == part)
    lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
    return "\n".join(lines)


@pytest.mark.parametrize("place", READ)
def test_dvc_is_what_our_parts_were_written_for(place):
    digest = hashlib.sha256(as_dvc_wrote_it(place).encode()).hexdigest()[:12]
    assert digest == READ[place], f"DVC {dvc.__version__} changed {place}: see REPLACED in {in_dvc.__file__}"


def test_every_part_says_which_module_waits_for_it():
    parts = {file.stem for file in Path(in_dvc.__file__).parent.glob("*.py")} - {
        "__init__",
        "warm_start",
        "warm_stages",
    }
    assert set(in_dvc.REPLACED.values()) == parts
    assert all(any(place.startswith(f"{module}:") for place in READ) for module in in_dvc.REPLACED)


def test_the_installed_package_is_this_one():
    ours = {file.name: file.read_text() for file in Path(in_dvc.__file__).parent.glob("*.py")}
    assert {file.name: file.read_text() for file in INSTALLED.glob("*.py")} == ours, "run `make setup`"


def test_it_waits_for_dvc_and_is_all_there_after():
    code = (
        "import sys; assert 'trivium_in_dvc' in sys.modules; assert not any(n.startswith('dvc') for n in sys.modules);"
        "import dvc.cli, dvc.commands.metrics, dvc.repo, dvc.stage.run, dvc.rwlock, dvc_data.hashfile.db.local, dvc_data.index.checkout, dvc.repo.experiments.queue.workspace, dvc.repo.experiments.executor.base, dulwich.file;"
        "watch = next(f for f in sys.meta_path if type(f).__name__ == 'Watch'); assert watch.waiting == {}, watch.waiting"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_another_dvc_goes_on_without_a_part_that_does_not_fit(monkeypatch, capsys, tmp_path):
    (tmp_path / "another_dvc.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    watch = in_dvc.Watch()
    watch.waiting = {"another_dvc": "parent"}
    monkeypatch.setattr(sys, "meta_path", [watch, *sys.meta_path])
    assert importlib.import_module("another_dvc").value == 1
    assert "parent is left out" in capsys.readouterr().err
