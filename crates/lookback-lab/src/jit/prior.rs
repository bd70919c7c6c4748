//! What is known of a tracer's effect on inlining, as a file for who decides what to trace: `prior.json`.
//!
//! The constraint that shaped it: it is read by another program, maybe of another version and long after, so it says
//! what it is, what was run and how much of it equal runs differ by as well, and every number's meaning stands here and
//! in `docs/LAB.md`. Fields are added, never given another meaning; the version rises when one must be.

use super::compare::{Changed, Difference, Totals, compare};
use super::method::Method;
use super::run::Run;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The version of the file's form.
pub(super) const VERSION: u32 = 1;
/// What the file says it is.
const FORMAT: &str = "lookback-jit-prior";
/// What the file says of itself.
const ABOUT: &str = "Call sites that HotSpot's C2 inlines in a program without a tracer and does not inline in the same \
    program with it, by callee; `calls` are those profiled in a run until C2 compiled the site, a lower bound.";

/// What a tracer changed, and what equal runs differ by.
#[derive(Debug, Clone, PartialEq)]
pub struct Perturbation {
    /// Runs with the tracer against runs without.
    pub difference: Difference,
    /// Runs without against other runs without; none when there were no others.
    pub noise: Option<Noise>,
    /// Call sites that changed without a tracer as well: caller, callee, place.
    unsteady: BTreeSet<(Method, Method, Option<u32>)>,
}

/// What runs without a tracer differ by among each other, asked in the same way: mean of both directions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Runs in the other group.
    pub runs: usize,
    /// Call sites that are inlined in one group and not in the other.
    pub changed_sites: f64,
    /// Call sites with a fate on which enough runs of each group agree.
    pub sites: usize,
    /// Methods that end at another level, of both directions together.
    pub changed_levels: usize,
}

impl Perturbation {
    /// Compares runs without and with a tracer, and, for the noise, with more runs without.
    pub fn of(bare: &[Run], traced: &[Run], control: &[Run], agree: usize) -> Perturbation {
        let difference = compare(bare, traced, agree);
        let mut unsteady = BTreeSet::new();
        let noise = (!control.is_empty()).then(|| {
            let again = compare(bare, control, agree);
            let changed = again.de_inlined.iter().chain(&again.newly_inlined);
            unsteady.extend(changed.map(key));
            Noise {
                runs: control.len(),
                changed_sites: unsteady.len() as f64 / 2.0,
                sites: again.sites,
                changed_levels: again.levels.len(),
            }
        });
        Perturbation { difference, noise, unsteady }
    }

    /// Whether the call site changed between runs without a tracer as well.
    pub fn is_unsteady(&self, site: &Changed) -> bool {
        self.unsteady.contains(&key(site))
    }
}

fn key(site: &Changed) -> (Method, Method, Option<u32>) {
    (site.caller.clone(), site.callee.clone(), site.bci)
}

/// The file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prior {
    /// Always `lookback-jit-prior`.
    pub format: String,
    /// 1. It rises when a field gets another meaning.
    pub version: u32,
    /// What it is, in a sentence.
    pub about: String,
    /// The workload.
    pub workload: String,
    /// The VM's release, as its log says it.
    pub jvm: String,
    /// The configurations that were run.
    pub runs: Runs,
    /// How many call sites changed from inlined to not inlined.
    pub de_inlined_sites: usize,
    /// How many changed the other way.
    pub newly_inlined_sites: usize,
    /// Of so many whose fate the runs of each configuration agree on.
    pub sites: usize,
    /// What equal runs differ by; absent when that was not measured.
    pub noise: Option<Noise>,
    /// Medians of a run without and with the tracer.
    pub totals: Option<[Totals; 2]>,
    /// Methods that are not inlined any more somewhere; the most called first.
    pub methods: Vec<PriorMethod>,
}

/// What was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runs {
    /// The configuration without the tracer.
    pub bare: String,
    /// The configuration with it.
    pub traced: String,
    /// Runs of the first.
    pub bare_runs: usize,
    /// Runs of the second.
    pub traced_runs: usize,
    /// How many runs of each had to say the same.
    pub agree: usize,
}

/// A method that the tracer kept from being inlined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriorMethod {
    /// The method.
    #[serde(flatten)]
    pub method: Method,
    /// Bytes of its bytecode without the tracer, where the compilers told.
    pub bytes: Option<u32>,
    /// Bytes with it.
    pub traced_bytes: Option<u32>,
    /// Calls over all its sites here: a lower bound, the median of the runs with the tracer at each site.
    pub calls: u64,
    /// Where.
    pub sites: Vec<PriorSite>,
}

/// A call site that the tracer kept from being inlined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriorSite {
    /// The caller.
    pub caller: Method,
    /// The call's place in the caller's bytecode without the tracer; absent when several sites count as one.
    pub bci: Option<u32>,
    /// The compiler's words for not inlining it.
    pub reason: String,
    /// Runs without the tracer that inlined it.
    pub bare_inlined: usize,
    /// Runs with it that did not.
    pub traced_refused: usize,
    /// Calls, a lower bound.
    pub calls: u64,
    /// From the compiled method to the caller, of one run: where in C2's code the call was left.
    pub chain: Vec<Method>,
    /// Whether runs without a tracer differ here as well: then it may be nobody's doing.
    pub unsteady: bool,
}

impl Prior {
    /// The file of a comparison. `jvm` is the VM's release.
    pub fn of(perturbation: &Perturbation, workload: &str, jvm: &str, bare: &str, traced: &str) -> Prior {
        let difference = &perturbation.difference;
        let mut methods: BTreeMap<&Method, PriorMethod> = BTreeMap::new();
        for site in &difference.de_inlined {
            let [bytes, traced_bytes] = site.callee_bytes;
            let method = methods.entry(&site.callee).or_insert_with(|| PriorMethod {
                method: site.callee.clone(),
                bytes,
                traced_bytes,
                calls: 0,
                sites: Vec::new(),
            });
            method.calls = method.calls.saturating_add(site.calls);
            method.sites.push(PriorSite {
                caller: site.caller.clone(),
                bci: site.bci,
                reason: site.reason.clone(),
                bare_inlined: site.inlined[0],
                traced_refused: site.refused[1],
                calls: site.calls,
                chain: site.chain.iter().map(|(method, _)| method.clone()).collect(),
                unsteady: perturbation.is_unsteady(site),
            });
        }
        let mut methods: Vec<_> = methods.into_values().collect();
        methods.sort_by(|a, b| (b.calls, &a.method).cmp(&(a.calls, &b.method)));
        Prior {
            format: FORMAT.into(),
            version: VERSION,
            about: ABOUT.into(),
            workload: workload.into(),
            jvm: jvm.into(),
            runs: Runs {
                bare: bare.into(),
                traced: traced.into(),
                bare_runs: difference.bare,
                traced_runs: difference.traced,
                agree: difference.agree,
            },
            de_inlined_sites: difference.de_inlined.len(),
            newly_inlined_sites: difference.newly_inlined.len(),
            sites: difference.sites,
            noise: perturbation.noise,
            totals: Some(difference.totals),
            methods,
        }
    }
}
