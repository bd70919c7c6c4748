//! The options of Lookback: one table of keys for the agent's string, the environment, `lookback.toml` and
//! the command line.
//!
//! The constraint that shaped it: all four places must accept the same keys with the same meaning, and all
//! is checked before anything begins, so that a typing error is one message and not a silent default.
//! It must not read files or the environment itself: texts are handed in.

mod error;
mod keys;
mod nearest;
mod pattern;
mod units;

pub use error::Error;
pub use keys::{KEYS, Key, LearnedPlace, Options, RING_BYTES, SAMPLE, SlowRule, Source, split_config};
pub use nearest::nearest;
pub use pattern::{Pattern, Patterns};
pub use units::{format_bytes, format_duration, format_share, parse_bytes, parse_duration, parse_share};
