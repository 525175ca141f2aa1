"""The stage: the readers' answers to the evaluation set."""

import numpy as np
import pytest

from stages.complexity import difficulty
from stages.complexity.difficulty import DifficultyParameters
from trivium.formats.answer_files import write_predictions
from trivium.formats.squad import SquadQuestion, write_squad
from trivium.page.difficulty import FILES

KEYS = {"run": ("t5", "mt5"), "seeds": (3, 4), "smallest_set": 1, "resamples": 100, "draws": 1}


def asked(question, answer, context, identifier):
    return SquadQuestion(identifier, "", context, question, ((answer, context.index(answer)),))


@pytest.fixture
def world(tmp_path):
    """Sixty questions about thirty texts: half ask with a word of the answer's sentence."""
    questions = []
    for number in range(30):
        context = f"Le comte n° {number} bâtit la tour {number}. Il pleuvait." + " Et encore." * (number % 3)
        questions.append(asked("Qui bâtit la tour ?", f"Le comte n° {number}", context, f"a{number}"))
        questions.append(asked("Quel ouvrage fut érigé ?", f"la tour {number}", context, f"b{number}"))
    write_squad(tmp_path / "set.json", questions)
    good = {each.id: each.answers[0][0] for each in questions}
    write_predictions(tmp_path / "predictions" / "t5" / "seed-3.jsonl", good)
    # The second model fails where no word helps.
    words = {name: text if name[0] == "a" else "rien" for name, text in good.items()}
    write_predictions(tmp_path / "predictions" / "mt5" / "seed-3.jsonl", words)
    return tmp_path


def run(world):
    return difficulty.main(
        DifficultyParameters(**KEYS),
        questions=world / "set.json",
        predictions=world / "predictions",
        out=world / "out",
    )


def test_the_evaluation_set_with_two_readers(world):
    metrics = run(world)
    assert (metrics["questions"], metrics["contexts"], metrics["clusters"], metrics["left_out"]) == (60, 30, 30, 0)
    assert (metrics["t5_rouge_l"], metrics["mt5_rouge_l"], metrics["mt5_em"]) == (1, 0.5, 0.5)
    assert metrics["low_overlap_share"] == 0.5
    assert metrics["mt5_low_overlap_delta_points"] == -100
    assert metrics["t5_low_overlap_delta_points"] == 0
    assert metrics["cells"] == 2 * (sum(name.endswith("_share") for name in metrics))
    assert "mean_spearman" not in metrics, "nothing is hard for t5"
    assert all(np.isfinite(value) for value in metrics.values())
    assert {path.name for path in (world / "out" / "evaluation").iterdir()} == set(FILES)
