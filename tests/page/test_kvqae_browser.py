"""KVQAE's page in a real browser: filters of Figure 5, a phone's width, no console error."""

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.chromium import press_key, tab_to
from tests.page.kvqae_world import HOSTILE, write_world
from tests.page.parts import render
from trivium.page.assembly import page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    article = render("kvqae", write_world(folder), folder / "parts")[1]
    (folder / "index.html").write_text(page(article), encoding="utf-8")
    return (folder / "index.html").as_uri()


def test_filters_show_hostile_texts_as_text(browser):
    button = browser.find_element(By.CSS_SELECTOR, '#kvqae-gallery [data-filter="face"]')
    tab_to(browser, button)
    press_key(browser, Keys.ENTER)
    (item,) = (each for each in browser.find_elements(By.CSS_SELECTOR, ".gallery > li") if each.is_displayed())
    assert HOSTILE in item.find_element(By.CSS_SELECTOR, ".question").text
    assert len(item.find_elements(By.CSS_SELECTOR, ".rankings > div")) == 2
    bold = item.find_element(By.CSS_SELECTOR, ".passages mark")
    assert (bold.text, bold.value_of_css_property("font-weight")) == ("Brno", "700")
    italic = item.find_element(By.CSS_SELECTOR, ".passages em")
    assert italic.value_of_css_property("font-style") == "italic"
    assert browser.get_log("browser") == []


def test_nothing_is_wider_than_the_screen(browser):
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(wide) <= 0
