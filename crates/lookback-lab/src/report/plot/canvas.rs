//! Draws a sheet of panels with plotters and gives the SVG.
//!
//! The constraint that shaped it: plotters places everything on whole pixels, which makes smooth lines rough. So a sheet
//! is drawn [`FINE`] times as large and its view box is scaled down. Labels are laid out here with the font's own widths:
//! without a font system plotters only guesses how long a text is.

use super::axis::Axis;
use super::font::{FAMILY, fit, width};
use super::panel::{Intervals, Join, Panel, Point, Rule, Series, Sheet};
use super::theme::{AXIS, GRID, Ink, LINES, MUTED, PAPER, SHADE, SHAPES, Shape, TEXT, dark_rules};
use crate::error::{Error, Result};
use plotters::coord::Shift;
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::prelude::{DrawingArea, IntoDrawingArea, SVGBackend, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, IntoFont, ShapeStyle};

/// How many times larger than shown a sheet is drawn.
const FINE: f64 = 8.0;
/// plotters divides a font's size by this number when it writes it.
const FONT_SIZE: f64 = 1.24;
/// Sizes of text, pixels.
const LABEL: f64 = 11.0;
/// How much wider than ours the font of a reader's machine may be: DejaVu Sans, the usual one of Linux.
const OTHER_FONTS: f64 = 1.15;
const TITLE: f64 = 12.5;
/// Radius of a mark.
const MARK: f64 = 3.1;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Done = std::result::Result<(), String>;

/// Draws a sheet; `name` and `about` are for who cannot see it, and for messages.
pub(super) fn draw(name: &str, about: &str, sheet: &Sheet) -> Result<String> {
    let rows = sheet.panels.len().div_ceil(sheet.columns.max(1));
    let legend = legend_lines(sheet);
    let top = if legend.is_empty() { 4.0 } else { legend.len() as f64 * 18.0 + 10.0 };
    let height = top + rows as f64 * sheet.height + 2.0;
    let mut body = String::new();
    {
        let size = (fine(sheet.width) as u32, fine(height) as u32);
        let area = SVGBackend::with_string(&mut body, size).into_drawing_area();
        let pen = Pen { area };
        paint(&pen, sheet, &legend, top)
            .and_then(|()| pen.area.present().map_err(|error| error.to_string()))
            .map_err(|why| Error::Drawing { figure: name.to_owned(), why })?;
    }
    // plotters' own head has the large size.
    let inner = body.split_once('>').map_or("", |(_, rest)| rest);
    let inner = inner.rsplit_once("</svg>").map_or(inner, |(inner, _)| inner);
    let (w, h) = (sheet.width, height);
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {} {}\">\n<title>{}</title>{}\n</svg>\n",
        fine(w),
        fine(h),
        escape(about),
        inner.trim_end(),
    ))
}

/// The SVG as a file of its own: it follows the reader's choice of light or dark.
pub(super) fn with_style(svg: &str) -> String {
    let style =
        format!("<style>@media screen and (prefers-color-scheme: dark){{{}}}</style>\n<title>", dark_rules());
    svg.replacen("<title>", &style, 1)
}

/// The SVG in dark colours whatever the reader's choice: for pictures.
pub(super) fn dark(svg: &str) -> String {
    svg.replacen("<title>", &format!("<style>{}</style>\n<title>", dark_rules()), 1)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn fine(pixels: f64) -> i32 {
    (pixels * FINE).round() as i32
}

/// The drawing area with what is drawn in pixels as they are shown.
struct Pen<'a> {
    area: Area<'a>,
}

impl Pen<'_> {
    fn element<E>(&self, element: &E) -> Done
    where
        for<'b> &'b E: plotters::element::PointCollection<'b, (i32, i32)>,
        E: for<'b> plotters::element::Drawable<SVGBackend<'b>>,
    {
        self.area.draw(element).map_err(|error| error.to_string())
    }

    fn line(&self, points: &[(f64, f64)], ink: Ink, width: f64) -> Done {
        let points: Vec<_> = points.iter().map(|(x, y)| (fine(*x), fine(*y))).collect();
        let style = ShapeStyle::from(&ink.light).stroke_width(fine(width) as u32);
        self.element(&PathElement::new(points, style))
    }

    fn dashed(&self, from: (f64, f64), to: (f64, f64), ink: Ink) -> Done {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy);
        let mut at = 0.0;
        while at < length {
            let end = (at + 4.0).min(length);
            let point = |d: f64| (from.0 + dx * d / length, from.1 + dy * d / length);
            self.line(&[point(at), point(end)], ink, 1.0)?;
            at += 7.0;
        }
        Ok(())
    }

    fn area_of(&self, points: &[(f64, f64)], ink: Ink, opacity: f64) -> Done {
        let points: Vec<_> = points.iter().map(|(x, y)| (fine(*x), fine(*y))).collect();
        self.element(&Polygon::new(points, ink.light.mix(opacity).filled()))
    }

    fn mark(&self, at: (f64, f64), slot: usize, open: bool, radius: f64) -> Done {
        let ink = LINES[slot % LINES.len()];
        // Beyond eight lines colours come again, with another shape each.
        let shape = SHAPES[(slot + slot / LINES.len()) % SHAPES.len()];
        let fill = if open { PAPER.light } else { ink.light };
        if shape == Shape::Circle {
            let centre = (fine(at.0), fine(at.1));
            self.element(&Circle::new(centre, fine(radius), fill.filled()))?;
            if open {
                let style = ShapeStyle::from(&ink.light).stroke_width(fine(1.2) as u32);
                self.element(&Circle::new(centre, fine(radius), style))?;
            }
            return Ok(());
        }
        let mut corners: Vec<(f64, f64)> =
            shape.corners().iter().map(|(x, y)| (at.0 + x * radius, at.1 + y * radius)).collect();
        let whole: Vec<_> = corners.iter().map(|(x, y)| (fine(*x), fine(*y))).collect();
        self.element(&Polygon::new(whole, fill.filled()))?;
        if open && let Some(first) = corners.first().copied() {
            corners.push(first);
            self.line(&corners, ink, 1.2)?;
        }
        Ok(())
    }

    fn text(&self, at: (f64, f64), text: &str, ink: Ink, size: f64, pos: (HPos, VPos)) -> Done {
        self.styled(at, text, ink, size, pos, false, false)
    }

    #[allow(clippy::too_many_arguments)] // Each is one property of the text; a struct would be used once.
    fn styled(
        &self,
        at: (f64, f64),
        text: &str,
        ink: Ink,
        size: f64,
        pos: (HPos, VPos),
        bold: bool,
        upright: bool,
    ) -> Done {
        let mut font = (FAMILY, size * FONT_SIZE * FINE).into_font();
        if bold {
            font = font.style(plotters::style::FontStyle::Bold);
        }
        if upright {
            font = font.transform(FontTransform::Rotate270);
        }
        let style = plotters::style::TextStyle::from(font).color(&ink.light).pos(Pos::new(pos.0, pos.1));
        self.element(&Text::new(text.to_owned(), (fine(at.0), fine(at.1)), style))
    }
}

/// The legend's entries in lines that fit: indices into the legend.
fn legend_lines(sheet: &Sheet) -> Vec<Vec<usize>> {
    let mut lines: Vec<Vec<usize>> = Vec::new();
    let mut used = f64::MAX;
    for (i, entry) in sheet.legend.iter().enumerate() {
        let wide = entry_width(&entry.name);
        if used + wide > sheet.width - 16.0 {
            lines.push(Vec::new());
            used = 0.0;
        }
        used += wide;
        if let Some(line) = lines.last_mut() {
            line.push(i);
        }
    }
    lines
}

fn entry_width(name: &str) -> f64 {
    width(name) * LABEL + 44.0
}

fn paint(pen: &Pen<'_>, sheet: &Sheet, legend: &[Vec<usize>], top: f64) -> Done {
    for (row, line) in legend.iter().enumerate() {
        let mut x = 10.0;
        let y = 13.0 + row as f64 * 18.0;
        for entry in line.iter().filter_map(|i| sheet.legend.get(*i)) {
            if entry.join != Join::None {
                pen.line(&[(x, y), (x + 22.0, y)], LINES[entry.slot % LINES.len()], 1.7)?;
            }
            if entry.join != Join::Curve {
                pen.mark((x + 11.0, y), entry.slot, entry.open, MARK * 1.15)?;
            }
            pen.text((x + 28.0, y), &entry.name, TEXT, LABEL, (HPos::Left, VPos::Center))?;
            x += entry_width(&entry.name);
        }
    }
    let columns = sheet.columns.max(1);
    // Panels of one sheet have the same margin, so that their axes stand below each other.
    let below = if sheet.panels.iter().all(|panel| panel.x.title.is_empty()) { 20.0 } else { 36.0 };
    let margin = sheet.panels.iter().map(|panel| left_margin(&panel.y, sheet.width)).fold(0.0, f64::max);
    for (i, panel) in sheet.panels.iter().enumerate() {
        let (column, row) = (i % columns, i / columns);
        let w = sheet.width / columns as f64;
        let corner = (column as f64 * w, top + row as f64 * sheet.height);
        paint_panel(pen, panel, corner, (w, sheet.height), (margin, below))?;
    }
    Ok(())
}

/// What the labels of the y axis need.
fn left_margin(y: &Axis, all: f64) -> f64 {
    let labels = y.ticks.iter().map(|(_, word)| width(word) * LABEL).fold(0.0, f64::max);
    let title = if y.title.is_empty() { 0.0 } else { 18.0 };
    (labels * OTHER_FONTS).min(all * 0.3) + title + 14.0
}

/// Where values of a panel lie on the sheet.
struct Frame<'a> {
    panel: &'a Panel,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Frame<'_> {
    fn x_place(&self, place: f64) -> f64 {
        let (low, high) = self.panel.x.range;
        self.left + (place - low) / (high - low) * (self.right - self.left)
    }

    fn y_place(&self, place: f64) -> f64 {
        let (low, high) = self.panel.y.range;
        self.bottom - (place - low) / (high - low) * (self.bottom - self.top)
    }

    fn x(&self, value: f64) -> f64 {
        self.x_place(self.panel.x.bend.place(value)).clamp(self.left, self.right)
    }

    fn y(&self, value: f64) -> f64 {
        self.y_place(self.panel.y.bend.place(value)).clamp(self.top, self.bottom)
    }
}

fn paint_panel(
    pen: &Pen<'_>,
    panel: &Panel,
    corner: (f64, f64),
    size: (f64, f64),
    space: (f64, f64),
) -> Done {
    let (margin, below) = space;
    let title = if panel.title.is_empty() { 8.0 } else { 22.0 };
    let frame = Frame {
        panel,
        left: corner.0 + margin,
        right: corner.0 + size.0 - 12.0,
        top: corner.1 + title,
        bottom: corner.1 + size.1 - below - 6.0,
    };
    for rule in &panel.rules {
        if let Rule::Aside(from, to) = rule {
            let (a, b) = (frame.x(*from), frame.x(*to));
            let corners = [(fine(a), fine(frame.top)), (fine(b), fine(frame.bottom))];
            pen.element(&Rectangle::new(corners, SHADE.light.filled()))?;
        }
    }
    paint_axes(pen, &frame, margin, corner)?;
    if !panel.title.is_empty() {
        let text = fit(&panel.title, (frame.right - frame.left) / TITLE * 0.95);
        let at = (frame.left, frame.top - 12.0);
        pen.styled(at, &text, TEXT, TITLE, (HPos::Left, VPos::Center), true, false)?;
    }
    for rule in &panel.rules {
        match rule {
            Rule::At(x) => {
                let x = frame.x(*x);
                pen.dashed((x, frame.top), (x, frame.bottom), MUTED)?;
            }
            Rule::Level(y) => {
                let y = frame.y(*y);
                pen.line(&[(frame.left, y), (frame.right, y)], AXIS, 1.2)?;
            }
            Rule::Aside(..) => {}
        }
    }
    for series in &panel.series {
        paint_series(pen, &frame, series)?;
    }
    Ok(())
}

fn paint_axes(pen: &Pen<'_>, frame: &Frame<'_>, margin: f64, corner: (f64, f64)) -> Done {
    let (x, y) = (&frame.panel.x, &frame.panel.y);
    for (place, _) in &y.ticks {
        let at = frame.y_place(*place);
        pen.line(&[(frame.left, at), (frame.right, at)], GRID, 1.0)?;
    }
    for (place, _) in &x.ticks {
        let at = frame.x_place(*place);
        pen.line(&[(at, frame.top), (at, frame.bottom)], GRID, 1.0)?;
    }
    pen.line(&[(frame.left, frame.top), (frame.left, frame.bottom), (frame.right, frame.bottom)], AXIS, 1.2)?;
    for (place, word) in &y.ticks {
        let at = (frame.left - 6.0, frame.y_place(*place));
        let word = fit(word, (margin - 8.0) / LABEL);
        pen.text(at, &word, MUTED, LABEL, (HPos::Right, VPos::Center))?;
    }
    // A label is left out rather than written over its neighbour.
    let mut free = f64::MIN;
    for (place, word) in &x.ticks {
        let at = frame.x_place(*place);
        let half = width(word) * LABEL / 2.0;
        if at - half < free {
            continue;
        }
        free = at + half + 5.0;
        pen.text((at, frame.bottom + 5.0), word, MUTED, LABEL, (HPos::Center, VPos::Top))?;
    }
    if !x.title.is_empty() {
        let at = (f64::midpoint(frame.left, frame.right), frame.bottom + 21.0);
        pen.text(at, &x.title, TEXT, LABEL, (HPos::Center, VPos::Top))?;
    }
    if !y.title.is_empty() {
        let at = (corner.0 + 11.0, f64::midpoint(frame.top, frame.bottom));
        let text = fit(&y.title, (frame.bottom - frame.top + 24.0) / LABEL);
        pen.styled(at, &text, TEXT, LABEL, (HPos::Center, VPos::Center), false, true)?;
    }
    Ok(())
}

fn paint_series(pen: &Pen<'_>, frame: &Frame<'_>, series: &Series) -> Done {
    let ink = LINES[series.slot % LINES.len()];
    let good = |p: &&Point| p.x.is_finite() && p.y.is_finite();
    let points: Vec<&Point> = series.points.iter().filter(good).collect();
    let at = |p: &Point| (frame.x(p.x), frame.y(p.y));
    match series.intervals {
        Intervals::Band => {
            let ends = |p: &&Point| p.interval.map(|(low, high)| (p.x, low, high));
            let ends: Vec<_> = points.iter().filter_map(ends).collect();
            let low = ends.iter().map(|(x, low, _)| (frame.x(*x), frame.y(*low)));
            let high = ends.iter().rev().map(|(x, _, high)| (frame.x(*x), frame.y(*high)));
            let outline: Vec<_> = low.chain(high).collect();
            if outline.len() > 3 {
                pen.area_of(&outline, ink, 0.18)?;
            }
        }
        Intervals::Bars => {
            for p in &points {
                if let Some((low, high)) = p.interval {
                    let (x, low, high) = (frame.x(p.x), frame.y(low), frame.y(high));
                    pen.line(&[(x, low), (x, high)], ink, 1.0)?;
                    pen.line(&[(x - 2.5, low), (x + 2.5, low)], ink, 1.0)?;
                    pen.line(&[(x - 2.5, high), (x + 2.5, high)], ink, 1.0)?;
                }
            }
        }
        Intervals::Lying => {
            for p in &points {
                if let Some((low, high)) = p.interval {
                    let (y, low, high) = (frame.y(p.y), frame.x(low), frame.x(high));
                    pen.line(&[(low, y), (high, y)], ink, 1.7)?;
                }
            }
        }
    }
    if series.join != Join::None && points.len() > 1 {
        let line: Vec<_> = points.iter().map(|p| at(p)).collect();
        pen.line(&line, ink, 1.7)?;
    }
    if series.join != Join::Curve {
        // A cloud of points is of smaller ones, or it would be one blot.
        let radius = if points.len() > 200 { MARK * 0.6 } else { MARK };
        for p in &points {
            pen.mark(at(p), series.slot, p.open, radius)?;
        }
    }
    Ok(())
}
