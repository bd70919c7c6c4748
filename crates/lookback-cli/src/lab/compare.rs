//! `lookback lab compare`: whether one configuration is better than another, as a table or as JSON.
//!
//! The constraint that shaped it: "not distinguishable" is an answer, so its row says as well what the data could have
//! shown and what it takes to know more. Nothing here decides.

use super::figures::{between, change, changes, number, p_value, value};
use super::settled::settled;
use crate::error::{Error, Result};
use crate::table::table;
use crate::verbs::{Streams, stdout};
use clap::{Args, ValueHint};
use lookback_lab::comparison::{
    Comparison, Difference, FEWEST, Question, Row, Test, Verdict, compare, compare_apart,
};
use std::collections::BTreeMap;
use std::path::Path;

/// Arguments of `lookback lab compare`.
#[derive(Debug, Args)]
#[command(
    override_usage = "lookback lab compare [OPTIONS] DIR A B\n       lookback lab compare [OPTIONS] DIR_A DIR_B"
)]
pub(crate) struct CompareArgs {
    /// A directory of results and two configurations of it, such as '17|g1|bare' (any words that only one has); or two
    /// directories, of which each configuration is compared with itself
    #[arg(value_name = "WHAT", num_args = 2..=3, required = true, value_hint = ValueHint::AnyPath)]
    what: Vec<String>,
    /// The metric; `lookback lab metrics` lists them
    #[arg(long, value_name = "NAME", default_value = "cpu")]
    metric: String,
    /// Only this workload
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// Of two directories, only this configuration
    #[arg(long, value_name = "PATTERN")]
    configuration: Option<String>,
    /// Tell how many more invocations it takes to find a difference of so many percent
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    detect: Option<f64>,
    /// The share of false alarms that is allowed
    #[arg(long, value_name = "SHARE", default_value = "0.05", value_parser = share)]
    alpha: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn percent(text: &str) -> std::result::Result<f64, String> {
    let value: f64 =
        text.trim_end_matches('%').trim().parse().map_err(|_| "a number such as 2".to_owned())?;
    if value > 0.0 && value <= 1000.0 { Ok(value) } else { Err("between 0 and 1000".into()) }
}

fn share(text: &str) -> std::result::Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "a number such as 0.05".to_owned())?;
    if value > 0.0 && value < 0.5 { Ok(value) } else { Err("between 0 and 0.5".into()) }
}

/// Compares and prints.
pub(crate) fn run(args: &CompareArgs, streams: &mut Streams<'_>) -> Result<()> {
    let question = Question {
        alpha: args.alpha,
        detect_percent: args.detect,
        workload: args.workload.clone(),
        ..Question::of(&args.metric)
    };
    let mut records = |dir: &str| settled(Path::new(dir), streams);
    let found = match args.what.as_slice() {
        [_, _, _] if args.configuration.is_some() => {
            return Err(Error::Usage {
                what: "--configuration goes with two directories, and here are two configurations".into(),
                hint: "leave it out, or give two directories".into(),
            });
        }
        [dir, a, b] => compare(&records(dir)?, a, b, &question).map_err(Error::Lab)?,
        [a, b] if !Path::new(b).is_dir() => {
            return Err(Error::Usage {
                what: format!("`{b}` is no directory, and with two arguments both must be"),
                hint: format!("name two configurations: lookback lab compare {a} A B"),
            });
        }
        [a, b] => {
            let (in_a, in_b) = (records(a)?, records(b)?);
            compare_apart((a, &in_a), (b, &in_b), args.configuration.as_deref(), &question)
                .map_err(Error::Lab)?
        }
        _ => unreachable!("clap takes two or three"),
    };
    if args.json {
        return crate::verbs::control::json(&found, streams);
    }
    show(&found, streams)
}

fn show(found: &Comparison, streams: &mut Streams<'_>) -> Result<()> {
    let detect = found.detect_percent.map(|percent| format!("MORE FOR {percent} %"));
    let mut head = vec!["WORKLOAD", "HEAP", "N", "A", "B", "B BY A", "INTERVAL", "P"];
    head.extend(["DETECTABLE", "MORE"]);
    head.extend(detect.as_deref());
    head.push("B IS");
    writeln!(streams.out, "A: {}\nB: {}\nmetric: {}", found.a, found.b, found.metric).map_err(stdout)?;
    let mut rows: Vec<_> = found.rows.iter().map(|row| cells(found, row)).collect();
    if let Some(overall) = &found.overall {
        let mut cells = vec!["all".into(), String::new(), String::new(), String::new(), String::new()];
        cells.extend(difference(found, overall));
        rows.push(cells);
    }
    table(streams.out, &head, &rows).map_err(stdout)?;
    for remark in remarks(found) {
        writeln!(streams.out, "{remark}").map_err(stdout)?;
    }
    show_hosts(found, streams)
}

/// What hosts say together, where there are several.
fn show_hosts(found: &Comparison, streams: &mut Streams<'_>) -> Result<()> {
    let rows: Vec<Vec<String>> = found
        .rows
        .iter()
        .filter_map(|row| {
            let merged = row.over_hosts?;
            let ratio = merged.estimate.map(f64::exp);
            let mut cells = vec![row.workload.clone(), row.heaps[1].to_string(), merged.hosts.to_string()];
            cells.extend([change(ratio.value), changes(ratio.interval)]);
            cells.extend(between(merged.between, merged.between_percent));
            Some(cells)
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(streams.out, "\nover hosts, for such hosts in general").map_err(stdout)?;
    let head = ["WORKLOAD", "HEAP", "HOSTS", "B BY A", "INTERVAL", "HOSTS DIFFER", "BETWEEN HOSTS"];
    table(streams.out, &head, &rows).map_err(stdout)
}

fn cells(found: &Comparison, row: &Row) -> Vec<String> {
    let parts = [Some(row.workload.clone()), row.configuration.clone(), row.host.clone()];
    let [a, b] = row.heaps;
    let [in_a, in_b] = row.n;
    let mut cells = vec![
        parts.into_iter().flatten().collect::<Vec<_>>().join(" "),
        if a == b { a.to_string() } else { format!("{a}, {b}") },
        if in_a == in_b { in_a.to_string() } else { format!("{in_a}, {in_b}") },
        value(&found.metric, row.levels[0]),
        value(&found.metric, row.levels[1]),
    ];
    cells.extend(difference(found, &row.difference));
    cells
}

fn difference(found: &Comparison, difference: &Difference) -> Vec<String> {
    let mut cells = vec![
        change(difference.ratio.value),
        changes(difference.ratio.interval),
        p_value(difference.adjusted_p),
        difference
            .detectable_percent
            .map_or(super::figures::NONE.into(), |percent| format!("{percent:.1} %")),
        number(difference.more_for_observed),
    ];
    if found.detect_percent.is_some() {
        cells.push(number(difference.more_for_detect));
    }
    let verdict = match difference.verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::NotDistinguishable => "not distinguishable",
    };
    cells.push(verdict.into());
    cells
}

/// What the columns mean, and what a reader of this table must know.
fn remarks(found: &Comparison) -> Vec<String> {
    let mut remarks = vec![format!(
        "P: adjusted for {} tests (Holm), told at {}. DETECTABLE: the smallest difference that so many invocations show \
         with a probability of {:.0} %. MORE: invocations of each that would tell the difference seen; decide on a \
         number and measure it out before you look again.",
        found.rows.iter().filter(|row| row.difference.test != Test::None).count(),
        found.alpha,
        found.power * 100.0
    )];
    if !found.paired {
        remarks.push(
            "The two directories have no blocks in common: what the machine did in between stands in the difference."
                .into(),
        );
    }
    let any = |test: Test| found.rows.iter().any(|row| row.difference.test == test);
    if any(Test::None) {
        remarks.push(format!("Rows with fewer than {FEWEST} invocations were not tested."));
    }
    if any(Test::Student) || any(Test::Welch) {
        remarks.push(
            "Some rows have too few invocations for a test without assumptions: Student's test on logarithms was used."
                .into(),
        );
    }
    remarks.extend(left_out(found));
    remarks
}

/// What was left out, workloads with the same reason on one line.
fn left_out(found: &Comparison) -> impl Iterator<Item = String> {
    let mut by_reason: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for left_out in &found.left_out {
        by_reason
            .entry(format!("{}: {}", left_out.point, left_out.why))
            .or_default()
            .push(&left_out.workload);
    }
    by_reason.into_iter().map(|(reason, workloads)| format!("left out: {} at {reason}", workloads.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::made_up;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: CompareArgs,
    }

    fn output(arguments: &[&str]) -> Result<String> {
        let line = Line::parse_from([&["compare"], arguments].concat());
        made_up::output(|streams| run(&line.args, streams))
    }

    #[test]
    fn a_table_says_what_was_found_and_what_was_left_out() {
        let dir = made_up::results(1.0);
        let dir = dir.path().to_str().unwrap();
        let text = output(&[dir, "17|serial", "g1|bare", "--detect", "2"]).unwrap();
        assert!(text.contains("A: 17|serial\nB: 17|g1|bare\nmetric: cpu\n"), "{text}");
        let h2 = text.lines().find(|line| line.starts_with("h2 ")).unwrap();
        assert!(h2.ends_with("worse") && h2.contains("+19.9 %") && h2.contains("2x"), "{text}");
        assert!(text.contains("MORE FOR 2 %"), "{text}");
        assert!(text.contains("left out: fop at 17|serial|2x: B does not have it"), "{text}");
        let json: serde_json::Value =
            serde_json::from_str(&output(&[dir, "serial", "g1|bare", "--json"]).unwrap()).unwrap();
        assert_eq!(json["rows"][0]["difference"]["verdict"], "worse");
    }

    #[test]
    fn several_hosts_are_told_together() {
        let dir = made_up::results(1.0);
        let file = dir.path().join("results.jsonl");
        let text = std::fs::read_to_string(&file).unwrap();
        let other = text.replace("\"host\":\"host\"", "\"host\":\"other\"");
        std::fs::write(&file, format!("{text}{other}")).unwrap();
        let text = output(&[dir.path().to_str().unwrap(), "17|serial", "g1|bare"]).unwrap();
        let merged = text.split("over hosts, for such hosts in general").nth(1).unwrap();
        let h2 = merged.lines().find(|line| line.starts_with("h2 ")).unwrap();
        let words: Vec<_> = h2.split_whitespace().collect();
        assert_eq!((words[2], words[3], words.last()), ("2", "+19.9", Some(&"%")), "{text}");
        assert!(h2.trim_end().ends_with("0.0 %         0 %"), "the same figures: {h2:?}");
    }

    #[test]
    fn two_directories_are_compared_without_blocks() {
        let (before, after) = (made_up::results(1.0), made_up::results(1.5));
        let (a, b) = (before.path().to_str().unwrap(), after.path().to_str().unwrap());
        let text = output(&[a, b, "--configuration", "g1|bare"]).unwrap();
        assert!(text.contains("h2 17|g1|bare") && text.contains("worse"), "{text}");
        assert!(text.contains("no blocks in common"), "{text}");
        assert!(matches!(output(&[a, "g1"]), Err(Error::Usage { .. })));
        assert!(matches!(output(&[a, "g1", "serial", "--configuration", "g1"]), Err(Error::Usage { .. })));
        let unknown = output(&[a, "serial", "zgc"]).unwrap_err();
        assert_eq!(unknown.hint(), "there is 17|g1|bare, 17|g1|lookback, 17|serial");
        assert_eq!(unknown.exit_code(), crate::error::USAGE);
    }
}
