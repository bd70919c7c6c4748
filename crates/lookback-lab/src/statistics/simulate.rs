//! Made-up measurements with known truth, for tests of procedures. Compiled for tests only.
//!
//! The constraint that shaped it: the noise is that of real invocations: it multiplies, it drifts with the block, and
//! now and then something else runs. Must not know the procedure that is tested.

use super::random::Random;

/// A standard normal value (Box and Muller).
pub(crate) fn normal(random: &mut Random) -> f64 {
    (-2.0 * random.unit().ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

/// The share of `rounds` in which something holds.
pub(crate) fn share(rounds: usize, mut holds: impl FnMut(usize) -> bool) -> f64 {
    (0..rounds).filter(|&round| holds(round)).count() as f64 / rounds as f64
}

/// How invocations vary.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Noise {
    /// Standard deviation of the logarithm, near the coefficient of variation.
    pub(crate) spread: f64,
    /// The share of invocations that something disturbed.
    pub(crate) outliers: f64,
    /// Standard deviation of a block's own level, on the logarithm; blocks drift as a random walk of a third of it.
    pub(crate) blocks: f64,
}

impl Noise {
    /// Values of two cells that ran in the same blocks, the second `ratio` times the first.
    pub(crate) fn blocks_of_two(&self, n: usize, ratio: f64, random: &mut Random) -> (Vec<f64>, Vec<f64>) {
        let mut drift = 0.0;
        (0..n)
            .map(|_| {
                drift += self.blocks / 3.0 * normal(random);
                let block = drift + self.blocks * normal(random);
                (self.value(block, random), ratio * self.value(block, random))
            })
            .unzip()
    }

    /// One invocation's value about 1.
    pub(crate) fn value(&self, block: f64, random: &mut Random) -> f64 {
        let disturbed = if random.unit() < self.outliers { 0.1 + 0.4 * random.unit() } else { 0.0 };
        (block + self.spread * normal(random) + disturbed).exp()
    }
}
