//! Times, counts and shares in words: the one place of this crate where numbers become text.
//!
//! A reader compares durations down a column, so three significant digits are kept and the unit changes at
//! powers of a thousand, exactly as on the report page. Nothing here knows a recording.

use lookback_format::Nanos;
use lookback_format::units::count;

/// A duration with three significant digits: `1.23 ms`, `412 µs`.
pub(crate) fn duration(d: Nanos) -> String {
    for (scale, unit) in [(1e9, "s"), (1e6, "ms"), (1e3, "µs")] {
        let v = d.0 as f64 / scale;
        if v >= 0.9995 {
            let digits = if v >= 99.95 {
                0
            } else if v >= 9.995 {
                1
            } else {
                2
            };
            return format!("{v:.digits$} {unit}");
        }
    }
    format!("{} ns", d.0)
}

/// `1 call`, `2 calls`.
pub(crate) fn plural(n: u64, one: &str) -> String {
    format!("{} {one}{}", count(n), if n == 1 { "" } else { "s" })
}

/// `12.3 %`; tiny but not zero is `<0.1 %`.
pub(crate) fn percent(part: Nanos, whole: Nanos) -> String {
    if whole.0 == 0 {
        return "0 %".to_owned();
    }
    let p = part.0 as f64 / whole.0 as f64 * 100.0;
    match p {
        p if p > 0.0 && p < 0.1 => "<0.1 %".to_owned(),
        p if p >= 99.95 => format!("{p:.0} %"),
        p => format!("{p:.1} %"),
    }
}

/// Year, month, day, hour, minute, second, nanosecond in UTC of nanoseconds since 1970.
fn civil(unix: i128) -> (i64, i64, i64, i64, i64, i64, i64) {
    const DAY: i128 = 86_400_000_000_000;
    let (days, inside) = (unix.div_euclid(DAY) as i64, unix.rem_euclid(DAY) as i64);
    // Days to date by 400-year eras that begin on 1 March (H. Hinnant, "chrono-compatible low-level date
    // algorithms", civil_from_days).
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let seconds = inside / 1_000_000_000;
    (year, month, day, seconds / 3_600, seconds / 60 % 60, seconds % 60, inside % 1_000_000_000)
}

/// `2026-03-14 09:26:53.589 UTC`.
pub(crate) fn utc(unix: i128) -> String {
    let (y, mo, d, h, m, s, ns) = civil(unix);
    format!("{y:04}-{mo:02}-{d:02} {h:02}:{m:02}:{s:02}.{:03} UTC", ns / 1_000_000)
}

/// `2026-03-14T09:26:53.589Z`, ISO 8601.
pub(crate) fn iso(unix: i128) -> String {
    let (y, mo, d, h, m, s, ns) = civil(unix);
    format!("{y:04}-{mo:02}-{d:02}T{h:02}:{m:02}:{s:02}.{:03}Z", ns / 1_000_000)
}

/// Breaks `text` at spaces into lines of at most `width` characters; a longer word keeps a line to itself.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let len = word.chars().count();
        if used > 0 && used + 1 + len > width {
            lines.push(String::new());
            used = 0;
        }
        let line = lines.last_mut().expect("there is always a line");
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += len;
    }
    lines
}

/// Text from outside for a terminal: control characters cannot move the cursor or change colours.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits() {
        let said: Vec<_> = [0, 999, 1_000, 1_234, 99_960, 412_345_678, 999_600, 61_000_000_000]
            .map(Nanos)
            .map(duration)
            .into();
        assert_eq!(said, ["0 ns", "999 ns", "1.00 µs", "1.23 µs", "100 µs", "412 ms", "1.00 ms", "61.0 s"]);
    }

    #[test]
    fn dates_are_right_across_leap_years() {
        assert_eq!(utc(0), "1970-01-01 00:00:00.000 UTC");
        assert_eq!(utc(951_782_400_000_000_000), "2000-02-29 00:00:00.000 UTC");
        assert_eq!(iso(1_773_480_413_589_000_000), "2026-03-14T09:26:53.589Z");
        assert_eq!(utc(-1), "1969-12-31 23:59:59.999 UTC");
    }

    #[test]
    fn counts_shares_and_lines() {
        assert_eq!((plural(1, "call"), plural(1_234, "call")), ("1 call".into(), "1,234 calls".into()));
        assert_eq!(percent(Nanos(1), Nanos(3)), "33.3 %");
        assert_eq!(percent(Nanos(1), Nanos(30_000)), "<0.1 %");
        assert_eq!(wrap("one two three-and-more four", 8), ["one two", "three-and-more", "four"]);
        assert_eq!(plain("a\u{1b}[31mb"), "a\u{fffd}[31mb");
    }
}
