//! The agent's options: `out=FILE[,memory=MAX:TOTAL][,socket=PATH][,pauses=on|off]`.
//!
//! The constraint that shaped it: they come from a command line that somebody else's script put together, and are checked
//! in full before anything begins. A path with a comma cannot be given.

use crate::error::{Error, Result};
use crate::report::MockedMemory;
use lookback_options::parse_bytes;
use std::path::PathBuf;

/// What the agent was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// The report.
    pub(crate) out: PathBuf,
    /// What `Runtime` is to tell of the heap.
    pub(crate) memory: Option<MockedMemory>,
    /// Where another process marks begin and end.
    pub(crate) socket: Option<PathBuf>,
    /// Whether stop-the-world pauses are attributed.
    pub(crate) pauses: bool,
}

impl Options {
    pub(crate) fn parse(text: &str) -> Result<Options> {
        let (mut out, mut memory, mut socket, mut pauses) = (None, None, None, true);
        for given in text.split(',').filter(|g| !g.is_empty()) {
            let bad = |why: &str| Error::Option { given: given.to_owned(), why: why.to_owned() };
            let (key, value) = given.split_once('=').ok_or_else(|| bad("has no value"))?;
            match (key, value) {
                ("out" | "socket", "") => return Err(bad("names no file")),
                ("out", path) => out = Some(PathBuf::from(path)),
                ("socket", path) => socket = Some(PathBuf::from(path)),
                ("pauses", "on") => pauses = true,
                ("pauses", "off") => pauses = false,
                ("pauses", _) => return Err(bad("is neither on nor off")),
                ("memory", sizes) => memory = Some(parse_memory(sizes).map_err(|why| bad(&why))?),
                _ => return Err(bad("is unknown")),
            }
        }
        Ok(Options { out: out.ok_or(Error::NoOutput)?, memory, socket, pauses })
    }
}

fn parse_memory(text: &str) -> std::result::Result<MockedMemory, String> {
    let (max, total) = text.split_once(':').ok_or("is not of the form MAX:TOTAL")?;
    let size = |text| match parse_bytes(text) {
        // Java's numbers have a sign.
        Ok(bytes) if i64::try_from(bytes).is_ok() => Ok(bytes),
        Ok(_) => Err(format!("holds a size that is too large, {text}")),
        Err(why) => Err(format!("holds no size: {why}")),
    };
    let memory = MockedMemory { max_bytes: size(max)?, total_bytes: size(total)? };
    if memory.total_bytes == 0 || memory.total_bytes > memory.max_bytes {
        return Err("must have a total above nothing and not above the maximum".into());
    }
    Ok(memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_right_is_taken() {
        let options =
            Options::parse("out=a=b.jsonl,memory=512m:128M,socket=/run/s,pauses=off").expect("right");
        let memory = MockedMemory { max_bytes: 512 << 20, total_bytes: 128 << 20 };
        let socket = Some(PathBuf::from("/run/s"));
        assert_eq!(options, Options { out: "a=b.jsonl".into(), memory: Some(memory), socket, pauses: false });
        let plain = Options::parse("out=x").expect("right");
        assert_eq!(plain, Options { out: "x".into(), memory: None, socket: None, pauses: true });
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, word) in [
            ("", "out=FILE"),
            ("pauses=on", "out=FILE"),
            ("out=", "'out='"),
            ("out=x,socket=", "'socket='"),
            ("out=x,pauses=yes", "'pauses=yes'"),
            ("out=x,colour=red", "'colour=red'"),
            ("out=x,verbose", "no value"),
            ("out=x,memory=512m", "MAX:TOTAL"),
            ("out=x,memory=128m:512m", "above"),
            ("out=x,memory=128m:0", "above"),
            ("out=x,memory=lots:some", "lots"),
            ("out=x,memory=9999999999g:1m", "9999999999g"),
        ] {
            let why = Options::parse(text).expect_err(text).to_string();
            assert!(why.contains(word), "{text}: {why}");
        }
    }
}
