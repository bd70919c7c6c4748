//! The cores that this process may use, and those that a plan pins to.
//!
//! The constraint that shaped it: a pin that the kernel would silently cut down (a core that is offline, or that a
//! cgroup withholds) measures something else than the plan says, so it is refused before anything runs.

use crate::error::{Error, Result};
use crate::plan::Pin;

/// The numbers of the cores that this process may run on, ascending.
pub fn allowed() -> Vec<usize> {
    // SAFETY: zeros are a valid, empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is of the size that is told, and this process is 0.
    let got = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) };
    if got != 0 {
        // A machine of more cores than the set holds; then all that are online.
        return (0..std::thread::available_parallelism().map_or(1, usize::from)).collect();
    }
    let most = libc::CPU_SETSIZE as usize;
    // SAFETY: each number is below the set's size.
    (0..most).filter(|&core| unsafe { libc::CPU_ISSET(core, &set) }).collect()
}

/// The cores of a pin.
///
/// # Errors
/// [`Error::Cores`] when it names one that this process may not use, or none at all.
pub fn resolve(pin: &Pin) -> Result<Vec<usize>> {
    let allowed = allowed();
    match pin {
        Pin::All => Ok(allowed),
        Pin::Cores(cores) => {
            let missing: Vec<usize> = cores.iter().copied().filter(|core| !allowed.contains(core)).collect();
            if !missing.is_empty() || cores.is_empty() {
                return Err(Error::Cores { missing, allowed });
            }
            let mut cores = cores.clone();
            cores.sort_unstable();
            cores.dedup();
            Ok(cores)
        }
    }
}

/// The kernel's set of these cores, ready for `sched_setaffinity`.
pub(crate) fn set_of(cores: &[usize]) -> libc::cpu_set_t {
    // SAFETY: zeros are a valid, empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &core in cores.iter().filter(|&&core| core < libc::CPU_SETSIZE as usize) {
        // SAFETY: the number is below the set's size.
        unsafe { libc::CPU_SET(core, &mut set) };
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_refused_when_the_machine_lacks_one_of_its_cores() {
        let ours = allowed();
        assert_eq!(resolve(&Pin::All).unwrap(), ours);
        let first = ours[0];
        assert_eq!(resolve(&Pin::Cores(vec![first, first])).unwrap(), [first]);
        let beyond = ours.last().unwrap() + 1;
        match resolve(&Pin::Cores(vec![first, beyond])) {
            Err(Error::Cores { missing, allowed }) => assert_eq!((missing, allowed), (vec![beyond], ours)),
            other => panic!("{other:?}"),
        }
        assert!(matches!(resolve(&Pin::Cores(vec![])), Err(Error::Cores { .. })));
    }
}
