//! Copies between byte slices and the words of a data block.
//!
//! A reader may copy a block while a writer overwrites it (and then throws the copy away), so both
//! sides use Relaxed accesses of whole words: a race between atomics is defined, a race with memcpy
//! is not. Relaxed is enough because order comes from the metadata words and the fences beside them.
//! The compiler does not vectorise atomics; eight words a turn keep the store port busy instead.
//!
//! Nothing here knows of blocks or entries.

use crate::atomics::{AtomicU64, Ordering::Relaxed};

/// Stores `parts`, joined, into `words`; the last word is padded with zeros.
/// `words` must have room for all of them; what does not fit is not written.
#[inline]
pub(crate) fn store_parts(words: &[AtomicU64], parts: &[&[u8]]) {
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

/// Up to 8 bytes as the low bytes of a word.
#[inline]
fn load_short(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |word, &byte| (word << 8) | u64::from(byte))
}

/// Stores the whole words of `bytes`, as many as fit, and returns how many `bytes` has.
#[inline]
fn store_whole(words: &[AtomicU64], bytes: &[u8]) -> usize {
    let mut to = words.chunks_exact(8);
    let mut from = bytes.chunks_exact(64);
    for (to, from) in to.by_ref().zip(from.by_ref()) {
        for i in 0..8 {
            to[i].store(u64::from_le_bytes(*from[8 * i..].first_chunk().unwrap_or(&[0; 8])), Relaxed);
        }
    }
    let done = (bytes.len() / 64).min(words.len() / 8);
    for (to, from) in words[8 * done..].iter().zip(bytes[64 * done..].chunks_exact(8)) {
        to.store(u64::from_le_bytes(*from.first_chunk().unwrap_or(&[0; 8])), Relaxed);
    }
    bytes.len() / 8
}

/// Loads all of `words` into `bytes`, which must have 8 bytes for each.
pub(crate) fn load(words: &[AtomicU64], bytes: &mut [u8]) {
    for (from, to) in words.iter().zip(bytes.chunks_exact_mut(8)) {
        to.copy_from_slice(&from.load(Relaxed).to_le_bytes());
    }
}
