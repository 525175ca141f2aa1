"""A seed plans the same round each time, and rounds cover all that can happen."""

from tests.kill.__main__ import LINGERING
from tests.kill.plan import FULL_DISK, MOMENTS, OF_LANES, OF_REMOTES, SIGNALS, VICTIMS, WAYS, draw


def test_a_seed_plans_the_same_round():
    assert draw(5, 4, stages=LINGERING) == draw(5, 4, stages=LINGERING)
    assert draw(5, 4, stages=LINGERING) != draw(6, 4, stages=LINGERING)


def test_rounds_cover_every_command_moment_signal_and_victim():
    plans = [draw(seed, 2, stages=LINGERING) for seed in range(500)]
    kills = [kill for plan in plans for kill in plan.kills]
    assert {plan.way for plan in plans} == set(WAYS)
    assert {kill.moment for kill in kills} == {*MOMENTS, "push", "pull"}
    assert {kill.signal for kill in kills} == set(SIGNALS)
    assert {kill.victim for kill in kills} == {*VICTIMS, *OF_LANES, "disk"}
    assert {kill.linger for kill in kills} == {"", *LINGERING}


def test_what_cannot_happen_is_not_planned():
    for seed in range(200):
        plan = draw(seed, 2, remotes=False, full=False)
        assert plan.way not in OF_REMOTES
        for kill in plan.kills:
            assert kill.signal != FULL_DISK
            assert kill.moment != "orphan"
            assert kill.victim not in OF_LANES or plan.way == "make repro"
