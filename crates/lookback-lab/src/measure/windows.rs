//! What the VM's log tells of each iteration: the log's events, put into the iterations' windows.
//!
//! The constraint that shaped it: collections and safepoints know nothing of iterations, and may begin in one and end in
//! the next. So a time is the part of it that lies within the window, and a thing counts where it ends. Times of things
//! that can lie within each other, as a concurrent cycle and its phases, are those of their union. It must not hold whole
//! events: a log may have millions.

use super::gc_log::{Event, Phase, Safepoint};
use std::collections::{BTreeMap, BTreeSet};

/// From the begin to the end of an iteration, nanoseconds of `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Begin.
    pub begin: u64,
    /// End.
    pub end: u64,
}

impl Window {
    fn part(self, begin: u64, end: u64) -> u64 {
        end.min(self.end).saturating_sub(begin.max(self.begin))
    }

    fn holds(self, instant: u64) -> bool {
        self.begin < instant && instant <= self.end
    }
}

/// All iterations of an invocation, and what its log told of them so far.
#[derive(Debug)]
pub struct Windows {
    /// The collector, as the VM calls it; none until the log says so.
    pub collector: Option<String>,
    windows: Vec<(Window, Tally)>,
    /// In use after the pause before, for what was allocated until the next.
    after: Option<u64>,
    /// Pauses by collection, nanoseconds, for who wants to check them.
    pauses: BTreeMap<u32, u64>,
}

/// What the log told of one iteration.
#[derive(Debug, Default)]
struct Tally {
    safepoints: Union,
    safepoint_count: u64,
    reaching: u64,
    pauses: Union,
    pause_count: u64,
    longest: u64,
    concurrent: Union,
    stalls: u64,
    collections: BTreeSet<u32>,
    most_after: Option<u64>,
    allocated: u64,
    /// By the metric's name.
    phases: BTreeMap<String, u64>,
}

/// A union of stretches that are told in the order of their ends: those that do not touch, ascending.
#[derive(Debug, Default)]
struct Union(Vec<(u64, u64)>);

impl Union {
    fn add(&mut self, mut begin: u64, end: u64) {
        if end <= begin {
            return;
        }
        while let Some(&(b, e)) = self.0.last() {
            if e < begin {
                break;
            }
            begin = begin.min(b);
            self.0.pop();
        }
        self.0.push((begin, end));
    }

    fn length(&self) -> u64 {
        self.0.iter().map(|(begin, end)| end - begin).sum()
    }
}

impl Windows {
    /// Of these iterations.
    pub fn new(windows: impl IntoIterator<Item = Window>) -> Windows {
        Windows {
            collector: None,
            windows: windows.into_iter().map(|window| (window, Tally::default())).collect(),
            after: None,
            pauses: BTreeMap::new(),
        }
    }

    /// Takes an event; events come in the order of their ends.
    pub fn add(&mut self, event: Event) {
        match event {
            Event::Collector(name) => self.collector = Some(name),
            Event::Pause(phase) => self.pause(&phase),
            Event::Concurrent(phase) => {
                let name = metric("gc.concurrent.", &phase.name, "Concurrent");
                self.each(&phase, |tally, begin, end| {
                    tally.concurrent.add(begin, end);
                    *tally.phases.entry(name.clone()).or_default() += end - begin;
                });
                self.heap(&phase, false);
            }
            Event::Part(phase) => {
                let name = metric("gc.phase.", &phase.name, "");
                self.each(&phase, |tally, begin, end| {
                    *tally.phases.entry(name.clone()).or_default() += end - begin;
                });
            }
            Event::Stall(phase) => self.each(&phase, |tally, begin, end| tally.stalls += end - begin),
            Event::Collection(phase) => self.heap(&phase, false),
            Event::Safepoint(safepoint) => self.safepoint(&safepoint),
        }
    }

    /// The figures of each iteration by the names of their metrics.
    pub fn figures(&self) -> Vec<BTreeMap<String, f64>> {
        self.windows.iter().map(|(_, tally)| tally.figures()).collect()
    }

    /// The collections that ended a pause or a phase within the iteration at this place.
    pub fn collections(&self, iteration: usize) -> &BTreeSet<u32> {
        &self.windows[iteration].1.collections
    }

    /// The time of all pauses of each collection of the whole log, nanoseconds.
    pub fn pauses(&self) -> &BTreeMap<u32, u64> {
        &self.pauses
    }

    fn pause(&mut self, phase: &Phase) {
        let name = metric("gc.pause.", &phase.name, "Pause");
        self.each(phase, |tally, begin, end| {
            tally.pauses.add(begin, end);
            *tally.phases.entry(name.clone()).or_default() += end - begin;
        });
        let length = phase.end - phase.begin;
        if let Some(tally) = self.at(phase.end) {
            tally.pause_count += 1;
            tally.longest = tally.longest.max(length);
        }
        if let Some(gc) = phase.gc {
            *self.pauses.entry(gc).or_default() += length;
        }
        self.heap(phase, true);
    }

    /// The heap's use around a phase; `stopped` when nothing was allocated meanwhile.
    fn heap(&mut self, phase: &Phase, stopped: bool) {
        let after = self.after;
        if let Some(tally) = self.at(phase.end) {
            tally.collections.extend(phase.gc);
            if let Some(heap) = phase.heap {
                tally.most_after = tally.most_after.max(Some(heap.after));
                if stopped {
                    tally.allocated += after.map_or(0, |after| heap.before.saturating_sub(after));
                }
            }
        }
        if let Some(heap) = phase.heap {
            self.after = stopped.then_some(heap.after);
        }
    }

    fn safepoint(&mut self, safepoint: &Safepoint) {
        let begin = safepoint.end.saturating_sub(safepoint.total);
        for (window, tally) in &mut self.windows {
            tally.safepoints.add(begin.max(window.begin), safepoint.end.min(window.end));
        }
        if let Some(tally) = self.at(safepoint.end) {
            tally.safepoint_count += 1;
            tally.reaching += safepoint.reaching;
        }
    }

    /// Tells the part of the phase that lies in each window.
    fn each(&mut self, phase: &Phase, mut tell: impl FnMut(&mut Tally, u64, u64)) {
        for (window, tally) in &mut self.windows {
            if window.part(phase.begin, phase.end) > 0 {
                tell(tally, phase.begin.max(window.begin), phase.end.min(window.end));
            }
        }
    }

    fn at(&mut self, instant: u64) -> Option<&mut Tally> {
        self.windows.iter_mut().find(|(window, _)| window.holds(instant)).map(|(_, tally)| tally)
    }
}

impl Tally {
    fn figures(&self) -> BTreeMap<String, f64> {
        let times = [
            ("wall.safepoints", self.safepoints.length()),
            ("safepoints", self.safepoint_count),
            ("wall.reaching", self.reaching),
            ("pauses", self.pause_count),
            ("wall.pauses", self.pauses.length()),
            ("pause.max", self.longest),
            ("wall.concurrent", self.concurrent.length()),
            ("wall.stalls", self.stalls),
            ("collections", self.collections.len() as u64),
        ];
        let heap = self.most_after.map(|bytes| ("heap.after", bytes));
        // Below a MiB a collection it is the log's rounding that is seen.
        let allocated = (self.allocated > 0).then_some(("gc.allocated", self.allocated));
        let named =
            times.into_iter().chain(heap).chain(allocated).map(|(name, v)| (name.to_owned(), v as f64));
        named.chain(self.phases.iter().map(|(name, &v)| (name.clone(), v as f64))).collect()
    }
}

/// The metric of a phase: `gc.concurrent.` and `Young Concurrent Mark Free` are `gc.concurrent.young_mark_free`.
fn metric(prefix: &str, name: &str, without: &str) -> String {
    let words = name.split(' ').filter(|word| !word.is_empty() && *word != without);
    let words: Vec<_> = words.map(str::to_lowercase).collect();
    format!("{prefix}{}", words.join("_"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::gc_log::Heap;

    fn phase(gc: u32, name: &str, begin: u64, end: u64, heap: Option<(u64, u64)>) -> Phase {
        let heap = heap.map(|(before, after)| Heap { before, after, capacity: None });
        Phase { gc: Some(gc), name: name.into(), begin, end, heap }
    }

    fn windows() -> Windows {
        Windows::new([Window { begin: 100, end: 200 }, Window { begin: 200, end: 300 }])
    }

    #[test]
    fn a_time_is_parted_at_the_border_and_a_thing_counts_where_it_ends() {
        let mut all = windows();
        all.add(Event::Pause(phase(0, "Pause Young", 50, 90, Some((50, 10)))));
        all.add(Event::Pause(phase(1, "Pause Young", 150, 160, Some((40, 12)))));
        all.add(Event::Pause(phase(2, "Pause Full", 190, 230, Some((20, 6)))));
        all.add(Event::Safepoint(Safepoint {
            operation: "x".into(),
            end: 235,
            reaching: 5,
            at: 40,
            total: 45,
        }));
        let [first, second] = &all.figures()[..] else { panic!("two iterations") };
        let get = |figures: &BTreeMap<String, f64>, name: &str| figures.get(name).copied();
        assert_eq!(get(first, "pauses"), Some(1.0));
        assert_eq!(get(first, "wall.pauses"), Some(20.0));
        assert_eq!(get(first, "pause.max"), Some(10.0));
        assert_eq!(get(first, "gc.pause.full"), Some(10.0));
        assert_eq!(get(first, "gc.allocated"), Some(30.0));
        assert_eq!(get(first, "heap.after"), Some(12.0));
        assert_eq!(get(first, "wall.safepoints"), Some(10.0));
        assert_eq!(get(first, "safepoints"), Some(0.0));
        assert_eq!(get(second, "pauses"), Some(1.0));
        assert_eq!(get(second, "wall.pauses"), Some(30.0));
        assert_eq!(get(second, "pause.max"), Some(40.0));
        assert_eq!(get(second, "gc.allocated"), Some(8.0));
        assert_eq!(get(second, "collections"), Some(1.0));
        assert_eq!(get(second, "wall.safepoints"), Some(35.0));
        assert_eq!(get(second, "wall.reaching"), Some(5.0));
        assert_eq!(all.pauses().values().sum::<u64>(), 90);
    }

    #[test]
    fn concurrent_phases_within_a_cycle_are_not_counted_twice() {
        let mut all = windows();
        all.add(Event::Concurrent(phase(3, "Concurrent Mark", 110, 120, None)));
        all.add(Event::Concurrent(phase(3, "Concurrent Cleanup", 130, 135, None)));
        all.add(Event::Concurrent(phase(3, "Concurrent Mark Cycle", 105, 140, None)));
        all.add(Event::Concurrent(phase(4, "Young Concurrent Mark", 150, 151, None)));
        let figures = all.figures().remove(0);
        assert_eq!(figures["wall.concurrent"], 36.0);
        assert_eq!(figures["gc.concurrent.mark"], 10.0);
        assert_eq!(figures["gc.concurrent.young_mark"], 1.0);
        assert_eq!(figures["collections"], 2.0);
    }

    #[test]
    fn a_union_forgets_no_stretch() {
        let mut union = Union::default();
        (0..1000u64).for_each(|i| union.add(i * 10, i * 10 + 4));
        assert_eq!(union.length(), 4000);
        union.add(9_000, 10_000);
        assert_eq!(union.length(), 900 * 4 + 1000);
    }
}
