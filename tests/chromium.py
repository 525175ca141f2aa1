"""Debian's Chromium without a window, at a desktop's and a phone's size; a test without it is skipped, loudly."""

import shutil
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

SIZES = [(1280, 900), (390, 844)]
NAMES = ["desktop", "phone"]
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def open_page(address: str, size: tuple[int, int], profile: Path, **logs: str) -> webdriver.Chrome:
    """A window on the address that logs its console, and what else `logs` names; the caller quits it."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("chromium and chromedriver are not there (Debian: apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in (*ARGUMENTS, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", **logs})
    metrics = {"width": size[0], "height": size[1], "pixelRatio": 1}
    options.add_experimental_option("mobileEmulation", {"deviceMetrics": metrics})
    window = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    window.get(address)
    return window


def press_key(browser: webdriver.Chrome, key: str) -> None:
    """Press a key as a person does: it goes to whatever has the focus."""
    ActionChains(browser).send_keys(key).perform()


def tab_to(browser: webdriver.Chrome, wanted: WebElement) -> None:
    """Press Tab until an element has the focus; fails when Tab comes back to where it started without having met it."""
    visited: set[WebElement] = set()
    while True:
        press_key(browser, Keys.TAB)
        focused = browser.switch_to.active_element
        if focused == wanted:
            return
        assert focused not in visited, f"Tab does not reach {wanted.tag_name} {wanted.text!r}"
        visited.add(focused)


def show_all(browser: webdriver.Chrome, of: str) -> None:
    """Press the button of a list that shows its first few, if there are more of them."""
    for button in browser.find_elements(By.CSS_SELECTOR, f"{of} > button"):
        if button.is_displayed():
            browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", button)
            button.click()
