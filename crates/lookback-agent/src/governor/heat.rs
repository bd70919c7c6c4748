//! Which methods that were never recorded are hot, by what the compilers have told.
//!
//! The constraint that shaped it: compilers tell that a method was called often, never in how long. They compile for good what was
//! called 5,000 times (HotSpot's `Tier4InvocationThreshold`), so of a program that runs for days all is hot by their word that it
//! calls each minute. But what was not hot yet when the program had been at work for a while was called seldom until then. And while
//! they have too much to do, what looks warm, or cold, is only not hot yet.

use super::compiled::Found;
use super::learned::{Key, Kind, Row};
use lookback_format::Nanos;
use rustc_hash::{FxHashMap, FxHashSet};

/// The compilers have done what there is when the program has been at work for so long, and since they were asked last, in the later half
/// of the run, they were idle but for such a share of the time, or have found no more hot methods than this share and number. They
/// are asked first when half of that is over.
const SETTLED: Nanos = Nanos(30_000_000_000);
const IDLE: f64 = 0.1;
const MORE: (f64, f64) = (0.05, 20.0);
/// Once all that was warm has been tried there is little to be learned from them: they are asked when the program has taken so much
/// processor time, of which asking is a thousandth (javac's took 121 ms, 37 s after the start, PMD's twice as much).
const WORTH: Nanos = Nanos(200_000_000_000);
/// What is not hot when the program has been at work for so long may be traced: 10,000 records are 30 us, a millionth of that, and a
/// thousand such methods take a thousandth of one core. It counts as warm, so records tell.
const EARLY: Nanos = Nanos(30_000_000_000);

/// What was found when the compilers were asked last, and since when.
#[derive(Default)]
pub(super) struct Heat {
    /// For how long the program had been at work when they were asked last.
    asked: Option<Nanos>,
    /// How many methods of all classes are hot.
    all_hot: usize,
    /// Whether they have had time for all that is.
    have_done: bool,
    /// Whether what they have found since they were asked before was called seldom.
    is_late: bool,
    /// Whether they were asked first so late that what they found hot says nothing: earlier runs know better.
    began_late: bool,
    /// Methods that were hot before that.
    early: FxHashSet<Key>,
    /// Methods that are hot, and those that are warm, but not what only the first compiler has compiled once they have done.
    found: FxHashMap<Key, Row>,
}

impl Heat {
    /// Whether it is worth asking them after a run that has lasted so long and `taken` so much processor time.
    pub(super) fn is_worth_asking(age: Nanos, taken: Nanos, has_tried_all: bool) -> bool {
        age.0 >= SETTLED.0 / 2 && (!has_tried_all || taken >= WORTH)
    }

    /// Whether the compilers were asked at all.
    pub(super) fn were_asked(&self) -> bool {
        self.asked.is_some()
    }

    /// They have been asked, when the program had been `active` for so long, and so many of them at work on average since they were asked
    /// last. Which classes, by the hashes of their names, must go on waiting, once they have done: those with compiled code, or after a
    /// while with hot code, since what is only warm is soon compiled anew.
    pub(super) fn hear(
        &mut self,
        found: Found,
        active: Nanos,
        at_work: Option<f64>,
    ) -> Option<FxHashSet<u64>> {
        let few = self.all_hot as f64 * (1.0 + MORE.0) + MORE.1;
        let are_idle = at_work.is_some_and(|at_work| at_work < IDLE);
        self.have_done = self.were_asked() && active >= SETTLED && (are_idle || found.all_hot as f64 <= few);
        self.began_late |= self.asked.is_none() && active >= EARLY;
        self.is_late = self.asked.is_some_and(|active| active >= EARLY);
        (self.asked, self.all_hot) = (Some(active), found.all_hot);
        let warm = if self.is_late { &[][..] } else { &found.warm[..] };
        let classes = found.hot.iter().chain(warm).map(|row| row.key().0).collect();
        if !self.is_late {
            self.early.extend(found.hot.iter().map(Row::key));
        }
        let hot = found.hot.into_iter().map(|row| {
            let is_early = self.early.contains(&row.key());
            Row { kind: if is_early { Kind::Compiled } else { Kind::Warm }, ..row }
        });
        let warm = found.warm.into_iter().filter(|_| !self.have_done);
        self.found = hot.chain(warm).map(|row| (row.key(), row)).collect();
        self.have_done.then_some(classes)
    }

    /// What is hot or warm.
    pub(super) fn found(&self) -> impl Iterator<Item = &Row> {
        self.found.values()
    }

    /// What to keep of a method that was never recorded, of which an earlier run had found this; nothing when it is not hot any more.
    pub(super) fn of(&self, key: Key, known: Option<Kind>) -> Option<Kind> {
        match self.found.get(&key).map(|row| row.kind) {
            None if self.have_done => None,
            Some(kind) if !self.began_late && (self.is_late || kind == Kind::Compiled) => Some(kind),
            _ => known,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// The only method of a class.
    fn row(class: &str) -> Row {
        let text = str::to_owned;
        Row {
            kind: Kind::Compiled,
            per_second: 0.0,
            class: text(class),
            method: text("run"),
            descriptor: text("()V"),
        }
    }

    /// Asks a program that is always at work after so many seconds. How many classes must go on waiting, once that is known.
    fn hear(heat: &mut Heat, seconds: u64, hot: &[&str], warm: &[&str], all_hot: usize) -> Option<usize> {
        let hot = hot.iter().map(|class| row(class)).collect();
        let warm = warm.iter().map(|class| Row { kind: Kind::Warm, ..row(class) }).collect();
        let classes = heat.hear(Found { hot, warm, all_hot }, Nanos(seconds * SECOND), Some(0.5));
        classes.map(|classes| classes.len())
    }

    fn kinds<const N: usize>(heat: &Heat, classes: [&str; N]) -> [Option<Kind>; N] {
        classes.map(|class| heat.of(row(class).key(), None))
    }

    #[test]
    fn what_is_warm_says_nothing_once_the_compilers_have_done() {
        let mut heat = Heat::default();
        assert_eq!(hear(&mut heat, 20, &["hot"], &["warm"], 100), None, "asked once");
        assert_eq!(kinds(&heat, ["hot", "cold"]), [Some(Kind::Compiled), None]);
        assert_eq!(heat.found().count(), 2);
        assert_eq!(hear(&mut heat, 40, &["hot"], &["warm"], 125), Some(2));
        assert_eq!(heat.found().map(|row| row.class.as_str()).collect::<Vec<_>>(), ["hot"]);
        assert_eq!(hear(&mut heat, 80, &["hot"], &["warm"], 151), Some(1), "it was called seldom");
        assert_eq!(hear(&mut heat, 160, &["hot"], &["warm"], 179), None, "28 are more than 5 % and 20");
        let mut heat = Heat::default();
        hear(&mut heat, 10, &[], &[], 100);
        assert_eq!(hear(&mut heat, 20, &[], &[], 100), None, "too soon");
    }

    #[test]
    fn what_becomes_hot_late_counts_as_warm() {
        let mut heat = Heat::default();
        hear(&mut heat, 20, &["a"], &[], 1);
        hear(&mut heat, 40, &["b"], &["c"], 2);
        assert_eq!(kinds(&heat, ["b"]), [Some(Kind::Compiled)], "after 20 s it is early");
        hear(&mut heat, 80, &["a", "b", "c"], &[], 3);
        hear(&mut heat, 160, &["a", "b", "c", "d"], &[], 4);
        let (hot, warm) = (Some(Kind::Compiled), Some(Kind::Warm));
        assert_eq!(kinds(&heat, ["a", "b", "c", "d", "e"]), [hot, hot, warm, warm, None]);
    }

    #[test]
    fn compilers_that_are_idle_have_done_once_the_program_has_worked() {
        let mut heat = Heat::default();
        let mut hear = |active: u64, at_work: f64, hot: &[&str]| {
            let hot: Vec<Row> = hot.iter().map(|class| row(class)).collect();
            let found = Found { all_hot: 1_000 * hot.len(), hot, warm: Vec::new() };
            heat.hear(found, Nanos(active * SECOND), Some(at_work)).is_some()
        };
        assert!(!hear(10, 0.05, &["a"]) && !hear(11, 0.05, &["a", "b"]), "it is idle itself");
        assert!(!hear(50, 0.5, &["a", "b", "c"]), "its work begins");
        assert!(hear(170, 0.05, &["a", "b", "c", "d"]));
        let (hot, warm) = (Some(Kind::Compiled), Some(Kind::Warm));
        assert_eq!(kinds(&heat, ["a", "b", "c", "d"]), [hot, hot, hot, warm]);
    }

    #[test]
    fn what_was_known_holds_until_it_is_refuted() {
        let of = |heat: &Heat, class: &str| heat.of(row(class).key(), Some(Kind::Compiled));
        let mut heat = Heat::default();
        assert_eq!(of(&heat, "a"), Some(Kind::Compiled), "nobody was asked");
        hear(&mut heat, 20, &[], &["a"], 100);
        assert_eq!(of(&heat, "a"), Some(Kind::Compiled), "it may become hot");
        hear(&mut heat, 45, &[], &["a"], 1_000);
        assert_eq!(of(&heat, "a"), Some(Kind::Compiled), "it may have become hot");
        hear(&mut heat, 90, &["a"], &["b"], 2_000);
        assert_eq!([of(&heat, "a"), of(&heat, "b")], [Some(Kind::Warm); 2], "it became hot late");
        assert_eq!(of(&heat, "c"), Some(Kind::Compiled), "they had no time for it");
        hear(&mut heat, 180, &["a"], &["b"], 2_000);
        assert_eq!([of(&heat, "b"), of(&heat, "c")], [None; 2], "they would have had time");
    }

    #[test]
    fn a_start_that_has_nothing_left_to_try_asks_later() {
        let is = |age: u64, taken: u64, has_tried_all| {
            Heat::is_worth_asking(Nanos(age * SECOND), Nanos(taken * SECOND), has_tried_all)
        };
        assert!(!is(10, 100, false) && is(20, 1, false));
        assert!(!is(10, 300, true), "eight cores are busy, and the compilers, too");
        assert!(!is(3_600, 100, true) && is(40, 300, true));
    }

    #[test]
    fn who_is_asked_late_tells_only_what_is_not_hot_any_more() {
        let mut heat = Heat::default();
        let of = |heat: &Heat, class: &str, known| heat.of(row(class).key(), Some(known));
        hear(&mut heat, 150, &["a", "b"], &[], 100);
        assert_eq!(of(&heat, "c", Kind::Compiled), Some(Kind::Compiled), "asked once");
        hear(&mut heat, 300, &["a", "b"], &[], 100);
        let kinds =
            [of(&heat, "a", Kind::Compiled), of(&heat, "b", Kind::Warm), of(&heat, "c", Kind::Compiled)];
        assert_eq!(kinds, [Some(Kind::Compiled), Some(Kind::Warm), None]);
    }
}
