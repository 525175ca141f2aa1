"""Every number of the papers' tables has its command, and each metric is one that its stage writes."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.page.outline import Outline
from trivium.core.errors import BadInput
from trivium.core.tables import write_json
from trivium.page.reproduction import (
    Cell,
    read_cells,
    read_log,
    read_values,
    reproduction_page,
    signatures,
    summary,
)

STAGES = yaml.safe_load(Path("dvc.yaml").read_text("utf-8"))["stages"]


def test_every_number_of_the_papers_main_tables_is_there() -> None:
    cells = read_cells()
    published = {name: yaml.safe_load(Path(f"tests/published/{name}.yaml").read_text("utf-8"))
                 for name in ("kvqae", "decorrelation", "complexity")}  # fmt: skip
    counted = {name: sum(cell.pipeline == name for cell in cells) for name in published}
    tables = ("table_2", "table_3", "table_4_persons", "table_4_non_persons", "table_5_face", "table_5", "table_6")
    rows = [published["kvqae"][table]["rows"] for table in tables]
    in_kvqae = sum(len(row["values"]) for table in rows for row in table.values() if "in_table_3" not in row)
    in_kvqae += sum(len(row["values"]) for row in published["kvqae"]["table_7"]["rows"].values())
    assert counted["kvqae"] == in_kvqae + len(published["kvqae"]["numbers"])
    tables_1_and_2 = 2 * 8 * 3 + 2 * 8 * 6  # data sets, rows, cut-offs; both directions
    assert counted["decorrelation"] == tables_1_and_2 + 5 * 3 + 2 * 2 + 2  # Table 3's other rows, appendix B's, |D′|
    assert counted["complexity"] == 2 * 7 + 7 + 7 * 7  # models, twice; shares of factors; δ
    assert all((cell.tolerance is None) == bool(cell.why) for cell in cells)
    assert len({cell.key for cell in cells}) == len(cells)
    assert len({(cell.pipeline, cell.table, cell.row, cell.measure) for cell in cells}) == len(cells)


def test_each_is_computed_by_a_stage_that_writes_its_file() -> None:
    for cell in read_cells():
        name, _, key = cell.stage.partition("@")
        stage = STAGES[name].get("do", STAGES[name])
        written = [path.replace("${key}", key) for each in stage["metrics"] for path in each]
        assert f"metrics/{cell.file}" in written


def test_the_sample_run_has_all_that_its_cells_and_models_give() -> None:
    """The names are those of the stages: what the default graph does not have is what it does not train."""
    cells = read_cells()
    found = read_values(cells)
    missing = {cell.metric for cell in cells if cell.key not in found}
    assert not {metric for metric in missing if metric.startswith(("passage", "article", "few_shot", "zero_shot_"))}
    for there in ("coco_clip_ours_synthetic_odmap@1", "coco_vse_ours_image_to_text_r@5", "camembert_f0_delta_points"):
        assert there not in missing


def test_a_delta_is_rounded_down_as_the_paper_prints_it(tmp_path: Path) -> None:
    write_json(tmp_path / "complexity" / "validate.json", {"t5_f2_delta_points": -1.2, "gpt_f1_delta_points": 3.9999})
    found = read_values(read_cells(), tmp_path)
    assert found == {
        "complexity/validate.json:t5_f2_delta_points": -2,
        "complexity/validate.json:gpt_f1_delta_points": 3,
    }


def cell(**changes: object) -> Cell:
    usual = Cell("kvqae-evaluate", "Table 1", "a row", "MRR", "mrr", (50.0, 60.0), 2.0)
    return replace(usual, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "tolerance", "agrees"), [(52.0, 2.0, True), (58.0, 2.0, True), (55.0, 2.0, False), (50.0, None, None)]
)
def test_either_number_of_a_paper_is_accepted(value: float, tolerance: float | None, agrees: bool | None) -> None:
    assert cell(tolerance=tolerance).agrees(value) is agrees


def test_values_are_in_the_papers_units_and_what_is_missing_is_left_out(tmp_path: Path) -> None:
    write_json(tmp_path / "kvqae" / "evaluate.json", {"mrr": 0.51234, "none": None})
    cells = [cell(), cell(metric="none"), cell(metric="absent"), cell(stage="kvqae-no")]
    assert read_values(cells, tmp_path) == {"kvqae/evaluate.json:mrr": 51.23}


def entry(scale: str, value: float, date: str, **changes: object) -> dict[str, object]:
    told = {"date": date, "scale": scale, "by": "Ada", "commit": "abc123def456", "machine": "2 cores", "note": ""}
    return told | {"values": {"kvqae/evaluate.json:mrr": value}} | changes


def test_only_the_papers_scale_has_verdicts_and_the_last_entry_counts(tmp_path: Path) -> None:
    def write(scale: str, value: float, date: str) -> None:
        write_json(tmp_path / f"{date}-{scale}-abc123de.json", entry(scale, value, date))

    assert read_log(tmp_path) == []
    assert "Nobody has signed" in signatures([])
    write("pilot", 70.0, "2030-01-01")
    write("paper", 40.0, "2030-01-02")
    write("paper", 59.0, "2030-01-03")
    log = read_log(tmp_path)
    last = summary([cell(), cell(measure="P@1", metric="other")], log).splitlines()[-1]
    assert last == "| KVQAE, Table 1: the data set | `dvc repro kvqae-evaluate` | 2 | paper 1, pilot 1 |"
    assert "| 2030-01-03 | `paper` | Ada | `abc123de` | 2 cores | 1 | – |" in signatures(log)
    html = reproduction_page([cell(), cell(measure="P@1", metric="other")], log)
    assert Outline(html).rows == [
        ["Row", "MRR", "P@1"],
        ["a row", "50 or 60 ± 2; paper 59 ✓; pilot 70", "50 or 60 ± 2"],
    ]
    assert "<code>dvc repro kvqae-evaluate</code>" in html
    assert html.index("2030-01-03") < html.index("2030-01-01"), "the latest stands first"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([], "not an entry of the log"),
        ({"scale": "pilot"}, "not an entry of the log"),
        (entry("pilot", 1.0, "2030-01-01", by=None), "field 'by'"),
        (entry("pilot", 1.0, "2030-01-01", commit=7), "field 'commit'"),
        (entry("pilot", 1.0, "2030-01-01", values={"a": "1"}), "expected a number"),
        (entry("pilot", 1.0, "2030-01-01", values={"a": True}), "expected a number"),
    ],
)
def test_what_is_no_entry_is_refused_by_its_file(tmp_path: Path, content: object, said: str) -> None:
    write_json(tmp_path / "2030-02-02-x.json", content)
    with pytest.raises(BadInput, match=rf"2030-02-02-x\.json: .*{said}"):
        read_log(tmp_path)


def test_every_cell_is_on_the_page_with_its_command() -> None:
    cells = read_cells()
    html = reproduction_page(cells, [])
    printed = [cell for row in Outline(html).rows for cell in row[1:] if "±" in cell or "(" in cell]
    assert len(printed) == len(cells)
    for stage in {cell.stage for cell in cells}:
        assert f"<code>dvc repro {stage}</code>" in html
    assert "Nobody has signed a run on real data yet." in html


def test_what_somebody_signed_becomes_no_markup() -> None:
    evil = "<script>alert('x')</script> | a\n\n# b"
    log = [entry(evil, 1.0, evil, by=evil, machine=evil, note=evil, commit="<script>")]
    html = reproduction_page([cell()], log)
    assert html.count("<script>") == 1, "the page's own"
    assert html.count("&lt;script&gt;alert") == 6
    for text in (signatures(log), summary([cell()], log)):
        assert "<script" not in text
        assert not any(line.startswith("# b") for line in text.splitlines())
    (row,) = signatures(log).splitlines()[2:]
    assert row.replace("\\|", "").count("|") == 8
