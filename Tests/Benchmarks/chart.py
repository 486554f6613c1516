"""chart.py RESULT PICTURE: draws the latencies of a run as one SVG, with logarithmic axes, readable on light and
dark."""

import json, math, sys

COLOURS = {"vault": "#2f81f7", "gnome-keyring": "#c98a1b", "pass": "#3a9d4e", "keepassxc-cli": "#d9534f"}
TITLES = {"get": "One secret, as a whole process", "unlock": "Unlocking, by a password"}
WIDTH, HEIGHT, LEFT, TOP, GAP = 330, 230, 62, 64, 70
STYLE = """text { font: 12px system-ui, sans-serif; fill: #6e7781 } .title { font-weight: 600; font-size: 13px }
line { stroke: #8c959f; stroke-opacity: .35 } polyline { fill: none; stroke-width: 2 }
@media (prefers-color-scheme: dark) { text { fill: #9aa4af } }"""


def short(number):
    return f"{number / 1000:g}k" if number >= 1000 else f"{number:g}"


def milliseconds(number):
    return f"{number / 1000:g} s" if number >= 1000 else f"{number:g} ms"


def axis(values):
    """The powers of ten around the values."""
    return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))


def panel(title, tools, left, x_axis, y_axis):
    """The lines of one figure, whose axes are powers of ten."""
    def x(value):
        return left + (math.log10(value) - x_axis[0]) / (x_axis[1] - x_axis[0]) * WIDTH

    def y(value):
        return TOP + HEIGHT - (math.log10(value) - y_axis[0]) / (y_axis[1] - y_axis[0]) * HEIGHT

    yield f'<text class="title" x="{left}" y="{TOP - 14}">{title}</text>'
    for power in range(y_axis[0], y_axis[1] + 1):
        at = y(10.0**power)
        yield f'<line x1="{left}" x2="{left + WIDTH}" y1="{at:.1f}" y2="{at:.1f}"/>'
        yield f'<text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{milliseconds(10.0**power)}</text>'
    for power in range(x_axis[0], x_axis[1] + 1):
        at = x(10**power)
        yield f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{TOP + HEIGHT}"/>'
        yield f'<text x="{at:.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{short(10**power)}</text>'
    yield f'<text x="{left + WIDTH / 2}" y="{TOP + HEIGHT + 38}" text-anchor="middle">items</text>'
    for tool, points in tools.items():
        places = [(x(count), y(time)) for count, time in points]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        yield f'<polyline points="{path}" stroke="{COLOURS[tool]}"/>'
        for a, b in places:
            yield f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{COLOURS[tool]}"/>'


def draw(result, picture):
    """Draws the chart, and tells whether there was something to draw."""
    with open(result) as file:
        series = json.load(file)["series"]
    if not series:
        return False
    points = [point for tools in series.values() for each in tools.values() for point in each]
    x_axis, y_axis = axis([count for count, _ in points]), axis([time for _, time in points])
    width, height = LEFT + len(series) * WIDTH + (len(series) - 1) * GAP + 24, TOP + HEIGHT + 52
    said = "Milliseconds of a get and of an unlock by number of items: " + ", ".join(COLOURS)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{said}">',
             f"<style>{STYLE}</style>"]
    for number, (tool, colour) in enumerate(COLOURS.items()):
        at = LEFT + number * 150
        parts.append(f'<circle cx="{at + 5}" cy="18" r="5" fill="{colour}"/><text x="{at + 16}" y="22">{tool}</text>')
    for number, (what, tools) in enumerate(series.items()):
        parts += panel(TITLES[what], tools, LEFT + number * (WIDTH + GAP), x_axis, y_axis)
    with open(picture, "w") as file:
        file.write("\n".join([*parts, "</svg>\n"]))
    return True


if __name__ == "__main__":
    draw(*sys.argv[1:3])
