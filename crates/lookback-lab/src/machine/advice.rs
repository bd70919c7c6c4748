//! What is not ideal about a machine for measuring, why that matters, and what to do about it.
//!
//! The constraint that shaped it: an experiment is also worth something on a machine that is not ideal, as long as
//! everybody knows; so this advises and forbids nothing.

use super::facts::Facts;

/// Something that is not ideal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// What is not ideal.
    pub what: String,
    /// What it does to figures.
    pub why: &'static str,
    /// What to do about it.
    pub remedy: String,
}

/// Load average from which on somebody else is at work: a tenth of a core.
const BUSY: f64 = 0.1;

/// What is not ideal about a machine; `stolen_percent` is the share of the cores' time that the hypervisor gave to
/// others just now.
pub fn advice(facts: &Facts, stolen_percent: f64) -> Vec<Advice> {
    let mut all = Vec::new();
    let mut add = |what: String, why: &'static str, remedy: &str| {
        all.push(Advice { what, why, remedy: remedy.into() });
    };
    if facts.governors.is_empty() {
        add(
            "the frequency of the cores cannot be seen or fixed".into(),
            "the same work takes another time when the frequency changes",
            "on a virtual machine compare within blocks only, and count on wider intervals",
        );
    } else if facts.governors.iter().any(|governor| governor != "performance") {
        let governors: Vec<_> = facts.governors.iter().map(String::as_str).collect();
        add(
            format!("frequency governor {}", governors.join(", ")),
            "cores that are slow at first and fast later favour what runs later",
            "cpupower frequency-set -g performance",
        );
    }
    if facts.turbo == Some(true) {
        add(
            "turbo is on".into(),
            "how fast a core runs depends on its temperature and on its neighbours",
            "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > /sys/devices/system/cpu/cpufreq/boost",
        );
    }
    if let Some((lowest, highest)) = facts.frequency_khz.filter(|(lowest, highest)| lowest != highest) {
        add(
            format!("frequencies from {} to {} MHz are allowed", lowest / 1000, highest / 1000),
            "heat lowers the highest one in the middle of a run",
            "cpupower frequency-set --min F --max F, with F a little below the highest (paper, section 5.2)",
        );
    }
    if facts.smt == Some(true) {
        add(
            "SMT is on".into(),
            "a thread is slower while its core's other half is busy, so collectors with parallel threads pay twice",
            "echo off > /sys/devices/system/cpu/smt/control, or pin to one half of each core",
        );
    }
    if facts.transparent_huge_pages.as_deref() == Some("always") {
        add(
            "transparent huge pages are `always`".into(),
            "page faults and resident memory depend on how fragmented memory is",
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        );
    }
    if facts.swap > 0 {
        add(
            format!("{} MiB of swap", facts.swap >> 20),
            "a heap that is swapped measures the disk",
            "swapoff -a; the rule for disturbed invocations rejects those that swapped",
        );
    }
    if stolen_percent > 0.0 {
        add(
            format!("the hypervisor gives {stolen_percent:.1} % of the cores' time to others"),
            "wall time grows, and caches are shared with strangers",
            "use a machine with cores of its own",
        );
    } else if facts.hypervisor.is_some() {
        add(
            "it is a virtual machine".into(),
            "neighbours share caches and memory bandwidth, which no counter shows; page faults cost more",
            "use bare metal for figures that are to be published; else run more invocations",
        );
    }
    if let Some(cpus) = facts.cgroup_cpus.filter(|&cpus| cpus < facts.allowed.len() as f64) {
        add(
            format!("the cgroup may use {cpus} cores' time of {} cores", facts.allowed.len()),
            "threads are stopped in the middle of a period when it is used up",
            "take the quota away, or pin to fewer cores",
        );
    }
    if let Some(load) = facts.load.filter(|&load| load > BUSY) {
        add(
            format!("load {load:.2}"),
            "somebody else uses the cores",
            "end what else runs; the rule for disturbed invocations rejects those in which it showed",
        );
    }
    if facts.perf_event_paranoid.is_some_and(|paranoid| paranoid > 2) {
        add(
            "perf events are not for this user".into(),
            "task clock, page faults and cycles cannot be counted",
            "sysctl kernel.perf_event_paranoid=1",
        );
    }
    if facts.randomize_va_space == Some(0) {
        add(
            "addresses are not randomised".into(),
            "one layout of memory is measured again and again, and it may be a lucky one",
            "sysctl kernel.randomize_va_space=2",
        );
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ideal_machine_gets_no_advice_and_each_fault_gets_its_own() {
        let ideal = Facts {
            governors: ["performance".to_owned()].into(),
            frequency_khz: Some((2_000_000, 2_000_000)),
            turbo: Some(false),
            smt: Some(false),
            transparent_huge_pages: Some("madvise".into()),
            perf_event_paranoid: Some(1),
            randomize_va_space: Some(2),
            load: Some(0.0),
            allowed: vec![0, 1],
            ..Facts::default()
        };
        assert_eq!(advice(&ideal, 0.0), []);
        let faults: [(Facts, &str); 9] = [
            (Facts { governors: ["powersave".to_owned()].into(), ..ideal.clone() }, "governor powersave"),
            (Facts { frequency_khz: Some((800_000, 2_000_000)), ..ideal.clone() }, "from 800 to 2000 MHz"),
            (Facts { turbo: Some(true), ..ideal.clone() }, "turbo"),
            (Facts { smt: Some(true), ..ideal.clone() }, "SMT"),
            (Facts { transparent_huge_pages: Some("always".into()), ..ideal.clone() }, "huge pages"),
            (Facts { swap: 5 << 20, ..ideal.clone() }, "5 MiB of swap"),
            (Facts { cgroup_cpus: Some(1.5), ..ideal.clone() }, "1.5 cores' time of 2"),
            (Facts { load: Some(1.0), ..ideal.clone() }, "load 1.00"),
            (Facts { hypervisor: Some("KVM".into()), ..ideal.clone() }, "virtual machine"),
        ];
        for (facts, words) in faults {
            let given = advice(&facts, 0.0);
            assert!(given.len() == 1 && given[0].what.contains(words), "{words}: {given:?}");
        }
        assert!(advice(&ideal, 1.5)[0].what.contains("1.5 %"));
    }
}
