//! What a trace point costs on this machine.
//!
//! The constraint that shaped it: it is wanted before the program's first class, in a fraction of a millisecond, so the
//! machine's speed is measured on the same operations in native code; how much more it is in a program, where the compilers
//! have less room, was measured before.

use std::hint::black_box;
use std::ptr::{read_volatile, write_volatile};

/// How much more processor time a program takes for a record than these operations alone: on a Xeon they took 0.7 ns, and
/// 2.7 ns compiled into Hubble's Listing 1.
const IN_PROGRAMS: f64 = 4.0;
/// How many readings of the clock a record with its exact time costs: to leave compiled code takes about as long as one.
const TIMED: f64 = 2.0;
/// The same at an end of a wait, by what less a broker and a web server took while wait points did nothing, and where the VM
/// tells of it (docs/BUDGET.md, "What a wait counts").
const WAIT: f64 = 3.5;
const EVENT: f64 = 15.0;

/// Nanoseconds of processor time that a record costs a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// By a plain trace point.
    pub(crate) plain: f64,
    /// With its exact time.
    pub(crate) timed: f64,
    /// The same of a thread that waits: before and after, others have run.
    pub(crate) wait: f64,
    /// Of a wait that the VM tells of by an event.
    pub(crate) event: f64,
}

impl Cost {
    /// On this machine, now.
    pub(crate) fn measured() -> Cost {
        // A clock too coarse for the measurement must not make records free.
        let (plain, clock) = (trace_point().max(1e-3), reading());
        Cost { plain, timed: TIMED * clock, wait: WAIT * clock, event: EVENT * clock }
    }
}

/// A record of a plain trace point.
fn trace_point() -> f64 {
    let bursts = (0..32).map(|_| burst());
    // The least: what else the machine does makes a burst longer, and nothing makes it shorter.
    IN_PROGRAMS * bursts.min_by(f64::total_cmp).unwrap_or(1.0)
}

/// A reading of the clock.
fn reading() -> f64 {
    const READS: u32 = 64;
    let burst = || {
        let begun = crate::clock::now();
        for _ in 1..READS {
            black_box(crate::clock::now());
        }
        crate::clock::now().since(begun).0 as f64 / f64::from(READS)
    };
    (0..8).map(|_| burst()).min_by(f64::total_cmp).unwrap_or(25.0)
}

/// The operations of trace points, as often as a page has room for them; nanoseconds of one.
fn burst() -> f64 {
    const SLOTS: usize = 1_000;
    let mut page = [0_u32; SLOTS + 1];
    let mut cursor = &raw mut page[1];
    let poll = &raw const page[0];
    let begun = crate::clock::now();
    for id in 0..SLOTS as u32 {
        // SAFETY: the cursor stays within the page: it moves on once a slot.
        unsafe {
            let at = read_volatile(&raw const cursor);
            write_volatile(at, black_box(id));
            write_volatile(&raw mut cursor, at.add(1));
            if read_volatile(poll) != 0 {
                black_box(poll);
            }
        }
    }
    crate::clock::now().since(begun).0 as f64 / SLOTS as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_point_costs_more_than_nothing_and_less_than_a_call_of_the_clock() {
        let nanos = trace_point();
        assert!(nanos > 0.0 && nanos < 1_000.0, "{nanos}");
    }
}
