//! The tables of a report.
//!
//! The constraint that shaped it: they follow the paper's (Table 4: smallest heaps, Table 5: overheads at twice the
//! smallest heap), so that they can be laid beside it. A cell without a value says why.

use super::plot::{capital, heap, title_of};
use super::quantity::Quantity;
use super::study::{Estimate, Matrix, Means, Measured, Overheads, Study, Tally, TracerCost, Verdict, heaps};
use super::table::{Cell, Column, Content, Row, RowKind, Table};
use crate::metric::Unit;
use crate::overhead::Roles;
use std::collections::BTreeMap;

fn distinct<T: PartialEq>(names: impl Iterator<Item = T>) -> Vec<T> {
    let mut list: Vec<T> = Vec::new();
    for name in names {
        if !list.contains(&name) {
            list.push(name);
        }
    }
    list
}

fn body(cells: Vec<Cell>) -> Row {
    Row { kind: RowKind::Body, cells }
}

fn cell(measured: &Measured) -> Cell {
    match measured {
        Ok(Estimate { value, interval, .. }) => Cell::estimate(*value, *interval),
        Err(why) => Cell::missing(why.clone()),
    }
}

/// A row a workload and a column a configuration: what most tables are.
struct Grid<'a> {
    configurations: Vec<&'a str>,
    columns: Vec<Column>,
    rows: Vec<Row>,
}

/// Puts items into a grid by their workload and configuration.
fn grid<'a, T>(
    items: &[&'a T],
    quantity: Quantity,
    names: impl Fn(&'a T) -> (&'a str, &'a str),
    value: impl Fn(&'a T) -> Cell,
) -> Grid<'a> {
    let configurations = distinct(items.iter().map(|item| names(item).1));
    let mut columns = vec![Column::text("workload")];
    columns.extend(configurations.iter().map(|c| Column::numbers(*c, quantity)));
    let row = |workload: &'a str| {
        let mut cells = vec![Cell::text(workload)];
        cells.extend(configurations.iter().map(|configuration| {
            let mine = items.iter().find(|item| names(item) == (workload, *configuration));
            mine.map_or_else(|| Cell::missing("was not run"), |item| value(item))
        }));
        body(cells)
    };
    let rows = distinct(items.iter().map(|item| names(item).0)).into_iter().map(row).collect();
    Grid { configurations, columns, rows }
}

/// The multiple among those of the data that is nearest to what is asked for.
pub(super) fn nearest(multiples: impl Iterator<Item = f64>, wanted: f64) -> Option<f64> {
    multiples.min_by(|a, b| (a / wanted).ln().abs().total_cmp(&(b / wanted).ln().abs()))
}

/// The heap that a table is of: a multiple of the smallest, or the only one where there are none.
#[derive(Clone, Copy)]
struct AtHeap(Option<f64>);

impl AtHeap {
    /// The multiple among those of the data that is nearest to what is asked for.
    fn of(multiples: impl Iterator<Item = Option<f64>>, wanted: f64) -> AtHeap {
        AtHeap(nearest(multiples.flatten(), wanted))
    }

    /// Whether a point belongs to the table; heaps in bytes belong to each.
    fn has(self, multiple: Option<f64>) -> bool {
        match (multiple, self.0) {
            (Some(multiple), Some(own)) => (multiple - own).abs() < 1e-6,
            (None, _) => true,
            (Some(_), None) => false,
        }
    }

    /// What a caption says of it.
    fn words(self) -> String {
        self.0.map(|multiple| format!(" at {} heap", heap(multiple))).unwrap_or_default()
    }

    /// What the table's name ends with.
    fn suffix(self) -> String {
        self.0.map(|multiple| format!("-{}", heap(multiple).replace('\u{d7}', "x"))).unwrap_or_default()
    }
}

/// The smallest heaps (paper, Table 4).
pub(super) fn min_heaps(study: &Study) -> Option<Table> {
    if study.min_heaps.is_empty() {
        return None;
    }
    let heaps: Vec<_> = study.min_heaps.iter().collect();
    let value = |heap: &super::study::MinHeap| match &heap.bytes {
        Ok(bytes) => Cell::number(*bytes as f64),
        Err(why) => Cell::missing(why.clone()),
    };
    let grid = grid(&heaps, Quantity::Of(Unit::Bytes), |h| (&h.workload, &h.configuration), value);
    Some(Table {
        name: "min-heap".into(),
        caption: "Smallest heaps that the workloads run in; heap sizes are multiples of them".into(),
        columns: grid.columns,
        rows: grid.rows,
        notes: vec![],
    })
}

/// A plain value of a summary.
type Plain = fn(&super::study::OverheadSummary) -> f64;

/// Lower bound overheads at one heap (paper, Table 5).
pub(super) fn overheads(overheads: &Overheads, wanted: f64) -> Option<Table> {
    let at = AtHeap::of(overheads.points.iter().map(|p| p.multiple), wanted);
    let points: Vec<_> = overheads.points.iter().filter(|p| at.has(p.multiple)).collect();
    let summaries: Vec<_> = overheads.summaries.iter().filter(|s| at.has(s.multiple)).collect();
    if points.is_empty() {
        return None;
    }
    let excluded: BTreeMap<&str, &str> = summaries
        .iter()
        .flat_map(|s| &s.excluded)
        .map(|(workload, why)| (workload.as_str(), why.as_str()))
        .collect();
    let Grid { configurations, columns, mut rows } =
        grid(&points, Quantity::Ratio, |p| (&p.workload, &p.configuration), |p| cell(&p.ratio));
    for row in &mut rows {
        let workload = row.cells.first().map(|cell| &cell.content);
        if matches!(workload, Some(Content::Text(name)) if excluded.contains_key(name.as_str())) {
            row.kind = RowKind::Excluded;
        }
    }
    if !summaries.is_empty() {
        let one = |configuration: &str| summaries.iter().find(|s| s.configuration == configuration);
        let plain: [(&str, Plain); 3] = [("min", |s| s.min), ("max", |s| s.max), ("mean", |s| s.mean)];
        for (name, value) in plain {
            let mut cells = vec![Cell::text(name)];
            cells.extend(configurations.iter().map(|configuration| match one(configuration) {
                Some(summary) if summary.geomean.is_ok() => Cell::number(value(summary)),
                Some(summary) => cell(&summary.geomean),
                None => Cell::missing("no workload completed at every point"),
            }));
            rows.push(Row { kind: RowKind::Summary, cells });
        }
        let mut cells = vec![Cell::text("geomean")];
        cells.extend(configurations.iter().map(|configuration| match one(configuration) {
            Some(summary) => cell(&summary.geomean),
            None => Cell::missing("no workload completed at every point"),
        }));
        rows.push(Row { kind: RowKind::Summary, cells });
    }
    let mut notes: Vec<String> = Vec::new();
    if !excluded.is_empty() {
        let list: Vec<String> =
            excluded.iter().map(|(workload, why)| format!("{workload} ({why})")).collect();
        notes.push(format!("Left out of the summary: {}.", list.join(", ")));
    }
    let mut table = Table {
        name: format!("lbo-{}-{}{}", overheads.metric, overheads.distillation, at.suffix()),
        caption: format!(
            "Lower bound overheads of {}{}, baseline distilled by {}, with {} % intervals",
            title_of(&overheads.metric),
            at.words(),
            overheads.distillation,
            overheads.confidence
        ),
        columns,
        rows,
        notes,
    };
    table.mark_best();
    Some(table)
}

/// A row a workload and configuration and a column a heap; none when there is only one.
fn by_heap(
    points: &[(&str, &str, Option<f64>, &Measured)],
    quantity: Quantity,
) -> Option<(Vec<Column>, Vec<Row>)> {
    let multiples = heaps(points.iter().map(|(.., multiple, _)| *multiple));
    if multiples.len() < 2 {
        return None;
    }
    let mut columns = vec![Column::text("workload"), Column::text("configuration")];
    columns.extend(multiples.iter().map(|multiple| Column::numbers(heap(*multiple), quantity)));
    let row = |(workload, configuration): (&str, &str)| {
        let mut cells = vec![Cell::text(workload), Cell::text(configuration)];
        cells.extend(multiples.iter().map(|multiple| {
            let mine =
                points.iter().find(|(w, c, m, _)| (*w, *c, *m) == (workload, configuration, Some(*multiple)));
            mine.map_or_else(|| Cell::missing("was not run"), |(.., measured)| cell(measured))
        }));
        body(cells)
    };
    let programs = distinct(points.iter().map(|(workload, configuration, ..)| (*workload, *configuration)));
    Some((columns, programs.into_iter().map(row).collect()))
}

/// Lower bound overheads over heaps: what the figure draws (paper, Figures 1 and 5).
pub(super) fn overheads_by_heap(overheads: &Overheads) -> Option<Table> {
    let points: Vec<_> = overheads
        .points
        .iter()
        .map(|p| (p.workload.as_str(), p.configuration.as_str(), p.multiple, &p.ratio))
        .collect();
    let (columns, rows) = by_heap(&points, Quantity::Ratio)?;
    Some(Table {
        name: format!("lbo-{}-{}-heaps", overheads.metric, overheads.distillation),
        caption: format!(
            "Lower bound overheads of {} over heap sizes, baseline distilled by {}, with {} % intervals",
            title_of(&overheads.metric),
            overheads.distillation,
            overheads.confidence
        ),
        columns,
        rows,
        notes: vec![],
    })
}

/// Lower bound overheads at one heap, by whose threads took them.
pub(super) fn roles(overheads: &Overheads, wanted: f64) -> Option<Table> {
    let at = AtHeap::of(overheads.summaries.iter().map(|s| s.multiple), wanted);
    let rows: Vec<Row> = overheads
        .summaries
        .iter()
        .filter(|summary| at.has(summary.multiple))
        .filter_map(|summary| {
            let Roles { mutator, gc, jit, vm } = summary.roles?;
            let mut cells = vec![Cell::text(&summary.configuration)];
            cells.extend([summary.mean, mutator, gc, jit, vm].map(Cell::number));
            Some(body(cells))
        })
        .collect();
    let mut columns = vec![Column::text("configuration")];
    let parts = ["mean", "program", "collector", "compilers", "VM"];
    columns.extend(parts.map(|part| Column::numbers(part, Quantity::Ratio)));
    (!rows.is_empty()).then(|| Table {
        name: format!("roles-{}-{}{}", overheads.metric, overheads.distillation, at.suffix()),
        caption: format!(
            "Means over workloads of the lower bound overheads of {}{}, by whose threads took them; baseline distilled \
             by {}",
            title_of(&overheads.metric),
            at.words(),
            overheads.distillation
        ),
        columns,
        rows,
        notes: vec![
            "The parts add up to the mean. The longer an iteration takes, the more of the compilers' work falls into it."
                .into(),
        ],
    })
}

/// What the overheads of a metric are relative to.
pub(super) fn baselines(overheads: &Overheads) -> Option<Table> {
    if overheads.baselines.is_empty() {
        return None;
    }
    let row = |(workload, what): &(String, String)| body(vec![Cell::text(workload), Cell::text(what)]);
    Some(Table {
        name: format!("baseline-{}-{}", overheads.metric, overheads.distillation),
        caption: format!(
            "Baselines of the lower bound overheads of {}, distilled by {}",
            title_of(&overheads.metric),
            overheads.distillation
        ),
        columns: vec![Column::text("workload"), Column::text("baseline")],
        rows: overheads.baselines.iter().map(row).collect(),
        notes: vec![],
    })
}

/// What tracers cost.
pub(super) fn tracers(cost: &TracerCost) -> Option<Table> {
    if cost.rows.is_empty() {
        return None;
    }
    let points: Vec<_> = cost.rows.iter().collect();
    let Grid { configurations, columns, mut rows } =
        grid(&points, Quantity::Ratio, |r| (&r.workload, &r.configuration), |r| cell(&r.ratio));
    let summary = |title: &str, value: &dyn Fn(&super::study::TracerSummary) -> Cell| {
        let mut cells = vec![Cell::text(title)];
        cells.extend(configurations.iter().map(|configuration| {
            let mine = cost.summaries.iter().find(|s| s.configuration == **configuration);
            mine.map_or_else(|| Cell::missing("was not run"), value)
        }));
        Row { kind: RowKind::Summary, cells }
    };
    if !cost.summaries.is_empty() {
        rows.push(summary("median", &|s| Cell::number(s.median)));
        rows.push(summary("worst", &|s| Cell::number(s.worst.1)));
        rows.push(summary("geomean", &|s| cell(&s.geomean)));
    }
    Some(Table {
        name: format!("tracers-{}", cost.metric),
        caption: format!(
            "Tracers: {}, traced over bare, paired within blocks, with {} % intervals",
            title_of(&cost.metric),
            cost.confidence
        ),
        columns,
        rows,
        notes: vec![],
    })
}

/// Configurations against each other: the row over the column.
pub(super) fn matrix(matrix: &Matrix) -> Option<Table> {
    if matrix.pairs.is_empty() {
        return None;
    }
    let names = distinct(matrix.pairs.iter().flat_map(|p| [p.a.as_str(), p.b.as_str()]));
    let mut columns = vec![Column::text("")];
    columns.extend(names.iter().map(|name| Column::text(*name)));
    let words = |ratio: &Measured, verdict: Verdict, turned: bool| match ratio {
        Err(why) => Cell::missing(why.clone()),
        Ok(estimate) => {
            let value = if turned { 1.0 / estimate.value } else { estimate.value };
            let verdict = match (verdict, turned) {
                (Verdict::Indistinguishable, _) => "not distinguishable",
                (Verdict::Better, false) | (Verdict::Worse, true) => "better",
                _ => "worse",
            };
            Cell::text(format!("{verdict}, {value:.3}"))
        }
    };
    let row = |a: &&str| {
        let mut cells = vec![Cell::text(*a)];
        cells.extend(names.iter().map(|b| {
            if a == b {
                return Cell::missing("");
            }
            let straight = matrix.pairs.iter().find(|p| p.a == **a && p.b == **b);
            let turned = matrix.pairs.iter().find(|p| p.a == **b && p.b == **a);
            match (straight, turned) {
                (Some(p), _) => words(&p.ratio, p.verdict, false),
                (None, Some(p)) => words(&p.ratio, p.verdict, true),
                (None, None) => Cell::missing("was not compared"),
            }
        }));
        body(cells)
    };
    let mut notes = vec![matrix.procedure.clone()];
    for pair in &matrix.pairs {
        if let Some(more) = pair.more.filter(|_| pair.verdict == Verdict::Indistinguishable) {
            notes.push(format!(
                "{} against {}: {more} more invocations each would be needed to tell the difference that was seen.",
                pair.a, pair.b
            ));
        }
    }
    Some(Table {
        name: format!("compare-{}", matrix.metric),
        caption: format!(
            "{}: the row over the column, over all workloads",
            capital(title_of(&matrix.metric))
        ),
        columns,
        rows: names.iter().map(row).collect(),
        notes,
    })
}

/// Means of a metric at one heap.
pub(super) fn means(means: &Means, wanted: f64) -> Option<Table> {
    let at = AtHeap::of(means.points.iter().map(|p| p.multiple), wanted);
    let points: Vec<_> = means.points.iter().filter(|p| at.has(p.multiple)).collect();
    if points.is_empty() {
        return None;
    }
    let quantity = means.quantity();
    let Grid { columns, rows, .. } =
        grid(&points, quantity, |p| (&p.workload, &p.configuration), |p| cell(&p.mean));
    Some(Table {
        name: format!("mean-{}{}", means.metric, at.suffix()),
        caption: format!(
            "{}{}{}, mean over the measured iterations of all invocations that count",
            capital(title_of(&means.metric)),
            at.words(),
            means.in_unit()
        ),
        columns,
        rows,
        notes: vec![],
    })
}

/// Means of a metric over heaps: what the figure draws (paper, Figures 3 and 4).
pub(super) fn means_by_heap(means: &Means) -> Option<Table> {
    let points: Vec<_> = means
        .points
        .iter()
        .map(|p| (p.workload.as_str(), p.configuration.as_str(), p.multiple, &p.mean))
        .collect();
    let (columns, rows) = by_heap(&points, means.quantity())?;
    Some(Table {
        name: format!("mean-{}-heaps", means.metric),
        caption: format!(
            "{}{}, over heap sizes: mean over the measured iterations of all invocations that count",
            capital(title_of(&means.metric)),
            means.in_unit()
        ),
        columns,
        rows,
        notes: vec![],
    })
}

/// What became of the invocations.
pub(super) fn tally(tally: &Tally) -> Table {
    let causes = distinct(tally.causes.keys().map(|(_, cause)| cause.as_str()));
    let count = |title: &str| Column::numbers(title, Quantity::Of(Unit::Count));
    let mut columns = vec![Column::text("configuration"), count("ran"), count("count")];
    columns.extend(causes.iter().map(|cause| count(cause)));
    let mut rows: Vec<Row> = tally
        .attempts
        .iter()
        .map(|(configuration, (counted, all))| {
            let mut cells =
                vec![Cell::text(configuration), Cell::number(*all as f64), Cell::number(*counted as f64)];
            cells.extend(causes.iter().map(|cause| {
                let key = (configuration.clone(), (*cause).to_owned());
                Cell::number(tally.causes.get(&key).copied().unwrap_or(0) as f64)
            }));
            body(cells)
        })
        .collect();
    let mut cells =
        vec![Cell::text("all"), Cell::number(tally.all as f64), Cell::number(tally.counted as f64)];
    cells.extend(causes.iter().map(|cause| {
        let all = tally.causes.iter().filter(|((_, c), _)| c == cause).map(|(_, n)| n).sum::<usize>();
        Cell::number(all as f64)
    }));
    rows.push(Row { kind: RowKind::Summary, cells });
    Table {
        name: "invocations".into(),
        caption: "What became of the invocations: every attempt, by configuration and cause".into(),
        columns,
        rows,
        notes: vec![
            "An invocation may be disturbed in more than one way; one that failed has one cause.".into(),
        ],
    }
}

/// The JDKs and their hashes.
pub(super) fn jdks(study: &Study) -> Option<Table> {
    let row = |jdk: &crate::plan::Jdk| {
        body(vec![Cell::text(&jdk.name), Cell::text(&jdk.version), Cell::text(&jdk.hash)])
    };
    (!study.jdks.is_empty()).then(|| Table {
        name: "jdks".into(),
        caption: "JDKs, each with the SHA-256 of its libjvm.so".into(),
        columns: vec![Column::text("name"), Column::text("version"), Column::text("SHA-256")],
        rows: study.jdks.iter().map(row).collect(),
        notes: vec![],
    })
}
