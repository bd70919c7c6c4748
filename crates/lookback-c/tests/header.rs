//! The committed header is what the sources say. After a change:
//! `LOOKBACK_UPDATE=1 cargo test -p lookback-c --test header`.
//!
//! The constraint: a header that programs include must be there without a build, so it is committed; and nobody
//! may edit it by hand.

use std::path::Path;

/// Sources whose public items are the library's, in the order in which the header shows them.
const SOURCES: [&str; 5] = ["status", "options", "handles", "record", "snapshot"];

#[test]
fn the_header_is_what_the_sources_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml");
    let builder = SOURCES.iter().fold(cbindgen::Builder::new().with_config(config), |builder, source| {
        builder.with_src(root.join(format!("src/{source}.rs")))
    });
    let mut made = Vec::new();
    builder.generate().expect("the sources are understood").write(&mut made);
    let made = without_safety(&String::from_utf8(made).expect("UTF-8"));
    let path = root.join("include/lookback_ring.h");
    if std::env::var_os("LOOKBACK_UPDATE").is_some() {
        std::fs::write(&path, &made).expect("the header can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == made,
        "the header is not what the sources say: run this test with LOOKBACK_UPDATE=1"
    );
}

/// Leaves out what is said for readers of Rust: each "# Safety" to the end of its comment. Its conditions are
/// part of each function's own words.
fn without_safety(header: &str) -> String {
    let (mut out, mut skipping) = (String::new(), false);
    for line in header.lines() {
        if line.trim() == "* # Safety" {
            skipping = true;
            // The empty line before it.
            out.truncate(out.trim_end().trim_end_matches('*').trim_end().len());
            out.push('\n');
        }
        if line.trim() == "*/" {
            skipping = false;
        }
        if !skipping {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}
