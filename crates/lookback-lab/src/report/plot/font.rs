//! The font of the figures: Roboto 2.138, regular and bold, Copyright 2011 Google Inc., Apache License 2.0 (the
//! project's own licence, see LICENSE), cut down with fonttools' pyftsubset to Latin, Greek, Cyrillic and the signs
//! that figures use. The two files stand in `assets/`.
//!
//! The constraint that shaped it: a picture must be the same on a machine without fonts, so the renderer is given
//! these and never the machine's. An SVG names the font and leaves the choice to who shows it.

/// Regular.
pub(super) const REGULAR: &[u8] = include_bytes!("../../../assets/Roboto-Regular-subset.ttf");
/// Bold, for titles.
pub(super) const BOLD: &[u8] = include_bytes!("../../../assets/Roboto-Bold-subset.ttf");

/// The families that an SVG asks for: ours where it is there, else what the reader's machine has for pages.
pub(super) const FAMILY: &str = "Roboto, system-ui, sans-serif";

/// Advance widths of the printable ASCII characters in 2048ths of the font's size, from the font's table `hmtx`.
const WIDTHS: [u16; 95] = [
    508, 528, 656, 1261, 1151, 1500, 1274, 358, 701, 713, 882, 1162, 403, 566, 540, 845, 1151, 1151, 1151,
    1151, 1151, 1151, 1151, 1151, 1151, 1151, 496, 433, 1041, 1124, 1071, 968, 1839, 1336, 1276, 1333, 1344,
    1164, 1132, 1395, 1461, 557, 1130, 1285, 1103, 1788, 1461, 1409, 1292, 1409, 1262, 1216, 1222, 1328,
    1304, 1817, 1284, 1230, 1227, 543, 841, 543, 856, 924, 633, 1114, 1150, 1072, 1155, 1086, 712, 1150,
    1128, 498, 490, 1038, 498, 1796, 1131, 1168, 1150, 1164, 694, 1057, 670, 1129, 992, 1539, 1016, 969,
    1016, 693, 500, 693, 1393,
];

/// How wide a text is at a size of 1. Characters beyond ASCII count as a wide letter.
pub(super) fn width(text: &str) -> f64 {
    let one = |c: char| {
        let ascii = u32::from(c).checked_sub(32).and_then(|i| WIDTHS.get(i as usize));
        f64::from(ascii.copied().unwrap_or(1200))
    };
    text.chars().map(one).sum::<f64>() / 2048.0
}

/// A text cut to a width at a size of 1, with an ellipsis when something was cut.
pub(super) fn fit(text: &str, most: f64) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if width(&kept) + 0.6 > most {
            kept.pop();
            break;
        }
    }
    kept + "\u{2026}"
}
