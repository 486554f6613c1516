"""Draws the lines of a terminal as an SVG with text as text, which follows the reader's light or dark."""

import re
from html import escape

CELL, LINE, SIZE = 8.4, 20, 14
SIDE, TOP, BOTTOM = 20, 48, 16
STYLE = """
.screen { fill: #f6f8fa; stroke: #d1d9e0 } .dot { fill: #d1d9e0 }
text { font: 14px ui-monospace, SFMono-Regular, "DejaVu Sans Mono", Menlo, Consolas, "Liberation Mono", monospace;
  fill: #1f2328; white-space: pre }
.bold { font-weight: 600 } .red { fill: #cf222e } .green { fill: #1a7f37 } .yellow { fill: #9a6700 }
@media (prefers-color-scheme: dark) {
  .screen { fill: #151b23; stroke: #3d444d } .dot { fill: #3d444d }
  text { fill: #e6edf3 } .red { fill: #ff7b72 } .green { fill: #3fb950 } .yellow { fill: #d29922 }
}
"""


def words(runs):
    """Each stretch of a line without two blanks in a row, with its column and its style."""
    column = 0
    for text, style in runs:
        for found in re.finditer(r"\S+(?: \S+)*", text):
            yield column + found.start(), found[0], style
        column += len(text)


def draw(lines, columns, title):
    width, height = round(2 * SIDE + columns * CELL), TOP + len(lines) * LINE + BOTTOM
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" '
             f'viewBox="0 0 {width} {height}" aria-label="{escape(title)}">', f"<style>{STYLE}</style>",
             f'<rect class="screen" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>']
    parts += [f'<circle class="dot" cx="{SIDE + 6 + 20 * number}" cy="22" r="6"/>' for number in range(3)]
    for number, runs in enumerate(lines):
        y = TOP + number * LINE + SIZE
        for column, text, style in words(runs):
            # The length keeps the columns in their places, whatever font the reader has.
            kind = f' class="{" ".join(sorted(style))}"' if style else ""
            parts.append(f'<text{kind} x="{SIDE + column * CELL:.1f}" y="{y}" textLength="{len(text) * CELL:.1f}">'
                         f'{escape(text, quote=False)}</text>')
    return "\n".join([*parts, "</svg>", ""])
