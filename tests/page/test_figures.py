import xml.etree.ElementTree as ElementTree

from trivium.page.figures import draw_boxes


def test_figures_are_svg_in_the_colour_of_the_text_and_the_same_every_time():
    def draw():
        return draw_boxes(
            {"B": {"yes": [0.1, 0.4], "no": []}, "D": {"yes": [0.5], "no": [0.2]}}, title="T <x>", ylabel="y"
        )

    svg = draw()
    assert svg == draw()
    assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert "currentColor" in svg
    assert "T &lt;x&gt;" in svg
