//! The laboratory's output on the command line: reports, exports, kept runs and the figures of documents.

mod support;

use std::fs;
use std::path::PathBuf;
use support::Place;

/// A results directory of two invocations, one of them out of memory.
fn results(place: &Place) -> PathBuf {
    let record = |number: u32, outcome: &str, iterations: &str| {
        format!(
            r#"{{"schema":1,"cell":"00","workload":"h2","jdk":"17","configuration":"g1","collector":"g1","tracer":null,"heap":{{"multiple":2.0,"bytes":44040192}},"invocation":{number},"attempt":1,"host":"here","started":"2026-01-02T03:04:0{number}Z","process_ns":5,"outcome":{{"kind":"{outcome}"}},"disturbances":[],"machine":{{"steal_percent":0.0,"others_percent":0.0,"swap_bytes":0,"load":0.0,"cpu_pressure_us":0,"memory_pressure_us":0,"io_pressure_us":0}},"iterations":[{iterations}],"raw":"raw/00/{number}-1"}}"#
        )
    };
    let good = r#"{"number":1,"measured":true,"metrics":{"wall":1500000000.0}}"#;
    let dir = place.file("results");
    fs::create_dir(&dir).unwrap();
    let text = format!("{}\n{}\n", record(1, "ok", good), record(2, "out_of_memory", ""));
    fs::write(dir.join("results.jsonl"), text).unwrap();
    dir
}

#[test]
fn a_report_is_a_page_or_text_and_a_missing_directory_is_told() {
    let place = Place::new();
    results(&place);
    let page = place.run(&["lab", "report", "results"]).ok();
    assert!(page.out.contains("2 attempts ran; 1 count, 1 do not: out of memory 1."), "{}", page.out);
    let html = fs::read_to_string(place.file("results/report.html")).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("1.50"));
    place.run(&["lab", "report", "results"]).ok();
    let text = place.run(&["lab", "report", "results", "--format", "txt"]).ok();
    assert!(text.out.contains("Wall time at 2\u{d7} heap") && text.err.is_empty(), "{}", text.out);
    fs::write(place.file("mine.md"), "mine").unwrap();
    place
        .run(&["lab", "report", "results", "--format", "md", "-o", "mine.md"])
        .fails(1, &["mine.md", "--force"]);
    place.run(&["lab", "report", "results", "--format", "png", "-o", "pictures"]).ok();
    assert!(fs::read(place.file("pictures/run-order-dark.png")).unwrap().starts_with(b"\x89PNG"));
    place.run(&["lab", "report", "gone"]).fails(1, &["cannot read", "gone"]);
    place.run(&["lab", "report", "results", "--heap", "0.5"]).fails(2, &["1 or more"]);
}

#[test]
fn an_export_is_named_by_its_file_and_a_damaged_line_by_its_number() {
    let place = Place::new();
    let dir = results(&place);
    place.run(&["lab", "export", "results", "-o", "r.parquet"]).ok();
    assert!(fs::read(place.file("r.parquet")).unwrap().starts_with(b"PAR1"));
    let csv = place.run(&["lab", "export", "results", "-o", "-", "--format", "csv"]).ok();
    assert_eq!(csv.out.lines().count(), 3);
    place.run(&["lab", "export", "results", "-o", "r.xls"]).fails(2, &["r.xls", ".parquet"]);
    fs::write(dir.join("results.jsonl"), "{}\n").unwrap();
    place.run(&["lab", "export", "results", "-o", "s.csv"]).fails(1, &["results.jsonl", "line 1"]);
    assert!(!place.file("s.csv").exists());
}

#[test]
fn a_document_cites_a_run_and_a_typed_figure_is_found() {
    let place = Place::new();
    results(&place);
    fs::create_dir(place.file("runs")).unwrap();
    let cites = "It takes <!-- lab:first=mean-wall-2x.h2.17-g1 unit --><!-- /lab -->.\n";
    fs::write(place.file("DOC.md"), cites).unwrap();
    let publish = ["lab", "publish", "results", "--name", "first", "--to", "runs", "--into", "DOC.md"];
    let published = place.run(&publish).ok();
    assert_eq!(published.out, "runs/2026-01-02-0304-first\n");
    let document = fs::read_to_string(place.file("DOC.md")).unwrap();
    assert!(document.contains("-->1.50 s<!-- /lab -->."), "{document}");
    let check = ["lab", "publish", "--check", "DOC.md", "--to", "runs"];
    place.run(&check).ok();
    fs::write(place.file("DOC.md"), document.replace("1.50", "1.05")).unwrap();
    let stale = place.run(&check).fails(1, &["1 block differs", "--into"]);
    assert!(stale.out.contains("DOC.md:1: ") && stale.out.contains("1.50 s"), "{}", stale.out);
    place.run(&["lab", "publish", "--renew", "DOC.md", "--to", "runs"]).ok();
    assert_eq!(fs::read_to_string(place.file("DOC.md")).unwrap(), document);
    fs::write(place.file("OLD.md"), document.replace("1.50", "1.05")).unwrap();
    fs::write(place.file("GONE.md"), cites.replace("h2.17", "h2.99")).unwrap();
    let renew = ["lab", "publish", "--renew", "OLD.md", "GONE.md", "--to", "runs"];
    place.run(&renew).fails(1, &["GONE.md", "no line"]);
    assert!(fs::read_to_string(place.file("OLD.md")).unwrap().contains("1.05"), "all documents or none");
    place.run(&publish).fails(1, &["was published before", "--force"]);
    place.run(&["lab", "publish", "results", "--name", "Not a word"]).fails(2, &["small letters"]);
    place.run(&["lab", "publish", "results"]).fails(2, &["--name"]);
}
