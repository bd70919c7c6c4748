//! `lookback ls`: the traced programs of this user, and what dead ones left.

use super::{Streams, named, stdout};
use crate::args::LsArgs;
use crate::control::{self, printable};
use crate::error::Result;
use crate::output::seconds;
use crate::ring_file::RingFile;
use crate::runtime::{self, RuntimeDir};
use crate::table;
use lookback_format::definitions::Definitions;
use lookback_format::units::count;
use serde::Serialize;
use std::path::PathBuf;

/// A line of the list.
#[derive(Debug, Serialize)]
struct Row {
    /// None of a ring file, which belongs to no process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    program: String,
    /// `tracing`, `off`, `not answering`, `died` or `not traced`; of a ring file `in use` or `at rest`.
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reach_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    incidents: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ring: Option<PathBuf>,
    #[serde(skip)]
    remark: String,
}

/// Lists what there is.
pub(crate) fn run(args: &LsArgs, streams: &mut Streams<'_>) -> Result<()> {
    let (clients, errors) = control::all();
    let mut rows: Vec<Row> = clients
        .iter()
        .map(|client| match client.status() {
            Ok(s) => Row {
                pid: Some(client.pid),
                ring: None,
                program: named(&s.program),
                state: if s.tracing { "tracing" } else { "off" },
                remark: format!(
                    "reaches back {}, {} written",
                    seconds(s.reach_seconds),
                    if s.incidents.len() == 1 {
                        "1 incident".into()
                    } else {
                        format!("{} incidents", count(s.incidents.len() as u64))
                    },
                ),
                reach_seconds: Some(s.reach_seconds),
                incidents: Some(s.incidents.len()),
                region: Some(s.region),
            },
            Err(e) => Row::new(client.pid, "(unknown)".into(), "not answering", e.to_string()),
        })
        .collect();
    rows.extend(control::remains().into_iter().map(|r| Row {
        region: Some(r.region.clone()),
        ..Row::new(
            r.pid,
            program_of(&r.region),
            "died",
            format!("recover with: lookback recover {}", r.region.display()),
        )
    }));
    rows.extend(rings());
    if args.all {
        let listed: Vec<u32> = rows.iter().filter(|r| r.state != "died").filter_map(|r| r.pid).collect();
        let others = control::jvms().into_iter().filter(|(pid, _)| !listed.contains(pid));
        rows.extend(others.map(|(pid, program)| {
            Row::new(pid, printable(&program), "not traced", format!("trace with: lookback attach {pid}"))
        }));
    }
    errors.iter().for_each(|e| streams.note(&e.to_string()));
    if args.json {
        return super::control::json(&rows, streams);
    }
    if rows.is_empty() {
        streams.note("no program of this user is traced; `lookback ls --all` lists the JVMs that could be");
        return Ok(());
    }
    let cells: Vec<Vec<String>> = rows
        .into_iter()
        .map(|r| {
            vec![
                r.pid.map_or("-".into(), |pid| pid.to_string()),
                r.program,
                r.state.to_owned(),
                printable(&r.remark),
            ]
        })
        .collect();
    table::table(streams.out, &["PID", "PROGRAM", "STATE", "REMARK"], &cells).map_err(stdout)
}

impl Row {
    fn new(pid: u32, program: String, state: &'static str, remark: String) -> Row {
        let pid = Some(pid);
        Row { pid, program, state, reach_seconds: None, incidents: None, region: None, ring: None, remark }
    }
}

/// The ring files of this user that `lookback record` made without a name.
fn rings() -> Vec<Row> {
    let (dirs, _) = runtime::open_all(runtime::region_places());
    let row = |path: PathBuf| {
        let source = RingFile::open(&path).ok()?;
        let definitions = Definitions::read(&source.definitions());
        let mut names: Vec<_> =
            definitions.processes().filter_map(|(_, p)| definitions.name(p.name)).collect();
        // This command's own openings are no programs.
        names.retain(|name| *name != "lookback");
        names.sort_unstable();
        names.dedup();
        let state = if source.is_live() { "in use" } else { "at rest" };
        let remark = format!("ring file, read with: lookback report {}", path.display());
        Some(Row { pid: None, ring: Some(path), ..Row::new(0, named(&names.join(", ")), state, remark) })
    };
    dirs.iter().flat_map(RuntimeDir::rings).filter_map(row).collect()
}

/// The program that a region file names.
fn program_of(region: &std::path::Path) -> String {
    crate::recover::Region::open_dead(region).map_or_else(|_| "(damaged)".into(), |r| named(r.program()))
}
