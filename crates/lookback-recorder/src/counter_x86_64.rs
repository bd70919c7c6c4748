//! The time-stamp counter of x86.
//!
//! The constraint: it is a clock only where it runs at one rate in all states of power and is the same on all
//! cores. The processor says the first (CPUID), the kernel watches the second and says so by what it uses
//! itself; under a hypervisor by a clock that is made of the counter.

use lookback_format::ring_file::ClockKind;
use std::arch::x86_64::{__cpuid, _mm_lfence, _rdtsc};

/// What these ticks are.
pub(super) const KIND: ClockKind = ClockKind::Tsc;

/// Clock sources of the kernel that are made of the counter.
const MADE_OF_IT: [&str; 3] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page"];

/// CPUID leaf of power management, and its bit that says that the counter has one rate.
const POWER: u32 = 0x8000_0007;
const INVARIANT: u32 = 1 << 8;

/// Whether the counter is a clock on this machine.
pub(super) fn constant() -> bool {
    let source = std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let trusted = source.is_ok_and(|source| MADE_OF_IT.contains(&source.trim_end()));
    // The first leaf tells how far they go.
    trusted && __cpuid(0x8000_0000).eax >= POWER && __cpuid(POWER).edx & INVARIANT != 0
}

/// The counter. The processor may read it a little earlier or later than the instructions around it say.
#[inline(always)]
pub(super) fn read() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { _rdtsc() }
}

/// The counter, after everything before it.
pub(super) fn read_in_order() -> u64 {
    // SAFETY: every x86-64 processor has both instructions.
    unsafe {
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    }
}
