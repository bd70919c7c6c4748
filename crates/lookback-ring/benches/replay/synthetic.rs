//! Loads that no recorded trace at hand has: the paper's skew and oversubscription (its figures 4 and 6).
//!
//! The constraint: from a seed alone, so that every run has the same. What the paper gives is kept (12 cores, little
//! ones that write several times more than big ones, 30 threads a core in a second and 400 in 30 seconds, 100 MB a
//! busy core and minute); what it does not is chosen here and said. Must not be reported as if it were recorded.

use crate::trace::{Event, Trace};

/// Events a second of a busy core: 100 MB a minute at 65 bytes.
const BUSY: f64 = 25_000.0;
/// Threads of a core that write in one second, and in thirty.
const IN_A_SECOND: usize = 30;
const IN_ALL: usize = 400;
const SECONDS: usize = 30;
/// Mean length of a slice, in seconds: what a scheduler gives one of several runnable threads.
const SLICE: f64 = 0.003;
/// Quantiles of the lengths of events of an Android trace of 30 s: those of the derived traces.
const LENGTHS: [(f64, f64); 5] = [(0.0, 16.0), (0.5, 44.0), (0.9, 84.0), (0.99, 472.0), (1.0, 1044.0)];

/// A sequence of numbers that looks random (xorshift64*, Vigna 2016).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// From 0 to below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.unit() * limit as f64) as usize
    }

    /// Time to the next of events that come at random.
    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }
}

/// Both loads, as long as `seconds`.
pub(crate) fn all(seconds: usize) -> Vec<Trace> {
    // Cores 0 to 3 are little, 4 to 9 middle, 10 and 11 big.
    let skewed = |core| BUSY * [1.0, 0.4, 0.15][usize::from(core >= 4) + usize::from(core >= 10)];
    // The mean of the above.
    let even = |_| BUSY * (4.0 + 6.0 * 0.4 + 2.0 * 0.15) / 12.0;
    vec![
        generate("synthetic_skewed12_400threads", seconds, skewed),
        generate("synthetic_even12_400threads", seconds, even),
    ]
}

fn generate(name: &str, seconds: usize, rate: impl Fn(usize) -> f64) -> Trace {
    let cores = 12;
    let mut timed: Vec<(f64, Event)> = Vec::new();
    for core in 0..cores {
        let mut random = Random::new(core as u64 + 1);
        let (mut time, mut slice_end, mut thread) = (0.0, 0.0, 0);
        loop {
            time += random.exponential(1.0 / rate(core));
            if time >= seconds as f64 {
                break;
            }
            if time >= slice_end {
                // One of the threads of now: a window that moves over all of them in thirty seconds.
                let first = time / SECONDS as f64 * (IN_ALL - IN_A_SECOND) as f64;
                thread = core * IN_ALL + first as usize + random.below(IN_A_SECOND);
                slice_end = time + random.exponential(SLICE);
            }
            timed.push((time, Event { core, thread, length: length(random.unit()) }));
        }
    }
    timed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let events = timed.into_iter().map(|(_, event)| event).collect();
    Trace { name: name.to_owned(), events, cores, threads: cores * IN_ALL }
}

/// The quantile of [`LENGTHS`], its logarithm interpolated.
fn length(quantile: f64) -> usize {
    let above = LENGTHS.iter().position(|&(q, _)| q > quantile).unwrap_or(LENGTHS.len() - 1);
    let ((from, least), (to, most)) = (LENGTHS[above - 1], LENGTHS[above]);
    (least * (most / least).powf((quantile - from) / (to - from))) as usize
}
