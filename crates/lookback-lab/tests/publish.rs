//! A run is kept, documents cite it, and a figure that was changed by hand is found.

#[path = "../examples/synthetic/mod.rs"]
mod synthetic;

use lookback_lab::Error;
use lookback_lab::plan::Invocation;
use lookback_lab::report::{Blocks, Document, HEAP, Publication, Runs, Sources};
use lookback_lab::results::write_jsonl;
use std::fs;
use std::path::Path;

/// A results directory and a directory of runs.
fn results() -> (tempfile::TempDir, Sources, Document) {
    let dir = tempfile::tempdir().unwrap();
    let mut plan = synthetic::plan();
    // A part of it: statistics of the whole take long without optimization.
    plan.cells
        .retain(|cell| cell.workload == "h2" && cell.heap.is_some_and(|heap| heap.multiple <= Some(2.1)));
    let cells = plan.cells.len();
    plan.order = (1..=5).flat_map(|number| (0..cells).map(move |cell| Invocation { cell, number })).collect();
    let path = dir.path().join("results.jsonl");
    write_jsonl(&synthetic::records(&plan), fs::File::create(&path).unwrap(), &path).unwrap();
    fs::write(dir.path().join("plan.json"), serde_json::to_string(&plan).unwrap()).unwrap();
    fs::write(dir.path().join("machine.json"), "{\"cores\": 2}").unwrap();
    fs::create_dir(dir.path().join("runs")).unwrap();
    let sources = Sources::read(dir.path()).unwrap();
    let document = Document::of(&sources.study(dir.path(), HEAP).unwrap(), HEAP).unwrap();
    (dir, sources, document)
}

const PATH: &str = "DOC.md";

fn renew(text: &str, runs: &Runs) -> Result<(String, usize), Error> {
    Blocks::of(Path::new(PATH), text)?.renew(runs, None)
}

fn check(text: &str, runs: &Runs) -> Vec<String> {
    let blocks = Blocks::of(Path::new(PATH), text).unwrap();
    blocks.check(runs).iter().map(ToString::to_string).collect()
}

#[test]
fn a_run_is_kept_whole_cited_and_checked() {
    let (dir, sources, document) = results();
    let to = dir.path().join("runs");
    // What a program has left to be kept, by two invocations of a cell.
    let cell = &sources.settled.records[0].cell;
    for record in sources.settled.records.iter().filter(|record| record.cell == *cell) {
        let kept = dir.path().join(&record.raw).join("kept");
        fs::create_dir_all(&kept).unwrap();
        fs::write(kept.join("drawn.svg"), record.invocation.to_string()).unwrap();
    }
    let publication = Publication { sources: &sources, document: &document, name: "made-up" };
    let run = publication.write(dir.path(), &to, false).unwrap();
    let name = run.file_name().unwrap().to_str().unwrap().to_owned();
    assert!(name.starts_with("2026-01-0") && name.ends_with("-made-up"), "{name}");
    for file in ["results.parquet", "plan.json", "machine.json", "results.txt", "README.md", "invocations.md"]
    {
        assert!(run.join(file).is_file(), "{file} is missing");
    }
    assert!(run.join("run-order.svg").is_file());
    assert_eq!(fs::read_to_string(run.join("drawn.svg")).unwrap(), "5", "the last invocation's");
    assert!(!fs::read_to_string(run.join("plan.json")).unwrap().contains("/opt/"), "a path of the machine");
    // The same report comes from what was kept.
    let kept = Sources::read(&run).unwrap();
    assert_eq!(kept.settled.records, sources.settled.records);
    assert_eq!(
        Document::of(&kept.study(&run, HEAP).unwrap(), HEAP).unwrap().tables().count(),
        document.tables().count()
    );
    // Again is refused, and forced it leaves nothing else behind.
    assert!(matches!(publication.write(dir.path(), &to, false), Err(Error::Published { .. })));
    publication.write(dir.path(), &to, true).unwrap();
    assert_eq!(fs::read_dir(&to).unwrap().count(), 1);

    let runs = Runs::open(&to).unwrap();
    let key = "mean-wall-2x.h2.17-serial";
    let text = format!(
        "# Doc\n\nIt takes <!-- lab:made-up={key} unit --><!-- /lab --> or <!-- lab:made-up={key} .0 -->?<!-- /lab --> ns.\n\n<!-- lab:made-up:invocations -->\nold\n<!-- /lab -->\nend\n"
    );
    assert_eq!(check(&text, &runs).len(), 3);
    let (new, changed) = renew(&text, &runs).unwrap();
    assert_eq!(changed, 3);
    assert_eq!(check(&new, &runs), Vec::<String>::new());
    assert!(new.starts_with("# Doc\n\nIt takes <!-- lab:") && new.ends_with("<!-- /lab -->\nend\n"), "{new}");
    assert!(new.contains(" s<!-- /lab --> or ") && new.contains("| configuration |"), "{new}");
    assert_eq!(renew(&new, &runs).unwrap(), (new.clone(), 0), "renewing again changes nothing");
    // A figure of a table, changed by hand.
    let line = new.lines().position(|line| line.starts_with("| 17\\|g1 |")).unwrap() + 1;
    let forged = new.replacen("| 17\\|g1 | ", "| 17\\|g1 | 9", 1);
    let found = check(&forged, &runs);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("DOC.md:5: ") && found[0].contains(&format!("in line {line}")), "{found:?}");
    // And one within a sentence.
    let forged = new.replacen(" s<!-- /lab -->", "1 s<!-- /lab -->", 1);
    assert!(check(&forged, &runs)[0].contains("its run says"), "{:?}", check(&forged, &runs));
}

#[test]
fn pictures_are_linked_from_where_the_document_is() {
    let dir = tempfile::tempdir().unwrap();
    for directory in ["runs/2026-01-01-0000-one", "runs/2026-01-02-0000-one", "docs"] {
        fs::create_dir_all(dir.path().join(directory)).unwrap();
    }
    for file in ["2026-01-01-0000-one/a.svg", "2026-01-02-0000-one/a.svg", "2026-01-03-0000-two-b.svg"] {
        fs::write(dir.path().join("runs").join(file), "").unwrap();
    }
    fs::write(dir.path().join("runs/2026-01-03-0000-two.txt"), "").unwrap();
    let runs = Runs::open(&dir.path().join("runs")).unwrap();
    let text =
        "<!-- lab:one/a.svg What it shows -->\n<!-- /lab -->\n\n<!-- lab:two/b.svg B -->\n<!-- /lab -->\n";
    for (document, up) in [("docs/D.md", "../"), ("D.md", "")] {
        let document = dir.path().join(document);
        let (new, changed) = Blocks::of(&document, text).unwrap().renew(&runs, None).unwrap();
        assert_eq!(changed, 2);
        for link in
            ["![What it shows](UPruns/2026-01-02-0000-one/a.svg)", "![B](UPruns/2026-01-03-0000-two-b.svg)"]
        {
            assert!(new.contains(&format!("-->\n\n{}\n\n<!-- /lab", link.replace("UP", up))), "{new}");
        }
        let blocks = Blocks::of(&document, &new).unwrap();
        assert_eq!(blocks.check(&runs), []);
    }
    let missing = "<!-- lab:one/c.svg C -->\n<!-- /lab -->\n";
    assert!(check(missing, &runs)[0].contains("the run 2026-01-02-0000-one has no c.svg"));
}

#[test]
fn other_runs_are_left_alone_and_missing_ones_are_told() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("2026-01-02-0300-api.txt"),
        "result api.span 24.75 ns\nresult api.more 1.0312 ratio\n",
    )
    .unwrap();
    let runs = Runs::open(dir.path()).unwrap();
    let text = "a <!-- lab:api=api.span .1 -->?<!-- /lab --> b <!-- lab:api=api.more change -->?<!-- /lab --> c <!-- lab:gone=x -->?<!-- /lab -->\n";
    let blocks = Blocks::of(Path::new(PATH), text).unwrap();
    let (new, changed) = blocks.renew(&runs, Some("api")).unwrap();
    assert_eq!(changed, 2);
    assert!(new.contains("-->24.8<!--") && new.contains("-->+3.1 %<!--"), "{new}");
    assert!(new.contains("<!-- lab:gone=x -->?<!-- /lab -->"));
    assert!(matches!(blocks.renew(&runs, None), Err(Error::Block { line: 1, .. })));
    assert!(check(&new, &runs)[0].contains("no run named gone"));
    let change = "a <!-- lab:api=api.span change -->?<!-- /lab -->\n";
    assert!(check(change, &runs)[0].contains("`change` is for ratios"));
}

#[test]
fn blocks_that_github_would_show_wrongly_are_refused() {
    let bad = [
        ("a <!-- lab:x=y -->1\n", "no `<!-- /lab -->`"),
        ("a <!-- lab:x=y 1<!-- /lab -->\n b\n", "no `<!-- /lab -->`"),
        ("a <!-- lab:x=y\n-->1<!-- /lab -->\n", "has no end"),
        ("<!-- lab:x=y -->1<!-- /lab --> a\n", "must not begin a line"),
        ("  <!-- lab:x=y -->1<!-- /lab -->\n", "must not begin a line"),
        ("a <!-- lab:x:t -->\n<!-- /lab -->\n", "lines of its own"),
        ("<!-- lab:x:t --> b\n<!-- /lab -->\n", "lines of its own"),
        ("a <!-- lab:x=y -->1\n<!-- /lab -->\n", "end on its line"),
        ("a <!-- lab:x=y -->1 <!-- lab:x=z -->2<!-- /lab -->\n", "no `<!-- /lab -->`"),
        ("a <!-- lab:x=y .x -->1<!-- /lab -->\n", "none of `.2`"),
        ("a <!-- lab:x -->1<!-- /lab -->\n", "is none of"),
        ("a <!-- lab:x/y.svg z -->\n<!-- /lab -->\n", "lines of its own"),
        ("<!-- lab:x/../y.svg z -->\n<!-- /lab -->\n", "is no name"),
        ("<!-- lab:x/y.svg -->\n<!-- /lab -->\n", "is none of"),
        ("a <!-- lab:x=../y -->1<!-- /lab -->\n", "is no name"),
    ];
    for (text, expected) in bad {
        match Blocks::of(Path::new(PATH), text) {
            Err(error) => {
                assert!(error.to_string().contains(expected), "{text}: {error}");
            }
            Ok(found) => panic!("{text} has {} blocks", found.count()),
        }
    }
}

#[test]
fn examples_in_code_are_no_blocks() {
    let text = "`<!-- lab:x=y -->1<!-- /lab -->` and\n\n```text\n<!-- lab:x:t -->\n```\n\n~~~~\n```\n<!-- lab:x:t -->\n~~~~\n\na <!-- lab:x=y -->1<!-- /lab -->\n";
    let found = Blocks::of(Path::new(PATH), text).unwrap();
    assert_eq!(found.count(), 1, "{found:?}");
}
