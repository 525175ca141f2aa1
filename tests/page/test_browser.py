"""The pages in a real browser: filters, keyboard, a phone's width, no console error."""

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from tests.chromium import NAMES, SIZES, open_page, press_key, show_all, tab_to
from tests.decorrelation.retrieved_world import evaluated
from tests.page.complexity_world import run_stages
from tests.page.kvqae_world import HOSTILE, write_world
from tests.page.parts import render
from trivium.page.contents import render_page

pytestmark = pytest.mark.browser
WORLDS = {"kvqae": write_world, "decorrelation": evaluated, "complexity": run_stages}
FEW = 12  # examples, until the others are asked for


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    """The address of a page, made when it is first asked for."""
    made = {}

    def address(name):
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            html = render_page("page.html", "intel", article=render(name, WORLDS[name](folder), folder / "parts")[1])
            (folder / "index.html").write_text(html, encoding="utf-8")
            made[name] = (folder / "index.html").as_uri()
        return made[name]

    return address


@pytest.fixture(params=SIZES, ids=NAMES)
def browse(request, addresses, tmp_path):
    """Opens a page in a window of each size; in the end nothing was said on the console."""
    windows = []

    def opened(name):
        windows.append(open_page(addresses(name), request.param, tmp_path))
        return windows[0]

    yield opened
    said = [line for window in windows for line in window.get_log("browser")]
    for window in windows:
        window.quit()
    assert said == []


def visible(browser, selector):
    return [item for item in browser.find_elements(By.CSS_SELECTOR, selector) if item.is_displayed()]


def find(browser, selector):
    return browser.find_element(By.CSS_SELECTOR, selector)


def press(browser, element, key=Keys.ENTER):
    tab_to(browser, element)
    press_key(browser, key)


def test_filters_show_hostile_texts_as_text(browse):
    browser = browse("kvqae")
    press(browser, find(browser, '#kvqae-gallery [data-filter="face"]'))
    (item,) = visible(browser, ".gallery > li")
    assert HOSTILE in find(item, ".question").text
    assert len(item.find_elements(By.CSS_SELECTOR, ".rankings > div")) == 2
    bold = find(item, ".passages mark")
    assert (bold.text, bold.value_of_css_property("font-weight")) == ("Brno", "700")
    assert find(item, ".passages em").value_of_css_property("font-style") == "italic"


def test_filters_of_the_gallery(browse):
    browser = browse("decorrelation")
    show_all(browser, "[data-gallery]")
    every = visible(browser, ".removals > li")
    press(browser, find(browser, '[data-filter="wrong"]'))
    few = visible(browser, ".removals > li")
    assert 0 < len(few) < len(every)
    assert all("wrong" in item.get_attribute("data-tags").split() for item in few)
    assert find(browser, "[data-count]").text == f"{len(few)} of {len(few)}"


def test_examples_are_chosen_by_factor_and_frame_and_open_by_keyboard(browse):
    browser = browse("complexity")

    def choose(by, value):
        Select(find(browser, f"[data-by={by}]")).select_by_value(value)
        return visible(browser, ".examples > li")

    for selector in (".examples > li:nth-child(2) details", ".effects details.cell"):
        details = find(browser, selector)
        assert details.get_attribute("open") is None
        press(browser, details.find_element(By.TAG_NAME, "summary"))
        assert details.get_attribute("open") is not None
    every = browser.find_elements(By.CSS_SELECTOR, ".examples > li")
    assert len(visible(browser, ".examples > li")) == FEW < len(every)
    show_all(browser, "[data-browser]")
    few = choose("factor", "f5:yes")
    assert 0 < len(few) < len(every)
    assert all("f5:yes" in item.get_attribute("data-factor").split() for item in few)
    assert find(browser, "[data-shown]").text == f"{len(few)} of {len(few)}"
    frame = few[0].get_attribute("data-frame")
    both = choose("frame", frame)
    assert 0 < len(both) <= len(few)
    assert {item.get_attribute("data-frame") for item in both} == {frame}
    choose("factor", "")
    assert len(choose("frame", "")) == len(every)


def test_heads_of_rows_and_columns_tell_what_short_names_mean(browse):
    browser = browse("complexity")
    told = {term.get_attribute("textContent") for term in browser.find_elements(By.CSS_SELECTOR, "th > .term")}
    assert {"ROUGE-L", "interval", "harder"} <= told
