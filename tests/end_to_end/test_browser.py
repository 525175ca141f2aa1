"""The page in a real browser: click through it, in two sizes, by mouse and keyboard; no console error."""

import shutil

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser


@pytest.fixture(params=[(1280, 900), (390, 844)], ids=["desktop", "phone"])
def browser(request, built, tmp_path):
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("chromium and chromedriver are not there (Debian: apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={tmp_path}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.add_experimental_option(
        "mobileEmulation", {"deviceMetrics": {"width": request.param[0], "height": request.param[1], "pixelRatio": 1}}
    )
    page = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    page.get((built.folder / "metrics/report/index.html").as_uri())
    yield page
    page.quit()


def visible(items):
    return [item for item in items if item.is_displayed()]


def press(browser, item):
    """Click as a person does: with the item in the middle of the screen, not under the header."""
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", item)
    item.click()


def test_click_through(browser):
    items = browser.find_elements(By.CSS_SELECTOR, ".gallery > li")
    assert len(visible(items)) == len(items) > 0
    shown = {}
    for name in ("right", "wrong"):
        press(browser, browser.find_element(By.CSS_SELECTOR, f"[data-filter={name}]"))
        shown[name] = len(visible(items))
        assert browser.find_element(By.CSS_SELECTOR, "[data-count]").text == f"{shown[name]} of {len(items)}"
    assert shown["right"] + shown["wrong"] == len(items)
    press(browser, browser.find_element(By.CSS_SELECTOR, "[data-filter=all]"))

    for link in browser.find_elements(By.CSS_SELECTOR, "nav a"):
        target = link.get_attribute("href").split("#")[1]
        link.click()
        assert browser.find_element(By.ID, target).is_displayed()

    body = browser.find_element(By.TAG_NAME, "body")
    before = body.value_of_css_property("background-color")
    browser.find_element(By.ID, "theme").click()
    assert body.value_of_css_property("background-color") != before

    broken = "return [...document.images].filter(i => i.complete && !i.naturalWidth).length"
    assert browser.execute_script(broken) == 0
    assert browser.get_log("browser") == []


def test_by_keyboard(browser):
    """The first tab stop skips to the results; buttons are reached and pressed without a mouse."""
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    focused = browser.switch_to.active_element
    assert focused.text == "Skip to the results"
    button = browser.find_element(By.CSS_SELECTOR, "[data-filter=wrong]")
    button.send_keys(Keys.ENTER)
    assert button.get_attribute("aria-pressed") == "true"


def test_nothing_is_wider_than_the_screen(browser):
    """Wide tables scroll inside their box; the page itself does not scroll sideways."""
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(wide) <= 0
