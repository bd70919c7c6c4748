//! Dividing a plan among machines.
//!
//! The constraint that shaped it: machines differ by more than what is measured, so configurations may only be compared
//! on the same one. So a block, in which each cell runs once, is never divided: each machine compares all cells with one
//! another, and what differs between machines falls out of every ratio.

use super::{Invocation, Plan};
use std::fmt;
use std::str::FromStr;

/// One part of a plan: the `index`th of `of`, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    of: u32,
}

impl Shard {
    /// The `index`th of `of` parts, from 1; none when there is no such part.
    pub fn new(index: u32, of: u32) -> Option<Shard> {
        (1..=of).contains(&index).then_some(Shard { index, of })
    }

    /// Whether the block of this number, from 1, belongs to it. Blocks are dealt out in turn, so that parts differ by at
    /// most one.
    pub fn has(self, block: u32) -> bool {
        block % self.of == self.index % self.of
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers =
            text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        let shard = numbers.and_then(|(index, of)| Shard::new(index, of));
        shard.ok_or_else(|| format!("`{text}` is no shard: write 1/3, 2/3 or 3/3 for the parts of three"))
    }
}

impl Plan {
    /// The plan with the blocks of this shard only. Cells and the numbers of invocations stay as they are, so that the
    /// results of all shards can be put together.
    #[must_use]
    pub fn shard(&self, shard: Shard) -> Plan {
        self.shards(&[shard])
    }

    /// The plan with the blocks of any of these shards, in its own order.
    #[must_use]
    pub fn shards(&self, shards: &[Shard]) -> Plan {
        let has = |one: &&Invocation| shards.iter().any(|shard| shard.has(one.number));
        let order = self.order.iter().filter(has).copied().collect();
        Plan { order, ..self.clone() }
    }
}
