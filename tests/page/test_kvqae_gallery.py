"""Figure 5's parts: thumbnails, frames, and answers marked in passages."""

import base64
import io

from PIL import Image

from trivium.formats.questions import Question
from trivium.page.inline_pictures import thumbnail
from trivium.page.kvqae.gallery import NO_PICTURE, counts_of, emphasize, highlight, passage_item


def encoded(image):
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def test_thumbnail_is_a_square_jpeg():
    address = thumbnail(encoded(Image.new("LA", (300, 100))), 64)
    assert address.startswith("data:image/jpeg;base64,")
    with Image.open(io.BytesIO(base64.b64decode(address.split(",")[1]))) as image:
        assert (image.size, image.mode) == ((64, 64), "RGB")


def test_answers_are_marked_longest_first_whole_words_and_everything_is_escaped():
    marked = highlight("<b>New York</b>, new York City, Yorkshire", ["York", "New York", "the", "New York City"])
    assert marked == ("&lt;b&gt;<mark>New York</mark>&lt;/b&gt;, <mark>new York City</mark>, Yorkshire")
    assert highlight("a & b", ["the"]) == "a &amp; b"


def test_what_the_reader_found_is_italic_only_where_it_stands():
    assert emphasize("a <b> c", 2, 5) == "a <em>&lt;b&gt;</em> c"
    for start, end in ((-2, 3), (0, 0), (5, 8), (3, 2)):
        assert emphasize("a <b> c", start, end) == "a &lt;b&gt; c"


def test_answers_are_bold_in_relevant_passages_and_plausible_ones_italic_in_others():
    question = Question("q", "where?", ("Brno",), "Brno")
    relevant = passage_item(("Ann", "born in Brno"), question, (17, 21), None)
    assert (relevant["text"], relevant["relevant"]) == ("born in <mark>Brno</mark>", True)
    # `Bob [SEP] born in Cork`: the text starts at character 10.
    other = passage_item(("Bob", "born in Cork"), question, (18, 22), None)
    assert (other["title"], other["text"], other["relevant"]) == ("Bob", "born in <em>Cork</em>", False)
    in_title = passage_item(("Bob", "born in Cork"), question, (0, 3), None)
    assert (in_title["title"], in_title["text"]) == ("<em>Bob</em>", "born in Cork")
    assert passage_item(("Bob", "born & bred"), question, None, None)["text"] == "born &amp; bred"


def test_pictures_that_cannot_be_shown_are_counted():
    picture = {"image": "data:image/jpeg;base64,AA"}
    whole = picture | {"rankings": [{"passages": [picture]}]}
    broken = {"image": NO_PICTURE, "rankings": [{"passages": [{"image": None}, picture]}, {"passages": []}]}
    shown = {"right": True, **whole}, {"right": False, **broken}
    assert counts_of(shown[:1])["gallery_pictures_missing"] == 0
    counts = counts_of(shown)
    assert (counts["gallery_questions"], counts["gallery_right"], counts["gallery_pictures_missing"]) == (2, 1, 1 + 1)
