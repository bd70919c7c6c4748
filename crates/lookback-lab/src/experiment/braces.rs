//! Sets in braces: `17|{serial,g1}` is `17|serial` and `17|g1`, as a shell expands it.
//!
//! The constraint that shaped it: sets multiply, so that a short line can mean millions of configurations; what is more
//! than [`MOST`] is refused before it is made.

/// How many configurations one line may mean. Each runs for seconds on each workload, many times.
pub(crate) const MOST: usize = 1000;

/// All that the text means, in order: the last set turns fastest.
///
/// # Errors
/// In words, when braces do not match or it means more than [`MOST`].
pub(crate) fn expand(text: &str) -> Result<Vec<String>, String> {
    let (all, rest) = sequence(text, 0)?;
    match rest.chars().next() {
        None => Ok(all),
        Some(_) => Err(format!("`{text}` closes a brace that is not open")),
    }
}

/// How deep sets may stand in sets.
const DEPTH: usize = 16;

/// Reads up to the end, or inside of braces up to a comma or a closing brace, which is left.
fn sequence(text: &str, depth: usize) -> Result<(Vec<String>, &str), String> {
    let mut all = vec![String::new()];
    let mut rest = text;
    loop {
        let stop: &[char] = if depth == 0 { &['{', '}'] } else { &['{', '}', ','] };
        let plain = rest.find(stop).unwrap_or(rest.len());
        all.iter_mut().for_each(|one| one.push_str(&rest[..plain]));
        rest = &rest[plain..];
        let Some(set) = rest.strip_prefix('{') else { return Ok((all, rest)) };
        if depth == DEPTH {
            return Err(format!("sets in sets deeper than {DEPTH}"));
        }
        let (choices, after) = choices(set, depth + 1)?;
        if all.len() * choices.len() > MOST {
            return Err(format!("it means more than {MOST} configurations"));
        }
        let pair = |one: &String| choices.iter().map(|choice| format!("{one}{choice}")).collect::<Vec<_>>();
        all = all.iter().flat_map(pair).collect();
        rest = after;
    }
}

/// Reads alternatives up to the closing brace, and past it.
fn choices(text: &str, depth: usize) -> Result<(Vec<String>, &str), String> {
    let mut choices = Vec::new();
    let mut rest = text;
    loop {
        let (some, after) = sequence(rest, depth)?;
        choices.extend(some);
        if choices.len() > MOST {
            return Err(format!("it means more than {MOST} configurations"));
        }
        rest = match after.split_at_checked(1) {
            Some((",", more)) => more,
            Some(("}", more)) => return Ok((choices, more)),
            _ => return Err(format!("a brace is not closed at `{{{text}`")),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_multiply_and_the_last_turns_fastest() {
        let cases: &[(&str, &[&str])] = &[
            ("17|g1", &["17|g1"]),
            ("{17,25}|{serial,g1}", &["17|serial", "17|g1", "25|serial", "25|g1"]),
            ("17|g1{,|lookback}", &["17|g1", "17|g1|lookback"]),
            ("a{b{c,d},e}f", &["abcf", "abdf", "aef"]),
            ("{only}", &["only"]),
            ("a,b", &["a,b"]),
            ("", &[""]),
        ];
        for (text, expected) in cases {
            assert_eq!(expand(text).as_deref(), Ok(expected.map_strings().as_slice()), "{text}");
        }
    }

    trait MapStrings {
        fn map_strings(&self) -> Vec<String>;
    }

    impl MapStrings for &[&str] {
        fn map_strings(&self) -> Vec<String> {
            self.iter().map(|&s| s.to_owned()).collect()
        }
    }

    #[test]
    fn what_does_not_match_or_means_too_much_is_refused() {
        for bad in ["{a", "a}", "{a,b}}", "{a,{b}", "{"] {
            assert!(expand(bad).is_err(), "{bad}");
        }
        assert!(expand(&"{a,b}".repeat(9)).is_ok());
        assert!(expand(&"{a,b}".repeat(40)).unwrap_err().contains("more than 1000"));
        assert!(expand(&"{".repeat(100_000)).unwrap_err().contains("deeper"));
    }
}
