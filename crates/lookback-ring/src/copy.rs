//! Copies between byte slices and the words of a data block.
//!
//! A reader may copy a block while a writer overwrites it (and then throws the copy away), so both
//! sides use Relaxed accesses of whole words: a race between atomics is defined, a race with memcpy
//! is not. Relaxed is enough because order comes from the metadata words and the fences beside them.
//! The compiler does not vectorise atomics; what is large takes the platform's own way
//! (`copy_x86_64.rs`).
//!
//! Nothing here knows of blocks or entries.

use crate::atomics::{AtomicU64, Ordering::Relaxed};
#[cfg(all(target_arch = "x86_64", not(loom), not(miri)))]
use crate::copy_x86_64::store_steps;

/// What can be written as an event's payload.
pub(crate) trait Payload: Copy {
    /// Its length in bytes.
    fn length(self) -> usize;
    /// The same once more, elsewhere: so that handing it to a function that is called in memory
    /// does not keep it from staying in registers where nothing is called.
    #[inline(always)]
    fn copied(self) -> Self {
        self
    }
    /// Stores it into `words`; the last word is padded with zeros. What does not fit is not written.
    fn store(self, words: &[AtomicU64]);
}

impl<const N: usize> Payload for [u64; N] {
    #[inline(always)]
    fn length(self) -> usize {
        8 * N
    }

    #[inline(always)]
    fn copied(self) -> Self {
        core::array::from_fn(|i| self[i])
    }

    #[inline(always)]
    fn store(self, words: &[AtomicU64]) {
        // Known to be long enough before the first store, so that no length is looked at between two.
        if let Some(words) = words.first_chunk::<N>() {
            for (to, value) in words.iter().zip(self) {
                to.store(value.to_le(), Relaxed);
            }
        }
    }
}

/// Words in registers, then bytes in memory.
impl<const N: usize> Payload for ([u64; N], &[u8]) {
    #[inline(always)]
    fn length(self) -> usize {
        (8 * N).saturating_add(self.1.len())
    }

    #[inline(always)]
    fn copied(self) -> Self {
        (self.0.copied(), self.1)
    }

    #[inline(always)]
    fn store(self, words: &[AtomicU64]) {
        let (head, tail) = words.split_at_checked(N).unwrap_or((words, &[]));
        self.0.store(head);
        let whole = store_whole(tail, self.1);
        let rest = &self.1[self.1.len() & !7..];
        if !rest.is_empty() {
            store(tail, whole, load_short(rest));
        }
    }
}

/// Parts that are joined.
impl Payload for &[&[u8]] {
    #[inline]
    fn length(self) -> usize {
        self.iter().fold(0, |sum, part| sum.saturating_add(part.len()))
    }

    #[inline]
    fn store(self, words: &[AtomicU64]) {
        store_parts(words, self);
    }
}

/// Stores `parts`, joined, into `words`; the last word is padded with zeros.
/// `words` must have room for all of them; what does not fit is not written.
#[inline]
fn store_parts(words: &[AtomicU64], parts: &[&[u8]]) {
    let mut at = 0;
    // Bytes of the word not yet complete, and how many.
    let (mut carry, mut held) = (0u64, 0usize);
    for part in parts {
        let mut part: &[u8] = part;
        if held != 0 {
            let (head, tail) = part.split_at(part.len().min(8 - held));
            carry |= load_short(head) << (8 * held);
            held += head.len();
            part = tail;
            if held < 8 {
                continue;
            }
            store(words, at, carry);
            at += 1;
        }
        at += store_whole(words.get(at..).unwrap_or(&[]), part);
        let rest = &part[part.len() & !7..];
        (carry, held) = (load_short(rest), rest.len());
    }
    if held != 0 {
        store(words, at, carry);
    }
}

#[inline]
fn store(words: &[AtomicU64], at: usize, value: u64) {
    if let Some(word) = words.get(at) {
        word.store(value, Relaxed);
    }
}

/// Up to 8 bytes as the low bytes of a word: loads that overlap instead of a loop.
#[inline]
fn load_short(bytes: &[u8]) -> u64 {
    let half = |from: &[u8]| from.first_chunk().map_or(0, |four| u64::from(u32::from_le_bytes(*four)));
    match *bytes {
        [] => 0,
        [first, .., last] if bytes.len() < 4 => {
            let middle = bytes.len() / 2;
            u64::from(first)
                | u64::from(bytes[middle]) << (8 * middle)
                | u64::from(last) << (8 * (bytes.len() - 1))
        }
        [only] => u64::from(only),
        _ => half(bytes) | half(&bytes[bytes.len() - 4..]) << (8 * (bytes.len() - 4)),
    }
}

/// Stores the whole words of `bytes`, as many as fit, and returns how many `bytes` has.
#[inline]
fn store_whole(words: &[AtomicU64], bytes: &[u8]) -> usize {
    let done = store_steps(words, bytes);
    let (words, rest) = (words.get(done / 8..).unwrap_or(&[]), bytes.get(done..).unwrap_or(&[]));
    for (to, from) in words.iter().zip(rest.chunks_exact(8)) {
        to.store(u64::from_le_bytes(*from.first_chunk().unwrap_or(&[0; 8])), Relaxed);
    }
    bytes.len() / 8
}

/// Where no faster way is known: eight words a turn.
#[cfg(any(not(target_arch = "x86_64"), loom, miri))]
fn store_steps(words: &[AtomicU64], bytes: &[u8]) -> usize {
    for (to, from) in words.chunks_exact(8).zip(bytes.chunks_exact(64)) {
        for (to, from) in to.iter().zip(from.chunks_exact(8)) {
            to.store(u64::from_le_bytes(*from.first_chunk().unwrap_or(&[0; 8])), Relaxed);
        }
    }
    (words.len() / 8).min(bytes.len() / 64) * 64
}

/// Loads all of `words` into `bytes`, which must have 8 bytes for each.
pub(crate) fn load(words: &[AtomicU64], bytes: &mut [u8]) {
    for (from, to) in words.iter().zip(bytes.chunks_exact_mut(8)) {
        to.copy_from_slice(&from.load(Relaxed).to_le_bytes());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn parts_of_any_length_are_joined() {
        let bytes: Vec<u8> = (0..400u32).map(|i| (i * 7 + 1) as u8).collect();
        for length in 0..=200 {
            for cut in [0, 1, 3, 8, 13, 64, 65, 131, length] {
                let (head, tail) = bytes[..length].split_at(cut.min(length));
                let words: Vec<AtomicU64> = (0..60).map(|_| AtomicU64::new(u64::MAX)).collect();
                store_parts(&words, &[head, &[], tail]);
                let mut out = vec![0; 480];
                load(&words, &mut out);
                assert_eq!(out[..length], bytes[..length], "length {length}, cut {cut}");
                let padded = length.next_multiple_of(8);
                assert!(out[length..padded].iter().all(|&b| b == 0), "padding");
                assert!(out[padded..].iter().all(|&b| b == 0xff), "beyond the end");
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_not_written() {
        let words: Vec<AtomicU64> = (0..20).map(|_| AtomicU64::new(0)).collect();
        for room in 0..20 {
            store_parts(&words[..room], &[&[1; 67], &[1; 93]]);
            assert_eq!(words.iter().filter(|word| word.load(Relaxed) != 0).count(), room);
        }
    }
}
