//! A figure as a picture.
//!
//! The constraint that shaped it: the picture is the SVG itself, rendered, so that the two cannot differ; and it is the
//! same on every machine, so no font of the machine is used.

use super::{canvas, font};
use crate::error::{Error, Result};
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::sync::Arc;

/// Which colours a picture has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shade {
    /// Dark on white.
    Light,
    /// Light on black.
    Dark,
}

/// Reads an SVG with the fonts that are built in.
fn tree(svg: &str) -> std::result::Result<Tree, String> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(font::REGULAR.to_vec());
    fonts.load_font_data(font::BOLD.to_vec());
    fonts.set_sans_serif_family("Roboto");
    let options = Options { fontdb: Arc::new(fonts), font_family: "Roboto".into(), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|error| error.to_string())
}

/// Renders a figure `zoom` times its size in pixels; `name` is for messages.
///
/// # Errors
/// [`Error::Drawing`] when the figure is no SVG or the picture would be too large.
pub fn png(name: &str, svg: &str, zoom: f32, shade: Shade) -> Result<Vec<u8>> {
    let failed = |why: String| Error::Drawing { figure: name.to_owned(), why };
    let dark;
    let (svg, paper) = match shade {
        Shade::Light => (svg, Color::WHITE),
        Shade::Dark => {
            dark = canvas::dark(svg);
            (dark.as_str(), Color::from_rgba8(0x0d, 0x11, 0x17, 0xff))
        }
    };
    let tree = tree(svg).map_err(failed)?;
    let size = tree.size();
    let (w, h) = ((size.width() * zoom).ceil() as u32, (size.height() * zoom).ceil() as u32);
    let mut picture = Pixmap::new(w, h).ok_or_else(|| failed(format!("{w} x {h} pixels are too many")))?;
    picture.fill(paper);
    resvg::render(&tree, Transform::from_scale(zoom, zoom), &mut picture.as_mut());
    picture.encode_png().map_err(|error| failed(error.to_string()))
}
