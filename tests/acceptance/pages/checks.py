"""What holds of each page: every control has a name, it fits a phone, and it is readable in light and dark."""

import os
from pathlib import Path

from playwright.async_api import Page

NARROW = {"width": 390, "height": 844}
WIDE = {"width": 1280, "height": 900}
_NAMELESS = """() => [...document.querySelectorAll('a,button,input:not([type=hidden]),select,textarea')]
    .filter((one) => !(one.labels?.length || one.getAttribute('aria-label') || one.textContent.trim()))
    .map((one) => one.outerHTML)"""
_TOO_WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
# The contrast of text with what is behind it, by WCAG 2: at least 4.5 to 1.
_FAINT = """() => {
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const rgb = (color) => {
        canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
        return canvas.getImageData(0, 0, 1, 1).data;
    };
    const light = ([r, g, b]) => [r, g, b].map((one) => one / 255)
        .map((one) => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
        .reduce((sum, one, n) => sum + one * [0.2126, 0.7152, 0.0722][n], 0);
    const behind = (one) => {
        for (; one; one = one.parentElement) {
            const color = rgb(getComputedStyle(one).backgroundColor);
            if (color[3] === 255) return color;
        }
        return [255, 255, 255];
    };
    return [...document.querySelectorAll('main *, header *')]
        .filter((one) => [...one.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
        .filter((one) => one.checkVisibility() && !one.closest('.hidden, svg, option'))
        .map((one) => {
            const [a, b] = [light(rgb(getComputedStyle(one).color)), light(behind(one))];
            return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), one.outerHTML.slice(0, 120)];
        })
        .filter(([ratio]) => ratio < 4.5);
}"""


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
            assert await page.evaluate(_TOO_WIDE) <= 0, f"{name} is wider than {size}"
        assert await page.evaluate(_FAINT) == [], f"{name} is faint in {scheme}"
    assert await page.evaluate(_NAMELESS) == []
    await page.emulate_media(color_scheme="light")
    await page.set_viewport_size(WIDE)  # type: ignore[arg-type]
