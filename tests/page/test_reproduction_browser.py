"""The reproduction matrix in a real browser: search by keyboard, a phone's width, no console error."""

import pytest
from selenium.webdriver.common.by import By

from tests.chromium import NAMES, SIZES, open_page, tab_to
from trivium.page.assembly import reproduction_page
from trivium.page.reproduction import read_cells

pytestmark = pytest.mark.browser


@pytest.fixture(params=SIZES, ids=NAMES)
def browser(request, tmp_path):
    signed = {
        "date": "2030-01-02",
        "scale": "paper",
        "by": "Ada",
        "commit": "abc123def",
        "machine": "m" * 200,
        "note": "",
    }
    log = [signed | {"values": {"kvqae/evaluate.json:article_face_arcface_mrr": 54.0}}]
    (tmp_path / "page.html").write_text(reproduction_page(read_cells(), log), encoding="utf-8")
    window = open_page((tmp_path / "page.html").as_uri(), request.param, tmp_path / "profile")
    yield window
    window.quit()


def shown(browser):
    return [row for row in browser.find_elements(By.CSS_SELECTOR, ".cells tbody tr:has(td)") if row.is_displayed()]


def test_tables_are_folded_and_a_search_unfolds_what_it_finds(browser):
    assert shown(browser) == []
    field = browser.find_element(By.CSS_SELECTOR, "input[type=search]")
    tab_to(browser, field)
    field.send_keys("arcface mrr 54.3")
    (row,) = shown(browser)
    assert row.find_element(By.CSS_SELECTOR, ".right").is_displayed()
    assert browser.find_element(By.CSS_SELECTOR, "[data-found]").text == "1 number"
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(wide) <= 0
    field.clear()
    field.send_keys("COCO: CLIP zero R@1, image")
    assert len(shown(browser)) == 2, "R@1 in both directions; R@10 is something else"
    field.clear()
    field.send_keys("nothing has this name")
    assert browser.find_element(By.CSS_SELECTOR, "[data-found]").text == "0 numbers"
    field.clear()
    field.send_keys(" ")
    assert shown(browser) == []
    assert all(each.is_displayed() for each in browser.find_elements(By.CSS_SELECTOR, "details.fold"))
    assert browser.get_log("browser") == []
