//! The name of a configuration as a user writes it: `17|g1|bare`, `g1`, `25|zgc|2x`.
//!
//! The constraint that shaped it: a name that fits two configurations must not choose one silently. Must not look at
//! figures.

use crate::error::{Error, Result};
use crate::results::{CellRecords, HeapPoint};
use std::collections::BTreeSet;

/// One side of a comparison.
#[derive(Debug)]
pub(super) struct Side<'a> {
    /// What it is called in the answer.
    pub(super) label: String,
    /// The heap that the user named.
    pub(super) heap: Option<HeapPoint>,
    /// Its cells.
    pub(super) cells: Vec<&'a CellRecords<'a>>,
}

/// The cells that a pattern names. Its words, divided by `|`, are the JDK, parts of the configuration, the collector,
/// the tracer, `bare` for none, or a heap; each must fit.
pub(super) fn select<'a>(cells: &'a [CellRecords<'a>], pattern: &str) -> Result<Side<'a>> {
    let words: Vec<&str> = pattern.split('|').map(str::trim).collect();
    let heap = words.iter().find_map(|word| word.parse::<HeapPoint>().ok());
    let words: Vec<&str> = words.into_iter().filter(|word| word.parse::<HeapPoint>().is_err()).collect();
    let exact = words.join("|");
    let labels = |fits: &dyn Fn(&CellRecords<'_>) -> bool| -> BTreeSet<String> {
        cells.iter().filter(|cell| fits(cell)).map(|cell| cell.name.label()).collect()
    };
    let mut found = labels(&|cell| cell.name.label() == exact);
    if found.is_empty() {
        found = labels(&|cell| words.iter().all(|word| fits(cell, word)));
    }
    let unknown = || Error::UnknownConfiguration {
        pattern: pattern.to_owned(),
        known: labels(&|_| true).into_iter().collect(),
    };
    if found.len() > 1 {
        let matches = found.into_iter().collect();
        return Err(Error::AmbiguousConfiguration { pattern: pattern.to_owned(), matches });
    }
    let name = found.pop_first().ok_or_else(unknown)?;
    let of_name: Vec<_> = cells.iter().filter(|cell| cell.name.label() == name).collect();
    let chosen: Vec<_> =
        of_name.iter().copied().filter(|cell| heap.is_none_or(|heap| cell.name.heap == heap)).collect();
    match heap {
        Some(heap) if chosen.is_empty() => {
            let known: BTreeSet<_> = of_name.iter().map(|cell| cell.name.heap).collect();
            Err(Error::Unknown {
                kind: "heap",
                name: heap.to_string(),
                known: known.iter().map(HeapPoint::to_string).collect(),
            })
        }
        Some(heap) => Ok(Side { label: format!("{name}|{heap}"), heap: Some(heap), cells: chosen }),
        None => Ok(Side { label: name, heap: None, cells: chosen }),
    }
}

fn fits(cell: &CellRecords<'_>, word: &str) -> bool {
    cell.name.jdk == word
        || cell.name.configuration.split('|').any(|part| part == word)
        || cell.collector == Some(word)
        || cell.tracer == Some(word)
        || word == "bare" && cell.tracer.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::cells;
    use crate::results::made_up::record;

    #[test]
    fn patterns_name_one_configuration_or_are_refused_with_what_there_is() {
        let mut records = Vec::new();
        for configuration in ["g1", "g1|lookback", "zgc"] {
            records.extend([2.0, 3.0].map(|heap| record("h2", configuration, heap, 1, &[])));
        }
        let cells = cells(&records).unwrap();
        let label = |pattern: &str| select(&cells, pattern).map(|side| (side.label, side.cells.len()));
        assert_eq!(label("17|g1").unwrap(), ("17|g1".into(), 2));
        assert_eq!(label("17|g1|bare").unwrap(), ("17|g1".into(), 2));
        assert_eq!(label("lookback|3x").unwrap(), ("17|g1|lookback|3x".into(), 1));
        assert_eq!(label("zgc").unwrap(), ("17|zgc".into(), 2));
        assert!(
            matches!(label("g1"), Err(Error::AmbiguousConfiguration { matches, .. }) if matches.len() == 2)
        );
        assert!(
            matches!(label("serial"), Err(Error::UnknownConfiguration { known, .. }) if known.len() == 3)
        );
        assert!(
            matches!(label("zgc|4x"), Err(Error::Unknown { kind: "heap", known, .. }) if known == ["2x", "3x"])
        );
    }
}
