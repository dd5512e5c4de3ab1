"""Opens the report in a real browser and reports faults: a missing or empty picture, a message on the
console, a request that leaves the page, a repeated id, a broken link, a page wider than a phone, letters too
small or too pale, no access by keyboard, and what axe-core finds against WCAG 2.2, level AA.

    tests/report/browser.py report/index.html RESULTS [--shots FOLDER] [--axe axe.min.js]

Needs Selenium, Chromium and its driver. Exit code: 0 all right, 1 something wrong.
SPDX-License-Identifier: MIT"""
import argparse
import base64
import json
import shutil
import sys
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys

PHONE, WIDE, PAPER = (390, 844), (1280, 900), 718  # PAPER: the width of A4 between margins of 1 cm
MOST = 4 * 2**20

# The contrast ratio (WCAG 2) of every element's text and background.
CONTRAST = """
const rgb = c => (c.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
const light = c => { const [r, g, b] = c.slice(0, 3).map(v => (v /= 255) <= 0.04045 ? v / 12.92
    : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
let worst = [99, ""];
for (const e of document.body.querySelectorAll("*:not(svg *)")) {
    if (![...e.childNodes].some(n => n.nodeType == 3 && n.data.trim())) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst[0]) worst = [ratio, e.tagName + "." + e.className + " " + e.textContent.slice(0, 40)];
}
return worst;"""
IDS = """
const ids = [...document.querySelectorAll("[id]")].map(e => e.id), once = new Set(ids);
const lost = [...document.querySelectorAll("a[href^='#']")].map(a => a.getAttribute("href").slice(1))
    .concat([...document.querySelectorAll("use")].map(u => (u.getAttribute("href") ||
        u.getAttribute("xlink:href")).slice(1)));
return [ids.filter((id, i) => ids.indexOf(id) < i).slice(0, 5), lost.filter(id => !once.has(id)).slice(0, 5)];"""
PICTURES = """
return [...document.querySelectorAll(".picture img")].map(i => [i.id || i.alt, i.naturalWidth, i.naturalHeight,
    i.hasAttribute("alt")]);"""
# Elements that are wider than the page and are not in a scrolling box.
CUT = """
return [...document.body.querySelectorAll("*")].filter(e => { const r = e.getBoundingClientRect();
    return r.width && (r.right > arguments[0] + 1 || r.left < -1) && !e.closest(".scroll, .skip") &&
        getComputedStyle(e).position != "absolute" && !e.closest("thead"); })
    .map(e => e.tagName + "." + e.className + " " + e.textContent.slice(0, 30)).slice(0, 5);"""
OVER = """
return [...document.querySelectorAll(".numbers dd, .numbers dt")].filter(e => e.scrollWidth > e.clientWidth + 1)
    .map(e => e.textContent);"""
AXE = """
const done = arguments[0];
axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(
    r => done(r.violations.map(v => v.id + ": " + v.help + ", " + v.nodes.map(n => n.target.join(" ")).slice(0, 3).join("; "))),
    e => done(["axe failed: " + e]));"""
SMALL = """
return [...document.body.querySelectorAll("*:not(svg *)")].filter(e => e.innerText && !e.matches("sub, sup") &&
    parseFloat(getComputedStyle(e).fontSize) < 12).map(e => e.tagName + " " + e.innerText.slice(0, 30)).slice(0, 5);"""


def browser():
    options = webdriver.ChromeOptions()
    for option in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


def look(driver, size, dark, shots=None, name="", media="screen"):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [
        {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    if shots:
        shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": {
            "x": 0, "y": 0, "width": size[0], "scale": 1,
            "height": driver.execute_script("return document.documentElement.scrollHeight")}})
        (shots / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))


def requests(driver):
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            yield message["params"]["request"]["url"]


def foreign(driver, *homes):
    """Requests to addresses that begin with none of `homes`, and messages on the console."""
    for url in requests(driver):
        if not (url + "#").startswith(homes):
            yield f"asks for {url}"
    for entry in driver.get_log("browser"):
        yield f"on the console: {entry['message'][:200]}"


def run(problems, name, shots):
    """Prints what `problems` yields in a browser, and returns the exit code."""
    if shots:
        shots.mkdir(parents=True, exist_ok=True)
    driver = browser()
    try:
        wrong = list(problems(driver))
    finally:
        driver.quit()
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{name}: {len(wrong)} things wrong")
    return 1 if wrong else 0


def problems(driver, page, results, shots, axe):
    address = page.resolve().as_uri()
    driver.get(address)
    if page.stat().st_size > MOST:
        yield f"{page.stat().st_size / 2**20:.1f} MiB, more than {MOST / 2**20:.0f}"
    drawn = {path.stem for path in results.glob("slides/light/*.png") if (results / path.with_suffix(".csv").name).exists()}
    for entry in driver.get_log("browser"):
        yield f"on the console: {entry['message'][:200]}"
    shown = driver.execute_script(PICTURES)
    for name in sorted(drawn - {row[0].removesuffix("-slide") for row in shown}):
        yield f"there is no picture {name}"
    for name, width, height, described in shown:
        if not width or not height or (name and width < 600) or not described:
            yield f"picture {name} is {width} x {height}{'' if described else ' and has no alt'}"
    if top := driver.execute_script("const p = document.querySelector('.says').getBoundingClientRect(); return p.top"):
        if top > WIDE[1] / 2:
            yield f"the answer begins {top:.0f} pixels down"
    twice, lost = driver.execute_script(IDS)
    if twice or lost:
        yield f"ids there twice: {twice}; links to nowhere: {lost}"
    for size, dark in ((WIDE, False), (WIDE, True), (PHONE, False), (PHONE, True)):
        name = f"{'phone' if size == PHONE else 'wide'}-{'dark' if dark else 'light'}"
        look(driver, size, dark, shots, name)
        width = driver.execute_script("return document.documentElement.scrollWidth")
        if width > size[0]:
            yield f"{name}: {width} pixels wide"
        ratio, where = driver.execute_script(CONTRAST)
        if ratio < 4.5:
            yield f"{name}: contrast {ratio:.2f} at {where}"
        small = driver.execute_script(SMALL)
        if small:
            yield f"{name}: letters below 12 pixels: {small}"
        if cut := driver.execute_script(CUT, size[0]):
            yield f"{name}: cut off: {cut}"
        if over := driver.execute_script(OVER):
            yield f"{name}: printed over its neighbour: {over}"
        if axe:
            driver.execute_script("if (!window.axe) (0, eval)(arguments[0])", axe)
            yield from (f"{name}: axe: {line}" for line in driver.execute_async_script(AXE))
    driver.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    if cut := driver.execute_script(CUT, PHONE[0]):
        yield f"phone, all unfolded: cut off: {cut}"
    width = driver.execute_script("return document.documentElement.scrollWidth")
    if width > PHONE[0]:
        yield f"phone, all unfolded: {width} pixels wide"
    look(driver, PHONE, False, shots, "phone-unfolded")
    driver.find_element("tag name", "body").send_keys(Keys.TAB)
    if driver.execute_script("return document.activeElement.className") != "skip":
        yield "the first Tab does not reach the skip link"
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    if driver.execute_script("return document.activeElement.id") != "main":
        yield "the skip link does not lead to the results"
    look(driver, (PAPER, 1000), False, media="print")
    if (width := driver.execute_script("return document.documentElement.scrollWidth")) > PAPER + 1:
        yield f"on A4: {width} pixels wide, not {PAPER}"
    pdf = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {
        "printBackground": True, "paperWidth": 8.27, "paperHeight": 11.69})["data"])
    if shots:
        (shots / "page.pdf").write_bytes(pdf)
    if not pdf.startswith(b"%PDF") or pdf.count(b"/Type /Page\n") < 2:
        yield "it does not print"
    yield from foreign(driver, address + "#", "data:")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("results", type=Path, help="the folder of the page's results")
    parser.add_argument("--shots", type=Path, help="writes screenshots and a PDF to this folder")
    parser.add_argument("--axe", type=Path, help="axe-core's script")
    options = parser.parse_args()
    axe = options.axe and options.axe.read_text(encoding="utf-8")
    return run(lambda driver: (f"{options.page}: {line}" for line in problems(driver, options.page, options.results, options.shots, axe)),
               options.page, options.shots)


if __name__ == "__main__":
    sys.exit(main())
