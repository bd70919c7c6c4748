//! The lines by which another process marks begin and end (section 4.2 of the paper).
//!
//! ```text
//! begin NAME K        an iteration begins          answered with `ok`, or `error WHY`,
//! end NAME K          it has ended                 after it is done
//! value NAME X        a value of it
//! ```
//!
//! The constraint that shaped it: whoever writes is untrusted. A line has an upper bound, names hold no blank, and what is
//! no command is an answer.

use crate::error::{Error, Result};

/// Bytes of a line at the most, its end included.
pub(crate) const MOST_LINE: usize = 1_024;

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    Begin(String, i32),
    End(String, i32),
    Value(String, f64),
}

impl Command {
    /// Reads a line, without its end.
    pub(crate) fn parse(line: &[u8]) -> Result<Command> {
        let wrong = |why| Error::Command { why };
        let line = std::str::from_utf8(line).map_err(|_| wrong("the line is not UTF-8"))?;
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [verb, name, number] = words[..] else { return Err(wrong("a command has three words")) };
        let iteration =
            || number.parse().map_err(|_| wrong("the iteration is not a whole number of 32 bits"));
        match verb {
            "begin" => Ok(Command::Begin(name.to_owned(), iteration()?)),
            "end" => Ok(Command::End(name.to_owned(), iteration()?)),
            "value" => {
                let value = number.parse().map_err(|_| wrong("the value is not a number"))?;
                Ok(Command::Value(name.to_owned(), value))
            }
            _ => Err(wrong("there is no such command")),
        }
    }
}

/// The answer to a command.
pub(crate) fn answer(done: Result<()>) -> String {
    match done {
        Ok(()) => "ok\n".to_owned(),
        Err(e) => format!("error {}\n", e.to_string().replace(['\n', '\r'], " ")),
    }
}

/// What has come of a connection and is not yet a line.
#[derive(Debug, Default)]
pub(crate) struct Lines(Vec<u8>);

impl Lines {
    /// Takes bytes as they come, and gives each whole line to `each`, without its end.
    ///
    /// # Errors
    /// A line is longer than [`MOST_LINE`]; the connection is to be closed.
    pub(crate) fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8])) -> Result<()> {
        for part in bytes.split_inclusive(|b| *b == b'\n') {
            if self.0.len() + part.len() > MOST_LINE {
                return Err(Error::Command { why: "the line is longer than 1024 bytes" });
            }
            self.0.extend_from_slice(part);
            if self.0.ends_with(b"\n") {
                self.0.pop();
                each(&self.0);
                self.0.clear();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_and_everything_else_is_an_answer() {
        let parse = |line: &str| Command::parse(line.as_bytes());
        assert_eq!(parse("begin ui 3").expect("right"), Command::Begin("ui".into(), 3));
        assert_eq!(parse("  end\tui -1\r").expect("right"), Command::End("ui".into(), -1));
        assert_eq!(parse("value jank 1.5e-3").expect("right"), Command::Value("jank".into(), 1.5e-3));
        for line in
            ["", " ", "begin", "begin ui", "begin ui 3 4", "Begin ui 3", "begin ui 3.5", "end ui 99999999999"]
        {
            assert!(answer(parse(line).map(drop)).starts_with("error "), "{line}");
        }
        assert!(Command::parse(&[b'e', 0xff, b' ', b'1']).is_err());
    }

    #[test]
    fn lines_come_in_any_pieces_and_have_an_end() {
        let mut seen = Vec::new();
        let mut lines = Lines::default();
        for piece in ["be", "gin a 1\nend", " a 1\n\nx", "y"] {
            lines
                .push(piece.as_bytes(), |l| seen.push(String::from_utf8_lossy(l).into_owned()))
                .expect("short");
        }
        assert_eq!(seen, ["begin a 1", "end a 1", ""]);
        let long = vec![b'z'; MOST_LINE];
        assert!(lines.push(&long, |_| panic!("no line")).is_err());
    }

    #[test]
    fn any_bytes_do_no_harm() {
        // Each byte beside each kind of byte, cut in the middle of a line.
        for first in 0..=255_u8 {
            for second in [0, b'\n', b' ', b'b', 0x80, 0xff] {
                let bytes = [first, second, b'\n'].repeat(8);
                let mut lines = Lines::default();
                let (a, b) = bytes.split_at(bytes.len() / 2);
                for part in [a, b] {
                    let _ =
                        lines.push(part, |l| assert!(answer(Command::parse(l).map(drop)).ends_with('\n')));
                }
            }
        }
    }
}
