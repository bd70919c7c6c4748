//! The VM's unified log of the collector and of safepoints, line by line: `-Xlog:gc*,safepoint*:...:timenanos,level,tags`.
//!
//! ```text
//! [1428942972045ns][info][gc               ] GC(1) Pause Young (Allocation Failure) 30M->4M(92M) 4.317ms
//! [1435559710349ns][info][gc               ] GC(3) Concurrent marking (unload classes) 9.828ms
//! [1451598562926ns][info][gc,phases        ] GC(5) y: Concurrent Mark 9.973ms
//! [1451470052150ns][info][safepoint        ] Safepoint "ZMarkEndYoung", Time since last: ... ns, Total: 30876 ns
//! ```
//!
//! The constraint that shaped it: the log is made for people, and its words differ from collector to collector and from
//! JDK to JDK. So a line is taken by its form alone: what ends in a duration has taken that long until the line's time
//! stamp, which is `CLOCK_MONOTONIC`, the harness's clock; its first word says whether the program stood. What has no
//! such form is passed over and counted. The log's begin of a phase is not needed, and so nothing is remembered from line
//! to line. It must not judge: what a line is worth to a figure is said in `windows`.

use std::io::{self, BufRead};

/// Something that the log tells.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The collector in use, as the VM calls it: `G1`, `The Z Garbage Collector`.
    Collector(String),
    /// The collector stopped the program.
    Pause(Phase),
    /// The collector worked beside the program.
    Concurrent(Phase),
    /// A part of a pause.
    Part(Phase),
    /// A thread of the program waited for the collector to free memory.
    Stall(Phase),
    /// A whole collection of a collector whose collections are no single pause.
    Collection(Phase),
    /// The VM stopped all threads, for whatever reason.
    Safepoint(Safepoint),
}

/// A stretch of the collector's work.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// The number of the collection.
    pub gc: Option<u32>,
    /// What it is called, without its reasons in parentheses: `Pause Young`, `Concurrent Mark`.
    pub name: String,
    /// Begin, nanoseconds of `CLOCK_MONOTONIC`; exact to the microsecond or so that the duration is rounded to.
    pub begin: u64,
    /// End, likewise.
    pub end: u64,
    /// What was in use of the heap, where it is told.
    pub heap: Option<Heap>,
}

/// The heap's use before and after, bytes; the log tells it in whole KiB or MiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heap {
    /// Before.
    pub before: u64,
    /// After.
    pub after: u64,
    /// The heap's size, where it is told.
    pub capacity: Option<u64>,
}

/// The VM stopped all threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Safepoint {
    /// For what: the name of the VM operation.
    pub operation: String,
    /// End, nanoseconds of `CLOCK_MONOTONIC`.
    pub end: u64,
    /// Until the last thread stood, nanoseconds.
    pub reaching: u64,
    /// While all stood, nanoseconds.
    pub at: u64,
    /// From the request to the end, nanoseconds.
    pub total: u64,
}

/// How a log was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Survey {
    /// Lines with the expected decorations.
    pub lines: u64,
    /// Lines without: torn, or of another log.
    pub strange: u64,
    /// Events told.
    pub events: u64,
}

/// Reads a log and tells its events in the order of their ends.
///
/// # Errors
/// The log cannot be read. What is in it is no error.
pub fn read(mut log: impl BufRead, mut each: impl FnMut(Event)) -> io::Result<Survey> {
    let mut survey = Survey::default();
    let mut bytes = Vec::new();
    while log.read_until(b'\n', &mut bytes)? > 0 {
        let text = String::from_utf8_lossy(&bytes);
        match Line::of(text.trim_end()) {
            Some(line) => {
                survey.lines += 1;
                if let Some(event) = line.event() {
                    survey.events += 1;
                    each(event);
                }
            }
            None => survey.strange += 1,
        }
        bytes.clear();
    }
    Ok(survey)
}

/// A line, taken apart.
struct Line<'a> {
    nanos: u64,
    tags: &'a str,
    message: &'a str,
}

impl<'a> Line<'a> {
    fn of(line: &'a str) -> Option<Line<'a>> {
        let (nanos, rest) = line.strip_prefix('[')?.split_once("ns][")?;
        let (_level, rest) = rest.split_once("][")?;
        let (tags, message) = rest.split_once(']')?;
        Some(Line { nanos: nanos.parse().ok()?, tags: tags.trim_end(), message: message.strip_prefix(' ')? })
    }

    fn event(&self) -> Option<Event> {
        match self.tags {
            "safepoint" => self.safepoint().map(Event::Safepoint),
            "gc" | "gc,init" if self.message.starts_with("Using ") => {
                Some(Event::Collector(self.message["Using ".len()..].to_owned()))
            }
            "gc,init" => {
                let name = self.message.strip_prefix("Initializing ")?;
                Some(Event::Collector(name.to_owned()))
            }
            "gc" | "gc,phases" => self.phase(),
            // Of G1, the phases within its concurrent cycle.
            "gc,marking" => self.phase().filter(|event| matches!(event, Event::Concurrent(_))),
            _ => None,
        }
    }

    fn phase(&self) -> Option<Event> {
        let (gc, text) = match self.message.strip_prefix("GC(") {
            Some(rest) => {
                let (number, text) = rest.split_once(')')?;
                (Some(number.parse().ok()?), text)
            }
            None => (None, self.message),
        };
        let (text, duration) = split_last(text)?;
        let duration = nanoseconds(duration)?;
        let (text, heap) = match split_last(text).and_then(|(text, last)| Some((text, heap(last)?))) {
            Some((text, heap)) => (text, Some(heap)),
            None => (text, None),
        };
        let name = name(text);
        let phase = Phase { gc, begin: self.nanos.saturating_sub(duration), end: self.nanos, heap, name };
        let first = phase.name.split(' ').find(|word| !matches!(*word, "Young" | "Old"))?;
        let stalls = ["Allocation Stall", "Relocation Stall"];
        Some(match first {
            "Pause" => Event::Pause(phase),
            "Concurrent" => Event::Concurrent(phase),
            _ if stalls.contains(&phase.name.as_str()) => Event::Stall(phase),
            _ if self.tags == "gc" => Event::Collection(phase),
            // Z's generations are no parts of a pause: their phases are told, and pauses among them.
            _ if text.contains(" Generation") => return None,
            _ => Event::Part(phase),
        })
    }

    fn safepoint(&self) -> Option<Safepoint> {
        let (operation, rest) = self.message.strip_prefix("Safepoint \"")?.split_once('"')?;
        let field = |name: &str| {
            rest.split(", ")
                .find_map(|part| part.strip_prefix(name)?.strip_suffix(" ns")?.trim().parse().ok())
        };
        Some(Safepoint {
            operation: operation.to_owned(),
            end: self.nanos,
            reaching: field("Reaching safepoint:")?,
            at: field("At safepoint:")?,
            total: field("Total:")?,
        })
    }
}

/// The last word, and what stands before it.
fn split_last(text: &str) -> Option<(&str, &str)> {
    text.trim_end().rsplit_once(' ')
}

/// `4.317ms` or `0.028s`, in nanoseconds.
fn nanoseconds(text: &str) -> Option<u64> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e6),
        None => (text.strip_suffix('s')?, 1e9),
    };
    if !number.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return None;
    }
    Some((number.parse::<f64>().ok()? * unit).round() as u64)
}

/// `59M->6M(96M)`, or, of Z, `60M(62%)->88M(92%)`.
fn heap(text: &str) -> Option<Heap> {
    let (before, after) = text.split_once("->")?;
    let bare = |text: &str| -> Option<u64> { bytes(text.split('(').next()?) };
    let capacity = after.split_once('(').and_then(|(_, rest)| bytes(rest.strip_suffix(')')?));
    Some(Heap { before: bare(before)?, after: bare(after)?, capacity })
}

/// `96M`, in bytes.
fn bytes(text: &str) -> Option<u64> {
    let unit = text.chars().last()?;
    let shift = match unit {
        'B' => 0,
        'K' => 10,
        'M' => 20,
        'G' => 30,
        'T' => 40,
        _ => return None,
    };
    text[..text.len() - 1].parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// The name of a phase: without reasons in parentheses, colons and numbers, and with Z's generation as a word.
fn name(text: &str) -> String {
    let text = text.trim();
    let (generation, text) = match text.split_once(": ") {
        Some(("y" | "Y", rest)) => ("Young ", rest),
        Some(("O", rest)) => ("Old ", rest),
        // `Phase 1: Mark live objects`.
        Some((head, rest)) if head.starts_with("Phase ") => ("", rest),
        _ => ("", text),
    };
    let mut name = String::from(generation);
    let mut depth = 0u32;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ':' => {}
            ' ' if name.ends_with(' ') => {}
            c if depth == 0 => name.push(c),
            _ => {}
        }
    }
    name.truncate(name.trim_end().len());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(log: &str) -> Vec<Event> {
        let mut events = Vec::new();
        read(log.as_bytes(), |event| events.push(event)).expect("memory can be read");
        events
    }

    #[test]
    fn a_pause_ends_at_its_line_and_began_its_duration_before() {
        let log = "[1428942972045ns][info][gc               ] GC(1) Pause Young (Normal) (G1 (a) Pause) 30M->4M(92M) 4.317ms\n";
        let heap = Some(Heap { before: 30 << 20, after: 4 << 20, capacity: Some(92 << 20) });
        let (begin, end) = (1_428_938_655_045, 1_428_942_972_045);
        assert_eq!(
            events(log),
            [Event::Pause(Phase { gc: Some(1), name: "Pause Young".into(), begin, end, heap })]
        );
    }

    #[test]
    fn lines_of_each_kind_are_told_apart_by_their_form() {
        let cases = [
            ("[9ns][info][gc] GC(3) Concurrent marking (unload classes) 0.001ms", Some("Concurrent marking")),
            ("[9ns][info][gc,phases   ] GC(5) O: Concurrent Mark 9.973ms", Some("Old Concurrent Mark")),
            ("[9ns][info][gc,phases   ] GC(5) y: Pause Mark End 0.013ms", Some("Young Pause Mark End")),
            ("[9ns][info][gc,phases   ] GC(5) y: Young Generation 60M(62%)->88M(92%) 0.028s", None),
            (
                "[9ns][info][gc          ] GC(5) Minor Collection (Allocation Stall) 60M(62%)->88M(92%) 0.028s",
                Some("Minor Collection"),
            ),
            (
                "[9ns][info][gc          ] Allocation Stall (C1 CompilerThread0) 1.500ms",
                Some("Allocation Stall"),
            ),
            (
                "[9ns][info][gc,phases   ] GC(3)   Evacuate Collection Set: 3.86ms",
                Some("Evacuate Collection Set"),
            ),
            ("[9ns][info][gc,phases   ] GC(3) Phase 1: Mark live objects 3.861ms", Some("Mark live objects")),
            ("[9ns][info][gc] Using G1", Some("G1")),
            ("[9ns][info][gc,init] Initializing The Z Garbage Collector", Some("The Z Garbage Collector")),
            ("[9ns][info][gc,start] GC(3) Pause Young (Normal)", None),
            ("[9ns][info][gc,cpu] GC(3) User=0.00s Sys=0.01s Real=0.00s", None),
            ("[9ns][info][gc,task] GC(3) Using 2 workers of 2 for evacuation", None),
            ("[9ns][info][gc,stats] Pause Init Mark (N)  0.3 ms", None),
        ];
        for (line, expected) in cases {
            let told: Vec<_> = events(line)
                .into_iter()
                .map(|event| match event {
                    Event::Collector(name) => name,
                    Event::Safepoint(s) => s.operation,
                    Event::Pause(p)
                    | Event::Concurrent(p)
                    | Event::Part(p)
                    | Event::Stall(p)
                    | Event::Collection(p) => p.name,
                })
                .collect();
            assert_eq!(told, Vec::from_iter(expected), "{line}");
        }
        let kind = |line| events(line).remove(0);
        assert!(matches!(kind(cases[0].0), Event::Concurrent(_)));
        assert!(matches!(kind(cases[2].0), Event::Pause(_)));
        assert!(matches!(kind(cases[4].0), Event::Collection(_)));
        assert!(matches!(kind(cases[5].0), Event::Stall(_)));
        assert!(matches!(kind(cases[6].0), Event::Part(_)));
    }

    #[test]
    fn safepoints_are_read_as_17_and_25_write_them() {
        let of_17 = "[9000ns][info][safepoint   ] Safepoint \"G1CollectFull\", Time since last: 7725753 ns, Reaching safepoint: 5378 ns, Cleanup: 32178 ns, At safepoint: 414 ns, Total: 419 ns\n";
        let of_25 = "[9000ns][info][safepoint   ] Safepoint \"ZMarkEndYoung\", Time since last: 103 ns, Reaching safepoint: 3064 ns, At safepoint: 26139 ns, Leaving safepoint: 1673 ns, Total: 30876 ns, Threads: 0 runnable, 12 total\n";
        let safepoint = |operation: &str, reaching, at, total| {
            Event::Safepoint(Safepoint { operation: operation.into(), end: 9000, reaching, at, total })
        };
        assert_eq!(events(of_17), [safepoint("G1CollectFull", 5378, 414, 419)]);
        assert_eq!(events(of_25), [safepoint("ZMarkEndYoung", 3064, 26139, 30876)]);
    }

    #[test]
    fn a_torn_line_is_counted_and_hurts_no_other() {
        let log = b"ns][info][gc] GC(1) Pause Young 1.000ms\n\xff\xfe\n[1ns][info][gc] GC(2) Pause Full 0.5ms\n[7ns][info][safepoint] Safepoint \"x";
        let mut told = 0;
        let survey = read(&log[..], |_| told += 1).expect("memory can be read");
        assert_eq!((survey, told), (Survey { lines: 2, strange: 2, events: 1 }, 1));
    }
}
