"""Mutants are edits of code alone, and a seed draws the same ones each time."""

from pathlib import Path

import pytest

from tests.mutation.mutants import ROOMS, draw, mutants

ROOT = Path(__file__).parents[2]
CODE = '''"""Three + 3 of them."""

def share(part: int | None, whole: "float | 1" = 3.0) -> float | None:
    """Part / whole."""
    half: int | bool = 0
    if whole == 0:
        raise ValueError(f"{part + 1} of {whole / 2:.1f}" + "a == b")
    return part / whole
'''


def edits(code: str) -> set[str]:
    """Each line that mutants write in place of another."""
    before = code.splitlines()
    after = [mutant.apply(code).splitlines() for there in mutants("m.py", code).values() for mutant in there]
    return {new.strip() for lines in after for old, new in zip(before, lines, strict=True) if old != new}


def test_mutants_change_code_and_neither_strings_nor_annotations():
    found = edits(CODE)
    assert {"return part * whole", "return part - whole", "if whole != 0:", "if not whole == 0:"} <= found
    assert any(line.endswith("= 4.0) -> float | None:") for line in found)
    assert "half: int | bool = 1" in found
    for line in found:
        assert '"""' not in line
        assert line.startswith("def") <= ("int | None" in line and "-> float | None" in line)
        assert line.startswith("half") <= ("int | bool" in line)
        assert line.startswith("raise") <= ('{part + 1} of {whole / 2:.1f}" ' in line and '"a == b"' in line)


def test_a_site_has_one_kind_of_operator():
    sites = mutants("m.py", "x = a < 3\n")
    assert {kind for kind, _, _ in sites} == {"ReplaceComparisonOperator", "NumberReplacer"}
    compared = sites["ReplaceComparisonOperator", 1, 6]
    assert {mutant.apply("x = a < 3\n") for mutant in compared} == {
        f"x = a {other} 3\n" for other in ("==", "!=", "<=", ">", ">=")
    }


def test_what_only_identity_tells_apart_is_no_mutant():
    assert edits("if a is None or b == c:\n    pass\n").isdisjoint(
        {"if a == None or b == c:", "if a is None or b is c:"}
    )


def test_of_exceptions_those_with_a_plain_name_are_replaced():
    code = "try:\n    pass\nexcept {}:\n    raise\n"
    assert "except CosmicRayTestingException:" in edits(code.format("OSError"))
    assert not any("CosmicRay" in line for line in edits(code.format("(OSError, pa.ArrowException)")))


def test_a_mutant_of_another_text_is_refused():
    (there,) = mutants("m.py", "x = True\n").values()
    with pytest.raises(ValueError, match="drawn from"):
        there[0].apply("y = True\n")


def test_a_seed_draws_the_same(tmp_path):
    (tmp_path / "trivium/formats/deep").mkdir(parents=True)
    (tmp_path / "trivium/formats/deep/one.py").write_text(CODE)
    (tmp_path / "trivium/formats/two.py").write_text(CODE.replace("0", "5"))
    drawn, other = draw(tmp_path, 0), draw(tmp_path, 1)
    assert drawn == draw(tmp_path, 0)
    assert drawn != other
    assert len({mutant.key for mutant in drawn}) == len(drawn) == len(other) == 14


def test_there_are_mutants_enough_and_of_all_rooms():
    drawn = draw(ROOT, 0)
    assert len({mutant.key for mutant in drawn}) == len(drawn) > 2500
    assert {Path(mutant.module).parts[1] for mutant in drawn[:200]} == set(ROOMS)
    for mutant in drawn[:5]:
        text = (ROOT / mutant.module).read_text("utf-8")
        assert mutant.apply(text) != text
