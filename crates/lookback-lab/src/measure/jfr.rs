//! The collector's pauses as JFR recorded them, for an invocation that left a recording: a check of the log.
//!
//! The constraint that shaped it: JFR's file is the JDK's own affair, so the JDK's own tool reads it
//! (`jfr print --json`), and its times are of the wall clock, which no iteration's window is in. So a pause is put into an
//! iteration by the number of its collection, which JFR and the log share. Figures from here have names of their own,
//! `jfr.*`, and stand beside the log's; they must not replace them.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// A pause of the collector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JfrPause {
    /// The number of the collection, the log's `GC(n)`.
    pub gc: u32,
    /// What JFR calls it.
    pub name: String,
    /// How long it took, nanoseconds.
    pub nanos: u64,
}

/// The pauses in a recording, read by the JDK's tool `jfr`.
///
/// # Errors
/// The tool is missing, fails or says what is not understood; in words.
pub fn pauses(tool: &Path, recording: &Path) -> Result<Vec<JfrPause>, String> {
    let output = Command::new(tool)
        .args(["print", "--json", "--events", "jdk.GCPhasePause"])
        .arg(recording)
        .output()
        .map_err(|error| format!("{} cannot be started: {error}", tool.display()))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        let words = words.lines().next().unwrap_or("nothing said").to_owned();
        return Err(format!("{} cannot read {}: {words}", tool.display(), recording.display()));
    }
    parse(&output.stdout)
}

/// The pauses in what `jfr print --json` printed.
///
/// # Errors
/// It is not understood; in words.
pub fn parse(json: &[u8]) -> Result<Vec<JfrPause>, String> {
    #[derive(Deserialize)]
    struct File {
        recording: Recording,
    }
    #[derive(Deserialize)]
    struct Recording {
        events: Vec<Event>,
    }
    #[derive(Deserialize)]
    struct Event {
        values: Values,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Values {
        gc_id: u32,
        name: String,
        duration: String,
    }
    let file: File =
        serde_json::from_slice(json).map_err(|error| format!("jfr print is not understood: {error}"))?;
    let pause = |Event { values }: Event| {
        let nanos = seconds(&values.duration)
            .ok_or_else(|| format!("jfr print tells a duration {:?}", values.duration))?;
        Ok(JfrPause { gc: values.gc_id, name: values.name, nanos })
    };
    file.recording.events.into_iter().map(pause).collect()
}

/// The figures of an iteration that these collections belong to.
pub fn figures(pauses: &[JfrPause], collections: &BTreeSet<u32>) -> BTreeMap<String, f64> {
    let of = || pauses.iter().filter(|pause| collections.contains(&pause.gc));
    let wall: u64 = of().map(|pause| pause.nanos).fold(0, u64::saturating_add);
    [("jfr.pauses".to_owned(), of().count() as f64), ("jfr.wall.pauses".to_owned(), wall as f64)].into()
}

/// A duration as ISO 8601 writes it, as `PT1M0.004317S`, in nanoseconds.
fn seconds(text: &str) -> Option<u64> {
    let mut rest = text.strip_prefix("PT")?;
    let mut total = 0.0;
    while let Some(end) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        let unit = match &rest[end..=end] {
            "H" => 3.6e12,
            "M" => 6e10,
            "S" => 1e9,
            _ => return None,
        };
        total += rest[..end].parse::<f64>().ok().filter(|value| *value >= 0.0)? * unit;
        rest = &rest[end + 1..];
    }
    (rest.is_empty() && text.len() > 2).then(|| f64::round(total) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = r#"{"recording":{"events":[
        {"type":"jdk.GCPhasePause","values":{"startTime":"2026-11-22T07:33:06.1Z","duration":"PT0.004317S","eventThread":null,"gcId":1,"name":"GC Pause"}},
        {"type":"jdk.GCPhasePause","values":{"startTime":"2026-11-22T07:33:07.1Z","duration":"PT1M0.5S","eventThread":null,"gcId":2,"name":"GC Pause"}}]}}"#;

    #[test]
    fn pauses_are_put_into_iterations_by_their_collections() {
        let all = parse(PRINTED.as_bytes()).expect("two pauses");
        assert_eq!(all[0], JfrPause { gc: 1, name: "GC Pause".into(), nanos: 4_317_000 });
        assert_eq!(all[1].nanos, 60_500_000_000);
        let figures = figures(&all, &[1, 3].into());
        assert_eq!((figures["jfr.pauses"], figures["jfr.wall.pauses"]), (1.0, 4_317_000.0));
    }

    #[test]
    fn what_is_not_understood_is_said() {
        assert!(parse(b"{\"recording\"").expect_err("torn").contains("not understood"));
        for wrong in ["PT", "4 ms", "PT3", "PT-1S", "PT1D"] {
            let json = PRINTED.replace("PT0.004317S", wrong);
            assert!(parse(json.as_bytes()).expect_err(wrong).contains(wrong), "{wrong}");
        }
        let missing = Path::new("/no/such/jfr");
        assert!(pauses(missing, missing).expect_err("no tool").contains("cannot be started"));
    }
}
