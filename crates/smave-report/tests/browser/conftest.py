"""Reports made by the real command, and a browser to open them in."""

import csv
import os
import random
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[4]
SMAVE = ROOT / os.environ.get("SMAVE_BIN", "target/debug/smave")
SCREENSHOTS = ROOT / "target" / "report-screenshots"

# Names that are markup, long, or in other scripts, as files do have them.
ODD_NAMES = ['<b>&"', "a rather long name of a covariate, with a comma", "größe WWW", "plain", "color <x>"]
LEVELS = ["azure", "red & <i>green</i>", 'violet "deep"']
ODD_TARGET = "outcome </script>"


@dataclass
class Report:
    """A page, and what must be on it."""

    name: str
    page: Path
    n_rows: int
    n_shown: int
    dim: int
    covariates: list
    targets: list = field(default_factory=lambda: ["y"])
    # Columns of numbers by name, as in the file; none for built-in data.
    data: dict = field(default_factory=dict)
    # The largest number of directions tried, where something was resampled.
    max_dim: int | None = None
    starts: bool = True

    @property
    def url(self):
        return self.page.as_uri()

    @property
    def scatters(self):
        """How many scatter plots there must be."""
        return len(self.targets) * (3 if self.dim == 1 else 4)


def write_csv(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def read_csv(path):
    """Columns of numbers; a column of text becomes indicators of all levels but the first."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        try:
            columns[name] = [float(value) for value in values]
        except ValueError:
            for level in sorted(set(values))[1:]:
                columns[f"{name}={level}"] = [float(value == level) for value in values]
    return columns


class Maker:
    """Runs `smave` in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder

    def smave(self, *args):
        done = subprocess.run([SMAVE, *map(str, args)], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, f"smave {args}: {done.stderr}"

    def report(self, name, table, dim, targets=("y",), fit=(), resample=None, shown=None, starts=True):
        """Fits and reports on a table that is there already."""
        target = ",".join(targets)
        self.smave("fit", table, "--target", target, "--dim", dim, "--out", f"{name}.json", *fit)
        how = ["--quick"] if resample is None else ["--replicates", 20, "--max-dim", resample]
        self.smave("report", f"{name}.json", table, "--out", f"{name}.html", *how)
        data = read_csv(self.folder / table)
        n_rows = len(data[targets[0]])
        covariates = [column for column in data if column not in targets]
        page = self.folder / f"{name}.html"
        n_shown = shown or n_rows
        return Report(name, page, n_rows, n_shown, dim, covariates, list(targets), data, resample, starts)

    def demo(self):
        self.smave("demo", "--out", "demo.html")
        covariates = [f"x{i}" for i in range(1, 21)]
        return Report("demo", self.folder / "demo.html", 2000, 2000, 2, covariates)

    def simulate(self, table, n, p):
        link = ["--link", "interaction", "--cov", "ar1", "--seed", 1]
        self.smave("simulate", *link, "--n", n, "--p", p, "--out", table)

    def resampled(self):
        self.simulate("resampled.csv", 400, 6)
        return self.report("resampled", "resampled.csv", 2, resample=3)

    def one(self):
        self.simulate("one.csv", 300, 4)
        return self.report("one", "one.csv", 1, resample=2)

    def two(self):
        draw = random.Random(1)
        rows = []
        for _ in range(300):
            x = [draw.gauss(0, 1) for _ in range(5)]
            height = x[0] + x[1] + 0.3 * draw.gauss(0, 1)
            income = 1e5 * (x[2] - x[3]) ** 2 + 1e4 * draw.gauss(0, 1)
            rows.append([f"{v:.6g}" for v in [*x, height, income]])
        write_csv(self.folder / "two.csv", [*(f"x{i}" for i in range(1, 6)), "height", "income"], rows)
        return self.report("two", "two.csv", 2, targets=("height", "income"))

    def many(self):
        self.simulate("many.csv", 21_000, 3)
        fast = ["--method", "dr"]
        return self.report("many", "many.csv", 1, fit=fast, shown=20_000, starts=False)

    def names(self):
        draw = random.Random(2)
        rows = []
        for _ in range(250):
            x = [draw.gauss(0, 1) for _ in range(4)]
            level = draw.choice(LEVELS)
            y = x[0] + x[1] + 2 * (level == LEVELS[1]) + 0.3 * draw.gauss(0, 1)
            rows.append([*(f"{v:.6g}" for v in x), level, f"{y:.6g}"])
        write_csv(self.folder / "names.csv", [*ODD_NAMES, ODD_TARGET], rows)
        return self.report("names", "names.csv", 1, targets=(ODD_TARGET,), resample=2)


REPORTS = ["demo", "resampled", "one", "two", "many", "names"]


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """All reports by name."""
    maker = Maker(tmp_path_factory.mktemp("reports"))
    with ThreadPoolExecutor(2) as pool:
        made = pool.map(lambda name: getattr(maker, name)(), REPORTS)
        return dict(zip(REPORTS, made))


@pytest.fixture(params=REPORTS)
def report(request, reports):
    """One report after the other."""
    return reports[request.param]


@pytest.fixture(scope="session")
def browser():
    names = ["chromium", "chromium-browser", "google-chrome"]
    path = next(filter(None, map(shutil.which, names)), None)
    assert path, "there is no Chromium"
    with sync_playwright() as playwright:
        # A sandbox within a container, as root, is not to be had.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser):
    """Opens a report: `with opened(report, width=390) as page`. Nothing but the file can be fetched, and nothing may
    complain."""

    @contextmanager
    def open_page(report, width=1440, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        asked, said = [], []
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(f"error: {error}"))

        def only_the_file(route):
            (route.continue_ if route.request.url == report.url else route.abort)()

        page.route("**/*", only_the_file)
        page.goto(report.url)
        yield page
        context.close()
        assert [url for url in asked if not url.startswith("data:")] == [report.url]
        assert said == []

    return open_page
