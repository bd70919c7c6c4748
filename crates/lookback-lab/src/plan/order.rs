//! The order in which invocations run.
//!
//! The constraint that shaped it: machines drift, by heat, by neighbours, by what else they do, and a drift must not
//! fall on one configuration. So by default all cells, whatever their configuration and heap, run once in a random order
//! before any runs again (randomised complete blocks). A place in the order is a hash of seed, block and cell, so that
//! it is the same with each version of the lab, and a cell more does not shuffle the others.

use super::{Cell, Invocation};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// How invocations are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Each cell once, in random order, then each once more: a drift of the machine meets all cells alike.
    #[default]
    Interleaved,
    /// All invocations in random order; cells may run twice before another runs.
    Random,
    /// Cell by cell: for looking at one, not for comparing.
    Sequential,
}

impl Order {
    /// All of them, the default first.
    pub const ALL: [Order; 3] = [Order::Interleaved, Order::Random, Order::Sequential];

    /// Its name in experiment files.
    pub const fn name(self) -> &'static str {
        match self {
            Order::Interleaved => "interleaved",
            Order::Random => "random",
            Order::Sequential => "sequential",
        }
    }

    /// So many invocations of each cell, in order. A cell's own invocations are numbered as they run, from 1.
    pub fn of(self, cells: &[Cell], invocations: u32, seed: u64) -> Vec<Invocation> {
        let numbers = 1..=invocations;
        let all = numbers.flat_map(|number| (0..cells.len()).map(move |cell| Invocation { cell, number }));
        let mut all: Vec<_> = all.collect();
        let key = |one: &Invocation| key(seed, one.number, &cells[one.cell].id.0);
        match self {
            Order::Interleaved => all.sort_by_cached_key(|one| (one.number, key(one))),
            Order::Random => {
                all.sort_by_cached_key(key);
                let mut ran = vec![0; cells.len()];
                for one in &mut all {
                    ran[one.cell] += 1;
                    one.number = ran[one.cell];
                }
            }
            Order::Sequential => all.sort_by_key(|one| (one.cell, one.number)),
        }
        all
    }
}

fn key(seed: u64, number: u32, cell: &str) -> [u8; 32] {
    let hash = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(number.to_le_bytes());
    hash.chain_update(cell).finalize().into()
}
