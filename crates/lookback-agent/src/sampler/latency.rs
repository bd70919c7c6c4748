//! How long requests take, as quantiles.
//!
//! The constraint that shaped it: a session of an hour at 0.1 ms makes 36 million requests, so they are counted in classes,
//! sixteen to a power of two: a quantile is exact to a sixteenth.

use lookback_format::Nanos;

const SHIFT: u32 = 4;

/// Counts by class.
#[derive(Default)]
pub(super) struct Latencies {
    counts: Vec<u64>,
    all: u64,
}

impl Latencies {
    pub(super) fn add(&mut self, took: Nanos) {
        let class = class(took.0);
        if class >= self.counts.len() {
            self.counts.resize(class + 1, 0);
        }
        self.counts[class] += 1;
        self.all += 1;
    }

    pub(super) fn count(&self) -> u64 {
        self.all
    }

    /// What the `share` of them, 0 to 1, took at most; the upper end of its class.
    pub(super) fn quantile(&self, share: f64) -> Nanos {
        let rank = (share * self.all as f64).ceil().max(1.0) as u64;
        let mut before = 0;
        let class = self.counts.iter().position(|n| {
            before += n;
            before >= rank
        });
        Nanos(class.map_or(0, |class| first_of(class + 1) - 1))
    }
}

fn class(nanos: u64) -> usize {
    let power = u64::BITS - nanos.leading_zeros();
    if power <= SHIFT {
        return nanos as usize;
    }
    let shift = power - SHIFT - 1;
    ((shift as usize + 1) << SHIFT) + (nanos >> shift) as usize - (1 << SHIFT)
}

/// The least that belongs to a class.
fn first_of(class: usize) -> u64 {
    match (class >> SHIFT, class & ((1 << SHIFT) - 1)) {
        (0, rest) => rest as u64,
        (power, rest) => ((1 << SHIFT) + rest as u64) << (power - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_without_holes_and_a_sixteenth_wide() {
        for n in (0..100_000).chain([1 << 40, u64::MAX >> 5]) {
            let class = class(n);
            let (first, next) = (first_of(class), first_of(class + 1));
            assert!(first <= n && n < next, "{n} in {first}..{next}");
            assert!(next - first <= (first / 16).max(1), "{n}");
        }
    }

    #[test]
    fn quantiles_are_those_of_what_was_added() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.quantile(0.5), Nanos(0));
        (1..=1_000).for_each(|n| latencies.add(Nanos(n * 1_000)));
        let near = |share, wanted: f64| (latencies.quantile(share).0 as f64 / wanted - 1.0).abs() < 0.07;
        assert!(near(0.025, 25_000.0) && near(0.5, 500_000.0) && near(0.975, 975_000.0));
        assert_eq!(latencies.count(), 1_000);
    }
}
