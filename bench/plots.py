"""Plots as SVG, drawn without any library: axes, lines, boxes and strips, as few as the benchmarks' figures need.

The constraint: a plot must be readable by itself in a browser, light or dark, and the same data give the same file. It
must not compute anything: what is drawn has been printed as a result or a raw line before.
"""

import html
import math

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 76, 210, 44, 56
COLOURS = ["#0b62a4", "#d95f02", "#1b9e77", "#7570b3", "#c2185b", "#8c6d1f", "#444444", "#17a2b8", "#6a8f00", "#b22222"]
FONT = 'font-family="sans-serif" font-size="12"'


class Axis:
    """From `low` to `high` on a scale that is linear or, with `log`, logarithmic."""

    def __init__(self, label, low, high, ticks, log=False, names=None):
        self.label, self.low, self.high, self.ticks, self.log = label, low, high, ticks, log
        self.names = names or [f"{tick:g}" if tick < 10_000 else f"{tick:,.0f}" for tick in ticks]

    def at(self, value):
        """0 at `low`, 1 at `high`; what lies beyond is drawn at the edge."""
        scale = math.log if self.log else float
        value = min(max(value, self.low), self.high)
        return (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low))


def decades(low, high):
    """The powers of ten that a logarithmic axis from `low` to `high` shows."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return [10.0**power for power in range(first, last + 1)]


class Plot:
    """One plot; the parts are added, then it is written."""

    def __init__(self, title, x, y, height=HEIGHT):
        self.x, self.y, self.height = x, y, height
        self.parts, self.names = [], 0
        self.text(LEFT, 20, title, 'font-weight="bold"')

    def text(self, x, y, text, more=""):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {more}>{html.escape(text)}</text>')

    def line(self, x1, y1, x2, y2, stroke, width=1.0):
        ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        self.parts.append(f'<line {ends} stroke="{stroke}" stroke-width="{width}"/>')

    def rect(self, x, y, width, height, fill, more=""):
        size = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        self.parts.append(f'<rect {size} fill="{fill}" {more}/>')

    def place(self, x, y):
        across, down = WIDTH - LEFT - RIGHT, self.height - TOP - BOTTOM
        return LEFT + self.x.at(x) * across, TOP + (1 - self.y.at(y)) * down

    def axes(self):
        left, bottom = self.place(self.x.low, self.y.low)
        right, top = self.place(self.x.high, self.y.high)
        for tick, name in zip(self.x.ticks, self.x.names):
            x, _ = self.place(tick, self.y.low)
            self.line(x, top, x, bottom, "#8884", 0.6)
            self.text(x, bottom + 16, name, 'text-anchor="middle"')
        for tick, name in zip(self.y.ticks, self.y.names):
            _, y = self.place(self.x.low, tick)
            self.line(left, y, right, y, "#8884", 0.6)
            self.text(left - 6, y + 4, name, 'text-anchor="end"')
        self.text((left + right) / 2, bottom + 38, self.x.label, 'text-anchor="middle"')
        middle = (top + bottom) / 2
        self.text(14, middle, self.y.label, f'text-anchor="middle" transform="rotate(-90 14 {middle:.0f})"')
        return self

    def name(self, colour, text):
        """A line of the legend."""
        y = TOP + 10 + 18 * self.names
        self.names += 1
        self.rect(WIDTH - RIGHT + 14, y - 9, 12, 10, colour)
        self.text(WIDTH - RIGHT + 31, y, text)

    def curve(self, points, colour, name="", marks=True, step=False):
        """Joins points by lines; with `step` each holds until the next."""
        places = [self.place(x, y) for x, y in points]
        path = f"M{places[0][0]:.1f} {places[0][1]:.1f}"
        for x, y in places[1:]:
            path += f"H{x:.1f}V{y:.1f}" if step else f"L{x:.1f} {y:.1f}"
        self.parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        if marks:
            self.parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{colour}"/>' for x, y in places]
        if name:
            self.name(colour, name)

    def box(self, x, shift, values, colour):
        """The least, the quartiles and the most of `values` at `x`, moved by `shift` pixels; each value as a dot."""
        ordered = sorted(values)
        quartile = [ordered[round((len(ordered) - 1) * part)] for part in (0, 0.25, 0.5, 0.75, 1)]
        places = [self.place(x, value)[1] for value in quartile]
        middle = self.place(x, quartile[0])[0] + shift
        self.line(middle, places[0], middle, places[4], colour)
        self.rect(middle - 7, places[3], 14, max(places[1] - places[3], 1), colour, 'fill-opacity="0.35"')
        self.line(middle - 7, places[2], middle + 7, places[2], colour, 2)
        for value in values:
            y = self.place(x, value)[1]
            self.parts.append(f'<circle cx="{middle:.1f}" cy="{y:.1f}" r="1.8" fill="{colour}"/>')

    def svg(self):
        """The whole picture."""
        style = "<style>text{fill:#222}@media(prefers-color-scheme:dark){svg{background:#16181c}text{fill:#ddd}}</style>"
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}" {FONT}>'
        return "\n".join([head, style, *self.parts, "</svg>"]) + "\n"


def strips(title, x, rows):
    """A plot of one strip a row: `rows` are (name, shares from 0 to 1 along the x axis); dark where all is there."""
    height = TOP + BOTTOM + 26 * len(rows)
    plot = Plot(title, x, Axis("", 0, len(rows), []), height)
    plot.axes()
    for index, (name, shares) in enumerate(rows):
        for at, share in enumerate(shares):
            left, top = plot.place(x.low + (x.high - x.low) * at / len(shares), len(rows) - index)
            right, bottom = plot.place(x.low + (x.high - x.low) * (at + 1) / len(shares), len(rows) - index - 1)
            fill = f'fill-opacity="{share:.2f}"'
            plot.rect(left, top + 4, right - left + 0.3, bottom - top - 8, COLOURS[0], fill)
        plot.text(WIDTH - RIGHT + 8, (top + bottom) / 2 + 4, name)
    return plot
