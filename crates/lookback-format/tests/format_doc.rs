//! `docs/FORMAT.md` tells the truth: its hex dumps are what the code writes, and it was looked at since the
//! last change of a layout constant.
//!
//! After a change, revise the document's words, then `LOOKBACK_UPDATE=1 cargo test -p lookback-format --test
//! format_doc` writes dumps and checksums anew. It must not change anything but those blocks.

#[path = "../examples/minimal.rs"]
#[allow(dead_code, reason = "its main is for people")]
mod minimal;

use lookback_format::incident::Reader;
use std::fmt::Write as _;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// Where the constants of a layout stand.
const SOURCES: [&str; 15] = [
    "crates/lookback-format/src/slot.rs",
    "crates/lookback-format/src/event.rs",
    "crates/lookback-format/src/symbol.rs",
    "crates/lookback-format/src/definitions.rs",
    "crates/lookback-format/src/native.rs",
    "crates/lookback-format/src/sample.rs",
    "crates/lookback-format/src/region.rs",
    "crates/lookback-format/src/ring_file.rs",
    "crates/lookback-format/src/incident.rs",
    "crates/lookback-ring/src/layout.rs",
    "crates/lookback-ring/src/entry.rs",
    "crates/lookback-ring/src/word.rs",
    "crates/lookback-ring/src/losses.rs",
    "java/runtime/src/java/lang/LookbackTracePoint.java",
    "java/runtime/src/java/lang/LookbackSpans.java",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The lines of a source that define constants and enumerations, without spaces.
fn layout_of(source: &str) -> String {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let mut out = String::new();
    let mut inside: Option<char> = None;
    for line in code.lines().map(str::trim).filter(|l| !l.starts_with("//") && !l.starts_with('*')) {
        let words = line.trim_start_matches("pub(crate) ").trim_start_matches("pub ");
        let words = words.trim_start_matches("private ");
        let constant = words.starts_with("const ") && !words.starts_with("const fn");
        if inside.is_none() {
            inside = if constant || words.starts_with("static final ") {
                Some(';')
            } else if words.starts_with("enum ") {
                Some('}')
            } else {
                None
            };
        }
        if let Some(end) = inside {
            out.extend(line.chars().filter(|c| !c.is_whitespace()));
            if line.ends_with(end) {
                inside = None;
            }
        }
    }
    out
}

fn checksums() -> String {
    let mut out = String::from("| source | checksum of its constants |\n|---|---|\n");
    for source in SOURCES {
        let path = root().join(source);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let checksum = crc32fast::hash(layout_of(&text).as_bytes());
        writeln!(out, "| `{source}` | {checksum:08x} |").expect("a string");
    }
    out
}

/// The text between the marks of a generated block, and where it stands.
fn block<'a>(document: &'a str, name: &str) -> (usize, &'a str) {
    let (begin, end) = (format!("<!-- {name}: generated -->\n"), format!("<!-- {name}: end -->"));
    let from = document.find(&begin).unwrap_or_else(|| panic!("the document has no {begin}")) + begin.len();
    let len = document[from..].find(&end).unwrap_or_else(|| panic!("the document has no {end}"));
    (from, &document[from..from + len])
}

#[test]
fn the_document_shows_what_the_code_writes() {
    let path = root().join("docs/FORMAT.md");
    let mut document = std::fs::read_to_string(&path).expect("docs/FORMAT.md");
    let update = std::env::var_os("LOOKBACK_UPDATE").is_some();
    let wanted = [
        ("constants", checksums()),
        ("region", minimal::region_dump()),
        ("ring-file", minimal::ring_file_dump()),
        ("incident", minimal::incident_dump()),
    ];
    for (name, wanted) in wanted {
        let (from, found) = block(&document, name);
        let len = found.len();
        if update {
            document.replace_range(from..from + len, &wanted);
        } else {
            assert_eq!(
                found, wanted,
                "the block `{name}` of docs/FORMAT.md is not what the code says: revise the document, then run LOOKBACK_UPDATE=1 cargo test -p lookback-format --test format_doc"
            );
        }
    }
    if update {
        std::fs::write(&path, document).expect("docs/FORMAT.md can be written");
    }
}

#[test]
fn the_minimal_incident_is_a_good_one() {
    let mut reader = Reader::open(Cursor::new(minimal::incident())).expect("an incident");
    let mut events = 0;
    assert!(reader.events(&mut |_| events += 1).is_empty(), "nothing is damaged");
    assert_eq!((events, reader.symbols().0.len(), reader.threads().expect("threads").len()), (2, 1, 1));
}

#[test]
fn a_changed_constant_changes_the_checksum_and_a_comment_does_not() {
    let source = "//! A layout.\npub const A: usize = 4;\nconst fn f() {}\nenum E {\n    X = 1,\n}\n";
    let layout = layout_of(source);
    assert_eq!(layout, "pubconstA:usize=4;enumE{X=1,}");
    assert_eq!(layout_of(&source.replace("A layout", "The layout")), layout);
    assert_ne!(layout_of(&source.replace("= 4", "= 8")), layout);
    assert_ne!(layout_of(&source.replace("X = 1", "X = 2")), layout);
}
