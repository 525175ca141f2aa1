"""Decorrelation's page in a real browser: the gallery's filters, a phone's width, no console error."""

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.chromium import press_key, show_all, tab_to
from tests.decorrelation import retrieved_world as world
from tests.page.parts import render
from trivium.page.assembly import page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    article = render("decorrelation", world.evaluated(folder), folder / "parts")[1]
    (folder / "index.html").write_text(page(article), encoding="utf-8")
    return (folder / "index.html").as_uri()


def shown(browser):
    return [item for item in browser.find_elements(By.CSS_SELECTOR, ".removals > li") if item.is_displayed()]


def test_filters_of_the_gallery(browser):
    show_all(browser, "[data-gallery]")
    every = shown(browser)
    tab_to(browser, browser.find_element(By.CSS_SELECTOR, '[data-filter="wrong"]'))
    press_key(browser, Keys.ENTER)
    few = shown(browser)
    assert 0 < len(few) < len(every)
    assert all("wrong" in item.get_attribute("data-tags").split() for item in few)
    assert browser.find_element(By.CSS_SELECTOR, "[data-count]").text == f"{len(few)} of {len(few)}"
    assert browser.get_log("browser") == []


def test_nothing_is_wider_than_the_screen(browser):
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    browser.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")
    assert browser.execute_script(wide) <= 0
