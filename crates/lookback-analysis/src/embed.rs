//! Puts a report's JSON into the page's template.
//!
//! The data element holds base64 of a raw deflate stream: no character of it means anything to HTML, so no
//! name in a recording can break out of it.

use crate::{Error, Result};
use base64::Engine;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::Write;

/// The mark in the template that the data takes the place of.
pub const PLACEHOLDER: &str = "@@LOOKBACK_DATA@@";

/// The template filled with `json`.
///
/// # Errors
/// [`Error::Template`] unless the template holds [`PLACEHOLDER`] exactly once.
pub fn embed(template_html: &str, json: &str) -> Result<String> {
    let found = template_html.matches(PLACEHOLDER).count();
    let Some((before, after)) = template_html.split_once(PLACEHOLDER).filter(|_| found == 1) else {
        return Err(Error::Template { placeholder: PLACEHOLDER, found });
    };
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::default());
    deflate.write_all(json.as_bytes())?;
    let data = base64::engine::general_purpose::STANDARD.encode(deflate.finish()?);
    Ok([before, &data, after].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn what_is_embedded_is_read_back() {
        let json = r#"{"name":"</script><b>"}"#.repeat(100);
        let page = embed(&format!("<p>{PLACEHOLDER}</p>"), &json).unwrap();
        let data = page.strip_prefix("<p>").and_then(|p| p.strip_suffix("</p>")).unwrap();
        let packed = base64::engine::general_purpose::STANDARD.decode(data).unwrap();
        let mut back = String::new();
        flate2::read::DeflateDecoder::new(&packed[..]).read_to_string(&mut back).unwrap();
        assert_eq!(back, json);
    }

    #[test]
    fn a_template_without_a_place_is_refused() {
        assert!(matches!(embed("<p></p>", "{}"), Err(Error::Template { found: 0, .. })));
        let twice = PLACEHOLDER.repeat(2);
        assert!(matches!(embed(&twice, "{}"), Err(Error::Template { found: 2, .. })));
    }
}
