import re
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from tests.sources.small_commons import WIDTHS, serve_commons
from trivium.core.errors import BadInput
from trivium.sources.kvqae import wikimedia as thumbnails
from trivium.sources.kvqae.wikimedia import MediaWiki, fetch_thumbnails, rendered_width


@pytest.fixture
def commons():
    with serve_commons() as state:
        state.files = {"Ada.jpg": b"ada", "Flag of Dor.svg": b"flag", "Map.tif": b"map", "Ås, 1900.jpg": b"town"}
        yield state


@pytest.fixture
def fetch(commons, tmp_path):
    def fetched(*names):
        counts = Counter()
        shelf = MediaWiki(commons.api, tmp_path / "answers")
        return dict(fetch_thumbnails(names, shelf, tmp_path / "pictures", counts)), counts

    return fetched


def test_previews_by_the_names_of_the_knowledge_base(fetch, commons):
    names = ("512px-Ada.jpg", "512px-Flag_of_Dor.svg.png", "lossy-page1-512px-Map.tif.jpg", "%C3%85s%2C_1900.jpg")
    previews, counts = fetch(*names)
    assert previews == dict(zip(names, (b"ada", b"flag", b"map", b"town"), strict=True))
    assert counts == {"kb_images_not_on_commons": 0, "kb_images_not_fetched": 0}
    assert all(re.match(r"Trivium/\S+ \(", agent) for agent in commons.agents), "who asks is said"


def test_a_moved_file_is_found_and_a_deleted_one_counted(fetch, commons):
    commons.moved["Old name.jpg"] = "Ada.jpg"
    previews, counts = fetch("512px-Old_name.jpg", "512px-Gone.jpg", "512px-Ada.jpg")
    assert previews == {"512px-Old_name.jpg": b"ada", "512px-Ada.jpg": b"ada"}
    assert counts == {"kb_images_not_on_commons": 1, "kb_images_not_fetched": 0}


def test_it_waits_as_long_as_it_is_told(fetch, commons, monkeypatch):
    waits = []
    monkeypatch.setattr("huggingface_hub.utils._http.time", SimpleNamespace(sleep=waits.append))
    commons.answers |= {"api": [(429, "7"), (503, "")], "Ada.jpg": [(429, "2")]}
    assert fetch("512px-Ada.jpg")[0] == {"512px-Ada.jpg": b"ada"}
    assert waits == [8, 3]  # and one more, as huggingface_hub does


def test_what_cannot_be_had_is_counted_and_the_rest_goes_on(fetch, commons, capsys):
    commons.answers["Ada.jpg"] = [(404, "")]
    commons.cut["Map.tif"] = [1]
    previews, counts = fetch("512px-Ada.jpg", "512px-Map.tif.jpg")
    assert previews == {"512px-Map.tif.jpg": b"map"}
    assert counts["kb_images_not_fetched"] == 1
    assert "left out: 512px-Ada.jpg: not found (404)" in capsys.readouterr().err


def test_what_we_ask_for_is_served():
    scales = Path(__file__).parents[3] / "scales"
    widths = {thumbnails.WIDTH}
    for name in ("paper", "workstation"):
        kvqae = yaml.safe_load((scales / f"{name}.yaml").read_text("utf-8"))["kvqae"]
        widths |= {
            rendered_width(kvqae["sources"]["picture_size"]),
            int(kvqae["annotation_tasks"]["image_address"].split("width=")[1]),
        }
    assert widths == {330, 500, 960}
    assert widths <= set(WIDTHS)


def test_nothing_is_asked_twice(fetch, commons):
    names = ["512px-Ada.jpg", "512px-Map.tif.jpg"]
    commons.answers["Map.tif"] = [(503, "")] * 2
    assert fetch(*names)[1]["kb_images_not_fetched"] == 1
    previews, counts = fetch(*names)  # a run that was killed, and begins again
    assert (len(previews), counts["kb_images_not_fetched"]) == (2, 0)
    assert commons.asked == {"api": 1, "Ada.jpg": 1, "Map.tif": 3}


def test_a_server_that_refuses_everything_ends_the_run(fetch, commons, monkeypatch):
    monkeypatch.setattr(thumbnails, "MISSING_IN_A_ROW", 3)
    commons.files |= {f"{number}.jpg": b"x" for number in range(9)}
    commons.answers |= {f"{number}.jpg": [(403, "")] for number in range(9)}
    with pytest.raises(
        BadInput,
        match=r"3 pictures in a row could not be fetched; run again to go on. The last: .*: 2.jpg: access refused",
    ):
        fetch(*(f"{number}.jpg" for number in range(9)))
    commons.answers.clear()
    assert len(fetch(*(f"{number}.jpg" for number in range(9)))[0]) == 9


def test_no_more_bytes_a_second_than_commons_allows(fetch, commons, monkeypatch):
    monkeypatch.setattr(thumbnails, "BYTES_A_SECOND", 20_000)
    commons.files |= {f"{number}.jpg": bytes(1000) for number in range(8)}
    started = time.monotonic()
    fetch(*(f"{number}.jpg" for number in range(8)))
    assert time.monotonic() - started >= 8 * 1000 / 20_000 * 0.99
