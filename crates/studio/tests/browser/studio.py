"""The studio in a real browser: Playwright drives Chromium through the whole way.

Usage: studio.py PROGRAM EXAMPLES CHROMIUM AXE [SCREENSHOTS]

Every scenario starts a studio of its own in a folder of its own. A scenario that fails prints what it saw.
"""

import contextlib
import csv
import http.server
import io
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback

from playwright.sync_api import expect, sync_playwright

PROGRAM, EXAMPLES, CHROMIUM, AXE = sys.argv[1:5]
SHOTS = sys.argv[5] if len(sys.argv) > 5 else None
STEPS = ["data", "hierarchies", "rules", "publish", "explore", "utility", "community", "export"]
expect.set_options(timeout=20000)


class Studio:
    """A studio in a folder of its own."""

    started = []

    def __init__(self, files=(), arguments=()):
        Studio.started.append(self)
        self.folder = tempfile.mkdtemp(prefix="studio-")
        for file in files:
            shutil.copy(os.path.join(EXAMPLES, file), self.folder)
        self.arguments = list(arguments)
        self.start()

    def start(self):
        command = [PROGRAM, "--no-browser", *self.arguments]
        self.process = subprocess.Popen(
            command, cwd=self.folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for line in self.process.stderr:
            if "http://" in line:
                self.address = line.split()[-1]
                return
        raise RuntimeError("the studio ended")

    def stop(self):
        self.process.kill()
        self.process.wait()

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def text(self, *names):
        with open(self.path(*names), encoding="utf-8") as file:
            return file.read()

    def close(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def enter(browser, studio, **options):
    """A page inside the studio; errors of its scripts fail the scenario."""
    context = browser.new_context(**{"viewport": {"width": 1366, "height": 768}, **options})
    page = context.new_page()
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("console", lambda message: page.problems.append(message.text) if message.type == "error" else None)
    page.goto(studio.address)
    page.wait_for_selector("#main h1")
    return page


def step(page, name):
    page.locator(f"nav.steps a[href='/{name}']").click()
    page.wait_for_selector(f"#app[data-page='{name}'] #main h1")


def csv_to_release(browser):
    studio = Studio()
    page = enter(browser, studio)
    page.set_input_files("#file", os.path.join(EXAMPLES, "hospital/patients.csv"))
    expect(page.get_by_role("heading", name="diagnosis")).to_be_visible()
    # The pictures are there before the policy.
    expect(page.get_by_text("The policy is valid.")).to_be_visible()
    assert "[attributes]" in studio.text("policy.toml")
    page.locator("section.card", has_text="sex").get_by_role("button", name="Plain", exact=True).click()
    expect(page.locator(".diff ins")).to_contain_text("plain")
    page.locator("#undo").click()
    expect(page.locator("aside")).to_contain_text("Every change is written")
    expect(page.get_by_role("heading", name="Two columns")).to_be_visible()
    step(page, "rules")
    page.get_by_role("button", name="1 in 3").click()
    expect(page.locator(".diff ins").first).to_be_visible()
    expect(page.locator("#implied")).to_contain_text("No rule contradicts")
    slider = page.locator("input[type=range]").first
    slider.fill("4")
    slider.dispatch_event("change")
    expect(page.locator("#undo")).to_contain_text("k = 4")
    page.reload()
    expect(page.locator("#undo")).to_contain_text("k = 4")
    step(page, "publish")
    page.locator("#suppression-number").fill("10")
    page.locator("#suppression-number").press("Tab")
    expect(page.locator("#undo")).to_contain_text("suppression")
    page.locator("#destination").fill("first")
    page.locator("#publish").click()
    expect(page.locator(".verified")).to_be_visible()
    expect(page.locator("#result table")).to_contain_text("holds")
    assert os.path.exists(studio.path("first", "datapackage.json"))
    step(page, "utility")
    page.locator("#sql").fill("SELECT COUNT(*) FROM data WHERE age < 40")
    page.locator("#ask").click()
    expect(page.locator("#answer")).to_contain_text("truth")
    page.locator("#measure").click()
    expect(page.locator("section.report").first).to_be_visible()
    step(page, "export")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the policy").click()
    assert "[attributes]" in open(download.value.path(), encoding="utf-8").read()
    with page.expect_download() as download:
        page.get_by_role("button", name="data.csv").click()
    with open(download.value.path(), encoding="utf-8") as file:
        assert file.read() == studio.text("first", "data.csv")
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Show the report").click()
    expect(opened.value.get_by_role("heading", level=1)).to_be_visible()
    opened.value.close()
    # Back and forward fetch the pages again.
    page.go_back()
    page.wait_for_selector("#app[data-page='utility']")
    return studio, page


def drag_a_hierarchy(browser):
    studio = Studio(["hospital/patients.csv", "hospital/policy.toml"], ["policy.toml"])
    page = enter(browser, studio)
    step(page, "hierarchies")
    page.get_by_role("button", name="Turn into cut points").click()
    cut = page.locator("#cut-1")
    expect(cut).to_be_visible()
    before = cut.get_attribute("data-at")
    box = cut.locator("circle").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 20, y, steps=5)
    page.mouse.move(x + 11, y, steps=3)
    page.mouse.up()
    expect(page.locator("#undo")).to_contain_text("cut points of age")
    after = page.locator("#cut-1").get_attribute("data-at")
    assert after != before, (before, after)
    assert "breaks" in studio.text("policy.toml") and after in studio.text("policy.toml")
    page.locator("#cut-1").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#cut-1")).not_to_have_attribute("data-at", after)
    time.sleep(1)
    page.locator("#cut-0").focus()
    count = page.locator(".cut").count()
    page.keyboard.press("Delete")
    expect(page.locator(".cut")).to_have_count(count - 1)
    expect(page.locator("#levels table")).to_contain_text("rows singled out")
    # An ARX file goes out and comes in.
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as an ARX file").click()
    shutil.copy(download.value.path(), studio.path("edited.csv"))
    page.set_input_files("#import", studio.path("edited.csv"))
    expect(page.locator("#undo")).to_contain_text("hierarchy file of age")
    expect(page.locator(".chip").first).to_be_visible()
    page.locator("#undo").click()
    expect(page.locator(".cut").first).to_be_visible()
    # Categories: zip in groups, one dragged, one moved with the keyboard.
    page.locator(".tabs a", has_text="sex").click()
    page.locator("#kind-file").click()
    chips = page.locator(".chip")
    expect(chips.first).to_be_visible()
    name = chips.first.get_attribute("data-member")
    chips.first.drag_to(page.locator(".group.new"))
    expect(page.locator(".group")).to_have_count(3)
    assert f"{name};Group 2" in studio.text("hierarchies", "sex.csv"), studio.text("hierarchies", "sex.csv")
    moved = page.locator(".group").nth(0).locator(".chip").first
    other = moved.get_attribute("data-member")
    moved.focus()
    page.keyboard.press("Enter")
    page.locator(".here").last.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#undo")).to_contain_text(other)
    page.locator("#undo").click()
    return studio, page


AWKWARD = ['Full "name"', "age, in years", "zip code", "a.b", "Größe <b>", "it's 'this'", "back\\slash", "x" * 70, "Diagnose; 日"]


def awkward_names(browser):
    """A file that cannot be read, mended and sent again; names and values that break careless programs."""
    studio = Studio()
    page = enter(browser, studio)

    def send(text):
        page.set_input_files("#file", {"name": "Über (1) & co.csv", "mimeType": "text/csv", "buffer": text.encode()})

    send("a,b\n1,2,3\n")
    expect(page.locator("#job")).to_contain_text("expected 2 fields")
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(AWKWARD)
    draw = random.Random(4)
    for row in range(240):
        zips, words = ["02139", "10115", ""], ["y'es", 'n"o', "<script>", "a;b"]
        name, age, size = f"Person {row}", draw.randrange(20, 80), draw.randrange(150, 200)
        illness = draw.choice("flu cold HIV".split())
        more = [draw.choice("abc"), size, draw.choice(words), "a\\b", "long " * draw.randrange(9), illness]
        writer.writerow([name, age, draw.choice(zips), *more])
    send(file.getvalue())
    expect(page.get_by_role("heading", name="Größe <b>")).to_be_visible(timeout=60000)
    for place, role in [(0, "identifier"), (1, "quasi"), (5, "quasi"), (8, "sensitive"), (3, "plain"), (7, "omit")]:
        button = page.locator(f"#role-{place}-{role}")
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
    for place in [2, 6]:
        page.locator(f"#role-{place}-plain").click()
        expect(page.locator(f"#role-{place}-plain")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("aside")).to_contain_text("The policy is valid.")
    step(page, "hierarchies")
    page.locator(".tabs a", has_text="it's 'this'").click()
    page.locator("#kind-file").click()
    chip = page.locator(".chip", has_text="a;b")
    chip.drag_to(page.locator(".group.new"))
    expect(page.locator("#undo")).to_contain_text("a;b")
    step(page, "rules")
    page.get_by_role("button", name="k = 11").click()
    expect(page.locator("#undo")).to_contain_text("k = 11 in rule 1")
    step(page, "explore")
    expect(page.locator("#use-full-domain, #explore")).to_be_visible()
    page.locator("#use-full-domain, #explore").click()
    expect(page.locator("#node")).to_be_visible()
    other = page.locator("svg[aria-label='Lattice'] a[aria-label$=', holds']").last
    other.click()
    expect(page.locator("#node")).to_contain_text("One level less")
    page.locator("#destination").fill("at chosen levels")
    page.locator("#publish-node").click()
    expect(page.locator(".verified")).to_be_visible(timeout=60000)
    header = next(csv.reader(io.StringIO(studio.text("at chosen levels", "data.csv"))))
    assert AWKWARD[0] not in header and set(AWKWARD[1:3]) <= set(header), header
    for width in [390, 1366]:
        page.set_viewport_size({"width": width, "height": 800})
        for name in STEPS:
            step(page, name)
            wide = page.evaluate("document.scrollingElement.scrollWidth")
            assert wide <= width, f"{name} is {wide} pixels wide on a screen of {width}"
    return studio, page


def cancel_a_search(browser):
    studio = Studio()
    names = [f"a{place}" for place in range(8)]
    state = 1
    with open(studio.path("people.csv"), "w", encoding="utf-8") as file:
        file.write(",".join([*names, "illness"]) + "\n")
        for _ in range(40000):
            row = []
            for _ in names:
                state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
                row.append(str((state >> 33) % 97))
            file.write(",".join([*row, "abcdefgh"[(state >> 40) % 8]]) + "\n")
    attributes = "".join(f'{n} = {{ role = "quasi", hierarchy = {{ widths = [2, 8, 32] }} }}\n' for n in names)
    with open(studio.path("policy.toml"), "w", encoding="utf-8") as file:
        file.write(f'[source]\npath = "people.csv"\n[attributes]\n{attributes}illness = {{ role = "sensitive" }}\n')
        file.write('[[rule]]\nrequire = { model = "k-anonymity", k = 5 }\n[publish]\nsuppression = 0.02\n')
    studio.stop()
    studio.start()
    page = enter(browser, studio)
    expect(page.get_by_role("heading", name="illness")).to_be_visible()
    step(page, "publish")
    page.locator("#publish").click()
    expect(page.locator("#cancel-job")).to_be_visible()
    page.reload()
    expect(page.locator("#cancel-job")).to_be_visible()
    page.locator("#cancel-job").click()
    expect(page.locator("#main")).to_contain_text("Canceled: nothing was written.")
    assert not os.path.exists(studio.path("release"))
    assert not [name for name in os.listdir(studio.folder) if "partial" in name or "part" == name[-4:]]
    # The same again, ended with the best that was found.
    page.locator("#publish").click()
    expect(page.locator("#job")).to_contain_text("Best so far")
    page.locator("#finish-early").click()
    expect(page.locator(".verified")).to_be_visible(timeout=60000)
    expect(page.locator("#result")).to_contain_text("The search ended early")
    return studio, page


def a_click_while_work_ends(browser):
    studio = Studio(["hospital/patients.csv", "hospital/policy.toml"], ["policy.toml"])
    page = enter(browser, studio)

    def late(milliseconds):
        def answer(route):
            page.wait_for_timeout(milliseconds)
            with contextlib.suppress(Exception):  # A request that was given up has no answer.
                route.continue_()

        return answer

    again = """() => {
        const job = document.createElement('div');
        job.id = 'job';
        for (const [name, value] of [['get', '/data'], ['trigger', 'load'], ['target', '#app'], ['swap', 'outerHTML']])
            job.setAttribute('hx-' + name, value);
        document.getElementById('main').append(job);
        htmx.process(job);
    }"""
    click = "() => document.querySelector(\"nav.steps a[href='/rules']\").click()"
    page.route("**/data", late(500))
    page.route("**/rules", late(1000))
    # The work's page is on its way when the reader clicks, and the other way round.
    for script in [f"() => {{ ({again})(); ({click})(); }}", f"() => {{ ({click})(); ({again})(); }}"]:
        page.evaluate(script)
        page.wait_for_selector("#app[data-page='rules'] #main h1")
        page.wait_for_timeout(800)
        expect(page.locator("#app")).to_have_attribute("data-page", "rules")
        step(page, "data")
    page.unroute_all()
    return studio, page


def find_a_breach(browser):
    files = [f"departments/{name}" for name in os.listdir(os.path.join(EXAMPLES, "departments")) if name[-2:] != "md"]
    studio = Studio(files, ["revenue.toml"])
    page = enter(browser, studio)
    step(page, "publish")
    page.locator("#destination").fill("revenue-release")
    page.locator("#publish").click()
    expect(page.locator(".verified")).to_be_visible()
    studio.stop()
    studio.arguments = ["census.toml", "revenue-release"]
    studio.start()
    page.context.close()
    page = enter(browser, studio)
    step(page, "publish")
    page.locator("#destination").fill("census-release")
    page.locator("#publish").click()
    expect(page.locator(".verified")).to_be_visible()
    step(page, "community")
    page.locator("#audit").click()
    expect(page.locator("#together-result h2")).to_contain_text("Breach")
    expect(page.get_by_text("How a value is narrowed down")).to_be_visible()
    expect(page.locator("#together-result svg").first).to_be_visible()
    # A table that another program made is dropped onto the page.
    page.evaluate(
        """() => {
          const transfer = new DataTransfer();
          const rows = "age,zip,illness\\n30-39,021**,flu\\n30-39,021**,flu\\n40-49,021**,flu\\n40-49,021**,cold\\n";
          transfer.items.add(new File([rows], "theirs.csv", { type: "text/csv" }));
          const zone = document.querySelector(".drop");
          for (const name of ["dragover", "drop"]) {
            zone.dispatchEvent(new DragEvent(name, { bubbles: true, cancelable: true, dataTransfer: transfer }));
          }
        }"""
    )
    expect(page.locator("#releases")).to_contain_text("community/theirs-table")
    # A release is a folder: chosen, for those who cannot drop.
    page.set_input_files("#release-folder", studio.path("revenue-release"))
    expect(page.locator("#releases")).to_contain_text("community/revenue-release")
    assert studio.text("community", "revenue-release", "data.csv") == studio.text("revenue-release", "data.csv")
    return studio, page


class Impostor(http.server.BaseHTTPRequestHandler):
    """Another user's program that listens where the studio was."""

    received = []

    def answer(self):
        Impostor.received.append(self.path)
        body = b"<div id='app'><main id='main'><h1>evil</h1></main></div>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


def another_program_on_the_port(browser):
    studio = Studio(["hospital/patients.csv", "hospital/policy.toml"], ["policy.toml"])
    page = enter(browser, studio)
    step(page, "community")
    studio.stop()
    port = int(studio.address.split(":")[2].split("/")[0])
    impostor = http.server.ThreadingHTTPServer(("127.0.0.1", port), Impostor)
    threading.Thread(target=impostor.serve_forever, daemon=True).start()
    page.locator("nav.steps a[href='/rules']").click()
    expect(page.locator("#trouble")).to_contain_text("Another program answers")
    expect(page.locator("h1")).to_contain_text("Community")
    page.locator("#trouble button").click()
    page.set_input_files("#release-file", studio.path("patients.csv"))
    expect(page.locator("#trouble")).to_contain_text("Another program answers")
    assert not [path for path in Impostor.received if "upload" in path], Impostor.received
    impostor.shutdown()
    impostor.server_close()
    # Requests between the two programs fail, and the browser says so.
    page.problems.clear()
    return studio, page


def by_keyboard_alone(browser):
    studio = Studio(["hospital/patients.csv", "hospital/policy.toml"], ["policy.toml"])
    page = enter(browser, studio)

    def press_until(test, key="Tab", most=150):
        for _ in range(most):
            page.keyboard.press(key)
            if page.evaluate(f"() => {{ const e = document.activeElement; return {test}; }}"):
                return
        raise AssertionError(f"the keyboard does not lead to: {test}")

    press_until("e.id === 'role-3-plain'")
    page.keyboard.press("Enter")
    expect(page.locator("#undo")).to_contain_text("sex is plain")
    assert page.evaluate("document.activeElement.id") == "role-3-plain", "the focus stays"
    press_until("e.id === 'undo'")
    page.keyboard.press("Enter")
    expect(page.locator("aside")).to_contain_text("Every change is written")
    press_until("e.getAttribute('href') === '/rules'")
    page.keyboard.press("Enter")
    page.wait_for_selector("#app[data-page='rules']")
    press_until("e.type === 'range'")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#undo")).to_contain_text("k = 4")
    assert page.evaluate("document.activeElement.type") == "range", "the focus stays"
    press_until("e.getAttribute('href') === '/publish'", "Shift+Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#app[data-page='publish']")
    press_until("e.id === 'publish'")
    page.keyboard.press("Enter")
    expect(page.locator(".verified")).to_be_visible()
    press_until("e.getAttribute('href') === '/explore'", "Shift+Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#app[data-page='explore']")
    press_until("e.id === 'explore'")
    page.keyboard.press("Enter")
    expect(page.locator("#node")).to_be_visible()
    press_until("e.tagName === 'a' && (e.getAttribute('aria-label') || '').includes('holds')")
    page.keyboard.press("Enter")
    expect(page.locator("#node")).to_contain_text("One level less")
    press_until("e.getAttribute('href') === '/community'", "Shift+Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#app[data-page='community']")
    press_until("e.id === 'audit'")
    page.keyboard.press("Enter")
    expect(page.locator("#together-result")).to_be_visible()
    press_until("e.getAttribute('href') === '/export'", "Shift+Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#app[data-page='export']")
    press_until("(e.dataset.download || '') === 'policy:'")
    with page.expect_download():
        page.keyboard.press("Enter")
    return studio, page


def accessible(browser):
    """axe-core on every page, light and dark; screenshots where a folder is named."""
    axe = open(AXE, encoding="utf-8").read()
    studio = Studio(["hospital/patients.csv", "hospital/policy.toml"], ["policy.toml"])
    page = enter(browser, studio, bypass_csp=True)
    step(page, "publish")
    page.locator("#publish").click()
    expect(page.locator(".verified")).to_be_visible()
    page.locator("#compare").click()
    expect(page.locator("#compared")).to_be_visible()
    step(page, "explore")
    page.locator("#explore").click()
    expect(page.locator("#node")).to_contain_text("One level less")
    step(page, "utility")
    page.locator("#measure").click()
    expect(page.locator("section.report").first).to_be_visible()
    step(page, "community")
    page.locator("#audit").click()
    expect(page.locator("#together-result")).to_be_visible()
    step(page, "rules")
    expect(page.locator("#implied .plot svg")).to_be_visible()
    found = []
    for scheme in ["light", "dark"]:
        page.emulate_media(color_scheme=scheme)
        for name in STEPS:
            step(page, name)
            page.wait_for_timeout(150)
            page.evaluate(axe)
            # Colors are all that differs in the dark.
            only = ", runOnly: ['color-contrast']" if scheme == "dark" else ""
            result = page.evaluate(f"() => axe.run(document, {{ resultTypes: ['violations']{only} }})")
            for violation in result["violations"]:
                if violation["impact"] in ("serious", "critical"):
                    nodes = [node["html"][:160] for node in violation["nodes"][:3]]
                    found.append(f"{scheme} {name}: {violation['id']}: {nodes}")
    page.set_viewport_size({"width": 390, "height": 844})
    for name in STEPS:
        step(page, name)
        width = page.evaluate("document.scrollingElement.scrollWidth")
        if width > 390:
            found.append(f"phone {name}: {width} pixels wide")
    assert not found, "\n".join(found)
    if SHOTS:
        take_screenshots(page)
    return studio, page


def take_screenshots(page):
    sizes = {"laptop": (1366, 768), "desktop": (1920, 1080), "phone": (390, 844)}
    for size, (width, height) in sizes.items():
        page.set_viewport_size({"width": width, "height": height})
        for scheme in ["light", "dark"]:
            page.emulate_media(color_scheme=scheme)
            for name in STEPS:
                step(page, name)
                page.wait_for_timeout(300)
                page.screenshot(path=os.path.join(SHOTS, f"{size}-{scheme}-{name}.png"), full_page=size == "phone")


SCENARIOS = [
    csv_to_release,
    drag_a_hierarchy,
    awkward_names,
    cancel_a_search,
    a_click_while_work_ends,
    find_a_breach,
    another_program_on_the_port,
    by_keyboard_alone,
    accessible,
]


def main():
    failed = 0
    only = os.environ.get("HEDGEROW_SCENARIO", "")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for scenario in SCENARIOS:
            if only and only not in scenario.__name__:
                continue
            started = time.time()
            try:
                studio, page = scenario(browser)
                problems = page.problems
                page.context.close()
                if problems:
                    raise AssertionError("the page reported: " + "; ".join(problems))
                print(f"{scenario.__name__}: passed in {time.time() - started:.1f} s", flush=True)
            except Exception:
                failed += 1
                print(f"{scenario.__name__}: FAILED\n{traceback.format_exc()}", flush=True)
                for context in browser.contexts:
                    for page in context.pages:
                        if SHOTS:
                            page.screenshot(path=os.path.join(SHOTS, f"failed-{scenario.__name__}.png"))
                        print(page.locator("body").inner_text()[:1500], flush=True)
                    context.close()
            for studio in Studio.started:
                studio.close()
            Studio.started.clear()
        browser.close()
    sys.exit(1 if failed else 0)


main()
