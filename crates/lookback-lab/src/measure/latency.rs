//! Latencies of requests, simple and metered, as DaCapo Chopin defines them (Blackburn et al., ASPLOS 2025), and the
//! percentiles of these and of other series, as frames.
//!
//! The constraint that shaped it: a closed-loop program does not send the next request while the VM stands still, so the
//! simple latency of the few that were under way hides what those that should have come would have met. Metered latency
//! counts from when a request would have arrived at an even rate. It must not know where the numbers come from.
//!
//! - Simple: from a request's begin to its end.
//! - Metered, fully smoothed (`metered.*`): the requests in the order of their begins are taken to have arrived evenly
//!   between the first and the last begin; the latency counts from there, and is never less than the simple one.
//! - Metered in a window: each begin is replaced by the mean of all begins within half a window on either side, so that
//!   only delays longer than the window's own scale add up, and a program that is slower in one half than in the other is
//!   not held against itself. A window of zero gives the simple latency.

/// Begin and end of a request, nanoseconds since any common instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Begin.
    pub begin: i64,
    /// End.
    pub end: i64,
}

impl Request {
    fn since(self, begin: f64) -> f64 {
        (self.end as f64 - begin).max(self.end.saturating_sub(self.begin) as f64)
    }
}

/// The percentiles that are told, with the last part of their metrics' names.
pub const PERCENTILES: [(&str, f64); 5] =
    [("p50", 50.0), ("p90", 90.0), ("p99", 99.0), ("p99.9", 99.9), ("max", 100.0)];

/// From begin to end, nanoseconds, sorted.
pub fn simple(requests: &[Request]) -> Vec<f64> {
    sorted(requests.iter().map(|r| r.since(r.begin as f64)).collect())
}

/// From the begin at an even rate to the end, nanoseconds, sorted.
pub fn metered(requests: &[Request]) -> Vec<f64> {
    let begins = begins(requests);
    let [first, .., last] = begins[..] else { return simple(requests) };
    let length = last.saturating_sub(first) as f64;
    let even = |r: &Request| {
        // Those of one begin share the place of the first of them.
        let place = begins.partition_point(|&begin| begin < r.begin);
        first as f64 + length * place as f64 / begins.len() as f64
    };
    sorted(requests.iter().map(|r| r.since(even(r))).collect())
}

/// From the begin as it is on average within `window` nanoseconds around it, to the end; nanoseconds, sorted.
pub fn metered_within(requests: &[Request], window: u64) -> Vec<f64> {
    let begins = begins(requests);
    let Some(&first) = begins.first() else { return Vec::new() };
    // Sums of offsets, so that no sum loses its small parts.
    let mut sums = vec![0i128];
    for begin in &begins {
        sums.push(sums[sums.len() - 1] + i128::from(*begin) - i128::from(first));
    }
    let half = i64::try_from(window / 2).unwrap_or(i64::MAX);
    let smooth = |r: &Request| {
        let from = begins.partition_point(|&begin| begin < r.begin.saturating_sub(half));
        let to = begins.partition_point(|&begin| begin <= r.begin.saturating_add(half));
        first as f64 + (sums[to] - sums[from]) as f64 / (to - from) as f64
    };
    sorted(requests.iter().map(|r| r.since(smooth(r))).collect())
}

/// The value that at least `percent` of the values do not exceed (nearest rank); `sorted` ascending. None of nothing.
pub fn percentile(sorted: &[f64], percent: f64) -> Option<f64> {
    // A rank that is whole but for rounding stays whole: 99.9 % of 1000 are 999.
    let rank = (percent / 100.0 * sorted.len() as f64 - 1e-6).ceil();
    sorted.get((rank.max(1.0) as usize).min(sorted.len()).wrapping_sub(1)).copied()
}

/// Sorts ascending; what is no number goes to the end.
pub fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn begins(requests: &[Request]) -> Vec<i64> {
    let mut begins: Vec<_> = requests.iter().map(|r| r.begin).collect();
    begins.sort_unstable();
    begins
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(times: &[(i64, i64)]) -> Vec<Request> {
        times.iter().map(|&(begin, end)| Request { begin, end }).collect()
    }

    #[test]
    fn metered_latency_counts_from_an_even_arrival_and_is_never_below_the_simple_one() {
        // Five requests, begins at 0, 10, 20, 80, 90: the gap is a pause of the VM. Even arrivals are at
        // 0 + 90 * place / 5 = 0, 18, 36, 54, 72.
        let all = requests(&[(0, 5), (10, 15), (20, 75), (80, 85), (90, 95)]);
        assert_eq!(simple(&all), [5.0, 5.0, 5.0, 5.0, 55.0]);
        // Ends less even arrivals: 5, -3, 39, 31, 23; at least the simple 5, 5, 55, 5, 5.
        assert_eq!(metered(&all), [5.0, 5.0, 23.0, 31.0, 55.0]);
    }

    #[test]
    fn a_window_smooths_only_within_itself() {
        let all = requests(&[(0, 5), (10, 15), (20, 75), (80, 85), (90, 95)]);
        assert_eq!(metered_within(&all, 0), simple(&all));
        // A window of 130, 65 to either side. Around 80 lie 20, 80 and 90, mean 190/3; around 90 lie 80 and 90, mean 85;
        // around 0 and 10 the first three, mean 10; around 20 the first four, mean 27.5: 47.5, and the simple 55 is more.
        let metered = metered_within(&all, 130);
        let expected = sorted(vec![5.0, 5.0, 55.0, 85.0 - 190.0 / 3.0, 10.0]);
        for (m, e) in metered.iter().zip(&expected) {
            assert!((m - e).abs() < 1e-9, "{metered:?} {expected:?}");
        }
    }

    #[test]
    fn an_even_load_is_not_changed_by_metering() {
        let all: Vec<_> = (0..1000).map(|i| Request { begin: i * 10, end: i * 10 + 7 }).collect();
        let simple = simple(&all);
        // The last begin is at 9990 of 1000 places: at most one place of difference.
        assert!(metered(&all).iter().zip(&simple).all(|(m, s)| (m - s).abs() <= 10.0));
        // Away from both ends the window's mean is the begin itself; near the end it lies before it.
        assert!(metered_within(&all, 100).iter().filter(|&&m| m > 7.0).count() <= 5);
    }

    #[test]
    fn requests_of_one_begin_share_a_place_and_few_requests_are_no_trouble() {
        assert_eq!(metered(&requests(&[(5, 6), (5, 9)])), [1.0, 4.0]);
        assert_eq!(metered(&requests(&[(5, 9)])), [4.0]);
        assert!(metered(&[]).is_empty() && simple(&[]).is_empty() && metered_within(&[], 9).is_empty());
        let far = requests(&[(i64::MIN / 4, i64::MIN / 4 + 1), (i64::MAX / 4, i64::MAX / 4 + 1)]);
        assert_eq!(metered_within(&far, u64::MAX).len(), 2);
    }

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let values: Vec<f64> = (1..=1000).map(f64::from).collect();
        let p = |percent| percentile(&values, percent);
        assert_eq!(
            [p(50.0), p(90.0), p(99.0), p(99.9), p(100.0), p(0.0)],
            [Some(500.0), Some(900.0), Some(990.0), Some(999.0), Some(1000.0), Some(1.0)]
        );
        assert_eq!(percentile(&[], 50.0), None);
        assert_eq!(percentile(&[7.0], 99.9), Some(7.0));
    }
}
