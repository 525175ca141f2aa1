"""Stage kvqae-identify: whom the model chose, whose passages are read, and nothing that is paid for twice."""

import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml
from PIL import Image

from stages.kvqae.identify import IdentifyParameters, main
from stages.kvqae.page_identified import main as page
from tests.kvqae.reader.test_identification import SETTINGS
from tests.kvqae.tiny_reader import NAMES, question, rewrite, write_world
from tests.page.outline import Outline
from tests.prompting.loopback_endpoint import Loopback, said
from trivium.core.errors import BadInput
from trivium.core.image_shards import write_images
from trivium.core.stage import execute
from trivium.core.tables import read_json, read_table, write_table
from trivium.formats.trec import read_run, write_run
from trivium.kvqae.reader.prompted import JOURNAL
from trivium.kvqae.reader.reading import load_reader, save_reader
from trivium.measures.runs import Run
from trivium.page.published import SearchedParameters

COUNT = len(NAMES)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Retrieval puts the next person before the right one; the right vectors prefer what says where he was born.

    Question 0 has no picture, and of question 1 retrieval has nothing.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    made = write_world(tmp_path)
    picture = io.BytesIO()
    Image.new("RGB", (40, 40), "red").save(picture, "PNG")
    write_images(tmp_path / "images", [("a.png", picture.getvalue())])
    rewrite(made.viquae / "test.jsonl", [question(n, "v", image="a.png" if n else None) for n in range(COUNT)])
    path, pictures = made.kb / "articles.parquet", pa.array(["a.png", *[None] * (COUNT - 1)])
    write_table(path, read_table(path).append_column("image", pictures))
    lists = {f"v{n}": {(2 * n + 3) % 24: 3.0, 2 * n + 1: 2.0, (2 * n + 5) % 24: 1.0} for n in range(COUNT)}
    write_run(tmp_path / "run/test.trec", Run.from_dict(lists | {"v1": {}}))
    (tmp_path / "vectors").mkdir()
    np.save(tmp_path / "vectors/kb.npy", np.tile(np.eye(2, dtype=np.float16), (COUNT, 1)))  # says it, or does not
    np.save(tmp_path / "vectors/queries.npy", np.tile(np.array([1, 0.5], np.float16), (COUNT + 1, 1)))
    rows = {"split": ["train", *["test"] * COUNT], "id": ["v0", *(f"v{n}" for n in range(COUNT))]}
    write_table(tmp_path / "vectors/queries.parquet", pa.table(rows))
    model, tokenizer = load_reader(made.base, 32, new_heads=True)
    save_reader(tmp_path / "few_shot/seed-3", model, tokenizer, base=made.base, data="nothing", metrics={})
    return tmp_path


def run(world: Path, **entry: object) -> dict[str, float]:
    settings = {**SETTINGS, "run": "run", "encoder": "dpr_few_shot", "entities": 2, "passages": 1, **entry}
    tree = {"identify": {}, "identifiers": {"tiny": settings}, "pictures": {"max_pixels": 10_000},
            "texts": {"pair_tokens": 32, "pair_batch": 8}, "reader": {"answer_tokens": 8}, "read": {"seeds": [3]},
            "statistics": {"permutations": 100}}  # fmt: skip
    (world / "params.yaml").write_text(yaml.safe_dump({"kvqae": tree}))
    told = {"identifier": "tiny", "run": "run", "vectors": "vectors", "questions": "viquae/test.jsonl",
            "images": "images", "kb-images": "images", "kb": "wiki",
            "readers": "few_shot", "out-cache": "cache", "out": "out", "metrics": "metrics.json"}  # fmt: skip
    arguments = [part for name, value in told.items() for part in (f"--{name}", value)]
    return execute(main, "kvqae.identify", IdentifyParameters, arguments)


def choose(number: int, payload: dict[str, object]) -> object:
    """The second entity, which is the right one; of question 2 none, and of question 3 nonsense."""
    words = json.dumps(payload)
    return said("0" if f"2. {NAMES[2]}" in words else "Hm." if f"2. {NAMES[3]}" in words else "2")


def test_the_passages_of_the_chosen_entity_are_ranked_measured_and_read(world: Path) -> None:
    with Loopback(choose) as server:  # type: ignore[arg-type]
        metrics = run(world, endpoint=server.address)
        again = run(world, endpoint=server.address)
        assert len(server.requests) == COUNT - 2
    assert (again["cached"], again.get("requests", 0)) == (COUNT - 2, 0)
    chosen = read_table(world / "out/choices.parquet").to_pydict()
    assert chosen["chosen"] == [None] * 4 + NAMES[4:]
    assert chosen["right"] == [False] * 4 + [True] * (COUNT - 4)
    assert chosen["reply"][:5] == [None, None, "0", "Hm.", "2"]
    assert (metrics["none"], metrics["unclear"], metrics["without_picture"]) == (1, 1, 2)
    assert (metrics["right"], metrics["first_right"]) == ((COUNT - 4) / COUNT, 0)
    assert metrics["among"] == (COUNT - 1) / COUNT
    identified = dict(
        zip((ranked := read_run(world / "out/test.trec")).queries, ranked.documents.tolist(), strict=True)
    )
    assert identified["v4"] == [8, 9, -1]  # both passages of the right one, in the order of the vectors
    assert identified["v2"] == [7, 5, 9]  # retrieval's own list
    assert metrics["retrieval_mrr"] == 0
    assert metrics["identified_mrr"] == metrics["identified_precision@1"] == (COUNT - 4) / COUNT
    assert metrics["known_mrr"] == 1
    assert 0 < metrics["mrr_p"] < 0.05
    assert metrics["full_oracle_em"] >= metrics["retrieval_em"] == 0
    assert (world / JOURNAL / "answers.jsonl").read_bytes() == (world / "cache/answers.jsonl").read_bytes()


def test_its_table_on_the_page(world: Path) -> None:
    with Loopback(choose) as server:  # type: ignore[arg-type]
        run(world, endpoint=server.address, label="My <VLM>")
    paths = {"chosen": world / "out", "measured": world / "metrics.json", "out": world / "part.json"}
    page(SearchedParameters(world="sample"), **paths)
    html = read_json(world / "part.json")["sections"]["identified"]
    rows = Outline(html).rows
    assert [row[0] for row in rows[1:]] == [
        "retrieval alone", "the entity chosen by the model", "the entity known", "full oracle from retrieval",
    ]  # fmt: skip
    assert rows[2][1] == "66.7"
    assert rows[4][1:4] == ["–"] * 3
    assert "My &lt;VLM&gt;" in html


def test_an_endpoint_that_is_down_loses_nothing(world: Path) -> None:
    with Loopback(lambda number, payload: said("1")) as server:
        address = server.address
    with pytest.raises(BadInput, match="the endpoint fails: gave up after 1 requests"):
        run(world, endpoint=address)
    assert not (world / "out").exists()
    with pytest.raises(
        BadInput, match=r"kvqae\.identifiers\.tiny\.endpoint: Input should be a valid string \(got None\)"
    ):
        run(world, endpoint=None)
