//! `lookback lab machine`: facts of the machine and what is not ideal about it for measuring.
//!
//! The constraint that shaped it: it is the same reading that each run keeps, so what is shown here is what a result can
//! be looked up with.

use crate::control::printable;
use crate::error::Result;
use crate::output::bytes;
use crate::table::facts as write_facts;
use crate::verbs::{Streams, stdout};
use clap::Args;
use lookback_lab::machine::{Facts, Observer, System, advice};
use serde_json::json;
use std::time::Duration;

/// Arguments of `lookback lab machine`.
#[derive(Debug, Args)]
pub(crate) struct MachineArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How long the hypervisor is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// Prints the facts, then what is not ideal.
pub(crate) fn run(args: &MachineArgs, streams: &mut Streams<'_>) -> Result<()> {
    let facts = Facts::here();
    let mut system = System::new(&facts.allowed);
    let before = system.counters();
    system.pause(LOOK);
    let now = before.until(&system.counters(), Duration::ZERO);
    let advice = advice(&facts, now.steal_percent);
    if args.json {
        let advice: Vec<_> =
            advice.iter().map(|a| json!({"what": a.what, "why": a.why, "remedy": a.remedy})).collect();
        let all = json!({"facts": facts, "now": now, "advice": advice});
        return writeln!(streams.out, "{all:#}").map_err(stdout);
    }
    write_facts(streams.out, &rows(&facts, now.others_percent, now.steal_percent)).map_err(stdout)?;
    if advice.is_empty() {
        return writeln!(streams.out, "\nNothing about it is known to be bad for measuring.").map_err(stdout);
    }
    writeln!(streams.out, "\nNot ideal for measuring:").map_err(stdout)?;
    for advice in advice {
        writeln!(streams.out, "- {}: {}", printable(&advice.what), advice.why).map_err(stdout)?;
        writeln!(streams.out, "    try: {}", advice.remedy).map_err(stdout)?;
    }
    Ok(())
}

fn rows(facts: &Facts, busy: f64, steal: f64) -> Vec<(&'static str, String)> {
    let text = |value: &Option<String>| value.as_deref().map_or("not told".into(), printable);
    let switch = |value: Option<bool>| value.map_or("not told", |on| if on { "on" } else { "off" });
    let governors: Vec<_> = facts.governors.iter().map(|governor| printable(governor)).collect();
    let frequency = facts
        .frequency_khz
        .map(|(low, high)| format!(", {} to {} MHz", low / 1000, high / 1000))
        .unwrap_or_default();
    let mut limits = Vec::new();
    limits.extend(facts.cgroup_memory.map(|most| format!("{} of memory", bytes(most))));
    limits.extend(facts.cgroup_cpus.map(|cpus| format!("{cpus} cores' time")));
    vec![
        ("host", printable(&facts.host)),
        ("kernel", printable(&facts.kernel)),
        ("hypervisor", facts.hypervisor.as_deref().map_or("none that shows".into(), printable)),
        ("CPU", text(&facts.cpu)),
        (
            "cores",
            format!("{} online, {} usable, {} NUMA nodes", facts.cores, facts.allowed.len(), facts.nodes),
        ),
        ("SMT", switch(facts.smt).into()),
        ("turbo", switch(facts.turbo).into()),
        (
            "governor",
            if governors.is_empty() { "not told".into() } else { governors.join(", ") + &frequency },
        ),
        ("memory", format!("{}, {} available", bytes(facts.memory), bytes(facts.memory_available))),
        ("swap", if facts.swap == 0 { "none".into() } else { bytes(facts.swap) }),
        ("huge pages", text(&facts.transparent_huge_pages)),
        ("cgroup limits", if limits.is_empty() { "none".into() } else { limits.join(", ") }),
        ("perf_event_paranoid", facts.perf_event_paranoid.map_or("not told".into(), |n| n.to_string())),
        (
            "address space",
            match facts.randomize_va_space {
                Some(0) => "not randomised".into(),
                Some(_) => "randomised".into(),
                None => "not told".into(),
            },
        ),
        ("clock source", text(&facts.clock_source)),
        ("load", facts.load.map_or("not told".into(), |load| format!("{load:.2}"))),
        ("just now", format!("{busy:.1} % busy, {steal:.1} % stolen by the hypervisor")),
    ]
}
