//! What an invocation's end means: [`Outcome`] from exit code, signal, output and figures.
//!
//! The constraint that shaped it: whether it went well is decided by the exit code, the checksum and the figures
//! together. Words in the output only tell apart what failed anyway: a program may print anything.

use super::process::End;
use crate::measure::{STDERR, STDOUT};
use crate::plan::Cell;
use crate::results::{Iteration, Outcome};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// How much of the end of an output is looked at for words: the VM's last words are at its end.
const TAIL: u64 = 1 << 20;

/// From this exit code on a shell means a signal.
const SIGNALLED: i32 = 128;

/// What HotSpot says when the heap was too small: while it runs (twice, for what throws the error is VM or library), and
/// when it could not even start. Seen with all collectors of JDK 17 and 25; it says so on standard output.
const OUT_OF_MEMORY: [&str; 5] = [
    "java.lang.OutOfMemoryError",
    "Too small maximum heap",
    "GC triggered before VM initialization completed",
    "is too low to afford the minimum number of regions",
    "Out of Memory during initialization",
];

/// What the end of the process alone says; [`Outcome::Ok`] for an exit code of 0. None for an interrupted one.
pub(super) fn of_process(end: End, dir: &Path, cell: &Cell) -> Option<Outcome> {
    let code = match end {
        End::Interrupted => return None,
        End::TimedOut => return Some(Outcome::TimedOut),
        End::Signalled(signal) => return Some(Outcome::Crash { signal }),
        End::Exited(0) => return Some(Outcome::Ok),
        End::Exited(code) => code,
    };
    if has_error_file(dir) {
        return Some(Outcome::Crash { signal: 0 });
    }
    // A wrapper tells the signal that ended its child as a shell does.
    if !cell.launch.wrapper.is_empty() && code > SIGNALLED {
        return Some(Outcome::Crash { signal: code - SIGNALLED });
    }
    let (out, err) = (tail(&dir.join(STDOUT)), tail(&dir.join(STDERR)));
    let told = |words: &&str| out.contains(*words) || err.contains(*words);
    if cell.launch.jvm.is_some() && OUT_OF_MEMORY.iter().any(told) {
        return Some(Outcome::OutOfMemory);
    }
    let last = |text: &str| text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(shortened);
    // A VM that cannot start says so on standard output.
    Some(Outcome::Failed { code, last_words: last(&err).or_else(|| last(&out)).unwrap_or_default() })
}

/// What is wrong with the figures and the checksum of a process that ended well, if anything.
pub(super) fn of_figures(
    measured: Result<&[Iteration], &String>,
    cell: &Cell,
    checksum: Option<&str>,
    expected: Option<&str>,
) -> Outcome {
    if let Some(expected) = expected.filter(|&expected| checksum != Some(expected)) {
        let found = checksum.unwrap_or_default().to_owned();
        return Outcome::WrongChecksum { expected: expected.to_owned(), found };
    }
    let iterations = match measured {
        Ok(iterations) => iterations,
        Err(why) => return Outcome::NoFigures { why: why.clone() },
    };
    let has =
        |number: u32| iterations.iter().any(|i| i.number == number && i.measured && !i.metrics.is_empty());
    match cell.measured.iter().find(|&&number| !has(number)) {
        Some(number) => Outcome::NoFigures { why: format!("iteration {number} has none") },
        None => Outcome::Ok,
    }
}

/// Whether the outcomes are the same failure; false when one went well.
pub(super) fn same_failure(one: &Outcome, other: &Outcome) -> bool {
    match (one, other) {
        (Outcome::Ok, _) | (_, Outcome::Ok) => false,
        (Outcome::Failed { code: one, .. }, Outcome::Failed { code: other, .. }) => one == other,
        (Outcome::Crash { signal: one }, Outcome::Crash { signal: other }) => one == other,
        _ => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}

/// The checksum that an output tells: the last line `checksum NAME HEX`.
pub(super) fn checksum(dir: &Path) -> Option<String> {
    let mut reader = BufReader::new(File::open(dir.join(STDOUT)).ok()?);
    let mut found = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        // Lines of any length and any bytes; a checksum's is short.
        if reader.read_until(b'\n', &mut line).ok()? == 0 {
            return found;
        }
        let text = String::from_utf8_lossy(&line);
        let mut words = text.split_ascii_whitespace();
        if let (Some("checksum"), Some(_), Some(value), None) =
            (words.next(), words.next(), words.next(), words.next())
        {
            found = Some(value.to_owned());
        }
    }
}

/// Whether the VM wrote an error file.
fn has_error_file(dir: &Path) -> bool {
    let entries = fs::read_dir(dir).into_iter().flatten();
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("hs_err"))
}

/// The end of a file as text.
fn tail(path: &Path) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

/// Last words as a table can hold them.
fn shortened(line: &str) -> String {
    const MOST: usize = 200;
    if line.chars().count() <= MOST {
        line.to_owned()
    } else {
        line.chars().take(MOST).chain(['.'; 3]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests_support::{cell, java_cell};
    use super::*;

    fn with(out: &str, err: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(STDOUT), out).unwrap();
        fs::write(dir.path().join(STDERR), err).unwrap();
        dir
    }

    #[test]
    fn an_exit_code_is_told_apart_by_the_vm_s_words() {
        let java = java_cell("java", &[], "", &["Main"]);
        let of = |code: i32, out: &str, err: &str| {
            let dir = with(out, err);
            of_process(End::Exited(code), dir.path(), &java).unwrap()
        };
        let terminating = "Terminating due to java.lang.OutOfMemoryError: Java heap space\n";
        assert_eq!(of(3, terminating, ""), Outcome::OutOfMemory);
        assert_eq!(
            of(1, "", "Exception in thread \"main\" java.lang.OutOfMemoryError: x\n at y\n"),
            Outcome::OutOfMemory
        );
        assert_eq!(
            of(1, "Error occurred during initialization of VM\nToo small maximum heap\n", ""),
            Outcome::OutOfMemory
        );
        assert_eq!(of(0, terminating, ""), Outcome::Ok, "it ended well, whatever it says");
        let failed = |last_words: &str| Outcome::Failed { code: 2, last_words: last_words.into() };
        assert_eq!(of(2, "out\n", "one\ntwo\n\n"), failed("two"));
        assert_eq!(of(2, "Unrecognized VM option\n", ""), failed("Unrecognized VM option"));
        let long = of(2, "", &"x".repeat(5000));
        assert!(matches!(long, Outcome::Failed { last_words, .. } if last_words.len() == 203));
        let dir = with(terminating, "");
        let program = of_process(End::Exited(3), dir.path(), &cell("w", &["sh"])).unwrap();
        assert!(
            matches!(program, Outcome::Failed { code: 3, .. }),
            "a program without a VM has no heap: {program:?}"
        );
    }

    #[test]
    fn an_error_file_is_a_crash() {
        let dir = with("", "");
        fs::write(dir.path().join("hs_err.log"), "#").unwrap();
        let java = java_cell("java", &[], "", &["Main"]);
        assert_eq!(of_process(End::Exited(1), dir.path(), &java), Some(Outcome::Crash { signal: 0 }));
        assert_eq!(of_process(End::Signalled(6), dir.path(), &java), Some(Outcome::Crash { signal: 6 }));
    }

    #[test]
    fn checksum_and_figures_decide_about_a_good_end() {
        let dir = with("checksum h2 aa\nchecksum h2\nchecksum h2 bb\nchecksum h2 cc dd\n\u{fffd}\n", "");
        assert_eq!(checksum(dir.path()).as_deref(), Some("bb"));
        let cell = Cell { measured: vec![2], ..cell("w", &[]) };
        let iteration = Iteration {
            number: 2,
            measured: true,
            metrics: [("wall".to_owned(), 1.0)].into(),
            units: std::collections::BTreeMap::new(),
        };
        let good = [iteration.clone()];
        assert_eq!(of_figures(Ok(&good), &cell, Some("bb"), Some("bb")), Outcome::Ok);
        assert_eq!(of_figures(Ok(&good), &cell, None, None), Outcome::Ok);
        let wrong = of_figures(Ok(&good), &cell, None, Some("bb"));
        assert_eq!(wrong, Outcome::WrongChecksum { expected: "bb".into(), found: String::new() });
        let empty = [Iteration { metrics: [].into(), ..iteration }];
        for bad in [&[][..], &empty[..]] {
            assert!(matches!(of_figures(Ok(bad), &cell, None, None), Outcome::NoFigures { .. }));
        }
        let why = "torn".to_owned();
        assert_eq!(of_figures(Err(&why), &cell, None, None), Outcome::NoFigures { why });
    }

    #[test]
    fn failures_are_the_same_when_their_cause_is() {
        let failed = |code| Outcome::Failed { code, last_words: code.to_string() };
        assert!(same_failure(&Outcome::OutOfMemory, &Outcome::OutOfMemory));
        assert!(same_failure(&failed(1), &Outcome::Failed { code: 1, last_words: "other".into() }));
        assert!(!same_failure(&failed(1), &failed(2)));
        assert!(!same_failure(&Outcome::Ok, &Outcome::Ok));
        assert!(!same_failure(&Outcome::OutOfMemory, &Outcome::TimedOut));
    }
}
