"""What holds of each page: every control has a name, it fits a phone, and it is readable in light and dark."""

import os
from pathlib import Path

from playwright.async_api import Page

NARROW = {"width": 390, "height": 844}
WIDE = {"width": 1280, "height": 900}
_CHECKS = Path(__file__).with_name("checks.js").read_text("utf-8").partition("(")[2]
_RUN = f"(name) => ({_CHECKS.strip()[:-1]})[name]()"


async def check(page: Page, name: str) -> None:
    """Checks the page as it is now, wide and narrow, light and dark; with PAGE_SCREENSHOTS set, leaves pictures there."""
    folder = os.environ.get("PAGE_SCREENSHOTS")
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for size in (WIDE, NARROW):
            await page.set_viewport_size(size)  # type: ignore[arg-type]
            if folder:
                path = Path(folder) / f"{name}-{size['width']}-{scheme}.png"
                await page.screenshot(path=path, full_page=True, caret="initial")
            assert await page.evaluate(_RUN, "too_wide") <= 0, f"{name} is wider than {size}"
        assert await page.evaluate(_RUN, "faint") == [], f"{name} is faint in {scheme}"
    assert await page.evaluate(_RUN, "nameless") == []
    await page.emulate_media(color_scheme="light")
    await page.set_viewport_size(WIDE)  # type: ignore[arg-type]
