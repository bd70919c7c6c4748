//! A panel: axes with points, lines, intervals and bands between them; the one kind of picture that all figures are
//! made of.
//!
//! The constraint that shaped it: figures that look alike are read faster, and what is right for one (labels that do not
//! overlap, an interval that can be seen) is right for all. It must not know what is shown.

use super::axis::Axis;

/// A point, in values of the axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    /// Ends of the interval, along the series' direction.
    pub(super) interval: Option<(f64, f64)>,
    /// Drawn open: it does not count.
    pub(super) open: bool,
}

/// How the points of a series are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    /// Not at all.
    None,
    /// By straight lines.
    Line,
    /// By a line without marks: a curve of many points.
    Curve,
}

/// How intervals are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intervals {
    /// Upright bars.
    Bars,
    /// Bars along the x axis.
    Lying,
    /// A band between the ends.
    Band,
}

/// Points that belong together.
#[derive(Debug, Clone)]
pub(super) struct Series {
    /// Index into the colours and shapes.
    pub(super) slot: usize,
    pub(super) points: Vec<Point>,
    pub(super) join: Join,
    pub(super) intervals: Intervals,
}

/// A line across the panel, in values of the axis.
#[derive(Debug, Clone)]
pub(super) enum Rule {
    /// Upright, dashed.
    At(f64),
    /// Lying.
    Level(f64),
    /// A shaded stretch of the x axis: what does not count.
    Aside(f64, f64),
}

/// Axes and what is between them.
#[derive(Debug, Clone)]
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) rules: Vec<Rule>,
    pub(super) series: Vec<Series>,
}

/// An entry of the legend.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) slot: usize,
    pub(super) open: bool,
    pub(super) join: Join,
}

/// Panels side by side under one legend.
#[derive(Debug, Clone)]
pub(super) struct Sheet {
    pub(super) legend: Vec<Entry>,
    pub(super) panels: Vec<Panel>,
    /// How many panels stand in a row.
    pub(super) columns: usize,
    /// Width of the whole, pixels.
    pub(super) width: f64,
    /// Height of a panel with its title and labels, pixels.
    pub(super) height: f64,
}
