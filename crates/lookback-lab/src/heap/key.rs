//! What a minimum heap belongs to: a workload with its arguments, a JDK, a collector.
//!
//! The constraint that shaped it: a value that is used for another program than it was found with shifts a whole curve
//! silently. So the arguments and the JDK's library are told by hashes. Tracers and other modifiers are left out on
//! purpose: they are measured at the heaps of the bare program.

use crate::hash;
use crate::plan::{Cell, Plan};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The key of a minimum heap.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The workload's name in the experiment.
    pub workload: String,
    /// The first 16 hexadecimal digits of the SHA-256 of main class and arguments, each followed by a zero.
    pub arguments: String,
    /// SHA-256 of the JDK's `libjvm.so`.
    pub jdk_hash: String,
    /// The collector's name.
    pub collector: String,
}

impl Key {
    /// The key of a workload that is started by this main class with arguments.
    pub fn new(workload: &str, command: &[String], jdk_hash: &str, collector: &str) -> Key {
        Key {
            workload: workload.into(),
            arguments: hash_of(command.iter().map(String::as_str)),
            jdk_hash: jdk_hash.into(),
            collector: collector.into(),
        }
    }

    /// The key of a cell; none for one without a Java VM or without a named collector.
    pub fn of(cell: &Cell, plan: &Plan) -> Option<Key> {
        cell.launch.jvm.as_ref()?;
        let jdk = plan.jdks.iter().find(|jdk| jdk.name == cell.jdk)?;
        Some(Key::new(&cell.workload, &cell.launch.command, &jdk.hash, cell.collector.as_deref()?))
    }

    /// A word for file names.
    pub(super) fn word(&self) -> String {
        hash_of(
            [&self.workload, &self.arguments, &self.jdk_hash, &self.collector]
                .into_iter()
                .map(String::as_str),
        )
    }
}

fn hash_of<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut sha = Sha256::new();
    for word in words {
        sha.update(word);
        sha.update([0]);
    }
    hash::short(sha)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_told_apart_also_where_they_touch() {
        let of = |words: &[&str]| {
            Key::new("w", &words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>(), "j", "g1").arguments
        };
        assert_eq!(of(&["Main", "h2"]), of(&["Main", "h2"]));
        assert_ne!(of(&["Main", "h2"]), of(&["Mainh2"]));
        assert_ne!(of(&["Main", "h2"]), of(&["Main", "h2", ""]));
        // printf 'Main\0h2\0' | sha256sum
        assert_eq!(of(&["Main", "h2"]), "6927ba8a60799669");
    }
}
