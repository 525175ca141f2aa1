import os
import subprocess
import sys
from pathlib import Path

import pytest

from trivium.core.arithmetic import SETTINGS, settle
from trivium.core.code.digest import Code, code_root, digest_of, stage_parts

ROOT = Path(__file__).parents[2]


@pytest.fixture
def told(tmp_path, monkeypatch):
    for name in SETTINGS["intel"]:
        monkeypatch.delenv(name, raising=False)

    def tell(text):
        file = tmp_path / "params.yaml"
        file.write_text(text)
        settle(file)
        return {name: os.environ.get(name) for name in SETTINGS["intel"]}

    return tell


def test_intel_computes_with_one_thread(told):
    set_now = told("run: {portable: intel}")
    assert set_now == SETTINGS["intel"]
    assert set_now["MKL_CBWR"] in ("AVX2", "AVX512")
    assert set_now["OMP_NUM_THREADS"] == "1"


def test_x86_differs_in_mkl_alone(told):
    different = {name for name, value in told("run: {portable: x86}").items() if value != SETTINGS["haswell"][name]}
    assert different == {"MKL_CBWR"}


@pytest.mark.parametrize(
    "text",
    ["run: {portable: false}", "run: {portable: arm}", "run: {portable: [1]}", "{}", "run:", "- 1", "{", "run: 3"],
)
def test_everything_else_sets_nothing(told, text):
    assert set(told(text).values()) == {None}


def test_a_stage_has_the_settings_before_its_libraries(tmp_path):
    """The package of the stages is imported first; `--params` names another file."""
    (tmp_path / "mine.yaml").write_text("run: {portable: x86}")
    code = "import os, stages, sys; print(os.environ.get('MKL_CBWR'), 'numpy' in sys.modules)"
    (tmp_path / "stand_in.py").write_text("")

    def asked(*argv):
        found = f"import sys; sys.argv = {['-m', *argv]!r}; {code}"
        environment = {name: value for name, value in os.environ.items() if name not in SETTINGS["intel"]}
        return subprocess.run([sys.executable, "-c", found], cwd=ROOT, env=environment, capture_output=True, text=True)

    assert asked().stdout == f"{SETTINGS['intel']['MKL_CBWR']} False\n"
    for way in (("--params", str(tmp_path / "mine.yaml")), (f"--params={tmp_path / 'mine.yaml'}",)):
        assert asked("kvqae.fuse", "--out", "x", *way, "--k", "1").stdout == "COMPATIBLE False\n"
    assert asked("kvqae.fuse", "--params").stdout == f"{SETTINGS['intel']['MKL_CBWR']} False\n"


def test_the_setting_is_a_part_of_every_digest(tmp_path):
    (tmp_path / "dvc.yaml").write_text("stages:\n  fuse:\n    cmd: python -m stages.kvqae.fuse\n")
    digests = set()
    for value in ("intel", "x86", "false"):
        (tmp_path / "params.yaml").write_text(f"run: {{portable: {value}}}")
        parts = stage_parts(tmp_path, Code(code_root()))["fuse"]
        digests.add(digest_of(parts))
        assert parts["setting run.portable"] == value.replace("false", "False")
        assert not [path for path in parts if "portable" in path.removeprefix("setting run.portable")]
    assert len(digests) == 3
