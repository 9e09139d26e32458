"""Uses Debian's chromium instead of Playwright's own browsers, with a phone's screen."""

import os

import pytest

pytest_plugins = ["pytest_gimbal"]


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    # Chromium's sandbox does not start as root, which is common in continuous integration.
    return {**browser_type_launch_args, "executable_path": "/usr/bin/chromium", "chromium_sandbox": os.getuid() != 0}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args):
    return {**browser_context_args, "viewport": {"width": 390, "height": 844}, "has_touch": True}
