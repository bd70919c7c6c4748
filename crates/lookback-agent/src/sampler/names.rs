//! From the VM's frames to those of the format: the method's identifier and the source line.
//!
//! The constraint that shaped it: the VM answers in strings and forgets a method when its class is unloaded, so each method is
//! asked for once, when it is sampled first. A class that is rewritten has other line numbers at the same place, so what is
//! known is forgotten now and then.

use crate::agent::Agent;
use crate::java::{clear, delete};
use jni_sys::JNIEnv;
use lookback_format::sample::Frame;
use lookback_format::{MethodId, Nanos};
use lookback_jvmti::Frame as VmFrame;
use rustc_hash::FxHashMap;

/// What is known of methods is true for so long: while a program is young, its classes are rewritten.
const TRUE_FOR: Nanos = Nanos(2_000_000_000);

/// Of a method whose name has no place.
const UNKNOWN: MethodId = MethodId(0);

/// What is known of methods.
#[derive(Default)]
pub(super) struct Names {
    since: Nanos,
    methods: FxHashMap<usize, Method>,
}

struct Method {
    id: MethodId,
    /// Where lines begin: bytecode index and line, by index.
    lines: Box<[(u16, u16)]>,
}

impl Names {
    /// The frames of a stack, in the same order.
    pub(super) fn frames(
        &mut self,
        agent: &Agent,
        env: *mut JNIEnv,
        now: Nanos,
        stack: &[VmFrame],
        out: &mut Vec<Frame>,
    ) {
        if now.since(self.since) > TRUE_FOR {
            self.methods.clear();
            self.since = now;
        }
        out.extend(stack.iter().map(|frame| {
            let method = self.methods.entry(frame.method as usize).or_insert_with(|| ask(agent, env, frame));
            let bci = u16::try_from(frame.location).ok().filter(|&bci| bci != u16::MAX);
            Frame { method: method.id, line: bci.map_or(0, |bci| method.line(bci)), bci }
        }));
    }
}

impl Method {
    fn line(&self, bci: u16) -> u16 {
        let after = self.lines.partition_point(|&(begin, _)| begin <= bci);
        after.checked_sub(1).map_or(0, |at| self.lines[at].1)
    }
}

fn ask(agent: &Agent, env: *mut JNIEnv, frame: &VmFrame) -> Method {
    let unknown = Method { id: UNKNOWN, lines: Box::default() };
    let (jvmti, method) = (agent.jvmti, frame.method);
    if method.is_null() {
        return unknown;
    }
    // Each fails when the class is gone.
    let Ok((name, descriptor)) = jvmti.method_signature(method) else { return unknown };
    let Ok(class) = jvmti.declaring_class(method) else { return unknown };
    let class_name = jvmti.class_name(class).unwrap_or_default();
    let file = jvmti.source_file(class).unwrap_or_default();
    delete(env, class);
    clear(env);
    let mut lines: Vec<(u16, u16)> = jvmti.lines(method).unwrap_or_default();
    lines.sort_unstable();
    let first = lines.iter().map(|&(_, line)| line).min().unwrap_or(0);
    let id = agent.symbols.method(&agent.region, &class_name, &file, &name, &descriptor, first);
    Method { id: id.unwrap_or(UNKNOWN), lines: lines.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_the_line_that_began_last_before_it() {
        let method = Method { id: UNKNOWN, lines: [(0, 10), (5, 11), (9, 10)].into() };
        assert_eq!([0, 4, 5, 8, 9, 500].map(|bci| method.line(bci)), [10, 10, 11, 11, 10, 10]);
        assert_eq!(Method { id: UNKNOWN, lines: Box::default() }.line(3), 0);
    }
}
