"""The bench of asking with a pipeline that only sleeps; without a built project it says so."""

import time

import pytest

from bench import ask
from trivium.core.arithmetic import PORTABLE


class Sleeper:
    """In place of `Asker`: slow at its first questions, slower with the re-rankers."""

    dataset = "raw"
    asked: list[tuple[str, bool]]

    def __init__(self, root):
        Sleeper.asked = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def ask(self, question, image, *, rerank):
        assert image == question.encode()
        time.sleep((0.3 if len(self.asked) < 2 else 0) + (0.02 if rerank else 0.001))
        self.asked.append((question, rerank))


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    for name, value in (("QUESTIONS", 10), ("WARM_UP", 2)):
        monkeypatch.setattr(ask, name, value)


@pytest.mark.usefixtures("small")
def test_the_first_questions_are_not_counted(figures, monkeypatch):
    monkeypatch.setattr(ask, "open_graph", lambda root, row: (Sleeper(root), Sleeper.dataset))
    names = [f"q{number}" for number in range(20)]
    monkeypatch.setattr(ask, "questions_and_pictures", lambda root, dataset: [(name, name.encode()) for name in names])
    assert ask.ask_all(ask.Path(), 10, rerank=True, warm_up=2)
    assert Sleeper.asked == [(name, True) for name in names[:12]]
    ask.main()
    found = figures("ask")
    for way in ask.WAYS:
        median, ninetieth, worst = (
            found[f"{way}_{which}_seconds_a_question"] for which in ("median", "ninetieth_percentile", "worst")
        )
        assert 0 < median <= ninetieth <= worst < 0.3
        assert found[f"{way}_mib"] == found[f"{way}_mib_ten_times_the_questions"] == 1
    assert found["retrieved_median_seconds_a_question"] < found["re_ranked_median_seconds_a_question"]
    assert found["questions"] == 10


@pytest.mark.usefixtures("small")
def test_a_project_that_is_not_built_is_not_measured(figures, tmp_path, monkeypatch, capsys):
    (tmp_path / "params.yaml").write_bytes((ask.Path(ask.__file__).parents[1] / "params.yaml").read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(PORTABLE, "intel")
    ask.main()
    said = capsys.readouterr().err
    assert said.startswith("ask: not measured and nothing written: ")
    assert said.endswith("not there: run `make repro` first\n")
    with pytest.raises(FileNotFoundError):
        figures("ask")
