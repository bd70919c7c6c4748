//! Random numbers that are the same for the same seed, on every machine and with every version of a library.
//!
//! The constraint that shaped it: a figure that was published must come out again. The generator (PCG XSL-RR 128/64,
//! O'Neill 2014) is fixed by its definition; how a number below a bound and an order are made of it is written here,
//! since libraries of distributions reserve to change that. Must not be used for secrets.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// A seeded sequence of random numbers.
#[derive(Debug, Clone)]
pub struct Random(Pcg64);

impl Random {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Random {
        Random(Pcg64::seed_from_u64(seed))
    }

    /// The sequence of this seed and a name, so that what is drawn for one workload does not depend on which others
    /// there are.
    pub fn named(seed: u64, name: &str) -> Random {
        // FNV-1a: short names give well-spread numbers, and the generator's seeding spreads them further.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Random::new(seed ^ hash)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A whole number from 0 to `bound - 1`, each as likely; `bound` is at least 1.
    ///
    /// By multiplication with the high word kept (Lemire 2019). The rest that would have to be rejected is a share of
    /// `bound / 2^64`, too small to show for any sample.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// A number between 0 and 1, neither of them.
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Puts items into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_another_name_gives_others() {
        let draw = |mut random: Random| (0..8).map(|_| random.bits()).collect::<Vec<_>>();
        assert_eq!(draw(Random::new(7)), draw(Random::new(7)));
        assert_ne!(draw(Random::new(7)), draw(Random::new(8)));
        assert_ne!(draw(Random::named(7, "h2")), draw(Random::named(7, "fop")));
    }

    #[test]
    fn numbers_below_a_bound_are_even() {
        let mut random = Random::new(1);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[random.below(7)] += 1;
        }
        // 10,000 expected; the standard deviation is 93, and five of them are allowed.
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 465), "{counts:?}");
    }

    #[test]
    fn an_order_keeps_all_items() {
        let mut items: Vec<_> = (0..50).collect();
        Random::new(3).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
