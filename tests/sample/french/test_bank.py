"""What the bank promises."""

from math import log2

from sample.french.bank import Frame, frames


def test_there_are_enough_frames_with_verbs_and_nouns_and_two_to_six_elements() -> None:
    assert len(frames()) >= 24
    for frame in frames().values():
        for noun in (False, True):
            units = frame.units_of(noun=noun)
            if frame.name != "Installing":  # the paper's has two triggers
                assert len(units) >= 2, frame.name
            assert len({unit.lemma for unit in units}) == len(units)
        assert 2 <= len(frame.elements) <= 6
        assert len(set(frame.elements.values())) == len(frame.elements)


def entropy(frame: Frame) -> float:
    """Of the lexical units that evoke a frame, in bits (complexity.md §4, f6)."""
    total = sum(unit.weight for unit in frame.units)
    return -sum(unit.weight / total * log2(unit.weight / total) for unit in frame.units)


def test_the_paper_s_illustrations() -> None:
    bank = frames()
    assert len(bank["Request"].units) == 18
    assert len(bank["Installing"].units) == 2
    assert set(bank["Origin"].elements.values()) == {"Origin", "Entity"}
    assert entropy(bank["Request"]) > 3.5 > 1.0 > entropy(bank["Installing"])
    assert len(bank["Giving"].elements) == 6


def test_most_frames_are_met_a_few_times_in_the_adaptation_corpus() -> None:
    """As in FQuAD, whose tail of rare frames leaves their lexical units unlearnt; 4 200 questions as in params.yaml."""
    total = sum(frame.adaptation for frame in frames().values())
    questions = sorted(4200 * frame.adaptation / total for frame in frames().values())
    assert questions[0] >= 3
    assert questions[len(questions) // 3] <= 10
    assert questions[len(questions) // 2] < 0.1 * questions[-1]
