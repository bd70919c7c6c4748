//! What a tracer changed in the compilers' work: runs with it against runs without, and runs without against each other.
//!
//! The constraint that shaped it: two equal runs are never compiled equally, so a difference counts only when at least
//! `agree` runs on each side say the same, and the same question asked of two groups of bare runs tells how many such
//! differences are there by themselves. That number stands beside each result and must not be left out.
//!
//! A tracer rewrites methods, and a rewritten caller's calls stand at other places. Sites of a caller whose bytecode has
//! another length are matched by their order among the calls of the same callee; where the number of these differs (calls
//! in code that never ran are not seen) all of them count as one site.

use super::method::Method;
use super::run::{Fate, Run, Site, TOP};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What differs between two groups of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Runs without the tracer.
    pub bare: usize,
    /// Runs with it.
    pub traced: usize,
    /// How many runs of each group must say the same.
    pub agree: usize,
    /// Call sites that are inlined without and not with; the most called first.
    pub de_inlined: Vec<Changed>,
    /// Call sites that are inlined with and not without; the most called first.
    pub newly_inlined: Vec<Changed>,
    /// Call sites with a fate on which enough runs of each group agree: what the others are to be held against.
    pub sites: usize,
    /// Methods that end at another level; the most called first.
    pub levels: Vec<Level>,
    /// Methods that end at C2 in enough runs of both.
    pub methods: usize,
    /// Calls in C2's code to methods that only runs with the tracer know: its own.
    pub own_calls: OwnCalls,
    /// Totals of a run, medians over each group.
    pub totals: [Totals; 2],
}

/// A call site that met another fate.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// The caller.
    pub caller: Method,
    /// The place of the call in the caller's bytecode without the tracer; none when several count as one.
    pub bci: Option<u32>,
    /// The callee.
    pub callee: Method,
    /// Bytes of the callee's bytecode, without and with the tracer.
    pub callee_bytes: [Option<u32>; 2],
    /// Runs without and with the tracer in which it was inlined.
    pub inlined: [usize; 2],
    /// Runs without and with the tracer in which it was not.
    pub refused: [usize; 2],
    /// The compiler's reason in the most of the runs that did not inline it.
    pub reason: String,
    /// Calls that were profiled until C2 compiled the site, median of the runs with the tracer. The code that was made
    /// then counts no more calls, so the true number is higher.
    pub calls: u64,
    /// From the compiled method to the caller, of one such run; places as in that run.
    pub chain: Vec<(Method, u32)>,
}

/// A method that ends at another level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// The method.
    pub method: Method,
    /// Level without and with the tracer: 0 is not compiled, 1 to 3 are C1's, 4 is C2's.
    pub levels: [u8; 2],
    /// How often it had been called when it was compiled last, the most of all runs.
    pub invocations: u64,
}

/// The tracer's own calls in the program's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OwnCalls {
    /// Call sites that were inlined, median of the runs.
    pub inlined: u64,
    /// Call sites that were not.
    pub refused: u64,
}

/// What a run comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Compilations that succeeded.
    pub compilations: u64,
    /// Bytes of C1's code.
    pub c1_code_bytes: u64,
    /// Bytes of C2's code.
    pub c2_code_bytes: u64,
    /// Methods whose last code is C2's.
    pub c2_methods: u64,
    /// Codes of C2 that were given up.
    pub invalidated: u64,
    /// Times that C2's code met what it was not compiled for.
    pub traps: u64,
}

/// A site as its fates in the runs of a group.
#[derive(Default)]
struct Sites {
    /// Of each run that has it.
    of: Vec<Site>,
    bci: Option<u32>,
}

impl Sites {
    fn count(&self, inlined: bool) -> usize {
        self.of.iter().filter(|site| site.is_inlined() == inlined).count()
    }
}

/// Compares runs without a tracer to runs with it. `agree` of each group must say the same; it is at least 1.
pub fn compare(bare: &[Run], traced: &[Run], agree: usize) -> Difference {
    let agree = agree.max(1);
    let groups = [bare, traced];
    let lengths = groups.map(lengths);
    let mut edges = BTreeSet::new();
    for run in bare.iter().chain(traced) {
        edges.extend(run.sites.keys());
    }
    let (mut de_inlined, mut newly_inlined, mut sites) = (Vec::new(), Vec::new(), 0);
    for (caller, callee) in edges {
        for pair in matched(groups, &lengths, caller, callee) {
            let fate =
                |group: &Sites| [true, false].into_iter().find(|&inlined| group.count(inlined) >= agree);
            let (Some(without), Some(with)) = (fate(&pair[0]), fate(&pair[1])) else { continue };
            sites += 1;
            if without != with {
                let list = if without { &mut de_inlined } else { &mut newly_inlined };
                list.push(changed(caller, callee, &pair, &lengths, !with));
            }
        }
    }
    for list in [&mut de_inlined, &mut newly_inlined] {
        list.sort_by(|a, b| {
            (b.calls, &a.caller, &a.callee, a.bci).cmp(&(a.calls, &b.caller, &b.callee, b.bci))
        });
    }
    let (levels, methods) = levels(groups, agree);
    Difference {
        bare: bare.len(),
        traced: traced.len(),
        agree,
        de_inlined,
        newly_inlined,
        sites,
        levels,
        methods,
        own_calls: own_calls(traced, &lengths[0]),
        totals: groups.map(totals),
    }
}

/// Bytes of bytecode of each method in the first run of a group that knows it.
fn lengths(runs: &[Run]) -> BTreeMap<&Method, u32> {
    let mut lengths = BTreeMap::new();
    for run in runs {
        for (method, bytes) in &run.lengths {
            lengths.entry(method).or_insert(*bytes);
        }
    }
    lengths
}

/// The sites of a caller's calls to a callee, each with its fates in both groups.
fn matched(
    groups: [&[Run]; 2],
    lengths: &[BTreeMap<&Method, u32>; 2],
    caller: &Method,
    callee: &Method,
) -> Vec<[Sites; 2]> {
    let edge = (caller.clone(), callee.clone());
    let places = groups.map(|runs| -> Vec<u32> {
        let all: BTreeSet<u32> =
            runs.iter().filter_map(|run| run.sites.get(&edge)).flat_map(BTreeMap::keys).copied().collect();
        all.into_iter().collect()
    });
    let fates = |group: usize, of: &[u32]| Sites {
        of: groups[group]
            .iter()
            .filter_map(|run| {
                let sites = run.sites.get(&edge)?;
                let mut here = of.iter().filter_map(|bci| sites.get(bci)).peekable();
                here.peek()?;
                let mut all = Site::default();
                here.for_each(|site| all.merge(site));
                Some(all)
            })
            .collect(),
        bci: if let [bci] = of { Some(*bci) } else { None },
    };
    let pair = |a: &[u32], b: &[u32]| [fates(0, a), fates(1, b)];
    let same_code = lengths[0].get(caller) == lengths[1].get(caller);
    if same_code {
        let all: BTreeSet<u32> = places.iter().flatten().copied().collect();
        all.iter().map(|&bci| pair(&[bci], &[bci])).collect()
    } else if places[0].len() == places[1].len() {
        places[0].iter().zip(&places[1]).map(|(&a, &b)| pair(&[a], &[b])).collect()
    } else {
        vec![pair(&places[0], &places[1])]
    }
}

/// A site whose fate changed; `refused` is the place in `pair` of those that did not inline it.
fn changed(
    caller: &Method,
    callee: &Method,
    pair: &[Sites; 2],
    lengths: &[BTreeMap<&Method, u32>; 2],
    traced_refused: bool,
) -> Changed {
    let refusing = &pair[usize::from(traced_refused)];
    let fates: Vec<&Fate> =
        refusing.of.iter().filter(|site| !site.is_inlined()).map(|site| &site.refused).collect();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    fates.iter().for_each(|fate| *reasons.entry(&fate.reason).or_default() += 1);
    let reason = reasons.iter().max_by_key(|(_, times)| **times).map_or("", |(reason, _)| reason);
    let chain = fates.iter().find(|fate| fate.reason == reason).map(|fate| fate.chain.clone());
    Changed {
        caller: caller.clone(),
        bci: pair[0].bci,
        callee: callee.clone(),
        callee_bytes: [0, 1].map(|group| lengths[group].get(callee).copied()),
        inlined: [0, 1].map(|group| pair[group].count(true)),
        refused: [0, 1].map(|group| pair[group].count(false)),
        reason: reason.to_owned(),
        calls: median(pair[1].of.iter().map(Site::calls)),
        chain: chain.unwrap_or_default(),
    }
}

/// Methods whose last code is of another level, and how many end at C2 in both.
fn levels(groups: [&[Run]; 2], agree: usize) -> (Vec<Level>, usize) {
    let mut names = BTreeSet::new();
    for run in groups.into_iter().flatten() {
        names.extend(run.methods.keys());
    }
    let (mut changed, mut both) = (Vec::new(), 0);
    for method in names {
        let levels = groups.map(|runs| {
            (0..=TOP).find(|&level| {
                let at = |run: &&Run| run.methods.get(method).map_or(0, |code| code.level) == level;
                runs.iter().filter(at).count() >= agree
            })
        });
        match levels {
            [Some(TOP), Some(TOP)] => both += 1,
            [Some(without), Some(with)] if without != with => {
                let codes = groups.into_iter().flatten().filter_map(|run| run.methods.get(method));
                let invocations = codes.map(|code| code.invocations).max().unwrap_or(0);
                changed.push(Level { method: method.clone(), levels: [without, with], invocations });
            }
            _ => {}
        }
    }
    changed.sort_by(|a, b| (b.invocations, &a.method).cmp(&(a.invocations, &b.method)));
    (changed, both)
}

/// Calls to methods that no run without the tracer knows, made by methods that some do.
fn own_calls(traced: &[Run], bare: &BTreeMap<&Method, u32>) -> OwnCalls {
    let count = |inlined: bool| {
        median(traced.iter().map(|run| {
            let own = run
                .sites
                .iter()
                .filter(|((caller, callee), _)| bare.contains_key(caller) && !bare.contains_key(callee));
            own.flat_map(|(_, places)| places.values()).filter(|site| site.is_inlined() == inlined).count()
                as u64
        }))
    };
    OwnCalls { inlined: count(true), refused: count(false) }
}

fn totals(runs: &[Run]) -> Totals {
    let of = |figure: &dyn Fn(&Run) -> u64| median(runs.iter().map(figure));
    Totals {
        compilations: of(&|run| run.compilations),
        c1_code_bytes: of(&|run| (1..TOP).map(|level| run.code_bytes(level)).sum()),
        c2_code_bytes: of(&|run| run.code_bytes(TOP)),
        c2_methods: of(&|run| run.methods.values().filter(|code| code.level == TOP).count() as u64),
        invalidated: of(&|run| run.invalidated),
        traps: of(&|run| run.traps),
    }
}

/// The lower of the middle values; 0 of nothing.
fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<_> = values.collect();
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}
