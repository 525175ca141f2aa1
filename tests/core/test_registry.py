"""Members are found by looking into the folder, in the order of their numbers, and one that is not itself is refused."""

import sys

import pytest

from trivium.core.errors import BadInput
from trivium.core.registry import Registry


@pytest.fixture
def family(tmp_path, monkeypatch) -> Registry:
    """Of f9, f10, f2, and f8, whose class says that it is f9."""
    (tmp_path / "odd_family").mkdir()
    (tmp_path / "odd_family/__init__.py").touch()
    for module, said in (("f10", "f10"), ("f9", "f9"), ("f2", "f2"), ("f8", "f9")):
        (tmp_path / f"odd_family/{module}.py").write_text(f"class Member:\n    name = {said!r}\n\n\nclass Other: ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield Registry("odd_family", "odd member", "odd")
    for module in [name for name in sys.modules if name.startswith("odd_family")]:
        del sys.modules[module]


def test_members_stand_in_the_order_of_their_numbers(family):
    assert list(family) == ["f2", "f8", "f9", "f10"]
    assert len(family) == 4
    assert "f10" in family
    assert "f1" not in family


def test_a_module_without_its_class_is_refused(family):
    with pytest.raises(TypeError, match=r"odd_family\.f8: expected one class with name = 'f8', found 0"):
        family["f8"]


def test_no_such_member_lists_the_others(family):
    with pytest.raises(BadInput, match="field 'odd': no such odd member; got 'f1' .choices: f2, f8, f9, f10"):
        family["f1"]
    with pytest.raises(ValueError, match="no such odd member: f1 .choices: f2, f8, f9, f10"):
        family.known("f1")
    assert family.known("f2") == "f2"
