//! Golden tables and reports, in all their forms, and what hostile names do to them.
//!
//! `LOOKBACK_UPDATE=1 cargo test -p lookback-lab --test report` writes the golden files anew.

#[path = "../examples/synthetic/mod.rs"]
mod synthetic;
#[path = "../examples/synthetic/values.rs"]
mod values;

use lookback_lab::report::{
    Cell, Column, Document, Estimate, Form, HEAP, MeanPoint, Means, Quantity, Row, RowKind, Shade, Study,
    Table, png,
};
use resvg::usvg::{Options, Tree};

fn golden(name: &str, found: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("LOOKBACK_UPDATE").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{} differs", path.display());
}

fn row(kind: RowKind, cells: Vec<Cell>) -> Row {
    Row { kind, cells }
}

/// All that a table can hold.
fn table() -> Table {
    let mut table = Table {
        name: "lbo 2x".into(),
        caption: "Overheads at 2\u{d7} heap, 95 % intervals".into(),
        columns: vec![
            Column::text("workload"),
            Column::numbers("17|serial", Quantity::Ratio),
            Column::numbers("17|g1", Quantity::Ratio),
            Column::numbers("task clock", Quantity::of_metric("task_clock")),
        ],
        rows: vec![
            row(
                RowKind::Body,
                vec![
                    Cell::text("h2"),
                    Cell::estimate(1.17149, Some((1.1361, 1.2125))),
                    Cell::estimate(1.2674, Some((1.229, 1.3118))),
                    Cell::number(2.25e9),
                ],
            ),
            row(
                RowKind::Body,
                vec![
                    Cell::text("pmd, \"large\""),
                    Cell::estimate(1.13, Some((1.1, 1.17))),
                    Cell::missing("out of memory in 5 of 5"),
                    Cell::number(1.8e9),
                ],
            ),
            row(
                RowKind::Excluded,
                vec![
                    Cell::text("x_twitter"),
                    Cell::number(1.307),
                    Cell::missing("out of memory in 5 of 5"),
                    Cell::missing(""),
                ],
            ),
            row(
                RowKind::Summary,
                vec![Cell::text("geomean"), Cell::number(1.15), Cell::missing("too few"), Cell::missing("")],
            ),
        ],
        notes: vec!["Left out of the summary: x_twitter (50 % chaos).".into()],
    };
    table.rows[0].cells[1].best = true;
    table
}

#[test]
fn what_a_user_feels_is_told_by_heap() {
    let point = |multiple: f64, percent: f64| MeanPoint {
        workload: "desktop".into(),
        configuration: "17|g1".into(),
        multiple: Some(multiple),
        mean: Ok(Estimate { value: percent, interval: None, n: 5 }),
    };
    let janky = |points| Means { metric: "frame.janky".into(), unit: String::new(), points };
    let tables = |points| {
        let study = Study { means: vec![janky(points)], ..Study::default() };
        let document = Document::of(&study, HEAP).unwrap();
        document.tables().map(|table| table.write(Form::Text)).collect::<String>()
    };
    let text = tables(vec![point(4.0, 1.75), point(1.26, 8.5)]);
    let row =
        text.lines().find(|line| line.starts_with("desktop   17|g1")).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["desktop", "17|g1", "8.50", "1.75"], "{text}");
    assert!(!tables(vec![point(4.0, 1.75)]).contains("over heap sizes"), "one heap is no table of heaps");
}

#[test]
fn a_table_in_each_form() {
    let table = table();
    golden("table.txt", &table.write(Form::Text));
    golden("table.md", &table.write(Form::Markdown));
    golden("table.csv", &table.write(Form::Csv));
    golden("table.tex", &table.write(Form::Latex));
    let lines: String = table.result_lines().iter().map(|line| format!("{line}\n")).collect();
    golden("table.results.txt", &lines);
}

#[test]
fn the_best_of_a_row_is_its_smallest_and_one_alone_is_none() {
    let mut table = table();
    table.columns.pop();
    for row in &mut table.rows {
        row.cells.pop();
        row.cells.iter_mut().for_each(|cell| cell.best = false);
    }
    table.mark_best();
    let best: Vec<Vec<bool>> =
        table.rows.iter().map(|row| row.cells.iter().map(|cell| cell.best).collect()).collect();
    assert_eq!(best[0], [false, true, false]);
    assert!(best[1..].iter().flatten().all(|best| !best), "{best:?}");
}

#[test]
fn a_figure_that_two_rows_would_name_is_named_by_none() {
    let mut table = table();
    table.rows[1] = table.rows[0].clone();
    let lines = table.result_lines();
    assert!(lines.iter().all(|line| !line.name.contains("h2")), "{lines:?}");
    assert!(lines.iter().any(|line| line.name == "lbo-2x.geomean.17-serial"), "{lines:?}");
}

/// The made-up study, with values that only statistics have.
fn study() -> Study {
    let plan = synthetic::plan();
    let mut study = Study::observe(&synthetic::records(&plan), Some(&plan));
    values::add(&mut study);
    study.experiment = Some("name = \"synthetic\" # ``` in a file\n".into());
    study.machine = vec![("model".into(), "made up".into())];
    study
}

#[test]
fn a_report_in_words() {
    let document = Document::of(&study(), HEAP).unwrap();
    golden("report.txt", &document.write(Form::Text));
    golden("report.md", &document.write(Form::Markdown));
}

#[test]
fn every_figure_is_well_formed_and_becomes_a_picture() {
    let document = Document::of(&study(), HEAP).unwrap();
    let names: Vec<&str> = document.figures().map(|figure| figure.name.as_str()).collect();
    let expected = [
        "lbo-geomean-task-clock-pauses",
        "lbo-task-clock-pauses",
        "tracers-cpu",
        "tail-frame",
        "heaps-frame.janky",
        "run-order",
        "iterations-wall",
    ];
    assert_eq!(names, expected);
    for figure in document.figures() {
        for svg in [&figure.svg, &figure.file()] {
            let tree =
                Tree::from_str(svg, &Options::default()).unwrap_or_else(|e| panic!("{}: {e}", figure.name));
            assert!(tree.size().width() > 300.0 && tree.root().has_children(), "{}", figure.name);
        }
        let light = png(&figure.name, &figure.svg, 0.5, Shade::Light).unwrap();
        let dark = png(&figure.name, &figure.svg, 0.5, Shade::Dark).unwrap();
        assert!(light.starts_with(b"\x89PNG") && light != dark, "{}", figure.name);
    }
}

#[test]
fn a_study_without_anything_has_a_report() {
    let document = Document::of(&Study::default(), HEAP).unwrap();
    assert!(document.page().contains("0 attempts ran"));
    assert_eq!(document.figures().count(), 0);
    let mut records = synthetic::records(&synthetic::plan());
    // All failed: the tables say why and nothing is drawn of them.
    records.retain(|record| record.iterations.is_empty());
    let document = Document::of(&Study::observe(&records, None), HEAP).unwrap();
    assert!(document.write(Form::Text).contains("out of memory"));
    assert_eq!(document.figures().count(), 0);
}

const HOSTILE: &str =
    "<script>alert(\"1\")</script> & <!-- /lab --> | `a` \\ 50% $x_y^z #{~} \u{e9}\u{4e2d}\nnext";

#[test]
fn hostile_names_stay_names() {
    let mut study = study();
    study.name = HOSTILE.into();
    study.experiment = Some(HOSTILE.into());
    for point in study.overheads.iter_mut().flat_map(|o| &mut o.points) {
        point.workload = format!("{HOSTILE}{}", point.workload);
    }
    study.tally.causes.insert((HOSTILE.into(), HOSTILE.into()), 1);
    study.tally.attempts.insert(HOSTILE.into(), (0, 1));
    let mean = Ok(Estimate { value: 1.0, interval: None, n: 1 });
    let point = |w: &str| MeanPoint {
        workload: w.into(),
        configuration: HOSTILE.into(),
        multiple: None,
        mean: mean.clone(),
    };
    // A metric's name may begin with anything.
    study.means.push(Means {
        metric: format!("\u{e9}{HOSTILE}"),
        unit: HOSTILE.into(),
        points: vec![point("a"), point("b")],
    });
    let document = Document::of(&study, HEAP).unwrap();
    let page = document.page();
    assert!(!page.contains("<script") && !page.contains("<!-- /lab"), "the page is open to names");
    assert!(page.contains("&lt;script&gt;"));
    for figure in document.figures() {
        Tree::from_str(&figure.file(), &Options::default())
            .unwrap_or_else(|e| panic!("{}: {e}", figure.name));
        assert!(!figure.file().contains("<script"), "{}", figure.name);
    }
    let table = Table { rows: vec![row(RowKind::Body, vec![Cell::text(HOSTILE); 4])], ..table() };
    let markdown = table.write(Form::Markdown);
    let line = markdown.lines().nth(2).unwrap();
    assert!(!markdown.contains("<!--") && !markdown.contains("<script"), "{markdown}");
    let bars = line.match_indices('|').filter(|(at, _)| *at == 0 || line.as_bytes()[at - 1] != b'\\').count();
    assert_eq!(bars, 5, "a name makes cells of its own: {line}");
    let latex = table.write(Form::Latex);
    let line = latex.lines().find(|line| line.contains("script")).unwrap();
    let open = ["\\%", "\\$", "\\_", "\\#", "\\textasciicircum{}", "\\textbackslash{}"];
    assert!(open.iter().all(|escaped| line.contains(escaped)), "{line}");
    assert_eq!(line.matches('&').count() - line.matches("\\&").count(), 3, "{line}");
    let csv = table.write(Form::Csv);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let read = reader.records().next().unwrap().unwrap();
    assert_eq!(&read[0], HOSTILE);
}
