//! What the compilers did in one run: the code that each method ended with, and what became of each call site.
//!
//! The constraint that shaped it: a method is compiled several times on its way up, and after it had to be given up, and
//! only its last code runs on. So the last compilation of a method stands for it. A call site stands in the code of each
//! method that its caller was inlined into, with a fate of its own there; the fate that more of the profiled calls met is
//! the site's in this run.

use super::log::{self, Compilation, Told};
use super::method::Method;
use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

/// The level of the compiler whose decisions to inline are compared: C2's.
pub const TOP: u8 = 4;

/// What the compilers did in one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// The VM's release.
    pub release: String,
    /// The last code of each method.
    pub methods: BTreeMap<Method, Compiled>,
    /// Call sites in C2's code: by caller and callee, then by the call's place in the caller's bytecode.
    pub sites: BTreeMap<(Method, Method), BTreeMap<u32, Site>>,
    /// Bytes of bytecode of all methods that the compilers saw.
    pub lengths: BTreeMap<Method, u32>,
    /// Compilations that succeeded.
    pub compilations: u64,
    /// Codes of C2 that were given up.
    pub invalidated: u64,
    /// Times that C2's code met what it was not compiled for.
    pub traps: u64,
    /// What was wrong with the log's end, in words.
    pub damaged: Option<String>,
}

/// The code of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compiled {
    /// The last compilation, replacements of loops aside when there are others.
    id: u64,
    osr: bool,
    /// 1 to 3 of C1, 4 of C2.
    pub level: u8,
    /// Bytes of the code.
    pub code_bytes: u64,
    /// How often the method had been called when that was asked for.
    pub invocations: u64,
    /// How often code of C2 was given up.
    pub invalidated: u32,
    /// How often code of C2 met what it was not compiled for.
    pub traps: u32,
}

/// A call site.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Site {
    /// Where the callee was inlined.
    pub inlined: Fate,
    /// Where it was not.
    pub refused: Fate,
}

/// What became of a call site in some of its copies.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fate {
    /// Copies of the site in C2's code.
    pub copies: u32,
    /// Calls that were profiled there before the compilation.
    pub calls: u64,
    /// The reason given in the copy with the most calls.
    pub reason: String,
    /// From the compiled method to the caller, of that copy.
    pub chain: Vec<(Method, u32)>,
    /// Calls of that copy.
    most: u64,
}

impl Fate {
    fn add(&mut self, calls: u64, reason: &str, chain: &[(Method, u32)]) {
        if self.copies == 0 || calls > self.most {
            (self.most, self.reason, self.chain) = (calls, reason.to_owned(), chain.to_vec());
        }
        self.copies += 1;
        self.calls = self.calls.saturating_add(calls);
    }

    pub(super) fn merge(&mut self, other: &Fate) {
        if self.copies == 0 || other.most > self.most {
            (self.most, self.reason, self.chain) = (other.most, other.reason.clone(), other.chain.clone());
        }
        self.copies += other.copies;
        self.calls = self.calls.saturating_add(other.calls);
    }
}

impl Site {
    /// Whether the callee was inlined, for most of the profiled calls; without a profile, in most copies.
    pub fn is_inlined(&self) -> bool {
        let weight = |fate: &Fate| (fate.calls, fate.copies);
        weight(&self.inlined) > weight(&self.refused)
    }

    /// Calls that were profiled.
    pub fn calls(&self) -> u64 {
        self.inlined.calls.saturating_add(self.refused.calls)
    }

    pub(super) fn merge(&mut self, other: &Site) {
        self.inlined.merge(&other.inlined);
        self.refused.merge(&other.refused);
    }
}

impl Run {
    /// Reads a run's log. One that is torn gives what it holds, and says so in [`Run::damaged`].
    pub fn read(log: impl BufRead) -> Run {
        let mut run = Run::default();
        // By method, with what has to be the last compilation for it.
        let mut last: HashMap<(Method, bool), Box<Compilation>> = HashMap::new();
        let mut names: HashMap<u64, Method> = HashMap::new();
        let (mut invalidated, mut traps) = (Vec::new(), Vec::new());
        let damaged = log::read(log, |told| match told {
            Told::Release(release) => run.release = release,
            Told::Compilation(compilation) => {
                run.compilations += 1;
                names.insert(compilation.id, compilation.method.clone());
                run.lengths.insert(compilation.method.clone(), compilation.bytes);
                run.lengths.extend(compilation.lengths.iter().cloned());
                let key = (compilation.method.clone(), compilation.osr);
                if last.get(&key).is_none_or(|other| other.id < compilation.id) {
                    last.insert(key, compilation);
                }
            }
            Told::Invalidated { compile_id, level: TOP } => invalidated.push(compile_id),
            Told::Invalidated { .. } => {}
            Told::Trap { compile_id, .. } => traps.push(compile_id),
        });
        run.damaged = damaged.err();
        for compilation in last.values() {
            run.add(compilation);
        }
        (run.invalidated, run.traps) = (invalidated.len() as u64, traps.len() as u64);
        let mut count = |ids: Vec<u64>, counter: fn(&mut Compiled) -> &mut u32| {
            for id in ids {
                if let Some(method) = names.get(&id).and_then(|name| run.methods.get_mut(name)) {
                    *counter(method) += 1;
                }
            }
        };
        count(invalidated, |method| &mut method.invalidated);
        count(traps, |method| &mut method.traps);
        run
    }

    fn add(&mut self, compilation: &Compilation) {
        let code = Compiled {
            id: compilation.id,
            osr: compilation.osr,
            level: compilation.level,
            code_bytes: compilation.code_bytes,
            invocations: compilation.invocations,
            invalidated: 0,
            traps: 0,
        };
        let slot = self.methods.entry(compilation.method.clone()).or_insert(code);
        if (!code.osr, code.id) > (!slot.osr, slot.id) {
            *slot = code;
        }
        if compilation.level != TOP {
            return;
        }
        for decision in &compilation.decisions {
            let Some((caller, bci)) = decision.chain.last() else { continue };
            let places = self.sites.entry((caller.clone(), decision.callee.clone())).or_default();
            let site = places.entry(*bci).or_default();
            let fate = if decision.inlined { &mut site.inlined } else { &mut site.refused };
            fate.add(decision.calls.unwrap_or(0), &decision.reason, &decision.chain);
        }
    }

    /// Bytes of code at a level, of the methods' last compilations.
    pub fn code_bytes(&self, level: u8) -> u64 {
        self.methods.values().filter(|code| code.level == level).map(|code| code.code_bytes).sum()
    }
}
