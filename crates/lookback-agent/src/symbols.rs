//! Gives methods their ids and writes their names into the region, ahead of the first record.
//!
//! The constraint that shaped it: classes load on many threads at once and may be rewritten again at any
//! time (another agent retransforms them), so a method keeps its id, and one short critical section appends
//! a class. No thread waits for it on a trace point.

use crate::region::{Loss, Region};
use lookback_format::MethodId;
use lookback_format::symbol::Class;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// Ids and the log.
pub(crate) struct Symbols {
    next: AtomicU32,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// Bytes of the log that are written.
    written: usize,
    /// Ids by the hash of class, name and descriptor.
    known: HashMap<u64, MethodId>,
    buffer: Vec<u8>,
}

/// A hash that stands for one method of one class name.
pub(crate) fn hash(class: &str, name: &str, descriptor: &str) -> u64 {
    let mut h = DefaultHasher::new();
    (class, name, descriptor).hash(&mut h);
    h.finish()
}

impl Symbols {
    pub(crate) fn new() -> Self {
        Symbols { next: AtomicU32::new(1), inner: Mutex::default() }
    }

    /// The id of a method seen before, or a new one, and whether it is new. `None` when ids are used up.
    pub(crate) fn id(&self, key: u64) -> Option<(MethodId, bool)> {
        let inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(&id) = inner.known.get(&key) {
            return Some((id, false));
        }
        drop(inner);
        // Relaxed: uniqueness is all that is needed.
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        (id <= MethodId::MAX).then_some((MethodId(id), true))
    }

    /// Appends the symbols of a class, keyed by [`hash`]. False when they do not fit: then no record may use
    /// their ids.
    pub(crate) fn publish(&self, region: &Region, class: &Class, keys: &[u64]) -> bool {
        let mut inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        let inner = &mut *inner;
        inner.buffer.clear();
        class.encode(&mut inner.buffer);
        let record = &inner.buffer;
        let at = region.symbols_at + inner.written;
        // Eight zero bytes always remain: the end of the log.
        if inner.written + record.len() + 8 > region.symbols_bytes {
            region.lose(Loss::Symbols, class.methods.len() as u64);
            return false;
        }
        region.bytes_mut(at + 4, record.len() - 4).copy_from_slice(&record[4..]);
        // ORDERING: Release; pairs with the Acquire of `Symbols::log` and with any reader of the file: who
        // sees the length sees the record.
        let length = u32::from_le_bytes([record[0], record[1], record[2], record[3]]);
        region.u32(at).store(length, Ordering::Release);
        inner.written += record.len();
        inner.known.extend(keys.iter().zip(&class.methods).map(|(&k, m)| (k, m.id)));
        true
    }

    /// The log as far as it is written.
    pub(crate) fn log<'a>(&self, region: &'a Region) -> &'a [u8] {
        // The lock orders this after the last `publish`; what is written never changes.
        let written = self.inner.lock().unwrap_or_else(|e| e.into_inner()).written;
        region.bytes(region.symbols_at, written)
    }
}
