//! `lookback report` and `lookback convert`, on an incident that was recovered from a region made here.

mod support;

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use support::region::region;
use support::{Place, Ran};

/// A place with the incident `x.lkb`.
fn place() -> Place {
    let place = Place::new();
    drop(region(&place.file("r")));
    place.run(&["recover", "r", "-o", "x.lkb"]).ok();
    place
}

#[test]
fn a_report_is_text_and_a_page_beside_the_incident() {
    let place = place();
    let ran = place.run(&["report", "x.lkb"]).ok();
    assert!(ran.out.contains("com.acme.Main") && ran.out.contains("com.acme.C"), "{}", ran.out);
    assert!(!ran.out.contains('\x1b'), "no colours in a pipe");
    for words in ["x.html", "lookback convert x.lkb -o x.pftrace", "ui.perfetto.dev"] {
        assert!(ran.err.contains(words), "{words} in {}", ran.err);
    }
    let page = std::fs::read_to_string(place.file("x.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && !page.contains("@@LOOKBACK_DATA@@"));
    let mode = std::fs::metadata(place.file("x.html")).unwrap().permissions().mode();
    assert_ne!(mode & 0o044, 0, "the page is for others too, as far as the umask allows: {mode:o}");
}

#[test]
fn a_page_that_is_there_is_kept_unless_forced() {
    let place = place();
    std::fs::write(place.file("x.html"), "mine").unwrap();
    let ran = place.run(&["report", "x.lkb"]).ok();
    assert!(ran.err.contains("x.html is there already and was left as it is; --force"), "{}", ran.err);
    place.run(&["report", "x.lkb", "-o", "x.html"]).fails(1, &["x.html is there already"]);
    assert_eq!(std::fs::read_to_string(place.file("x.html")).unwrap(), "mine");
    place.run(&["report", "x.lkb", "--force"]).ok();
    assert!(std::fs::read_to_string(place.file("x.html")).unwrap().starts_with("<!doctype html>"));
}

#[test]
fn text_only_writes_nothing_and_keeps_to_the_width() {
    let place = place();
    let ran = place.run(&["report", "x.lkb", "--text-only", "--width", "60"]).ok();
    assert!(ran.out.lines().all(|l| l.chars().count() <= 60), "{}", ran.out);
    assert_eq!(place.names(), ["lookback", "r", "x.lkb"]);
    place.run(&["report", "x.lkb", "--text-only", "--open"]).fails(2, &["cannot be used with"]);
    place.run(&["report", "x.lkb", "--width", "3"]).fails(2, &["40..=1000"]);
}

#[test]
fn a_page_goes_to_standard_output_alone() {
    let place = place();
    let ran = place.run(&["report", "x.lkb", "-o", "-"]).ok();
    assert!(ran.out.starts_with("<!doctype html>") && ran.out.trim_end().ends_with("</html>"));
    assert_eq!(place.names(), ["lookback", "r", "x.lkb"]);
    let mut command = place.lookback(&["report", "x.lkb", "-o", "-"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let out = child.wait_with_output().unwrap();
    assert_eq!((out.status.code(), out.stderr.len()), (Some(0), 0), "a closed pipe is no error");
}

#[test]
fn a_browser_gets_the_page() {
    let place = place();
    let mut command = place.lookback(&["report", "x.lkb", "--open"]);
    Ran::of(command.env("BROWSER", "/none/browser"))
        .fails(1, &["cannot open x.html", "open x.html yourself"]);
    Ran::of(place.lookback(&["report", "x.lkb", "--open"]).env("BROWSER", "true")).ok();
}

#[test]
fn every_format_is_known_by_its_ending_or_its_name() {
    let place = place();
    let convert = |args: &[&str]| place.run(&[&["convert", "x.lkb"], args].concat());
    for name in ["a.pftrace", "a.json", "a.collapsed", "a.html"] {
        let ran = convert(&["-o", name]).ok();
        assert!(ran.out.is_empty() && ran.err.contains(name), "{ran:?}");
        assert!(std::fs::metadata(place.file(name)).unwrap().len() > 20);
    }
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(place.file("a.json")).unwrap()).expect("JSON");
    assert!(json["traceEvents"].as_array().or(json.as_array()).is_some_and(|events| !events.is_empty()));
    let collapsed = convert(&["-o", "-", "--format", "collapsed"]).ok().out;
    assert_eq!(collapsed, std::fs::read_to_string(place.file("a.collapsed")).unwrap());
    assert!(collapsed.contains("com.acme.C1.m0"), "{collapsed}");
    convert(&["-o", "trace"])
        .fails(2, &["cannot tell the format to write from the name `trace`", "--format"]);
    convert(&["-o", "-"]).fails(2, &["cannot tell the format"]);
    convert(&["-o", "a.json"]).fails(1, &["a.json is there already"]);
    convert(&["-o", "trace", "--format", "pftrace"]).ok();
    assert_eq!(
        std::fs::read(place.file("trace")).unwrap(),
        std::fs::read(place.file("a.pftrace")).unwrap(),
        "a conversion is the same each time"
    );
    convert(&["-o", "/dev/full", "--format", "json"]).fails(1, &["No space left on device"]);
}

#[test]
fn inputs_that_are_no_incidents_are_named() {
    let place = place();
    place.run(&["report", "r"]).fails(1, &["cannot use r: not an incident file", "`lookback recover`"]);
    place.run(&["report", "none.lkb"]).fails(1, &["cannot read none.lkb"]);
    std::fs::write(place.file("p.html"), "").unwrap();
    place.run(&["report", "p.html"]).fails(2, &["is a page already"]);
}
