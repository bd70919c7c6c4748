//! Which of a plan's cells are run: `--only PATTERN`.
//!
//! The constraint that shaped it: a pattern that matches nothing is a mistake and is told, since an experiment that is
//! quietly empty looks like one that is done.

use crate::error::{Error, Result};
use crate::plan::{Cell, Plan};
use std::collections::BTreeSet;

/// Patterns of workloads and of configurations. A cell is chosen when its workload matches one of the first, if there
/// are any, and its configuration one of the second. `*` stands for anything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    workloads: Vec<String>,
    configurations: Vec<String>,
}

impl Selection {
    /// Sorts patterns by what they match in a plan: a workload, or a configuration, with or without its JDK
    /// (`17|g1`, `g1`).
    ///
    /// # Errors
    /// [`Error::NoMatch`] for one that matches neither.
    pub fn new(patterns: &[String], plan: &Plan) -> Result<Selection> {
        let mut selection = Selection::default();
        for pattern in patterns {
            let workload = plan.cells.iter().any(|cell| matches(pattern, &cell.workload));
            let configuration = plan.cells.iter().any(|cell| matches_configuration(pattern, cell));
            if !workload && !configuration {
                let names: BTreeSet<String> =
                    plan.cells.iter().flat_map(|cell| [cell.workload.clone(), with_jdk(cell)]).collect();
                return Err(Error::NoMatch { pattern: pattern.clone(), names: names.into_iter().collect() });
            }
            let chosen = if workload { &mut selection.workloads } else { &mut selection.configurations };
            chosen.push(pattern.clone());
        }
        Ok(selection)
    }

    /// Whether a cell is chosen.
    pub fn has(&self, cell: &Cell) -> bool {
        let workload = self.workloads.is_empty() || self.workloads.iter().any(|p| matches(p, &cell.workload));
        let configurations = &self.configurations;
        workload
            && (configurations.is_empty() || configurations.iter().any(|p| matches_configuration(p, cell)))
    }
}

fn with_jdk(cell: &Cell) -> String {
    if cell.jdk.is_empty() {
        cell.configuration.clone()
    } else {
        format!("{}|{}", cell.jdk, cell.configuration)
    }
}

fn matches_configuration(pattern: &str, cell: &Cell) -> bool {
    matches(pattern, &cell.configuration) || matches(pattern, &with_jdk(cell))
}

/// Whether a text is what a pattern says, with `*` for any part of it.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == text };
    let Some(rest) = text.strip_prefix(head) else { return false };
    let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
    ends.into_iter().any(|at| matches(tail, &rest[at..]))
}

#[cfg(test)]
mod tests {
    use super::super::tests_support::{cell, plan};
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text) in [
            ("a*", "abc"),
            ("*c", "abc"),
            ("a*c", "abc"),
            ("*", ""),
            ("abc", "abc"),
            ("a**c", "äc a c".trim_start_matches("äc ")),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("a", "ab"), ("*b", "abc"), ("a*d", "abc"), ("", "a")] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn workloads_and_configurations_are_chosen_apart() {
        let of = |workload: &str, configuration: &str| Cell {
            configuration: configuration.into(),
            jdk: "17".into(),
            ..cell(workload, &[])
        };
        let plan =
            plan(vec![of("xalan", "g1"), of("xalan", "zgc"), of("pmd", "g1|lookback"), of("h2", "g1")], 1);
        let chosen = |patterns: &[&str]| -> Vec<usize> {
            let patterns: Vec<String> = patterns.iter().map(|p| (*p).to_owned()).collect();
            let selection = Selection::new(&patterns, &plan).unwrap();
            (0..plan.cells.len()).filter(|&i| selection.has(&plan.cells[i])).collect()
        };
        assert_eq!(chosen(&[]), [0, 1, 2, 3]);
        assert_eq!(chosen(&["xalan", "pmd"]), [0, 1, 2]);
        assert_eq!(chosen(&["g1"]), [0, 3]);
        assert_eq!(chosen(&["17|g1*", "xalan"]), [0]);
        match Selection::new(&["x264".to_owned()], &plan) {
            Err(Error::NoMatch { pattern, names }) => {
                assert_eq!((pattern.as_str(), names[0].as_str()), ("x264", "17|g1"));
            }
            other => panic!("{other:?}"),
        }
    }
}
