"""Human verdicts, and κ of scores and people."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from tests.complexity.difficulty.asked import answers, english_set
from trivium.complexity.difficulty.analysis import difficulty
from trivium.complexity.difficulty.material import DifficultySettings
from trivium.complexity.judging import HumanVerdicts, kappa, read_verdicts
from trivium.core.errors import BadInput

SET = english_set(20)
SETTINGS = DifficultySettings(resamples=50, smallest_set=4)


def test_kappa_is_scikit_learns():
    rng = np.random.default_rng(0)
    ids = [f"q{n}" for n in range(80)]
    people = rng.random(80) < 0.6
    scores = np.where(rng.random(80) < 0.8, people, ~people).astype(float)
    verdicts = HumanVerdicts({"m": dict(zip(ids, people.tolist(), strict=True))}, {})
    found = kappa({"m": scores}, ids, verdicts, 0.95)
    assert found.kappa == pytest.approx(cohen_kappa_score(people, scores >= 0.5))
    assert found.low < found.kappa < found.high
    assert (found.answers, found.agreed) == (80, pytest.approx((scores == people).mean()))
    same = kappa({"m": np.ones(80)}, ids, verdicts, 0.95)
    assert (same.kappa, same.answers) == (None, 80)
    assert kappa({"m": scores[:0]}, [], verdicts, 0.95).answers == 0


def test_a_file_of_verdicts_gives_kappas(tmp_path):
    given = {"m": answers(SET, lambda each, luck: luck < 0.5)}
    path = tmp_path / "verdicts.csv"
    lines = ["id,model,annotator,verdict"]
    for each in SET.questions[:30]:
        right = given["m"][each.id] == each.answers[0]
        lines += [f"{each.id},m,{who},{'correct' if right else 'incorrect'}" for who in ("zoe", "ada")]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    found = difficulty(SET, given, language="en", settings=SETTINGS, verdicts=path, say=lambda _: None)
    assert (found.kappas["exact_match"].kappa, found.kappas["exact_match"].answers) == (1, 30)
    assert set(found.kappas) == {"exact_match", "f1", "rouge_l"}
    assert found.verdicts.counts["kappa"] == 1
    path.write_text("id,model,annotator,verdict\ns0,n,zoe,correct\n", "utf-8")
    with pytest.raises(BadInput, match="unknown model; got 'n'"):
        read_verdicts(path, given)
