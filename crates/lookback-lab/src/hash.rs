//! SHA-256 as text: of files in full, of identities the first 16 digits.
//!
//! The constraint that shaped it: hashes of this crate stand in records, plans and file names of results that are kept for
//! years, so their form is in one place.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// All digits, hexadecimal.
pub(crate) fn digits(hash: Sha256) -> String {
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The first 16 of the digits: enough to tell the cells and programs of a laboratory apart.
pub(crate) fn short(hash: Sha256) -> String {
    let mut text = digits(hash);
    text.truncate(16);
    text
}
