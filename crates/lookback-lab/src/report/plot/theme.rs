//! Colours and marks of figures.
//!
//! The constraint that shaped it: a figure is looked at on white and on black, by people who see colours differently,
//! and in print without any. So the colours are Okabe and Ito's (jfly.uni-koeln.de/color, 2008), which stay apart for
//! colour-blind eyes, darkened or lightened where they would be faint, and each line has a mark of its own besides.
//! plotters writes a colour as an attribute; a style sheet in the SVG turns each into its dark counterpart.

use plotters::style::RGBColor;

/// A colour on white and on black.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ink {
    pub(super) light: RGBColor,
    pub(super) dark: RGBColor,
}

const fn ink(light: (u8, u8, u8), dark: (u8, u8, u8)) -> Ink {
    Ink { light: RGBColor(light.0, light.1, light.2), dark: RGBColor(dark.0, dark.1, dark.2) }
}

/// Words.
pub(super) const TEXT: Ink = ink((0x1f, 0x23, 0x28), (0xe6, 0xed, 0xf3));
/// Axis labels and what is said aside.
pub(super) const MUTED: Ink = ink((0x59, 0x63, 0x6e), (0x9d, 0xa7, 0xb1));
/// Grid lines.
pub(super) const GRID: Ink = ink((0xe1, 0xe5, 0xe9), (0x2b, 0x31, 0x39));
/// Axes.
pub(super) const AXIS: Ink = ink((0x9a, 0xa3, 0xad), (0x6a, 0x73, 0x7d));
/// What stands behind a figure: the fill of open marks.
pub(super) const PAPER: Ink = ink((0xff, 0xff, 0xff), (0x0d, 0x11, 0x17));
/// A stretch that does not count.
pub(super) const SHADE: Ink = ink((0xf1, 0xf3, 0xf5), (0x1b, 0x20, 0x27));

/// Lines, in the order in which they are given out.
pub(super) const LINES: [Ink; 8] = [
    ink((0x00, 0x72, 0xb2), (0x4f, 0xa8, 0xe0)),
    ink((0xd5, 0x5e, 0x00), (0xff, 0x8f, 0x4d)),
    ink((0x00, 0x8f, 0x69), (0x33, 0xcf, 0xa0)),
    ink((0xb8, 0x4f, 0x8c), (0xe3, 0x97, 0xc2)),
    ink((0xb0, 0x7d, 0x00), (0xf0, 0xba, 0x3a)),
    ink((0x4a, 0xb0, 0xe6), (0x8f, 0xd3, 0xf7)),
    ink((0x4a, 0x4e, 0x52), (0xc3, 0xc8, 0xcd)),
    ink((0x6b, 0x4f, 0xbb), (0xb3, 0x9d, 0xf0)),
];

const INKS: [Ink; 6] = [TEXT, MUTED, GRID, AXIS, PAPER, SHADE];

/// As an SVG has it.
pub(super) fn hex(colour: RGBColor) -> String {
    format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2)
}

/// The rules that turn all colours into their dark counterparts.
pub(super) fn dark_rules() -> String {
    let rule = |ink: &Ink| {
        let (light, dark) = (hex(ink.light), hex(ink.dark));
        format!("[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}")
    };
    INKS.iter().chain(&LINES).map(rule).collect()
}

/// The shape of a mark; with the colour it tells eight lines apart, in print as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Square,
    Up,
    Diamond,
    Down,
    Cross,
    Plus,
    Hexagon,
}

/// A shape a line.
pub(super) const SHAPES: [Shape; 8] = [
    Shape::Circle,
    Shape::Square,
    Shape::Up,
    Shape::Diamond,
    Shape::Down,
    Shape::Cross,
    Shape::Plus,
    Shape::Hexagon,
];

impl Shape {
    /// Its corners for a radius of 1; none for the circle.
    pub(super) fn corners(self) -> Vec<(f64, f64)> {
        // Sizes are chosen so that all shapes look alike in weight.
        match self {
            Shape::Circle => Vec::new(),
            Shape::Square => vec![(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)],
            Shape::Up => vec![(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
            Shape::Down => vec![(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
            Shape::Diamond => vec![(0.0, -1.3), (1.15, 0.0), (0.0, 1.3), (-1.15, 0.0)],
            Shape::Cross => plus(std::f64::consts::FRAC_PI_4),
            Shape::Plus => plus(0.0),
            Shape::Hexagon => {
                (0..6).map(|i| (f64::from(i) * std::f64::consts::FRAC_PI_3).sin_cos()).collect()
            }
        }
    }
}

/// A plus with arms of a third of its size, turned.
fn plus(angle: f64) -> Vec<(f64, f64)> {
    const ARM: f64 = 0.42;
    const END: f64 = 1.25;
    let (sin, cos) = angle.sin_cos();
    [
        (-ARM, -END),
        (ARM, -END),
        (ARM, -ARM),
        (END, -ARM),
        (END, ARM),
        (ARM, ARM),
        (ARM, END),
        (-ARM, END),
        (-ARM, ARM),
        (-END, ARM),
        (-END, -ARM),
        (-ARM, -ARM),
    ]
    .map(|(x, y)| (x * cos - y * sin, x * sin + y * cos))
    .to_vec()
}
