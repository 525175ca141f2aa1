"""The page in a real browser: click through it, in two sizes, by mouse and keyboard; no console error."""

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.chromium import NAMES, SIZES, open_page, press_key, show_all, tab_to
from trivium.page.contents import ARTICLES, GLOSSARY

pytestmark = pytest.mark.browser

FEW = 4  # of a gallery's examples, until the others are asked for


@pytest.fixture(params=SIZES, ids=NAMES)
def landing(request, built, tmp_path):
    window = open_page((built.folder / "metrics/report/index.html").as_uri(), request.param, tmp_path)
    yield window
    window.quit()


@pytest.fixture(params=SIZES, ids=NAMES)
def browser(request, built, tmp_path):
    window = open_page((built.folder / "metrics/report/kvqae.html").as_uri(), request.param, tmp_path)
    yield window
    window.quit()


def test_from_the_landing_screen_to_each_pipeline_and_back(landing):
    """It says what was found; each page is one click away, is not wider than the screen, and logs nothing."""
    fronts = landing.find_elements(By.CSS_SELECTOR, "main .card:has(.claim)")
    assert len(fronts) == len(ARTICLES)
    for front in fronts:  # one verdict, and another over several worlds where `make thorough` has seen them
        verdicts = [each.text for each in front.find_elements(By.CSS_SELECTOR, ".verdict")]
        assert len(verdicts) == 1 + ("other worlds" in front.text)
        assert set(verdicts) <= {"holds", "does not hold", "cannot tell"}
    for name, article in ARTICLES.items():
        press(landing, landing.find_element(By.CSS_SELECTOR, f'main a[href="{name}.html"]'))
        assert landing.find_element(By.TAG_NAME, "h1").text == article.title
        assert landing.find_element(By.CSS_SELECTOR, "main .claim").is_displayed()
        wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert landing.execute_script(wide) <= 0
        assert landing.get_log("browser") == []
        landing.find_element(By.CSS_SELECTOR, 'header a[href="index.html"]').click()
    press(landing, landing.find_element(By.CSS_SELECTOR, "#glossary summary"))
    assert visible(landing.find_elements(By.CSS_SELECTOR, "#glossary dt"))


def test_a_table_explains_its_heads(browser):
    """By a mouse that rests there, by a tap, and by keyboard; Escape closes."""
    head = next(head for head in visible(browser.find_elements(By.CSS_SELECTOR, "th .term")) if head.text == "MRR")
    press(browser, head)
    (tip,) = browser.find_elements(By.CSS_SELECTOR, ".tip")
    assert tip.text == GLOSSARY["MRR"]
    press_key(browser, Keys.ESCAPE)
    assert browser.find_elements(By.CSS_SELECTOR, ".tip") == []


def visible(items):
    return [item for item in items if item.is_displayed()]


def press(browser, item):
    """Click as a person does: with the item in the middle of the screen, not under the header."""
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", item)
    item.click()


def test_click_through(browser):
    gallery = browser.find_element(By.CSS_SELECTOR, "[data-gallery]")
    items = gallery.find_elements(By.CSS_SELECTOR, ".gallery > li")
    count = gallery.find_element(By.CSS_SELECTOR, "[data-count]")
    assert len(visible(items)) == min(FEW, len(items)) > 0
    assert count.text == f"{min(FEW, len(items))} of {len(items)}"
    show_all(browser, "[data-gallery]")
    assert len(visible(items)) == len(items)
    shown = {}
    for name in ("right", "wrong"):
        press(browser, gallery.find_element(By.CSS_SELECTOR, f"[data-filter={name}]"))
        shown[name] = len(visible(items))
        assert count.text == f"{shown[name]} of {shown[name]}"
    assert shown["right"] + shown["wrong"] == len(items)
    press(browser, gallery.find_element(By.CSS_SELECTOR, "[data-filter=all]"))

    browser.execute_script("document.documentElement.style.scrollBehavior = 'auto'")
    for link in browser.find_elements(By.CSS_SELECTOR, 'nav a[href^="#"]'):
        target = link.get_attribute("href").split("#")[1]
        link.click()
        assert browser.find_element(By.ID, target).is_displayed()
        under = "return arguments[0].getBoundingClientRect().top - arguments[1].getBoundingClientRect().bottom"
        places = [browser.find_element(By.ID, target), browser.find_element(By.TAG_NAME, "header")]
        assert browser.execute_script(under, *places) >= 0, f"{target} is under the header"

    body = browser.find_element(By.TAG_NAME, "body")
    before = body.value_of_css_property("background-color")
    browser.find_element(By.ID, "theme").click()
    assert body.value_of_css_property("background-color") != before

    broken = "return [...document.images].filter(i => i.complete && !i.naturalWidth).length"
    assert browser.execute_script(broken) == 0
    assert browser.get_log("browser") == []


def test_by_keyboard(browser):
    """The first tab stop skips to the results; every button is reached by Tab and pressed by Enter or the space bar."""
    press_key(browser, Keys.TAB)
    assert browser.switch_to.active_element.text == "Skip to the results"
    press_key(browser, Keys.ENTER)
    press_key(browser, Keys.TAB)
    assert browser.switch_to.active_element.find_elements(By.XPATH, "ancestor::main"), "the navigation is not skipped"
    gallery = browser.find_element(By.CSS_SELECTOR, "[data-gallery]")
    for name, key in (("right", Keys.SPACE), ("wrong", Keys.ENTER)):
        button = gallery.find_element(By.CSS_SELECTOR, f"[data-filter={name}]")
        tab_to(browser, button)
        outline = button.value_of_css_property("outline-style"), button.value_of_css_property("outline-width")
        assert outline[0] != "none", "the focus does not show"
        assert outline[1] != "0px", "the focus does not show"
        press_key(browser, key)
        assert button.get_attribute("aria-pressed") == "true"


def test_nothing_is_wider_than_the_screen(browser):
    """Wide tables scroll inside their box; the page itself does not scroll sideways."""
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(wide) <= 0
