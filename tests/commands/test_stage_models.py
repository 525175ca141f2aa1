import subprocess
import sys

import pytest

from stages.kvqae.rrt import RrtParameters
from trivium.commands.stage_models import Used, fields_at, model_of, models_at
from trivium.core.errors import BadInput
from trivium.core.parameters import RunParameters
from trivium.kvqae.rerankers.rrt_parameters import RrtTrainingParameters


def test_a_section_has_its_stages_model():
    assert model_of("kvqae.rrt") is RrtParameters
    assert model_of("run") is RunParameters
    assert model_of("report").__name__ == "PageParameters"
    assert [model_of(name) for name in ("kvqae", "kvqae.nothing", "nothing", "nothing.at_all")] == [None] * 4


def test_parts_of_sections_have_models_too():
    assert models_at("kvqae.rrt.training") == [RrtTrainingParameters]
    assert models_at("kvqae.rrt.training.steps") == []
    assert "steps" in fields_at("kvqae.rrt.training")


def test_what_is_written_is_used():
    used = Used({"kvqae": {"rrt": {"training": {"steps": 7}}}, "list": [1]})
    assert used("kvqae.rrt.training.steps") == 7
    assert used("list") == [1]


def test_what_is_left_out_is_the_default():
    assert Used({})("run.gpu_workers") == 2
    assert Used({"run": {"workers": 3}})("run.gpu_workers") == 2


@pytest.mark.parametrize(
    "key", ["kvqae.nothing.at_all", "nothing", "run.nothing", "list.x", "kvqae.rrt.training.stepz"]
)
def test_what_nobody_knows_is_refused(key):
    with pytest.raises(BadInput, match=f"'{key}': no such parameter"):
        Used({"list": [1], "kvqae": {"rrt": {}}})(key)


def test_commands_load_no_stage_before_they_are_asked():
    script = "import sys, trivium.commands.scale as _; assert not [name for name in sys.modules if name.startswith('stages')]"
    subprocess.run([sys.executable, "-c", script], check=True)
