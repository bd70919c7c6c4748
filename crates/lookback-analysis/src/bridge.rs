//! Which calls go on across a gap that the brake has made.
//!
//! The constraint that shaped it: a braked thread misses milliseconds, again and again, so if every gap cut all open
//! calls, a request that takes a second would be two hundred pieces, and what it calls would stand beside it. But what
//! is shown as one call must have been one. So this is decided with hindsight, in the first pass:
//! - A call of a timed method goes on: its exit would have been recorded, unless it is a precise method and the gap is one
//!   in which these are missing as well. Another is taken to go on when no call of its method was ever seen whole that was
//!   shorter than the gap. What encloses a call that goes on does as well. All other open calls end at the gap.
//! - That is confirmed by its exit, or by that of a call within it, later on; for the time being, by a call of a method
//!   that was seen beneath its own before.
//! - It is refuted, if it is not timed, when a call that encloses it is left first, when its method is entered again,
//!   unless that was seen beneath what is open, and, if nothing confirms it afterwards, when a call is left of which only
//!   the exit was seen and which was never seen beneath its method: that may have come in its place. Then it has ended at
//!   the first gap that it was not confirmed to have survived.
//! - A call of which only the exit was seen began before the records did, when no call of its method was ever seen whole;
//!   else in the gap before what it encloses.

use lookback_format::MethodId;
use lookback_format::slot::{GapCause, gap};
use std::collections::{HashMap, HashSet};

/// Methods with greater identifiers, which only a damaged file has, are all taken to be short.
const MOST_METHODS: usize = 1 << 22;

/// Set in a frame's method word when its entry had its exact time and its exit is not missing in any gap of the brake since.
pub(crate) const TIMED_BIT: u32 = 1 << 30;

/// An open call in the first pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// With [`crate::survey::CARRIER_BIT`] and [`TIMED_BIT`].
    pub(crate) method: u32,
    pub(crate) number: u32,
    /// When it was entered, as far as stamps tell; only where there are brake gaps.
    pub(crate) at: u64,
}

impl Frame {
    pub(crate) const fn method(self) -> u32 {
        self.method & MethodId::MAX
    }

    pub(crate) const fn is_timed(self) -> bool {
        self.method & TIMED_BIT != 0
    }
}

/// An open call that was entered before the last gap.
#[derive(Clone, Copy, Debug)]
struct Old {
    frame: Frame,
    /// How many gaps of the thread came before it.
    born: usize,
    /// How many of them it was confirmed to have survived.
    survived: usize,
    /// The method of a call that was left and may have come in its place; 0 for none.
    replaced_by: u32,
    /// It was timed until the gap that begins now.
    was_timed: bool,
    /// The part of the records that it was entered in, by number, unless something older was left in that.
    part: Option<u32>,
}

/// What is known of calls that enclose an old call that was left.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    /// The innermost that encloses it for certain, by number.
    outer: Option<u32>,
    /// Where one begins whose entry was not seen, if it began in a gap: see [`Old::part`].
    part: Option<u32>,
}

/// The calls that are taken to go on.
#[derive(Debug, Default)]
pub(crate) struct Bridge {
    old: Vec<Old>,
    /// By gap: how many of the innermost open calls end there.
    pub(crate) ends: Vec<u32>,
    calls: Calls,
    /// The last call that was left since the last gap, within the innermost old call and not seen to begin; 0 for none.
    within: u32,
    /// The shortest call of each method that was seen whole, nanoseconds.
    shortest: Vec<u32>,
    /// Whether an old call was left since the last gap.
    left: Option<Left>,
}

/// Whether there may be a gap of the brake among these slots: one scan for the first word of such a record. A word within
/// another record that equals it costs time, and nothing else.
pub(crate) fn is_braked(slots: &[u32]) -> bool {
    const BRAKE: u32 = gap(GapCause::Brake, 0)[0];
    const BRAKE_ALL: u32 = gap(GapCause::BrakeAll, 0)[0];
    let is_gap = |w: &u32| *w == BRAKE || *w == BRAKE_ALL;
    // Without a branch within a run, so that it is done with vectors.
    slots.chunks(256).any(|run| run.iter().fold(false, |found, w| found | is_gap(w)))
}

impl Bridge {
    pub(crate) fn depth(&self) -> usize {
        self.old.len()
    }

    /// The open calls from before the last gap, from the innermost outwards.
    pub(crate) fn frames(&self) -> impl Iterator<Item = Frame> + '_ {
        self.old.iter().rev().map(|o| o.frame)
    }

    /// A call was seen whole that took so long.
    #[inline]
    pub(crate) fn whole(&mut self, method: u32, took: u64) {
        let took = u32::try_from(took).unwrap_or(u32::MAX);
        match self.shortest.get_mut(method as usize) {
            Some(shortest) => *shortest = took.min(*shortest),
            None => self.first_whole(method as usize, took),
        }
    }

    #[cold]
    fn first_whole(&mut self, method: usize, took: u32) {
        if method < MOST_METHODS {
            self.shortest.resize(method + 1, u32::MAX);
            self.shortest[method] = took;
        }
    }

    /// Whether a call is taken to go on after a gap of this length.
    fn goes_on(&self, f: Frame, length: u64, known: Option<MethodId>) -> bool {
        f.is_timed() || known.is_some_and(|m| m.0 == f.method()) || self.outlasts(f.method(), length)
    }

    /// Whether no whole call of the method was shorter than a gap of this length.
    fn outlasts(&self, method: u32, length: u64) -> bool {
        u64::from(self.shortest(method)) >= length.min(u64::from(u32::MAX))
    }

    /// Whether a call of the method was seen whole.
    fn was_whole(&self, method: u32) -> bool {
        self.shortest(method) < u32::MAX
    }

    fn shortest(&self, method: u32) -> u32 {
        let unknown = if (method as usize) < MOST_METHODS { u32::MAX } else { 0 };
        self.shortest.get(method as usize).copied().unwrap_or(unknown)
    }

    /// The exits of these methods may be missing in the gap that begins now: they are not timed any more.
    pub(crate) fn doubt(&mut self, stack: &mut [Frame], which: impl Fn(&Frame) -> bool) {
        stack.iter_mut().filter(|f| which(f)).for_each(|f| f.method &= !TIMED_BIT);
        for o in self.old.iter_mut().filter(|o| o.frame.is_timed() && which(&o.frame)) {
            (o.survived, o.replaced_by, o.was_timed) = (self.ends.len(), 0, true);
            o.frame.method &= !TIMED_BIT;
        }
    }

    /// The brake's gap of this length, at the end of the part with this number: of the open calls in `stack` those that are
    /// taken to go on become old ones, the others end. Calls of `known` go on in any case.
    pub(crate) fn gap(&mut self, stack: &mut Vec<Frame>, length: u64, known: Option<MethodId>, part: u32) {
        self.end_part();
        stack.windows(2).for_each(|f| self.calls.add(f[0].method(), f[1].method()));
        let n = stack.iter().rposition(|f| self.goes_on(*f, length, known)).map_or(0, |i| i + 1);
        let born = self.ends.len();
        self.ends.push((stack.len() - n) as u32);
        // Those that were certain until now are as if they had been entered since the last gap.
        while n == 0
            && let Some(o) = self.old.last()
            && o.was_timed
            && !self.goes_on(o.frame, length, known)
        {
            self.end(self.old.len() - 1);
        }
        self.old.iter_mut().for_each(|o| o.was_timed = false);
        let part = self.left.is_none().then_some(part);
        self.old.extend(stack.drain(..).take(n).map(|frame| Old {
            frame,
            born,
            survived: 0,
            replaced_by: 0,
            was_timed: false,
            part,
        }));
        self.left = None;
    }

    /// A method is entered, and no call from after the gap is open.
    #[cold]
    pub(crate) fn entered(&mut self, method: u32) {
        if let Some(again) = self.old.iter().rposition(|o| o.frame.method() == method)
            && let Some(inner) = self.old.last()
            && self.old[again..].iter().all(|o| o.doubted() < self.ends.len())
            && !self.calls.reach(inner.frame.method(), method)
        {
            self.end(again);
        }
        self.confirmed_by(method);
    }

    /// A carrier is left that was not seen to begin: what is open was opened by its virtual thread, but for what was seen
    /// to survive the last gap. Gives the carrier's owner, see [`Bridge::owner`].
    pub(crate) fn unmounted(&mut self, part: u32, segment: u32) -> u32 {
        if let Some(left) = self.left {
            return self.encloses_left(Left { part: None, ..left }, segment);
        }
        let goes_on = self.old.iter().rposition(|o| o.doubted() >= self.ends.len());
        self.end(goes_on.map_or(0, |i| i + 1));
        part
    }

    /// What was left within the innermost old call may have come in its place.
    fn end_part(&mut self) {
        let within = std::mem::take(&mut self.within);
        if within != 0
            && !self.confirmed_by(within)
            && let Some(outer) = self.old.last_mut()
        {
            outer.replaced_by = within;
        }
    }

    /// Whether a call of this method tells that the innermost old call is still open.
    fn confirmed_by(&mut self, method: u32) -> bool {
        let Some(outer) = self.old.last_mut() else { return false };
        let confirmed = self.calls.reach(outer.frame.method(), method);
        if confirmed {
            (outer.survived, outer.replaced_by) = (self.ends.len(), 0);
        }
        confirmed
    }

    /// The old call at `depth` is left.
    pub(crate) fn leave(&mut self, depth: usize) {
        self.within = 0;
        self.end(depth + 1);
        if let Some(mut left) = self.old.pop() {
            left.survived = self.ends.len();
            self.left = Some(Left { outer: self.confirm(left), part: left.part });
        }
    }

    /// What was open for certain when the call `inner` began encloses it, and has survived what that has. Gives the
    /// innermost such call.
    fn confirm(&mut self, inner: Old) -> Option<u32> {
        let outer = self.old.iter_mut().rfind(|outer| outer.doubted() >= inner.born)?;
        if inner.survived > outer.survived {
            outer.replaced_by = 0;
        }
        outer.survived = inner.survived.max(outer.survived);
        Some(outer.frame.number)
    }

    /// The owner of a call that is left now and was not seen to begin, when no call from after the gap is open: `part`
    /// began at the gap, `segment` with the records or a gap of another kind.
    pub(crate) fn owner(&mut self, method: u32, part: u32, segment: u32) -> u32 {
        let was_whole = self.was_whole(method);
        if let Some(left) = self.left {
            return self.encloses_left(Left { part: left.part.filter(|_| was_whole), ..left }, segment);
        }
        self.within = method;
        if self.old.is_empty() && part != segment && !was_whole {
            self.left = Some(Left::default());
            return segment;
        }
        part
    }

    /// A call encloses what was left, which began before the gap: so what was open between that and what encloses both has
    /// ended, if it ever was. Gives the call's owner.
    fn encloses_left(&mut self, left: Left, segment: u32) -> u32 {
        let enclosing = self.old.iter().rposition(|o| Some(o.frame.number) == left.outer);
        // What was confirmed since to have survived the last gap is open, so it encloses that.
        let open = self.old.iter().rposition(|o| o.doubted() >= self.ends.len());
        let innermost = enclosing.max(open);
        self.end(innermost.map_or(0, |i| i + 1));
        // What encloses this call in turn began no later.
        self.left = Some(left);
        let owner = innermost.and_then(|i| self.old.get(i)).map(|o| o.frame.number);
        owner.or(left.outer).or(left.part).unwrap_or(segment)
    }

    /// Records begin anew: nothing more will be known of the old calls.
    pub(crate) fn close(&mut self) {
        self.end_part();
        self.left = None;
        while let Some(mut o) = self.old.pop() {
            if o.frame.is_timed() {
                // Its exit would have been recorded.
                o.survived = self.ends.len();
            } else if o.replaced_by != 0 && !self.calls.reach(o.frame.method(), o.replaced_by) {
                self.has_ended(o);
            }
            self.confirm(o);
        }
    }

    /// The old calls from `depth` on have ended, each at the first gap that it was not seen to survive.
    fn end(&mut self, depth: usize) {
        while self.old.len() > depth
            && let Some(o) = self.old.pop()
        {
            self.has_ended(o);
            self.confirm(o);
        }
    }

    fn has_ended(&mut self, o: Old) {
        // One that was seen to survive the last gap ends with what encloses it.
        if let Some(ended) = self.ends.get_mut(o.doubted()) {
            *ended += 1;
        }
    }
}

/// Which methods were seen to call which: calls that were open at a gap.
#[derive(Debug, Default)]
struct Calls {
    direct: HashMap<u32, HashSet<u32>>,
    /// What is beneath a method, as far as it was asked for since there was something new.
    beneath: HashMap<u32, HashSet<u32>>,
}

impl Calls {
    fn add(&mut self, caller: u32, called: u32) {
        if self.direct.entry(caller).or_default().insert(called) {
            self.beneath.clear();
        }
    }

    /// Whether `called` was seen beneath `caller`, through whatever calls.
    fn reach(&mut self, caller: u32, called: u32) -> bool {
        let direct = &self.direct;
        let beneath = self.beneath.entry(caller).or_insert_with(|| {
            let (mut found, mut next) = (HashSet::new(), vec![caller]);
            while let Some(method) = next.pop() {
                next.extend(direct.get(&method).into_iter().flatten().filter(|m| found.insert(**m)));
            }
            found
        });
        beneath.contains(&called)
    }
}

impl Old {
    /// The first gap that it may not have survived.
    fn doubted(&self) -> usize {
        if self.frame.is_timed() { usize::MAX } else { self.survived.max(self.born) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookback_format::slot::entry;

    fn frames(methods: &[u32]) -> Vec<Frame> {
        (1..).zip(methods).map(|(number, &method)| Frame { method, number, at: 0 }).collect()
    }

    fn left(b: &Bridge) -> Vec<u32> {
        b.frames().map(Frame::method).collect()
    }

    #[test]
    fn what_was_seen_to_be_short_ends_at_the_gap_unless_it_encloses_what_goes_on() {
        let mut b = Bridge::default();
        b.whole(2, 10);
        b.whole(4, 10);
        b.gap(&mut frames(&[1, 2, 3, 4]), 1_000, None, 0);
        assert_eq!((left(&b), &b.ends[..]), (vec![3, 2, 1], &[1][..]));
        let mut known = Bridge::default();
        known.whole(4, 10);
        known.gap(&mut frames(&[1, 4]), 1_000, Some(MethodId(4)), 0);
        assert_eq!(left(&known), [4, 1]);
    }

    #[test]
    fn a_call_that_is_outlived_by_what_encloses_it_has_ended_at_the_first_gap_it_may_have_ended_at() {
        let mut b = Bridge::default();
        b.gap(&mut frames(&[1, 2, 3, 4]), 9, None, 0);
        b.gap(&mut Vec::new(), 9, None, 0);
        b.leave(3);
        b.gap(&mut Vec::new(), 9, None, 0);
        b.leave(0);
        assert_eq!(b.ends, [0, 0, 2], "3 was seen to survive two gaps, and 2 with it");
    }

    #[test]
    fn a_call_is_refuted_by_one_in_its_place() {
        let mut b = Bridge::default();
        b.gap(&mut frames(&[1, 2]), 9, None, 0);
        b.entered(2);
        assert_eq!((left(&b), &b.ends[..]), (vec![1], &[1][..]), "the same method begins again");
        let mut outer = Bridge::default();
        outer.gap(&mut frames(&[1, 2]), 9, None, 0);
        outer.entered(1);
        assert_eq!((left(&outer), &outer.ends[..]), (vec![], &[2][..]), "and was never seen beneath 2");
        let mut mutual = Bridge::default();
        mutual.gap(&mut frames(&[1, 2, 1, 2]), 9, None, 0);
        mutual.entered(1);
        assert_eq!(left(&mutual), [2, 1, 2, 1]);
        let mut unseen = Bridge::default();
        unseen.gap(&mut frames(&[1, 2]), 9, None, 0);
        assert_eq!(unseen.owner(7, 50, 0), 50);
        unseen.close();
        assert_eq!(unseen.ends, [1], "another may have come instead, and nothing says that it did not");
        let mut called = Bridge::default();
        [6, 7].into_iter().for_each(|short| called.whole(short, 1));
        called.gap(&mut frames(&[1, 2, 6, 7]), 9, None, 0);
        called.owner(7, 50, 0);
        called.close();
        assert_eq!(called.ends, [2], "2 calls 6, and that 7");
        let mut recursive = Bridge::default();
        recursive.gap(&mut frames(&[2, 2]), 9, None, 0);
        recursive.entered(2);
        assert_eq!(left(&recursive), [2, 2]);
    }

    #[test]
    fn a_gap_of_the_brake_is_found_wherever_it_stands() {
        let calls = vec![entry(MethodId(1)); 700];
        assert!(!is_braked(&calls) && !is_braked(&gap(GapCause::Off, 0)) && !is_braked(&[]));
        for cause in [GapCause::Brake, GapCause::BrakeAll] {
            for at in [0, 1, 255, 256, 700] {
                assert!(is_braked(&[&calls[..at], &gap(cause, 9), &calls[at..]].concat()));
            }
        }
    }
}
