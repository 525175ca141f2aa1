"""Every kind of retrieval model, found by its file: it names itself, and nothing of another kind or network is loaded."""

import subprocess
import sys

import pytest

from trivium.core.errors import BadInput
from trivium.decorrelation.models.kind import KINDS, Kind, ModelSettings


def test_the_papers_kinds_are_there():
    assert {"clip", "vse", "blip"} <= set(KINDS)


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_says_what_it_is(name):
    found = KINDS[name]
    assert issubclass(found, Kind)
    assert found.name == found.model().kind == name
    assert found.label.strip()
    assert found.teraflop > 0
    assert issubclass(found.Settings, ModelSettings)
    assert [each for each, field in found.Settings.model_fields.items() if not (field.description or "").strip()] == []


def test_a_label_loads_neither_torch_nor_another_kind():
    code = (
        "import sys; from trivium.decorrelation.models.kind import KINDS; print(KINDS['vse'].label);"
        "assert 'torch' not in sys.modules; assert 'trivium.decorrelation.models.kinds.clip' not in sys.modules"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "VSE++\n"


def test_no_such_kind_lists_the_others():
    with pytest.raises(BadInput, match="no such kind of retrieval model; got 'siglip' .choices: blip, clip, vse"):
        KINDS["siglip"]
