"""The example browser in a real browser: filters, keyboard, a phone's width, cells of Table 2, no console error."""

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from tests.chromium import press_key, show_all, tab_to
from tests.page.complexity_world import run_stages
from tests.page.parts import render
from trivium.page.assembly import page

pytestmark = pytest.mark.browser

FEW = 12  # examples, until the others are asked for


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    article = render("complexity", run_stages(folder), folder / "parts")[1]
    (folder / "index.html").write_text(page(article), encoding="utf-8")
    return (folder / "index.html").as_uri()


def shown(browser):
    return [item for item in browser.find_elements(By.CSS_SELECTOR, ".examples > li") if item.is_displayed()]


def choose(browser, by, value):
    Select(browser.find_element(By.CSS_SELECTOR, f"[data-by={by}]")).select_by_value(value)


def test_filters_by_factor_and_frame(browser):
    first, all_items = shown(browser), browser.find_elements(By.CSS_SELECTOR, ".examples > li")
    assert len(first) == FEW < len(all_items)
    show_all(browser, "[data-browser]")
    every = shown(browser)
    assert len(every) == len(all_items)
    choose(browser, "factor", "f5:yes")
    few = shown(browser)
    assert 0 < len(few) < len(every)
    assert all("f5:yes" in item.get_attribute("data-factor").split() for item in few)
    assert browser.find_element(By.CSS_SELECTOR, "[data-shown]").text == f"{len(few)} of {len(few)}"
    frame = few[0].get_attribute("data-frame")
    choose(browser, "frame", frame)
    both = shown(browser)
    assert 0 < len(both) <= len(few)
    assert {item.get_attribute("data-frame") for item in both} == {frame}
    choose(browser, "factor", "")
    choose(browser, "frame", "")
    assert len(shown(browser)) == len(every)
    assert browser.get_log("browser") == []


def test_examples_and_cells_open_by_keyboard(browser):
    for selector in (".examples > li:nth-child(2) details", ".effects details.cell"):
        details = browser.find_element(By.CSS_SELECTOR, selector)
        assert details.get_attribute("open") is None
        tab_to(browser, details.find_element(By.TAG_NAME, "summary"))
        press_key(browser, Keys.ENTER)
        assert details.get_attribute("open") is not None


def test_nothing_is_wider_than_the_screen(browser):
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    browser.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")
    assert browser.execute_script(wide) <= 0
