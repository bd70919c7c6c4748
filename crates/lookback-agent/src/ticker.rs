//! The ticker: a native thread that tells time to all threads, once a tick.
//!
//! The constraint that shaped it: a trace point cannot read a clock, and ten thousand idle threads must cost
//! nothing. So a thread that has taken note of a tick says so in one byte, and only for those bytes does the
//! ticker set a poll word again. The poll is also how every request reaches a thread. Where it is dear to wake up
//! (24 us on a virtual machine within another: 2.4 % of a core), ticks are passed over, and times are told to be less exact.

use crate::brake::Brake;
use crate::clock;
use crate::region::Region;
use crate::slab::Slabs;
use crate::switch::{Switch, Until};
use lookback_format::Nanos;
use lookback_format::region::{header, slab};
use lookback_format::slot;
use std::sync::atomic::Ordering;

/// Publishes the tick that `now` lies in.
pub(crate) fn publish(region: &Region, now: Nanos) -> u64 {
    let tick = now.0.saturating_sub(region.epoch) / region.tick;
    // Relaxed: a thread that still sees the old tick is within the error that a tick has.
    region.u32(header::TICK_WORD).store(slot::tick(tick), Ordering::Relaxed);
    tick
}

/// Runs until tracing has ended, while it is on; takes no more than the share `most` of a core.
pub(crate) fn run(region: &Region, slabs: &Slabs, brake: &Brake, tracing: &Switch, most: Option<f64>) {
    // The kernel may not add its usual 50 us to the sleep. SAFETY: no pointers are involved.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    let mut wanted = clock::now().0;
    let mut stride = Stride::default();
    loop {
        match tracing.until_on() {
            Until::Ended => return,
            Until::Waited => wanted = clock::now().0,
            Until::On => {}
        }
        let now = clock::now();
        let tick = publish(region, now);
        arm(region, slabs);
        brake.tick();
        // From when this should have been done to when it was: so old can the tick be that a thread reads.
        let late = clock::now().0.saturating_sub(wanted);
        // Relaxed: only this thread writes it; a figure for reports.
        if late > region.u64(header::TICK_LATE).load(Ordering::Relaxed) {
            region.u64(header::TICK_LATE).store(late, Ordering::Relaxed);
        }
        wanted = region.epoch + (tick + 1) * region.tick;
        clock::sleep_until(region.epoch + (tick + stride.ticks(most, region.tick)) * region.tick);
    }
}

/// How many ticks the ticker sleeps at a time.
#[derive(Default)]
struct Stride {
    ticks: u64,
    /// Times that it woke since this was decided, and its processor time then.
    woken: u32,
    cpu: u64,
}

impl Stride {
    /// So often its own cost is looked at.
    const LOOK: u32 = 64;
    /// Threads are never left without time for longer.
    const LONGEST: u64 = 10_000_000;

    fn ticks(&mut self, most: Option<f64>, tick: u64) -> u64 {
        let Some(most) = most else { return 1 };
        if self.woken == 0 {
            self.cpu = clock::thread_cpu();
        }
        self.woken += 1;
        if self.woken > Self::LOOK {
            let each = (clock::thread_cpu() - self.cpu) / u64::from(Self::LOOK);
            (self.ticks, self.woken) = (needed(each, most, tick), 0);
        }
        self.ticks.max(1)
    }
}

/// Ticks from one waking to the next, so that one that takes `each` nanoseconds takes the share `most` of the time.
fn needed(each: u64, most: f64, tick: u64) -> u64 {
    let ticks = (each as f64 / most / tick as f64).ceil() as u64;
    ticks.clamp(1, (Stride::LONGEST / tick).max(1))
}

/// Sets the poll of every thread that has taken note of a tick since.
fn arm(region: &Region, slabs: &Slabs) {
    for word in 0..slabs.high().div_ceil(8) as usize {
        // Relaxed: a look; the swap below orders.
        if region.active_word(word).load(Ordering::Relaxed) == 0 {
            continue;
        }
        for i in word as u32 * 8..(word as u32 + 1) * 8 {
            // ORDERING: Acquire; pairs with the Release in `OwnSlab::answer_poll`: the poll set below comes
            // after the thread's own store into the poll word.
            if region.active(i).swap(0, Ordering::Acquire) != 0 && i < region.slabs {
                region.u32(region.slab_at(i) + slab::POLL).store(slab::POLL_TICK, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_passed_over_where_waking_is_dear() {
        const MS: u64 = 1_000_000;
        assert_eq!(needed(3_000, 0.005, MS), 1);
        assert_eq!(needed(24_000, 0.005, MS), 5);
        assert_eq!(needed(24_000, 0.005, MS / 20), 96);
        assert_eq!(needed(400_000, 0.005, MS), 10, "never longer than 10 ms");
        assert_eq!(needed(400_000, 0.005, 10 * MS), 1);
    }
}
