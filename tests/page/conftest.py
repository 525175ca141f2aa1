import pytest

from tests.chromium import NAMES, SIZES, open_page


@pytest.fixture(params=SIZES, ids=NAMES)
def browser(request, address, tmp_path):
    """The page at the module's `address`, in a window of each size."""
    window = open_page(address, request.param, tmp_path)
    yield window
    window.quit()
