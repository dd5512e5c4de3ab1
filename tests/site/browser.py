"""Opens pages of the site in a real browser, wide and narrow, light and dark, and reports faults: a message on
the console, a request that leaves the folder, a page wider than the screen, a missing picture, a formula without a
size, Markdown that was not converted, a search that finds nothing.

    tests/site/browser.py build/site/html [PAGE...] [--shots FOLDER]

Needs Selenium, Chromium and its driver. Exit code: 0 all right, 1 something wrong.
SPDX-License-Identifier: MIT"""
import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "report"))
from browser import PHONE, WIDE, foreign, look, run

PICTURES = """return [...document.querySelectorAll(".md-content img")].filter(i => !i.naturalWidth).map(i => i.src);"""
FORMULAS = """
return [...document.querySelectorAll("math")].filter(m => { const r = m.getBoundingClientRect();
    return !m.closest("details:not([open])") && (r.width < 4 || r.height < 4); }).map(m => m.textContent);"""
# Text that was not converted from Markdown.
RAW = """
const article = document.querySelector("article").cloneNode(true);
article.querySelectorAll("code, pre, math, table").forEach(e => e.remove());
return article.textContent.match(/```|\\$\\\\|\\]\\([^)\\s]+\\)|^\\s*- \\S.*/gm) || [];"""
SCHEME = "return document.body.dataset.mdColorScheme"
WIDTH = "return document.documentElement.scrollWidth"
FOUND = "return document.querySelectorAll('.md-search-result__item').length"


def search(driver):
    """The number of search results for a word of the glossary."""
    field = driver.find_element("css selector", "input.md-search__input")
    field.click()
    field.send_keys("cancellation")
    for _ in range(50):
        if driver.execute_script(FOUND):
            return driver.execute_script(FOUND)
        time.sleep(0.1)
    return 0


def problems(driver, site, page, shots):
    for size, dark in ((WIDE, False), (PHONE, True)):
        name = f"{'phone' if size == PHONE else 'wide'}-{'dark' if dark else 'light'}"
        look(driver, size, dark)
        driver.get((site / page).resolve().as_uri())
        if shots:
            look(driver, size, dark, shots, page.replace("/", "-") + "-" + name)
        if (width := driver.execute_script(WIDTH)) > size[0]:
            yield f"{name}: {width} pixels wide"
        if (driver.execute_script(SCHEME) == "slate") != dark:
            yield f"{name}: is not {'dark' if dark else 'light'}"
    for kind, script in (("no picture", PICTURES), ("an empty formula", FORMULAS), ("not read", RAW)):
        if found := driver.execute_script(script):
            yield f"{kind}: {found[:5]}"
    yield from foreign(driver, site.resolve().as_uri(), "data:", "blob:")


def all_problems(driver, site, pages, shots):
    for page in pages:
        yield from (f"{page}: {line}" for line in problems(driver, site, page, shots))
    look(driver, WIDE, False)
    driver.get((site / pages[0]).resolve().as_uri())
    if not search(driver):
        yield "a search for cancellation finds nothing"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("pages", nargs="*", default=["index.html"])
    parser.add_argument("--shots", type=Path, help="writes screenshots to this folder")
    options = parser.parse_args()
    return run(lambda driver: all_problems(driver, options.site, options.pages, options.shots), f"{len(options.pages)} pages", options.shots)


if __name__ == "__main__":
    sys.exit(main())
