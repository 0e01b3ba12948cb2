"""What a reader of a report sees, points at and types, in headless Chromium."""

import json
import re

import pytest
from conftest import LEVELS, ODD_NAMES, ODD_TARGET, REPORTS, SCREENSHOTS

# Width of a plot, in its own units.
WIDTH = 440

# Marks of a scatter plot, with the place of each and the step of its color.
MARKS = """svg => JSON.stringify([...svg.querySelectorAll('.points path')].flatMap(path =>
    [...path.getAttribute('d').matchAll(/M(-?[\\d.]+) (-?[\\d.]+)h.01/g)]
        .map(m => [Number(m[1]), Number(m[2]), Number(path.getAttribute('class').slice(1))])))"""

# What can be read off the axes: value and place of each tick; those of x stand below the frame.
TICKS = """svg => {
    const frame = svg.querySelector('.frame').getBBox(), at = {x: [], y: []};
    for (const text of svg.querySelectorAll(':scope > .tick')) {
        const [x, y] = [Number(text.getAttribute('x')), Number(text.getAttribute('y'))];
        if (y > frame.y + frame.height + 10) at.x.push([Number(text.textContent), x]);
        else at.y.push([Number(text.textContent), y - 4]);
    }
    return {...at, frame: [frame.x, frame.y, frame.x + frame.width, frame.y + frame.height]};
}"""

# Rectangles of all texts in plots, with their letters.
TEXTS = """svg => [...svg.querySelectorAll('text')].filter(t => t.textContent).map(t => {
    const {left, right, top, bottom} = t.getBoundingClientRect();
    return [t.textContent, left, right, top, bottom];
})"""

# Contrast of every text against what is behind it, as WCAG 2 has it.
CONTRAST = """() => {
    const part = v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const numbers = color => color.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => 0.2126 * part(r / 255) + 0.7152 * part(g / 255) + 0.0722 * part(b / 255);
    const behind = el => {
        for (; el; el = el.parentElement) {
            const found = numbers(getComputedStyle(el).backgroundColor);
            if (found[3] !== 0) return found;
        }
    };
    const texts = 'h1,h2,h3,p,li,figcaption,caption,th,td,label,select,code,svg text';
    return [...document.querySelectorAll(texts)].filter(el => el.textContent.trim()).map(el => {
        const style = getComputedStyle(el);
        const [a, b] = [light(numbers(el.closest('svg') ? style.fill : style.color)), light(behind(el))];
        return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), el.textContent.slice(0, 40)];
    });
}"""

# Elements whose content is wider than they are; tables and commands scroll within a box that is made for it.
CLIPPED = """() => [...document.querySelectorAll('main, main *:not(svg *)')]
    .filter(el => !el.matches('.wide, pre') && !el.closest('select'))
    .filter(el => getComputedStyle(el).display !== 'inline' && el.scrollWidth > el.clientWidth + 1)
    .map(el => el.outerHTML.slice(0, 80))"""


def scatters(page):
    return page.query_selector_all("svg[data-x]")


def interpolate(ticks, place):
    """The value at a place, by a straight line through the outer ticks."""
    (low, at_low), (high, at_high) = ticks[0], ticks[-1]
    return low + (place - at_low) / (at_high - at_low) * (high - low)


def marks_of(svg):
    return json.loads(svg.evaluate(MARKS))


def bring(page, svg):
    """Scrolls a plot to the middle, and waits until the page knows that it has been scrolled."""
    svg.evaluate("svg => svg.scrollIntoView({block: 'center'})")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def on_screen(svg, mark):
    """Where a mark of a plot is in the window."""
    box = svg.bounding_box()
    return box["x"] + mark[0] * box["width"] / WIDTH, box["y"] + mark[1] * box["width"] / WIDTH


def hover(page, svg, mark):
    """Moves the pointer to a mark of a plot."""
    bring(page, svg)
    page.mouse.move(*on_screen(svg, mark))


def tip(page):
    """What the tooltip says, by name."""
    assert page.locator("#tip").is_visible()
    return dict(zip(page.locator("#tip dt").all_inner_texts(), page.locator("#tip dd").all_inner_texts()))


def choose(page, columns, column):
    """Colors points by a column. By its place: a key may be the name of another column."""
    page.select_option("#color-by", index=1 + columns.index(column))


def same_places(some, others):
    """Whether marks are in the same places, to a tenth of a unit: the script has rounded values."""
    return len(some) == len(others) and all(
        abs(a - b) < 0.11
        for axis in (0, 1)
        for a, b in zip(sorted(mark[axis] for mark in some), sorted(mark[axis] for mark in others))
    )


def clip(name, width=30):
    return name if len(name) <= width else name[: width - 1] + "…"


def axis_names(svg):
    return svg.evaluate("svg => JSON.parse(document.getElementById('data').textContent).columns"
                        ".filter(c => [svg.dataset.x, svg.dataset.y].includes(c.key))"
                        ".sort((a, b) => (b.key === svg.dataset.x) - (a.key === svg.dataset.x)).map(c => c.name)")


def test_every_plot_has_its_marks(opened, report):
    with opened(report) as page:
        assert page.locator("h2").count() >= 6
        plots = scatters(page)
        assert len(plots) == report.scatters
        for svg in plots:
            marks, ticks = marks_of(svg), svg.evaluate(TICKS)
            assert len(marks) == report.n_shown
            left, top, right, bottom = ticks["frame"]
            assert all(left <= x <= right and top <= y <= bottom for x, y, _ in marks)
            assert len({step for _, _, step in marks}) == 16 or report.name == "names"
            assert len(ticks["x"]) >= 2 and len(ticks["y"]) >= 2
        shown = re.compile(r"(?:All ([\d,]+)|([\d,]+) of ([\d,]+)) rows are shown\.?")
        for text in page.locator("figure:has(svg[data-x]) figcaption").all_inner_texts():
            every, some, of = shown.search(text).groups()
            told = (every or some, every or of)
            assert tuple(int(n.replace(",", "")) for n in told) == (report.n_shown, report.n_rows)
        for j in range(1, report.dim + 1):
            plot = page.locator(f"#loadings-{j} svg")
            assert plot.locator(".dot, .hollow").count() == len(report.covariates)
            assert plot.locator(".name").count() == len(report.covariates)
            assert (plot.locator(".bar").count() > 0) == (report.max_dim is not None)
        assert page.locator("#loadings tbody tr").count() == len(report.covariates)
        if report.max_dim:
            assert page.locator("#dimension svg .dot").count() == report.max_dim + 1
            assert page.locator("#dimension svg .mark").count() == 1
        if report.starts:
            assert page.locator("#starts svg .name").count() == page.locator("#convergence tbody tr").count() > 1
            assert page.locator("#trace svg .trace").get_attribute("d").count("L") >= 1
        # Marks are painted, not only written down.
        painted = page.locator("svg[data-x] .points").evaluate_all("all => all.map(g => g.getBBox().width)")
        assert min(painted) > 100


def test_a_point_shows_its_row(opened, report):
    with opened(report) as page:
        for svg in scatters(page):
            marks, ticks, axes = marks_of(svg), svg.evaluate(TICKS), axis_names(svg)
            for mark in (marks[0], marks[len(marks) // 2], marks[-1]):
                hover(page, svg, mark)
                said = tip(page)
                row = int(said["row"])
                assert 1 <= row <= report.n_rows
                # The values are those of the row in the file,
                for name, column in report.data.items():
                    if clip(name) in said:
                        spread = max(column) - min(column)
                        assert float(said[clip(name)]) == pytest.approx(column[row - 1], abs=1e-4 * spread), name
                # and the point stands where the axes say; marks are written to a tenth of a unit.
                for axis, name, place in zip("xy", axes, mark):
                    (low, at_low), (high, at_high) = ticks[axis][0], ticks[axis][-1]
                    unit = abs((high - low) / (at_high - at_low))
                    assert float(said[clip(name)]) == pytest.approx(interpolate(ticks[axis], place), abs=unit)
                # Every plot has found the row, and the tooltip is within the window.
                focus = page.locator("circle.focus")
                assert focus.evaluate_all("all => all.every(c => c.getAttribute('visibility') === 'visible')")
                box = page.locator("#tip").bounding_box()
                assert box["x"] >= 0 and box["x"] + box["width"] <= 1440
                assert box["y"] >= 0 and box["y"] + box["height"] <= 900
        targets = [name for name in report.targets if clip(name) in said]
        assert targets == report.targets[-1:]
        page.mouse.move(2, 2)
        assert page.locator("#tip").is_hidden()


def test_points_can_be_colored_by_any_column(opened, report):
    with opened(report) as page:
        assert page.locator("#color").is_visible()
        plots = scatters(page)
        before = [sorted(marks_of(svg)) for svg in plots]
        columns = page.evaluate("JSON.parse(document.getElementById('data').textContent).columns")
        names = page.locator("#color-by option").all_inner_texts()[1:]
        assert names == [clip(column["name"], 40) for column in columns]
        column = columns[-1]
        choose(page, columns, column)
        for svg, old in zip(plots, before):
            marks = sorted(marks_of(svg))
            assert same_places(marks, old)
            other = sum(mark[2] != was[2] for mark, was in zip(marks, old))
            assert other > 0.1 * len(marks)
            colors = svg.evaluate("svg => [...svg.querySelectorAll('.points path')].map(p => getComputedStyle(p).stroke)")
            assert len(set(colors)) >= 2
            legend = svg.query_selector(".legend text").text_content()
            assert legend.split(":")[0].rstrip("…") in column["name"]
            assert f"Colored by {column['name']}, by rank." in svg.evaluate("svg => svg.closest('figure').innerText")
        if report.name == "resampled":
            # Larger values have later colors.
            column = next(column for column in columns if column["key"] == "y0")
            choose(page, columns, column)
            svg = page.query_selector("#summary svg[data-x]")
            by_height = sorted(marks_of(svg), key=lambda mark: (-mark[1], mark[2]))
            assert [mark[2] for mark in by_height] == sorted(mark[2] for mark in by_height)
        # Whatever is chosen, the legend has its place.
        for column in columns:
            choose(page, columns, column)
            for svg in plots if report.name in ("two", "names") else plots[:1]:
                check_texts(svg)
        page.select_option("#color-by", index=0)
        for svg, old in zip(plots, before):
            marks = marks_of(svg)
            assert same_places(marks, old)
            steps = zip(sorted(mark[2] for mark in marks), sorted(was[2] for was in old))
            # Values that rounding has made equal have one color.
            assert sum(now != was for now, was in steps) <= 0.01 * len(marks)


def check_texts(svg):
    """No text of a plot lies on another one or sticks out of the plot."""
    texts, box = svg.evaluate(TEXTS), svg.bounding_box()
    for i, (text, left, right, top, bottom) in enumerate(texts):
        assert left >= box["x"] - 1 and right <= box["x"] + box["width"] + 1, f"{text} sticks out"
        for other, left2, right2, top2, bottom2 in texts[:i]:
            wide, high = min(right, right2) - max(left, left2), min(bottom, bottom2) - max(top, top2)
            # Boxes of lines have some air above and below the letters.
            assert wide < 0.5 or high < 0.25 * (bottom - top), f"{text} lies on {other}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_the_page_fits(opened, report, width, scheme):
    with opened(report, width, color_scheme=scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate(CLIPPED) == []
        for svg in page.query_selector_all("svg.plot"):
            check_texts(svg)
            smallest = svg.evaluate("svg => Math.min(...[...svg.querySelectorAll('text')].map(t =>"
                                    "parseFloat(getComputedStyle(t).fontSize))) * svg.clientWidth") / WIDTH
            assert smallest >= 10, "text of a plot is too small to read"
        contrast = page.evaluate(CONTRAST)
        assert len(contrast) > 50
        assert min(contrast)[0] >= 4.5, min(contrast)
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        assert dark == (scheme == "dark")
        page.screenshot(path=SCREENSHOTS / f"{report.name}-{width}-{scheme}.png", full_page=True)


def test_paper_has_no_controls(opened, report):
    with opened(report, color_scheme="dark") as page:
        svg = scatters(page)[0]
        hover(page, svg, marks_of(svg)[0])
        page.emulate_media(media="print", color_scheme="dark")
        assert page.locator("#color").is_hidden() and page.locator("#tip").is_hidden()
        assert page.locator("circle.focus").first.is_hidden()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        cut = "all => all.filter(el => getComputedStyle(el).overflow !== 'visible').length"
        assert page.locator(".wide").evaluate_all(cut) == 0
        assert min(page.evaluate(CONTRAST))[0] >= 4.5


@pytest.mark.parametrize("name", ["resampled", "two"])
def test_the_keyboard_reaches_everything(opened, reports, name):
    with opened(reports[name]) as page:
        boxes, plots = page.locator(".wide, pre").count(), len(scatters(page))
        reached = []
        for _ in range(boxes + plots + 1):
            page.keyboard.press("Tab")
            reached.append(page.evaluate("""() => {
                const el = document.activeElement, {top, bottom} = el.getBoundingClientRect();
                return [el.id || (el.matches('.wide, pre') ? 'box' : el.getAttribute('class')), getComputedStyle(el).outlineStyle, bottom > 0 && top < innerHeight];
            }"""))
        assert sorted(id for id, _, _ in reached) == sorted(["color-by"] + plots * ["plot"] + boxes * ["box"])
        assert all(outline != "none" and seen for _, outline, seen in reached)
        svg = scatters(page)[0]
        bring(page, svg)
        svg.focus()
        # From left to right.
        first, x = [], axis_names(svg)[0]
        for _ in range(5):
            page.keyboard.press("ArrowRight")
            first.append(float(tip(page)[x]))
        assert first == sorted(first) and first[0] < first[-1]
        page.keyboard.press("ArrowLeft")
        assert float(tip(page)[x]) == first[-2]
        page.keyboard.press("Escape")
        assert page.locator("#tip").is_hidden()
        page.focus("#color-by")
        page.keyboard.press("ArrowDown")
        assert page.locator("#color-by").input_value() == "y0"


def test_a_tap_shows_a_row_on_a_phone(opened, reports):
    with opened(reports["names"], 390, has_touch=True, is_mobile=True) as page:
        svg = scatters(page)[0]
        bring(page, svg)
        page.touchscreen.tap(*on_screen(svg, marks_of(svg)[0]))
        assert "row" in tip(page)
        box = page.locator("#tip").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390
        page.locator("h2").first.tap()
        assert page.locator("#tip").is_hidden()


@pytest.mark.parametrize("name", REPORTS)
def test_nothing_is_lost_without_a_script(opened, reports, name):
    report = reports[name]
    with opened(report, java_script_enabled=False) as page:
        plots = scatters(page)
        assert [len(marks_of(svg)) for svg in plots] == report.scatters * [report.n_shown]
        assert page.locator("#color").is_hidden() and page.locator("#tip").is_hidden()
        for heading in ("What to conclude", "Sufficient summary", "Predictions and residuals", "How it was made"):
            assert page.get_by_role("heading", name=heading).is_visible()
        assert "Colored by" in page.locator("figcaption").first.inner_text()


def test_names_from_the_data_are_text(opened, reports):
    with opened(reports["names"]) as page:
        assert page.title() == f"Sufficient dimension reduction of {ODD_TARGET}"
        assert page.locator("main b, main i").count() == 0
        names = page.locator("#loadings tbody th").all_text_contents()
        *plain, text = ODD_NAMES
        assert sorted(names) == sorted([*plain, *(f"{text}={level}" for level in LEVELS[1:])])


def test_commands_can_be_copied(opened, reports):
    with opened(reports["names"], 390) as page:
        fit, report = page.locator("pre").inner_text().splitlines()
        assert fit == f"smave fit names.csv --target '{ODD_TARGET}' --dim 1 --out names.json"
        assert report.startswith("smave report names.json names.csv --out names.html")
