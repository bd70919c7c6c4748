//! Progress of long work, on standard error and only when that is a terminal.
//!
//! The constraint that shaped it: output that is piped or logged must not be disturbed, so without a
//! terminal nothing at all is drawn.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// A bar, or nothing.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Work whose length is not known.
    pub(crate) fn spinner(message: &str) -> Progress {
        let bar = ProgressBar::with_draw_target(None, target()).with_message(message.to_owned());
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        Progress(bar)
    }

    /// Work on so many bytes.
    pub(crate) fn bytes(message: &str) -> Progress {
        Progress::bar(message, "{msg} [{bar:30}] {bytes}/{total_bytes}")
    }

    /// Work on so many things.
    pub(crate) fn count(things: &str) -> Progress {
        Progress::bar(things, "{msg} [{bar:30}] {pos}/{len}")
    }

    /// Steps of which each has words of its own.
    pub(crate) fn steps() -> Progress {
        Progress::bar("", "[{bar:20}] {pos}/{len} {wide_msg}")
    }

    fn bar(message: &str, template: &str) -> Progress {
        let style = ProgressStyle::with_template(template);
        let bar = ProgressBar::with_draw_target(Some(0), target()).with_message(message.to_owned());
        Progress(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    /// How far the work is.
    pub(crate) fn at(&self, done: u64, all: u64) {
        self.0.set_length(all);
        self.0.set_position(done);
    }

    /// What is done now.
    pub(crate) fn say(&self, message: &str) {
        self.0.set_message(message.to_owned());
    }

    /// Whether nothing is drawn.
    pub(crate) fn is_hidden(&self) -> bool {
        self.0.is_hidden()
    }

    /// Writes to the terminal without disturbing what is drawn.
    pub(crate) fn suspend(&self, write: impl FnOnce()) {
        self.0.suspend(write);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn target() -> ProgressDrawTarget {
    if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
}
