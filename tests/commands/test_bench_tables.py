from trivium.commands.bench_tables import bench_table, rehearsal_table
from trivium.core.tables import write_json


def test_races_stand_beside_their_peers_and_the_limit(tmp_path):
    race = {"seconds": 0.5, "popular": "ranx", "popular_ratio": 0.01, "expert": "NumPy", "expert_ratio": 1.25}
    race |= {"limit_seconds": 0.04, "limit": "arithmetic", "why": "ties cost"}
    write_json(
        tmp_path / "metrics/bench/fusion.json", {"races": {"9 questions": race, "1 question": race | {"why": ""}}}
    )
    lines = bench_table(tmp_path).splitlines()
    assert "| fusion: 9 questions | 0.5 | ranx: 0.01 | NumPy: 1.25 | 0.04 (arithmetic) | ties cost |" in lines
    assert "| fusion: 1 question | 0.5 | ranx: 0.01 | NumPy: 1.25 | 0.04 (arithmetic) | – |" in lines


def test_parts_at_the_papers_size_stand_in_a_table_of_their_own(tmp_path):
    assert rehearsal_table(tmp_path) == "No part has been measured."
    tenth = {"processor_seconds": 30.0, "seconds": 20.0, "private_gib": 0.5, "trials": 3}
    whole = {"processor_seconds": 330.0, "seconds": 200.0, "private_gib": 6.25, "trials": 3}
    part = {"unit": "questions", "size": 60_000, "tenth": tenth, "whole": whole, "exponent": 1.041, "holds": False}
    write_json(tmp_path / "metrics/bench/paper_size.json", {"parts": {"fusion": part}, "limits": {}})
    lines = rehearsal_table(tmp_path).splitlines()
    assert lines[2:] == ["| fusion | 60,000 questions | 0.5 | 5.5 | n^1.04 | 6.2 | no |"]
    assert not any("paper size" in line for line in bench_table(tmp_path).splitlines())
