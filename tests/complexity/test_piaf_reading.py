"""What `make real` measures on PIAF: a reader that starts from the packaged MiniLM reads articles it has not seen."""

import pytest

from bench.real import piaf
from trivium.core.arithmetic import PORTABLE
from trivium.core.errors import BadInput


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_piaf(real, tmp_path, monkeypatch):
    monkeypatch.setenv(PORTABLE, "false")  # bf16, where the processor has it
    found = piaf.measure(real("piaf"), tmp_path)
    print(f"\nPIAF: {found}")
    assert found["wrong_offset_answers"] == 2
    assert found["reader_em"] > max(found["overlap_sentence_em"], found["random_span_em"])
    assert found["reader_rouge_l"] > 1.5 * found["random_span_rouge_l"]
    assert found["reader_f1"] > 1.5 * found["random_span_f1"]
    assert 0.4 < found["mangled_references"] < 0.5


def test_piaf_that_is_not_there_is_named(tmp_path):
    with pytest.raises(BadInput, match=r"piaf-v1\.0\.json: PIAF 1\.0 is not there; expected set TRIVIUM_REAL"):
        piaf.main(["--piaf", str(tmp_path)])
