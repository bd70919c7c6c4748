//! Durations, sizes and shares as people write them: `50us`, `1ms`, `30s`, `2m`; `64k`, `64m`, `2g`; `3%`, `0.25%`.
//!
//! Whole numbers only (of hundredths, in a share), so that what is printed reads back as the same value.

const DURATIONS: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];
const SIZES: [(&str, u64); 4] = [("", 1), ("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30)];

fn split(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

/// Reads a duration; nanoseconds.
///
/// # Errors
/// In words, when it is no number with a unit or too large.
pub fn parse_duration(text: &str) -> Result<u64, String> {
    let bad = || format!("'{text}' is not a duration (a whole number and ns, us, ms, s, m or h)");
    let (number, unit) = split(text).ok_or_else(bad)?;
    let (_, scale) = DURATIONS.iter().find(|(u, _)| *u == unit).ok_or_else(bad)?;
    number.checked_mul(*scale).ok_or_else(bad)
}

/// Reads a size; bytes.
///
/// # Errors
/// In words, when it is no number with a unit or too large.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let bad = || format!("'{text}' is not a size (a whole number and k, m or g)");
    let lower = text.to_ascii_lowercase();
    let (number, unit) = split(&lower).ok_or_else(bad)?;
    let (_, scale) = SIZES.iter().find(|(u, _)| *u == unit).ok_or_else(bad)?;
    number.checked_mul(*scale).ok_or_else(bad)
}

/// Reads a share; hundredths of a percent.
///
/// # Errors
/// In words, when it is no number with a percent sign, has more than two digits after the point, or is too large.
pub fn parse_share(text: &str) -> Result<u32, String> {
    let bad = || format!("'{text}' is not a share (a number with at most two digits after the point, and %)");
    let number = text.strip_suffix('%').map(str::trim_end).ok_or_else(bad)?;
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 2 {
        return Err(bad());
    }
    let hundredths = format!("{part:0<2}").parse::<u32>().map_err(|_| bad())?;
    whole.parse::<u32>().ok().and_then(|n| n.checked_mul(100)?.checked_add(hundredths)).ok_or_else(bad)
}

/// Writes hundredths of a percent so that [`parse_share`] reads the same value.
#[must_use]
pub fn format_share(hundredths: u32) -> String {
    let (whole, part) = (hundredths / 100, hundredths % 100);
    match part {
        0 => format!("{whole}%"),
        part if part.is_multiple_of(10) => format!("{whole}.{}%", part / 10),
        part => format!("{whole}.{part:02}%"),
    }
}

fn format_with(value: u64, units: &[(&str, u64)]) -> String {
    let fits = |scale: u64| value.is_multiple_of(scale) && (value >= scale || scale == 1);
    let (unit, scale) = units.iter().rev().find(|(_, scale)| fits(*scale)).unwrap_or(&units[0]);
    format!("{}{unit}", value / scale)
}

/// Writes nanoseconds so that [`parse_duration`] reads the same value.
#[must_use]
pub fn format_duration(nanos: u64) -> String {
    format_with(nanos, &DURATIONS)
}

/// Writes bytes so that [`parse_bytes`] reads the same value.
#[must_use]
pub fn format_bytes(bytes: u64) -> String {
    format_with(bytes, &SIZES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        for n in [0, 1, 999, 1_000, 1_500, 1_000_000, 90_000_000_000, 3_600_000_000_000] {
            assert_eq!(parse_duration(&format_duration(n)), Ok(n));
            assert_eq!(parse_bytes(&format_bytes(n)), Ok(n));
        }
        for n in [0, 1, 10, 25, 99, 100, 250, 305, 10_000] {
            assert_eq!(parse_share(&format_share(n)), Ok(n));
        }
        assert_eq!(
            (format_share(300), format_share(250), format_share(5)),
            ("3%".into(), "2.5%".into(), "0.05%".into())
        );
        assert_eq!(format_duration(1_000_000), "1ms");
        assert_eq!(format_bytes(64 << 20), "64m");
        assert_eq!(parse_bytes("64M"), Ok(64 << 20));
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for bad in ["", "ms", "1", "1.5s", "-1s", "99999999999999999999s", "18446744073709551615h", "1 s"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
        for bad in ["", "%", "3", ".5%", "1.%", "1.234%", "-1%", "1e2%", "99999999999%", "42949673%"] {
            assert!(parse_share(bad).is_err(), "{bad}");
        }
        for bad in ["", "k", "1kb", "-1", "18446744073709551615g"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }
}
