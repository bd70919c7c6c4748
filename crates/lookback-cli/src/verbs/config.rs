//! `lookback config` and `lookback --print-config`: the options in force, where each comes from, and what
//! each means.
//!
//! The constraint that shaped it: the output is itself a valid `lookback.toml`, so that it can be kept.

use super::{Streams, stdout};
use crate::error::Result;
use crate::settings::{FILE, Settings, source_words};
use lookback_options::{KEYS, Source};
use std::fmt::Write as _;

/// Prints all options as TOML with comments.
pub(crate) fn run(settings: &Settings, streams: &mut Streams<'_>) -> Result<()> {
    write!(streams.out, "{}", text(settings)).map_err(stdout)
}

fn text(settings: &Settings) -> String {
    let mut out = String::from(
        "# Options of the agent: defaults, then lookback.toml, then LOOKBACK_OPTS, then the command line.\n",
    );
    let file = settings.file.as_ref();
    let read = file.map_or_else(|| format!("# No {FILE} was read."), |f| format!("# Read {}.", f.display()));
    out.push_str(&read);
    out.push('\n');
    let rows = settings.options.effective();
    for key in KEYS {
        let values: Vec<_> = rows.iter().filter(|(name, ..)| *name == key.name).collect();
        let source = values.first().map_or(Source::Default, |(.., source)| *source);
        let set: Vec<_> =
            values.iter().filter(|(_, v, _)| !v.is_empty()).map(|(_, v, _)| quoted(v)).collect();
        // Writing to a String cannot fail.
        let _ = write!(out, "\n# {}\n# Example: {}\n", key.help, key.example);
        let _ = match (set.as_slice(), key.repeats) {
            ([], _) => writeln!(out, "# {} is not set", key.name),
            (values, true) => {
                writeln!(out, "{} = [{}]  # {}", key.name, values.join(", "), source_words(source))
            }
            (values, false) => writeln!(out, "{} = {}  # {}", key.name, values[0], source_words(source)),
        };
    }
    out
}

/// A TOML basic string.
fn quoted(value: &str) -> String {
    let mut out = String::from("\"");
    for c in value.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookback_options::Options;

    #[test]
    fn what_is_printed_reads_back_as_the_same_options() {
        let mut options = Options::default();
        let given = r#"ring=8m,slow=a.B.*:1s,slow=a.C:2s,out=/x "y"\z,quiet=on"#;
        options.apply(given, Source::Environment).unwrap();
        let printed = text(&Settings { options: options.clone(), file: None });
        let mut read = Options::default();
        read.apply_toml(&printed).unwrap();
        let values = |o: &Options| o.effective().into_iter().map(|(k, v, _)| (k, v)).collect::<Vec<_>>();
        assert_eq!(values(&read), values(&options));
        assert!(printed.contains("ring = \"8m\"  # LOOKBACK_OPTS"), "{printed}");
        assert!(printed.contains("tick = \"1ms\"  # default"));
        assert!(printed.contains("# trace is not set"));
    }
}
