//! The known name that was probably meant.
//!
//! The constraint that shaped it: a wrong guess is worse than none, so two edits is the most that it bridges.

/// The candidate that differs by the fewest edits, at most two; the first of equals.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = candidates.into_iter().map(|candidate| (distance(candidate, name), candidate));
    near.filter(|(edits, _)| *edits <= 2).min_by_key(|(edits, _)| *edits).map(|(_, candidate)| candidate)
}

/// Edits (insert, delete, change) that turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let change = corner + usize::from(ca != *cb);
            corner = row[j + 1];
            row[j + 1] = change.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn two_edits_are_bridged_and_three_are_not() {
        let names = ["ring", "rings", "tick"];
        assert_eq!(nearest("rign", names), Some("ring"));
        assert_eq!(nearest("ringgs", names), Some("rings"));
        assert_eq!(nearest("ticket", names), Some("tick"));
        assert_eq!(nearest("tickets", names), None);
    }
}
