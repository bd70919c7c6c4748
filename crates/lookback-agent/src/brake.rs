//! The brake: bounds at once what a thread records, until the governor has dropped what floods it.
//!
//! The constraint that shaped it: a flood that nobody foresaw may cost no more than the budget from its first
//! millisecond on, and the program's threads may neither wait nor lock. So each thread has an allowance that grows with
//! time and is spent by the page. A thread that has none left negates its cursor: plain trace points then do nothing,
//! timed and watched ones still record; precise ones do until they have spent as much as a burst may, and a word of the
//! slab then says that they do nothing either. The brake's own thread negates it back, a tick or more later, by one comparing
//! exchange, which fails if the thread has moved its cursor meanwhile.
//!
//! Who writes what: the words of an allowance are the thread's, but `freed`, which is the brake's thread's.

use crate::agent::Agent;
use crate::clock;
use crate::java::{Cursor, Java, clear, jni};
use crate::log;
use crate::slab::OwnSlab;
use crate::threads;
use crossbeam_queue::ArrayQueue;
use jni_sys::{JNIEnv, jclass, jmethodID, jobject, jvalue};
use lookback_format::Nanos;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU64, Ordering};
use std::thread::Thread;

/// What a thread may record before the brake takes hold, if it has recorded little before: a short burst, as a request
/// to an idle thread makes, is kept whole.
const BURST: Nanos = Nanos(20_000_000);
/// A thread goes on when it may record again what it may in so long: to release it is dear on some machines, and what is
/// recorded in one piece tells more.
const REST: Nanos = Nanos(10_000_000);

/// What a thread would have recorded while it was braked is judged by what it did in so much processor time before, nanoseconds: it
/// may have been braked for a short burst.
const RECENTLY: f64 = 20e6;
/// Slots of a precise record: its time, and its own.
const PRECISE_SLOTS: i64 = 4;

/// All threads' allowances.
pub(crate) struct Brake {
    /// Slots that a thread may record in a nanosecond; none without a budget.
    pace: Option<f64>,
    /// The share of it that threads may spend now, the bits of an `f64`.
    allowed: AtomicU64,
    /// Processor time of the thread that asks, nanoseconds.
    cpu: fn() -> u64,
    /// What a precise record costs beyond its slots, as that many slots more.
    extra: i64,
    /// By slab.
    threads: Vec<Allowance>,
    /// Slabs of the threads that were braked and not yet released.
    braked: ArrayQueue<u32>,
    thread: OnceLock<Thread>,
    release: OnceLock<Release>,
    ending: AtomicBool,
    /// Whether all threads are held back for a moment, to see what recording costs.
    paused: AtomicBool,
    /// Whether the brake's thread has let go of the VM.
    pub(crate) gone: AtomicBool,
}

/// What one thread may record. Cache lines of its own: it is written at each page.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Allowance {
    /// Slots that were left at `reckoned`; negative when more were recorded.
    left: AtomicI64,
    reckoned: AtomicU64,
    /// Since when the thread is braked; 0 while it is not.
    since: AtomicU64,
    /// When it was released last.
    freed: AtomicU64,
    /// Slots that it recorded while a slot could have been missed, and that it would have recorded beyond them.
    recorded: AtomicU64,
    missed: AtomicU64,
    /// What it had recorded, and its processor time, when it last found itself released; that time also when it was braked.
    released: AtomicU64,
    cpu: AtomicU64,
    /// Processor time that it took while it was braked, before that.
    braked: AtomicU64,
    /// Slots that it recorded while it was not braked, and in how much processor time, about the last [`RECENTLY`].
    slots: AtomicU64,
    took: AtomicU64,
    /// The object that holds its cursor, a global reference.
    home: AtomicPtr<jni_sys::_jobject>,
}

/// `LookbackTracePoint.release`.
struct Release(jclass, jmethodID);

// SAFETY: a global reference and an id, valid on every thread for as long as the VM lives.
unsafe impl Send for Release {}
// SAFETY: as above.
unsafe impl Sync for Release {}

impl Brake {
    /// For so many slabs, when a thread may record `pace` slots in a nanosecond; no thread is ever braked without. A
    /// precise record costs as much as `precise` slots; `cpu` tells the processor time of the thread that asks, nanoseconds.
    pub(crate) fn new(slabs: u32, pace: Option<f64>, precise: f64, cpu: fn() -> u64) -> Brake {
        Brake {
            pace,
            allowed: AtomicU64::new(1_f64.to_bits()),
            cpu,
            extra: (precise as i64 - PRECISE_SLOTS).max(0),
            threads: (0..slabs).map(|_| Allowance::default()).collect(),
            braked: ArrayQueue::new(slabs.max(1) as usize),
            thread: OnceLock::new(),
            release: OnceLock::new(),
            ending: AtomicBool::new(false),
            paused: AtomicBool::new(false),
            gone: AtomicBool::new(true),
        }
    }

    /// All threads may spend such a share of their allowances from now on: who has a core for itself may spend it whole.
    pub(crate) fn allow(&self, share: f64) {
        // Relaxed, here and below: a figure.
        self.allowed.store(share.to_bits(), Ordering::Relaxed);
    }

    /// Slots that a thread may record in a nanosecond now.
    fn pace(&self) -> Option<f64> {
        self.pace.map(|pace| pace * f64::from_bits(self.allowed.load(Ordering::Relaxed)))
    }

    /// What slab `i` has left at `now`.
    fn left(&self, i: u32, pace: f64, now: Nanos) -> i64 {
        // Relaxed, here and below: the thread's own words, or figures.
        let a = &self.threads[i as usize];
        let since = now.since(Nanos(a.reckoned.load(Ordering::Relaxed)));
        let most = (BURST.0 as f64 * pace) as i64;
        a.left.load(Ordering::Relaxed).saturating_add((since.0 as f64 * pace) as i64).min(most)
    }

    /// A thread begins with slab `i`; `home` is a global reference to the object that holds its cursor.
    pub(crate) fn begin(&self, i: u32, home: jobject, now: Nanos) {
        let a = &self.threads[i as usize];
        let words =
            [&a.since, &a.freed, &a.recorded, &a.missed, &a.released, &a.cpu, &a.braked, &a.slots, &a.took];
        words.iter().for_each(|w| w.store(0, Ordering::Relaxed));
        a.left.store(i64::MAX / 2, Ordering::Relaxed);
        a.reckoned.store(now.0, Ordering::Relaxed);
        // ORDERING: Release; pairs with the Acquire in `Releaser::one`.
        a.home.store(home, Ordering::Release);
    }

    /// The object that holds the cursor of slab `i`'s thread, for that thread itself: a global reference, which nobody takes away
    /// before it has ended or, while it is in an event of the VM, before the agent has left.
    pub(crate) fn home(&self, i: u32) -> Option<jobject> {
        // Relaxed: another thread may have begun this one, but since then it has seen its cursor.
        let home = self.threads[i as usize].home.load(Ordering::Relaxed);
        (!home.is_null()).then_some(home)
    }

    /// The thread of slab `i` ends; gives its reference back. Nobody may be releasing it.
    pub(crate) fn end(&self, i: u32) -> jobject {
        let a = &self.threads[i as usize];
        a.since.store(0, Ordering::Relaxed);
        a.home.swap(std::ptr::null_mut(), Ordering::Relaxed)
    }

    /// The thread of slab `i`, which is not braked, has recorded `slots` more; whether it is braked now. The caller says
    /// so in the records and negates the cursor.
    pub(crate) fn spend(&self, i: u32, slots: usize, now: Nanos) -> bool {
        let Some(pace) = self.pace() else { return false };
        let a = &self.threads[i as usize];
        let left = self.left(i, pace, now).saturating_sub(slots as i64);
        a.reckoned.store(now.0, Ordering::Relaxed);
        a.left.store(left, Ordering::Relaxed);
        a.recorded.fetch_add(slots as u64, Ordering::Relaxed);
        if left >= 0 && !self.is_paused() {
            return false;
        }
        self.take_hold(i, 0, now);
        true
    }

    /// The thread of slab `i` makes a precise record.
    pub(crate) fn charge(&self, i: u32) {
        let left = &self.threads[i as usize].left;
        // No read-modify-write: only the thread itself writes it.
        left.store(left.load(Ordering::Relaxed).saturating_sub(self.extra), Ordering::Relaxed);
    }

    /// Whether the thread of slab `i`, which is braked, has made so many precise records that these must end, too.
    pub(crate) fn is_overdrawn(&self, i: u32, now: Nanos) -> bool {
        self.pace().is_some_and(|pace| self.left(i, pace, now) < -((BURST.0 as f64 * pace) as i64))
    }

    /// The thread of slab `i`, which is not braked, has recorded `slots` since its last page; whether it is braked now,
    /// because all are.
    pub(crate) fn joins_pause(&self, i: u32, slots: usize, now: Nanos) -> bool {
        let paused = self.is_paused();
        if paused {
            self.take_hold(i, slots, now);
        }
        paused
    }

    /// The thread of slab `i`, which has recorded `slots` since its last page, is braked from now on. What it has done since it was
    /// released stands for all that it did since it was braked last.
    fn take_hold(&self, i: u32, slots: usize, now: Nanos) {
        let a = &self.threads[i as usize];
        let cpu = (self.cpu)();
        let took = cpu.saturating_sub(a.cpu.swap(cpu, Ordering::Relaxed)) as f64;
        let recorded = a.recorded.load(Ordering::Relaxed) + slots as u64;
        let slots = recorded.saturating_sub(a.released.load(Ordering::Relaxed)) as f64;
        let braked = a.braked.swap(0, Ordering::Relaxed) as f64;
        let keep = RECENTLY / (RECENTLY + took + braked);
        // A long calm is worth no more than what is kept of it.
        let scale = (RECENTLY / took.max(1.0)).min(1.0);
        let add = |sum: &AtomicU64, new: f64| {
            sum.store(
                (sum.load(Ordering::Relaxed) as f64 * keep + new * scale).round() as u64,
                Ordering::Relaxed,
            );
        };
        add(&a.slots, slots);
        add(&a.took, took);
        a.since.store(now.0, Ordering::Relaxed);
        // When it is full, the sweep finds the thread.
        let _ = self.braked.push(i);
    }

    /// Holds all threads back, as each comes by, or no longer.
    pub(crate) fn pause(&self, on: bool) {
        // Relaxed, here and below: a flag; who sees it late is held back, or released, late.
        self.paused.store(on, Ordering::Relaxed);
    }

    fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    /// The braked thread of slab `i` records a time; whether it may go on with all its methods.
    pub(crate) fn goes_on(&self, i: u32, now: Nanos) -> bool {
        let may = self.may_go_on(i, now);
        if may {
            self.threads[i as usize].freed.store(now.0, Ordering::Relaxed);
        }
        may
    }

    fn may_go_on(&self, i: u32, now: Nanos) -> bool {
        !self.is_paused()
            && self.pace().is_none_or(|pace| self.left(i, pace, now) >= (REST.0 as f64 * pace) as i64)
    }

    /// How many slots the thread of slab `i`, which is not braked now, missed while it was, said once. It has recorded `slots` since
    /// its last page.
    pub(crate) fn missed(&self, i: u32, slots: usize) -> u64 {
        let a = &self.threads[i as usize];
        let since = a.since.load(Ordering::Relaxed);
        if since == 0 || a.freed.load(Ordering::Relaxed) <= since {
            return 0;
        }
        a.since.store(0, Ordering::Relaxed);
        let cpu = (self.cpu)();
        let braked = cpu.saturating_sub(a.cpu.swap(cpu, Ordering::Relaxed));
        a.braked.store(braked, Ordering::Relaxed);
        a.released.store(a.recorded.load(Ordering::Relaxed) + slots as u64, Ordering::Relaxed);
        let (slots, took) = (a.slots.load(Ordering::Relaxed), a.took.load(Ordering::Relaxed).max(1));
        let missed = u128::from(braked) * u128::from(slots) / u128::from(took);
        let missed = u64::try_from(missed).unwrap_or(u64::MAX);
        a.missed.fetch_add(missed, Ordering::Relaxed);
        missed
    }

    /// Slots that the thread of slab `i` has recorded, and that it would have recorded beyond those.
    pub(crate) fn totals(&self, i: u32) -> (u64, u64) {
        let a = &self.threads[i as usize];
        (a.recorded.load(Ordering::Relaxed), a.missed.load(Ordering::Relaxed))
    }

    /// Whether the thread of slab `i` is braked now.
    pub(crate) fn is_braked(&self, i: u32) -> bool {
        let a = &self.threads[i as usize];
        let since = a.since.load(Ordering::Relaxed);
        since != 0 && a.freed.load(Ordering::Relaxed) < since
    }

    /// How many threads are braked now.
    pub(crate) fn now_braked(&self) -> usize {
        // Not the queue's length: a thread may stand in it more than once.
        (0..self.threads.len() as u32).filter(|&i| self.is_braked(i)).count()
    }

    /// A tick has passed: wakes the brake's thread when it has something to do.
    pub(crate) fn tick(&self) {
        if !self.braked.is_empty() && !self.is_paused() {
            self.wake();
        }
    }

    /// The thread of slab `i` was found braked: it is released when it may.
    pub(crate) fn found(&self, i: u32) {
        let _ = self.braked.push(i);
    }

    fn wake(&self) {
        self.thread.get().inspect(|thread| thread.unpark());
    }

    /// The VM ends: the brake's thread lets go of it.
    pub(crate) fn stop(&self) {
        // ORDERING: Release; pairs with the Acquire in `run`.
        self.ending.store(true, Ordering::Release);
        self.wake();
    }

    /// Finds what releases a thread, in the trace points' class.
    pub(crate) fn find(&self, env: *mut JNIEnv, class: jclass) {
        let sig = c"(Ljava/lang/Object;J)Z";
        let method = jni!(env, GetStaticMethodID, class, c"release".as_ptr(), sig.as_ptr());
        clear(env);
        if !method.is_null() {
            let _ = self.release.set(Release(jni!(env, NewGlobalRef, class), method));
        }
    }
}

/// Whether [`release`] can do anything.
pub(crate) fn can_release(agent: &Agent) -> bool {
    agent.brake.release.get().is_some() && agent.java().is_some()
}

/// Releases all threads that may go on, on a thread that is attached.
pub(crate) fn release(agent: &Agent, env: *mut JNIEnv) {
    if let (Some(java), Some(release)) = (agent.java(), agent.brake.release.get()) {
        Releaser { agent, env, java, release }.all();
    }
}

/// The brake's thread: releases threads after a tick, until the VM ends.
pub(crate) fn run(agent: &Agent) {
    let brake = &agent.brake;
    let _ = brake.thread.set(std::thread::current());
    let mut env = None;
    loop {
        std::thread::park();
        // ORDERING: Acquire; pairs with the Release in `stop`.
        if brake.ending.load(Ordering::Acquire) {
            break;
        }
        if brake.braked.is_empty() {
            continue;
        }
        // Not before it has work, which most programs never give it.
        if env.is_none() {
            brake.gone.store(false, Ordering::Relaxed);
            env = threads::attach(agent, c"Lookback brake");
        }
        match env {
            Some(env) if can_release(agent) => release(agent, env),
            _ => {
                log::line(
                    "cannot attach the thread that releases braked threads; each goes on only at its next wait or watched call",
                );
                break;
            }
        }
    }
    if env.is_some() {
        // SAFETY: attached above; no Java frames are below us.
        unsafe { (**agent.vm).DetachCurrentThread.map(|f| f(agent.vm)) };
    }
    // ORDERING: Release; pairs with the Acquire in `startup::end`.
    brake.gone.store(true, Ordering::Release);
}

/// The brake's thread at work.
struct Releaser<'a> {
    agent: &'a Agent,
    env: *mut JNIEnv,
    java: &'a Java,
    release: &'a Release,
}

impl Releaser<'_> {
    /// Releases all that may go on.
    fn all(&self) {
        let braked = &self.agent.brake.braked;
        let now = clock::now();
        for _ in 0..braked.len() {
            let Some(i) = braked.pop() else { break };
            // No thread ends, and gives its reference back, meanwhile.
            let live = self.agent.live.lock().unwrap_or_else(|e| e.into_inner());
            let done = self.one(i, now);
            drop(live);
            if !done {
                let _ = braked.push(i);
            }
        }
    }

    /// Whether nothing is left to do for the thread of slab `i`.
    fn one(&self, i: u32, now: Nanos) -> bool {
        let &Releaser { agent, env, java, release } = self;
        let brake = &agent.brake;
        let a = &brake.threads[i as usize];
        // ORDERING: Acquire; pairs with the Release in `begin`.
        let home = a.home.load(Ordering::Acquire);
        if home.is_null() || !brake.is_braked(i) {
            return true; // ended, or released meanwhile
        }
        let cursor = java.cursor(env, home);
        if cursor == Cursor::OFF {
            return true;
        }
        if !cursor.is_braked() || !brake.may_go_on(i, now) {
            return false; // not yet
        }
        if let Some(own) = OwnSlab::of_cursor(&agent.region, cursor) {
            own.want_time();
        }
        a.freed.store(now.0, Ordering::Relaxed);
        let released = java.release(home, cursor, || {
            let arguments = [jvalue { l: home }, jvalue { j: cursor.0 }];
            let released = jni!(env, CallStaticBooleanMethodA, release.0, release.1, arguments.as_ptr());
            clear(env);
            released != 0
        });
        if !released {
            // It recorded a time just now. Who finds it braked once more tries again.
            a.freed.store(0, Ordering::Relaxed);
        }
        released
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const MS: u64 = 1_000_000;

    thread_local! {
        /// Processor time, nanoseconds.
        static CPU: Cell<u64> = const { Cell::new(0) };
    }

    /// For threads that may record 10 slots a microsecond, 200,000 at once.
    fn brake() -> Brake {
        CPU.set(0);
        let brake = Brake::new(2, Some(0.01), 20.0, || CPU.get());
        (0..2).for_each(|i| brake.begin(i, std::ptr::null_mut(), Nanos(1_000 * MS)));
        brake
    }

    /// Records pages of 1,000 slots, one in so many nanoseconds, of which the thread takes each, until it is braked; how many there
    /// were and when.
    fn until_braked(brake: &Brake, begin: u64, each: u64, most: u64) -> Option<(u64, Nanos)> {
        let page = |n: u64| {
            CPU.set(CPU.get() + each);
            (n, Nanos(begin + n * each))
        };
        (1..=most).map(page).find(|&(_, now)| brake.spend(0, 1_000, now))
    }

    /// The thread goes on, so much later; it has taken so much processor time meanwhile, nanoseconds. How much it has missed.
    fn goes_on(brake: &Brake, at: Nanos, took: u64) -> u64 {
        CPU.set(CPU.get() + took);
        assert!(brake.goes_on(0, at));
        brake.missed(0, 0)
    }

    #[test]
    fn a_burst_is_kept_whole_and_a_flood_is_braked() {
        let brake = brake();
        let (pages, _) = until_braked(&brake, 1_000 * MS, 10_000, 10_000).expect("a flood");
        assert_eq!(pages, 223, "200 pages at once, and one more for each ten");
        assert_eq!((brake.now_braked(), brake.is_braked(0), brake.is_braked(1)), (1, true, false));
        assert!(!brake.spend(1, 100_000, Nanos(1_001 * MS)), "each thread has its own allowance");
    }

    #[test]
    fn what_is_within_the_allowance_is_never_braked() {
        let brake = brake();
        assert_eq!(until_braked(&brake, 1_000 * MS, 100_000, 100_000), None);
        let free = Brake::new(1, None, 0.0, || 0);
        assert!(!free.spend(0, usize::MAX, Nanos(1)) && free.goes_on(0, Nanos(1)));
    }

    #[test]
    fn all_threads_may_be_allowed_less_and_the_whole_again() {
        let brake = brake();
        brake.allow(0.25);
        let (pages, now) = until_braked(&brake, 1_000 * MS, 10_000, 10_000).expect("a flood");
        assert_eq!(pages, 52, "50 at once, and one more for each forty");
        // It rests until it may record again what it may in 10 ms, from a page too much on.
        let rested = |ms: u64| brake.goes_on(0, now.plus(ms * MS));
        assert!(!rested(9) && rested(11));
        brake.allow(1.0);
        assert!(!brake.spend(0, 25_000, now.plus(14 * MS)));
    }

    #[test]
    fn a_braked_thread_goes_on_when_it_has_rested_and_what_it_missed_is_reckoned_once() {
        let brake = brake();
        let (pages, now) = until_braked(&brake, 1_000 * MS, 10_000, 10_000).expect("a flood");
        assert!(!brake.goes_on(0, now.plus(10 * MS)), "it had recorded too much by a few slots");
        let later = now.plus(11 * MS);
        assert_eq!(goes_on(&brake, later, 11 * MS), 1_100_000, "at 100 slots a microsecond");
        assert!(!brake.is_braked(0));
        assert_eq!(brake.missed(0, 0), 0);
        assert_eq!(brake.totals(0), (pages * 1_000, 1_100_000));
        assert!(!brake.spend(0, 1_000, later), "it has 100 pages again");
    }

    #[test]
    fn a_thread_misses_what_it_would_have_done_in_its_processor_time() {
        let missed = |took| {
            let brake = brake();
            let (_, now) = until_braked(&brake, 1_000 * MS, 10_000, 10_000).expect("a flood");
            goes_on(&brake, now.plus(20 * MS), took)
        };
        assert_eq!(missed(0), 0, "it waits");
        assert_eq!(missed(5 * MS), 500_000, "others have the core most of the time");
    }

    #[test]
    fn who_is_braked_for_a_burst_is_not_taken_to_have_gone_on_with_it() {
        let brake = brake();
        // A second of computing, and of little to record.
        let calm = (0..100).map(|page| 1_000 * MS + page * 10 * MS);
        calm.for_each(|now| assert!(!brake.spend(0, 1_000, Nanos(now))));
        CPU.set(CPU.get() + 1_000 * MS);
        let (pages, now) = until_braked(&brake, 2_000 * MS, 10_000, 10_000).expect("a burst");
        let missed = goes_on(&brake, now.plus(11 * MS), 11 * MS);
        assert!(pages == 223 && missed < 1_100_000 / 8, "{missed}, of 1,100,000 at the speed of the burst");
    }

    #[test]
    fn a_flood_that_goes_on_counts_for_one_soon() {
        let brake = brake();
        CPU.set(CPU.get() + 60_000 * MS); // a minute in which it recorded nothing
        let mut now = Nanos(60_000 * MS);
        let mut missed = Vec::new();
        for _ in 0..20 {
            now = until_braked(&brake, now.0, 10_000, u64::MAX).expect("a flood").1.plus(11 * MS);
            missed.push(goes_on(&brake, now, 11 * MS));
        }
        assert!(missed[0] < 1_100_000 / 2, "{missed:?}");
        assert!(missed[19] > 1_100_000 * 9 / 10, "after a quarter of a second: {missed:?}");
    }

    #[test]
    fn a_pause_holds_back_who_comes_by_and_nobody_goes_on_before_it_ends() {
        let brake = brake();
        let at = |ms: u64| Nanos((1_000 + ms) * MS);
        assert!(!brake.joins_pause(0, 10, at(1)));
        CPU.set(CPU.get() + MS);
        brake.pause(true);
        assert!(brake.joins_pause(0, 500, at(1)) && brake.spend(1, 1_000, at(1)));
        assert_eq!(brake.now_braked(), 2);
        assert!(!brake.goes_on(0, at(5)) && !brake.goes_on(1, at(5)));
        brake.pause(false);
        assert!(brake.goes_on(0, at(5)) && brake.goes_on(1, at(5)));
        CPU.set(CPU.get() + 4 * MS);
        assert_eq!((brake.missed(0, 500), brake.missed(1, 0)), (2_000, 4_000), "4 ms at the speed of before");
    }

    #[test]
    fn precise_records_are_charged_what_they_cost() {
        let brake = brake();
        // A page has 256 precise records of 20 slots each; 200,000 slots are a burst.
        let page = |_: &usize| {
            (0..256).for_each(|_| brake.charge(0));
            brake.spend(0, 1_024, Nanos(1_000 * MS))
        };
        // What it makes before its first page counts as little as time before it does.
        assert_eq!((1..=100).find(page), Some(40), "1,024 and 39 times 5,120 slots are 200,704");
        let now = Nanos(1_000 * MS);
        assert!(!brake.is_overdrawn(0, now), "braked, it goes on with them");
        let more = (1..).find(|_| {
            brake.charge(0);
            brake.is_overdrawn(0, now)
        });
        assert_eq!(more, Some(12_457), "for a burst more: 704 and 12,457 times 16 slots are above 200,000");
    }

    #[test]
    fn in_the_long_run_a_flood_records_what_it_may() {
        let brake = brake();
        let (mut now, end) = (1_000 * MS, 3_000 * MS);
        while now < end {
            now = until_braked(&brake, now, 10_000, u64::MAX).expect("a flood").1.0;
            while !brake.goes_on(0, Nanos(now)) {
                now += MS;
            }
            brake.missed(0, 0);
        }
        let may = 2_000 * 10_000 + 200_000;
        let recorded = brake.totals(0).0;
        assert!(recorded.abs_diff(may) < may / 50, "{recorded} of {may}");
    }
}
