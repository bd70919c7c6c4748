//! Brings the report page's template into the command.
//!
//! The constraint that shaped it: the template is built by npm, which not every builder of the command has,
//! so it can come from elsewhere, and a missing one must say in one line what to do.

use std::path::PathBuf;

/// Names the template instead of the one in `web/dist`.
const VARIABLE: &str = "LOOKBACK_REPORT_TEMPLATE";
/// Where the page's data goes; the same as in the analysis crate, which tests each report with it.
const PLACEHOLDER: &str = "@@LOOKBACK_DATA@@";

fn main() {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let given = std::env::var_os(VARIABLE).filter(|v| !v.is_empty()).map(PathBuf::from);
    let template = given.unwrap_or_else(|| manifest.join("../../web/dist/report.html"));
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    println!("cargo::rerun-if-changed={}", template.display());
    let shown = template.display();
    let text = match std::fs::read_to_string(&template) {
        Ok(text) => text,
        Err(e) => {
            println!(
                "cargo::error=the report page's template {shown} cannot be read ({e}): run `make web`, or name one in {VARIABLE}"
            );
            return;
        }
    };
    let found = text.matches(PLACEHOLDER).count();
    if found != 1 {
        println!(
            "cargo::error=the report page's template {shown} holds {PLACEHOLDER} {found} times instead of once: run `make web` anew"
        );
        return;
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join("report.html");
    if let Err(e) = std::fs::write(&out, text) {
        println!("cargo::error=cannot write {}: {e}", out.display());
    }
}
