"""Opens the page of the figures in a real browser and uses each figure with the mouse, the keyboard and a finger's
drag. A figure must show the digits that normlab prints. On wide and narrow pages, light and dark, there must be no
message on the console, no request that leaves the folder, no page wider than the screen, and no fault found by axe-core
in a figure.

    tests/web/browser.py build/site/html build/release/normlab ARRAYS [--shots FOLDER] [--axe axe.min.js] [--brief]

ARRAYS has x.npy, y.npy, gamma.npy, beta.npy, and the judge's arguments in the file `words`. Needs Selenium, Chromium
and its driver. Exit code: 0 all right, 1 something wrong.
SPDX-License-Identifier: MIT"""
import argparse
import base64
import csv
import io
import math
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "report"))
from browser import AXE, PHONE, WIDE, foreign, look, run
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

FIGURES = ["digits", "sphere", "depth", "who", "pipeline", "sums", "rate", "faster", "judge"]
FACTS = """return Object.fromEntries([...document.querySelectorAll("[data-figure=" + arguments[0] + "] [data-fact]")]
    .map(e => [e.dataset.fact, e.textContent.replaceAll("−", "-")]));"""
# Text that leaves its drawing, or overlaps other text.
CROWDED = """
const wrong = [];
for (const svg of document.querySelectorAll("[data-figure] svg")) {
    const box = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll("text")].map(e => [e, e.getBoundingClientRect()]);
    for (const [i, [e, r]] of texts.entries()) {
        const name = svg.closest("[data-figure]").dataset.figure + ": " + e.textContent;
        if (r.left < box.left - 2 || r.right > box.right + 2 || r.top < box.top - 2 || r.bottom > box.bottom + 2) wrong.push(name + " leaves its drawing");
        for (const [other, o] of texts.slice(i + 1))
            if (Math.min(r.right, o.right) - Math.max(r.left, o.left) > 3 && Math.min(r.bottom, o.bottom) - Math.max(r.top, o.top) > 5)
                wrong.push(name + " lies on " + other.textContent);
    }
}
return wrong;"""


class Page:
    def __init__(self, driver, address):
        self.driver, self.address = driver, address

    def open(self, name, **settings):
        """Opens the figure with these settings in the address."""
        query = "&".join(f"{key}={value}" for key, value in settings.items())
        self.driver.get("about:blank")
        self.driver.get(f"{self.address}#{name}?{query}")
        self.root = self.find(f"[data-figure={name}]")
        WebDriverWait(self.driver, 20).until(lambda _: self.root.get_attribute("data-ready") is not None)
        self.settle()
        return self.facts(name)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def settle(self):
        """Waits until everything is drawn and the address has the settings."""
        self.driver.execute_async_script("const done = arguments[0]; setTimeout(() => requestAnimationFrame(() => done()), 200);")

    def facts(self, name):
        self.settle()
        return self.driver.execute_script(FACTS, name)

    def shot(self, path):
        x, y, width, height = self.driver.execute_script(
            "const r = arguments[0].getBoundingClientRect(); return [r.x + scrollX, r.y + scrollY, r.width, r.height]", self.root)
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": {
            "x": x, "y": y, "width": width, "height": height, "scale": 1}})
        path.write_bytes(base64.b64decode(shot["data"]))

    def drag(self, e, right, down=0):
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", e)
        ActionChains(self.driver).move_to_element(e).click_and_hold().move_by_offset(right, down).release().perform()


def near(a, b, digits=3):
    a, b = float(a), float(b)
    return a == b or math.isfinite(a - b) and abs(a - b) <= 10.0 ** (1 - digits) * abs(b)


def checked(program, note):
    """The error that the figure's command prints."""
    words = note.removeprefix("normlab ").split()
    done = subprocess.run([program, *words], capture_output=True, text=True)
    return float(next(csv.DictReader(io.StringIO(done.stdout)))["error_u"])


def digits(page, program):
    for settings in ({}, {"exhibit": "mlx2238"}, {"exhibit": "mlx2238", "method": "refined"}):
        shown = page.open("digits", **settings)["error"]
        want = checked(program, page.root.find_element("css selector", ".nf-note").text)
        if not near(shown, want):
            yield f"an error of {shown} with {settings}, and normlab says {want}"
    shown = page.open("digits", exhibit="", mean=300, c=256)
    if not near(shown["rstd"], 1 / math.sqrt(float(shown["variance"]) + 1e-5), 5):
        yield f"the drawing has another variance than C: {shown}"
    page.open("digits", exhibit="", mean=100, c=64, method="two_pass")
    before = page.facts("digits")["error"]
    page.drag(page.find("[data-figure=digits] input[data-key=mean]"), 60)
    shown, note = page.facts("digits")["error"], page.root.find_element("css selector", ".nf-note").text
    if shown == before or not near(shown, checked(program, note)):
        yield f"dragged to {note}: an error of {shown}, {before} before, and normlab says {checked(program, note)}"


def sphere(page, _program):
    before = page.open("sphere", norm="rmsnorm", **{"pass": "backward"})
    page.drag(page.find("[data-figure=sphere] .nf-handle.x circle"), 40, 25)
    shown = page.facts("sphere")
    x, y = ([float(v) for v in shown[key].strip("()").split(",")] for key in "xy")
    if shown["x"] == before["x"]:
        yield "x cannot be dragged"
    rms = math.sqrt(sum(v * v for v in x) / 3)
    if not all(abs(v / rms - w) < 0.02 for v, w in zip(x, y)) or abs(float(shown["along"])) > 1e-5:
        yield f"x {x} gives y {y}, and dx . x = {shown['along']}"
    page.find("[data-figure=sphere] .nf-handle.x").send_keys(Keys.ARROW_UP)
    if page.facts("sphere")["x"] == shown["x"]:
        yield "x does not follow the keyboard"


def depth(page, program):
    done = subprocess.run([program, "study", "depth", "--quick"], capture_output=True, text=True, env={**os.environ, "NL_ISA": "c"})
    study = {tuple(row[1:4]): float(row[4]) for row in csv.reader(io.StringIO(done.stdout)) if row[0] == "depth"}
    for norm, series, gain in (("none", "no norm, W * 1.1", 1.1), ("batchnorm", "BatchNorm", 1)):
        shown = page.open("depth", norm=norm, gain=gain)["gradients"].split(" … ")[0]
        want = study["plain gradients", series, "0"]
        if not near(shown, want, 2):
            yield f"{series}: a gradient of {shown} at the input, and the study says {want}"


def who(page, _program):
    padded, small = {"cell": 30, "length": 3}, {"batch": 1}
    for norm, settings, moved, others in (
            ("batch", {}, "12 of 48", 8), ("layer", {}, "4 of 48", 0), ("rms", {}, "4 of 48", 0), ("instance", {}, "4 of 48", 0),
            ("instance", padded, "16 of 48", 0), ("batch", small, "16 of 16", 16), ("group", {}, "8 of 48", 0)):
        shown = page.open("who", norm=norm, **settings)
        if shown["moved"] != moved or shown["others"] != str(others):
            yield f"{norm} {settings}: {shown}"
    page.root.find_elements("css selector", ".nf-cells button")[20].send_keys(Keys.ENTER)
    page.settle()
    if "cell=20" not in page.driver.current_url:
        yield "a chosen cell is not in the address"


def pipeline(page, _program):
    one, many = (float(page.open("pipeline", chains=chains, n=13, lanes=0)["each"]) for chains in (1, 8))
    if not (near(one, 0.25, 2) and 1.95 < many <= 2):
        yield f"{one} values a cycle with one accumulator, {many} with eight"


def sums(page, _program):
    for order, want in (("chain", "256"), ("pairwise", "270")):
        shown = page.open("sums", order=order)
        if shown["exact"] != "271" or abs(float(shown["sum"]) - float(want)) > 2:
            yield f"{order}: {shown}"


def rate(page, _program):
    ends = [float(page.open("rate", rate=r, decay=d)["angle"]) for r, d in ((0.1, 0.1), (0.2, 0.05), (0.1, 0.4))]
    if not (near(ends[0], ends[1], 1) and 1.6 < ends[2] / ends[0] < 2.4):
        yield f"the steps end at {ends} degrees"


def faster(page, _program):
    shown = page.open("faster", passes=8, rounds=200, gain=20, share=10)
    one, many = (int(v.split()[-1]) for v in shown["held"].split(","))
    if shown["verdict"] != "FASTER" or shown["step"] != "2 %" or one > 30 or many < 50:
        yield str(shown)


def judge(page, program, arrays):
    page.open("judge", eps="1e-12")
    field = page.find("[data-figure=judge] input[type=file]")
    field.send_keys("\n".join(str(path.resolve()) for path in sorted(arrays.glob("*.npy"))))
    WebDriverWait(page.driver, 60).until(lambda _: page.find(".nf-report").text)
    words = (arrays / "words").read_text().split()
    want = subprocess.run([program.resolve(), "judge", *words], capture_output=True, text=True, cwd=arrays).stdout
    if page.find(".nf-report").text.split() != want.split():
        yield f"the page says\n{page.find('.nf-report').text}\nand normlab\n{want}"


def used(page, name):
    """The first control, used by mouse and by keyboard, changes the figure and the address."""
    page.open(name)
    control = page.root.find_elements("css selector", "input[type=range]") or page.root.find_elements("css selector", "input[type=radio]:not(:checked)")
    before = page.root.get_attribute("innerHTML")
    control[0].send_keys(Keys.ARROW_LEFT if control[0].get_attribute("type") == "range" else Keys.SPACE)
    page.settle()
    if page.root.get_attribute("innerHTML") == before or f"#{name}?" not in page.driver.current_url:
        yield "the first control does nothing by keyboard"
    before = page.root.get_attribute("innerHTML")
    if control[0].get_attribute("type") == "range":
        page.drag(control[0], 30)
        page.settle()
        if page.root.get_attribute("innerHTML") == before:
            yield "the first control cannot be dragged"
    elsewhere = page.driver.current_url
    page.driver.get("about:blank"), page.driver.get(elsewhere)


def looks(page, axe, shots, brief):
    driver = page.driver
    for size in (WIDE, PHONE)[:1 if brief else 2]:
        for dark in (False, True)[:1 if brief else 2]:
            name = f"{'phone' if size == PHONE else 'wide'}-{'dark' if dark else 'light'}"
            look(driver, size, dark)
            for figure in FIGURES:
                page.open(figure)
                if figure == "judge":
                    page.root.find_element("css selector", ".nf-buttons button").send_keys(Keys.ENTER)
                    WebDriverWait(driver, 20).until(lambda _: page.find(".nf-report").text)
                width = driver.execute_script("return document.documentElement.scrollWidth")
                if width > size[0]:
                    yield f"{name}: {figure} makes the page {width} pixels wide"
                if shots:
                    page.shot(shots / f"{figure}-{name}.png")
                yield from (f"{name}: {line}" for line in driver.execute_script(CROWDED) if line.startswith(f"{figure}:"))
                if axe:
                    driver.execute_script("if (!window.axe) (0, eval)(arguments[0])", axe)
                    script = AXE.replace("axe.run({", f"axe.run('[data-figure={figure}]', {{preload: false, ")
                    yield from (f"{name}: {figure}: axe: {line}" for line in driver.execute_async_script(script))


def problems(page, options):
    yield from looks(page, options.axe and options.axe.read_text(encoding="utf-8"), options.shots, options.brief)
    look(page.driver, WIDE, False)
    for test in (digits, sphere, depth, who, pipeline, sums, rate, faster):
        yield from (f"{test.__name__}: {line}" for line in test(page, options.program))
    yield from (f"judge: {line}" for line in judge(page, options.program, options.arrays))
    for name in FIGURES:
        yield from (f"{name}: {line}" for line in used(page, name))
    yield from foreign(page.driver, options.site.resolve().as_uri(), "data:", "blob:", "about:")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("program", type=Path)
    parser.add_argument("arrays", type=Path)
    parser.add_argument("--shots", type=Path, help="writes screenshots to this folder")
    parser.add_argument("--brief", action="store_true", help="looks only at wide and light pages")
    parser.add_argument("--axe", type=Path, help="axe-core's script")
    options = parser.parse_args()
    address = (options.site / "docs/figures.html").resolve().as_uri()
    return run(lambda driver: problems(Page(driver, address), options), f"{len(FIGURES)} figures", options.shots)


if __name__ == "__main__":
    sys.exit(main())
