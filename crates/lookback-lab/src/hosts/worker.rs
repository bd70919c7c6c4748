//! A worker: another host, or some of this machine's cores.
//!
//! The constraint that shaped it: a worker's name is that of its directory, of its job and of the host in tables, so it is
//! one plain word, and no two have the same.

use crate::error::{Error, Result};
use crate::machine;
use crate::plan::{Pin, Plan};
use std::collections::BTreeSet;

/// Who runs a part of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// Its name: `local-2`, or that of a host as it was given, in letters that a file's name may have.
    pub name: String,
    /// Where it is.
    pub place: Place,
}

/// Where a worker is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// On another machine, by what ssh knows it as: `HOST`, `USER@HOST`, or a name of `~/.ssh/config`.
    Host(String),
    /// On this one, on these cores.
    Here(Vec<usize>),
}

/// The workers of these hosts, and so many of this machine, each with as many of its cores.
///
/// # Errors
/// [`Error::Hosts`] when there are none, one is named twice or not as ssh would, there are more local ones than cores, or
/// several would share the cores that the plan pins to.
pub fn workers(hosts: &[String], local: usize, plan: &Plan) -> Result<Vec<Worker>> {
    let refused = |why: String| Err(Error::Hosts { why });
    let mut workers = Vec::new();
    let mut names = BTreeSet::new();
    for host in hosts {
        // What GNU parallel would take for something else: options, groups, a number of cores, a command.
        let odd = |c: char| !(c.is_alphanumeric() || "@._-:%[]".contains(c));
        if host.is_empty() || host.starts_with(['-', '@', ':']) || host.contains(odd) {
            return refused(format!("`{host}` is no host for ssh"));
        }
        let name = word(host);
        if name.starts_with("local-") || !names.insert(name.clone()) {
            return refused(format!("there is another worker by the name of {name}"));
        }
        workers.push(Worker { name, place: Place::Host(host.clone()) });
    }
    let cores = machine::allowed();
    if local > cores.len() {
        return refused(format!("{local} local workers have {} cores", cores.len()));
    }
    if local > 1 && plan.pin != Pin::All {
        return refused(format!("{local} local workers would share the cores that the experiment pins to"));
    }
    let each = cores.len().checked_div(local).unwrap_or(0);
    for (i, cores) in cores.chunks(each.max(1)).take(local).enumerate() {
        workers.push(Worker { name: format!("local-{}", i + 1), place: Place::Here(cores.to_vec()) });
    }
    if workers.is_empty() { refused("none was named".into()) } else { Ok(workers) }
}

/// A host as one word: without its user, and with what a file's name should not have as `-`.
fn word(host: &str) -> String {
    let name = host.rsplit('@').next().unwrap_or(host);
    name.chars().map(|c| if c.is_alphanumeric() || c == '.' || c == '_' { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests_support::plan;

    fn named(hosts: &[&str], local: usize) -> Result<Vec<Worker>> {
        workers(&hosts.iter().map(|&host| host.to_owned()).collect::<Vec<_>>(), local, &plan(vec![], 0))
    }

    #[test]
    fn hosts_are_named_and_local_workers_share_no_core() {
        let ours = machine::allowed();
        let all = named(&["root@a.example", "b"], ours.len()).unwrap();
        let names: Vec<_> = all.iter().map(|worker| worker.name.as_str()).collect();
        assert_eq!(names[..3], ["a.example", "b", "local-1"]);
        assert_eq!(all[0].place, Place::Host("root@a.example".into()));
        let cores: Vec<usize> = all
            .iter()
            .filter_map(|worker| match &worker.place {
                Place::Here(cores) => Some(cores.clone()),
                Place::Host(_) => None,
            })
            .flatten()
            .collect();
        assert_eq!(cores, ours, "each core has one worker");
    }

    #[test]
    fn what_cannot_be_had_is_refused() {
        let pinned = Plan { pin: Pin::Cores(vec![0]), ..plan(vec![], 0) };
        let why = |found: Result<Vec<Worker>>| match found {
            Err(Error::Hosts { why }) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(why(named(&[], 0)), "none was named");
        assert!(why(named(&["a", "me@a"], 0)).contains("by the name of a"));
        assert!(why(named(&["local-1"], 1)).contains("local-1"));
        assert!(why(named(&[], 10_000)).contains("10000 local workers"));
        assert!(why(workers(&[], 2, &pinned)).contains("pins to") || machine::allowed().len() < 2);
        for odd in ["-oProxyCommand=x", "@group", "a b", "", ":", "4/a", "a;b"] {
            assert!(why(named(&[odd], 0)).contains("is no host"), "{odd}");
        }
    }
}
