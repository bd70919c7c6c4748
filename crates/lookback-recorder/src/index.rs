//! [`Index`]: finds a definition that is in the log already, by its content.
//!
//! The constraint: it is a help, not a truth. It belongs to one process and holds hashes and ids only; the
//! log has the content and is compared with. So it may be thrown away, lag behind, or be made anew by a
//! thread that does not get the lock. It must not hold texts: a long log would be in memory twice.

use crate::log::Log;
use lookback_format::definitions::{COMMITTED, Head, id_at};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

/// Ids of the log's records by the hash of their bytes.
#[derive(Default)]
pub(crate) struct Index {
    ids: HashMap<u64, u32>,
    /// How far the log was read.
    read: usize,
}

impl Index {
    /// The id of a record with these bytes: of one that the log has, or of a new one. `None` when there is no
    /// room. Two processes can append the same record at the same time; both ids are good.
    pub(crate) fn intern(&mut self, log: &Log<'_>, record: &[u8]) -> Option<u32> {
        self.catch_up(log);
        let hash = hash(record);
        // Of two records with the same hash the later one is found; the other is appended again.
        if let Some(&id) = self.ids.get(&hash)
            && log.holds(id, record)
        {
            return Some(id);
        }
        let id = log.append(record)?;
        self.ids.insert(hash, id);
        Some(id)
    }

    fn catch_up(&mut self, log: &Log<'_>) {
        let part = log.copy(self.read);
        let mut at = 0;
        while let Some(first) = part.get(at..).and_then(|rest| rest.first_chunk()) {
            let Some(head) = Head::read(u64::from_le_bytes(*first), part.len() - at) else { break };
            let end = at + head.bytes as usize;
            if let (COMMITTED, Some(id)) = (head.state, id_at(self.read + at)) {
                self.ids.insert(hash(&part[at..end]), id);
            }
            at = end;
        }
        self.read += at;
    }
}

fn hash(record: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(record);
    hasher.finish()
}
