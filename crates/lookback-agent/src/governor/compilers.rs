//! How busy the VM's compilers are.
//!
//! The constraint that shaped it: the VM does not tell what waits for its compilers. But while something does, their threads run or wait
//! for a processor, and the kernel tells of both (`schedstat`). They come and go, and are known by their names.

use lookback_format::Nanos;
use rustc_hash::FxHashMap;
use std::fs;

/// Part of the names of their threads, which the kernel cuts after 15 bytes (`C2 CompilerThre`).
const NAME: &str = " CompilerTh";

/// How long each of them had been at work until it was asked last, and when that was.
#[derive(Default)]
pub(super) struct Compilers {
    last: Option<(Nanos, FxHashMap<u32, u64>)>,
}

impl Compilers {
    /// How many of them were at work, on average, since it was asked last. None at first, and when there are none.
    pub(super) fn at_work(&mut self, now: Nanos) -> Option<f64> {
        let taken: FxHashMap<u32, u64> = threads().collect();
        let at_work = self.last.as_ref().filter(|_| !taken.is_empty()).map(|(then, before)| {
            let since =
                |(thread, taken): (&u32, &u64)| taken.saturating_sub(*before.get(thread).unwrap_or(&0));
            taken.iter().map(since).sum::<u64>() as f64 / now.since(*then).0.max(1) as f64
        });
        self.last = Some((now, taken));
        at_work
    }
}

/// The threads of compilers, with how long each of them has run or waited for a processor, nanoseconds.
fn threads() -> impl Iterator<Item = (u32, u64)> {
    let all = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    all.filter_map(|entry| {
        let place = entry.path();
        fs::read_to_string(place.join("comm")).ok().filter(|name| name.contains(NAME))?;
        let text = fs::read_to_string(place.join("schedstat")).ok()?;
        let mut times = text.split_ascii_whitespace().map_while(|field| field.parse::<u64>().ok());
        Some((entry.file_name().to_str()?.parse().ok()?, times.next()? + times.next()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn threads_that_work_are_told_from_those_that_sleep() {
        let mut compilers = Compilers::default();
        let ends = AtomicBool::new(false);
        let named = |name: &str| thread::Builder::new().name(name.into());
        thread::scope(|scope| {
            let works = || {
                while !ends.load(Ordering::Relaxed) {
                    std::hint::spin_loop()
                }
            };
            let sleeps = || {
                while !ends.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_millis(100))
                }
            };
            assert_eq!(compilers.at_work(clock::now()), None, "since when?");
            assert_eq!(Compilers::default().at_work(clock::now()), None);
            named("C1 CompilerThread0").spawn_scoped(scope, sleeps).expect("a thread");
            named("C2 CompilerThread0").spawn_scoped(scope, works).expect("a thread");
            named("C2 something else").spawn_scoped(scope, works).expect("a thread");
            thread::sleep(Duration::from_millis(300));
            let at_work = compilers.at_work(clock::now());
            ends.store(true, Ordering::Relaxed);
            assert!(at_work.is_some_and(|at_work| (0.5..1.5).contains(&at_work)), "{at_work:?}");
        });
    }
}
