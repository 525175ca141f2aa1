import numpy as np
import pytest
import torch

from tests.kvqae.tiny_reader import write_world
from trivium.core.engine import LocalEngine
from trivium.core.errors import BadInput
from trivium.formats.questions import Question
from trivium.kvqae.reader.answered_rows import read_selections, sweep
from trivium.kvqae.reader.inputs import ReadParameters, Selection, texts_of
from trivium.kvqae.reader.reading import Reading, load_reader, save_reader

ROW = {"model": "few_shot", "questions": "viquae", "run": "fused", "passages": 2, "weighted": False, "oracle": "none"}
PARAMETERS = ReadParameters(
    rows={"row": ROW}, sweep_passages=[1], sweep_questions=1, max_tokens=32, answer_tokens=8, batch=4,
    seeds=[0], asked_row="row", compared=[["row", "row"]], permutations=100,
)  # fmt: skip


def test_sweep_takes_the_best_and_the_fewest_at_equality():
    question = Question("q", "?", ("yes",), "yes")
    readings = {
        ("?", n): Reading(text, 0, 1, score, 0.0, 0.0)
        for n, text, score in [(0, "no", 0), (1, "yes", 1), (2, "yes", 2)]
    }
    selections = {n: [Selection(question, np.arange(n), np.zeros(n))] for n in (1, 2, 3)}
    best, curve = sweep(selections, [readings], weighted=False)
    assert best == 2
    assert [point["em"] for point in curve] == [0.0, 1.0, 1.0]


def test_a_reader_that_gives_nan_is_named_with_the_passage(tmp_path):
    world = write_world(tmp_path)
    torch.manual_seed(0)
    model, tokenizer = load_reader(world.base, 32, new_heads=True)
    model.qa_outputs.bias.data[1] = torch.nan  # of the ends
    save_reader(tmp_path / "seed-0", model, tokenizer, base=world.base, data="nothing", metrics={})
    texts = texts_of(world.passages, world.articles, np.arange(24))
    asked = Selection(Question("q", "where ?", ("x",), "x"), np.array([3, 1]), np.zeros(2))
    with pytest.raises(
        BadInput, match=r"seed-0: field 'question, passage': the score of a passage is NaN; got .*where"
    ):
        read_selections(tmp_path / "seed-0", [asked], texts, PARAMETERS, LocalEngine(1))
