"""Commons' API, as a small wiki on loopback answers."""

import io
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from tests.sources.small_wiki import serve_wiki
from trivium.core.errors import BadInput
from trivium.kvqae.construction.commons import CommonsFile
from trivium.sources.kvqae.wikimedia import MediaWiki, PictureFetcher, category_files, reduce_to_width, rendered_width


@pytest.fixture
def wiki():
    with serve_wiki() as state:
        yield state


@pytest.fixture
def commons(wiki, tmp_path):
    return MediaWiki(f"{wiki.url}/w/api.php", tmp_path / "commons")


def lark(wiki):
    wiki.categories["Ada Lark"] = [
        wiki.page(
            1, "File:Ada 1.jpg", License="cc-by-sa-4.0", categories=["Ada Lark", "1900 in Dor", "Larks"],
            ImageDescription='<a href="x">Ada&nbsp;Lark</a>,\n  1900 &amp; later',
        ),
        wiki.page(2, "File:Ada.pdf", mime="application/pdf"),
        wiki.page(3, "File:Ada 3.jpg"),
        wiki.page(4, "File:Ada 4.jpg", License="pd"),
    ]  # fmt: skip
    statement = {"mainsnak": {"snaktype": "value", "datavalue": {"value": {"id": "Q7"}}}}
    unknown = {"mainsnak": {"snaktype": "somevalue"}}
    wiki.entities = {
        "M1": {"id": "M1", "statements": {"P180": [statement, unknown]}},
        "M3": {"id": "M3", "statements": []},
    }


def test_files_of_a_category(wiki, commons):
    lark(wiki)
    counts = Counter()
    files = list(category_files(commons, "Ada Lark", 10, 500, counts))
    assert [file.title for file, _ in files] == ["File:Ada 1.jpg", "File:Ada 3.jpg", "File:Ada 4.jpg"]
    assert files[0][0] == CommonsFile(
        "Ada Lark", "File:Ada 1.jpg", "Ada Lark , 1900 & later", ("Ada Lark", "1900 in Dor", "Larks"), ("Q7",),
        "cc-by-sa-4.0",
        f"{1:040x}",
    )  # fmt: skip
    assert files[1][0] == CommonsFile("Ada Lark", "File:Ada 3.jpg", "", (), (), "", f"{3:040x}")
    assert files[0][1] == f"{wiki.url}/thumb/1/500px-x.jpg"
    assert counts == {"commons_no_picture": 1}
    assert {parameters["iiurlwidth"] for parameters in wiki.asked("query")} == {"500"}
    assert {parameters["clshow"] for parameters in wiki.asked("query")} == {"!hidden"}
    assert len(wiki.asked("query")) == 4  # the first two pages' categories take three, the others one


def encode(kind, size):
    """Black left of three quarters of the width, white right of them."""
    pixels = np.zeros((size[1], size[0], 3), np.uint8)
    pixels[:, size[0] * 3 // 4 :] = 255
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind, quality=95)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_width_that_is_not_rendered_is_made_of_the_next(kind):
    assert [rendered_width(width) for width in (330, 331, 512, 4096)] == [330, 500, 960, 4096]
    reduced = Image.open(io.BytesIO(reduce_to_width(encode(kind, (960, 481)), "a", 512)))
    assert (reduced.format, reduced.size) == (kind, (512, 257))
    row = np.asarray(reduced.convert("L"))[100]
    assert row[:370].max() < 60
    assert row[398:].min() > 195
    for kept in (encode(kind, (512, 900)), encode(kind, (40, 20)), b"no picture"):
        assert reduce_to_width(kept, "a", 512) == kept


def test_no_more_files_are_asked_than_wanted(wiki, commons):
    lark(wiki)
    wiki.part = 1
    assert len(list(category_files(commons, "Ada Lark", 1, 500, Counter()))) == 1
    assert len(wiki.asked("query")) == 3  # a part for each of its categories
    assert [parameters["ids"] for parameters in wiki.asked("wbgetentities")] == ["M1"]


def test_we_say_who_we_are(wiki, commons):
    lark(wiki)
    (file, address), *_ = category_files(commons, "Ada Lark", 1, 500, Counter())
    fetcher = PictureFetcher(commons.folder / "pictures", Counter(), "failed")
    assert list(fetcher.fetch([(file.name, address, file.sha1)])) == [(file.name, b"picture 1")]
    assert all(headers["User-Agent"].startswith("Trivium/") for _, headers in wiki.requests)


@pytest.mark.parametrize("answer", [b'{"error": {"code": "ratelimited"}}', b"[]", b"<html>"])
def test_an_error_is_not_kept(wiki, commons, answer):
    lark(wiki)
    wiki.answers = [answer]
    with pytest.raises(BadInput):
        list(category_files(commons, "Ada Lark", 1, 500, Counter()))
    assert len(list(category_files(commons, "Ada Lark", 1, 500, Counter()))) == 1


def test_entities_come_in_the_order_of_their_ids_and_a_batch_is_asked_for_once(wiki, commons):
    """Also one that there is not, and one that was merged into another that is asked for."""
    wiki.entities = {name: {"id": name, "claims": name} for name in ("Q1", "Q2", "Q4")}
    wiki.entities["Q3"] = {"id": "Q4", "claims": "Q4", "redirects": {"from": "Q3", "to": "Q4"}}
    for _ in range(2):
        entities = list(commons.entities(["Q4", "Q2", "Q1", "Q9", "Q3"], "claims"))
        assert [entity["claims"] for entity in entities] == ["Q4", "Q2", "Q1", "Q4"]
    assert [query["ids"] for query in wiki.asked("wbgetentities")] == ["Q4|Q2|Q1|Q9|Q3"]
    assert list(commons.entities(["Q1"], "labels")) == [wiki.entities["Q1"]]  # of which something else is asked
