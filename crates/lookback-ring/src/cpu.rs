//! Which CPU the calling thread runs on, for Linux.
//!
//! The constraint: this is asked for every event, so it must cost a load. glibc 2.35 and later
//! registers an rseq area (restartable sequences) for each thread, which the kernel keeps up to
//! date; its offset from the thread pointer is the same in all threads. The symbols are looked up
//! at run time, because elsewhere they do not exist. The fallback is `sched_getcpu`, a vDSO call.
//! Nothing here registers anything.

use core::ffi::{CStr, c_void};

/// How to find the current CPU in this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CurrentCpu {
    /// Offset of the CPU number in the rseq area from the thread pointer; 0 when there is none.
    rseq: isize,
}

/// Offset of `cpu_id` in `struct rseq`, from the kernel's ABI.
const CPU_ID: isize = 4;

impl CurrentCpu {
    pub(crate) fn find() -> CurrentCpu {
        let (offset, size) = (symbol(c"__rseq_offset"), symbol(c"__rseq_size"));
        if offset.is_null() || size.is_null() || !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            return CurrentCpu { rseq: 0 };
        }
        // SAFETY: glibc declares `const ptrdiff_t __rseq_offset` and `const unsigned int
        // __rseq_size`, both set before any code of ours runs.
        let (offset, size) = unsafe { (*offset.cast::<isize>(), *size.cast::<u32>()) };
        // A size of 0 says that the registration failed or was switched off.
        CurrentCpu { rseq: if size == 0 { 0 } else { offset + CPU_ID } }
    }

    #[inline]
    pub(crate) fn get(self) -> usize {
        if self.rseq != 0 {
            // SAFETY: `find` saw that glibc has registered an rseq area at this offset in every
            // thread; it lives as long as the thread.
            let cpu = unsafe { load_u32(self.rseq) };
            // Negative while a thread is not registered.
            if cpu as i32 >= 0 {
                return cpu as usize;
            }
        }
        fallback()
    }
}

#[cold]
fn fallback() -> usize {
    // SAFETY: no preconditions.
    let cpu = unsafe { libc::sched_getcpu() };
    usize::try_from(cpu).unwrap_or(0)
}

fn symbol(name: &CStr) -> *const c_void {
    // SAFETY: the name is a C string; a null result is handled by the caller.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

/// Loads the word at `offset` from the thread pointer.
///
/// # Safety
/// The address is valid for reads in this thread.
#[inline]
#[cfg(target_arch = "x86_64")]
unsafe fn load_u32(offset: isize) -> u32 {
    let value: u32;
    // SAFETY: the caller promises a valid address. Not `pure`: the kernel changes the word.
    unsafe {
        core::arch::asm!("mov {value:e}, dword ptr fs:[{offset}]", offset = in(reg) offset,
            value = out(reg) value, options(nostack, preserves_flags, readonly));
    }
    value
}

/// As above, for the other architecture with a known thread pointer.
///
/// # Safety
/// The address is valid for reads in this thread.
#[inline]
#[cfg(target_arch = "aarch64")]
unsafe fn load_u32(offset: isize) -> u32 {
    let base: *const u8;
    // SAFETY: reads the thread pointer register only.
    unsafe {
        core::arch::asm!("mrs {base}, tpidr_el0", base = out(reg) base,
            options(nostack, nomem, preserves_flags));
    }
    // SAFETY: the caller promises a valid address; volatile because the kernel changes the word.
    unsafe { base.offset(offset).cast::<u32>().read_volatile() }
}

/// Never reached: `find` reports no area on other architectures.
///
/// # Safety
/// None.
#[inline]
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn load_u32(_offset: isize) -> u32 {
    u32::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_is_one_of_the_machine() {
        // SAFETY: no preconditions.
        let cpus = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) } as usize;
        assert!(CurrentCpu::find().get() < cpus);
        assert!(CurrentCpu { rseq: 0 }.get() < cpus);
    }

    #[test]
    fn rseq_and_getcpu_agree() {
        // A thread can migrate between the two questions: one agreement in many is enough.
        let cpu = CurrentCpu::find();
        assert!((0..10_000).any(|_| cpu.get() == fallback()));
    }
}
