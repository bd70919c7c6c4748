//! The experiments' files of the checks.
//!
//! The constraint that shaped it: a check runs what a user could run, so it is written as a file and kept with the
//! results. Must not use anything that an experiment's file does not have.

use super::Extent;

/// What the files have in common.
fn head(name: &str, about: &str, workload: &str, extent: &Extent) -> String {
    let quiet = if extent.quick {
        "# Nothing counts as disturbed: this is to show that the parts work, on any machine.\n\
         [quiet]\nsteal-percent = 100.0\nothers-percent = 100.0\nswap = \"1024g\"\npatience = \"1s\"\n"
    } else {
        "[quiet]\nsteal-percent = 2.0\nothers-percent = 5.0\nswap = \"0\"\npatience = \"60s\"\n"
    };
    format!(
        "# Written by `lookback lab self-check`.\n\nname = \"{name}\"\nabout = \"{about}\"\nrun = [\"{workload}\"]\n\
         {{body}}\n{quiet}\n[jdks.17]\nversion = 17\noptional = true\n\n[jdks.25]\nversion = 25\noptional = true\n"
    )
}

/// `known-gc` with each collector that stops the program for all it does, on each JDK that is there.
pub(super) fn attribution(extent: &Extent) -> String {
    let head = head(
        "attribution",
        "Is the collector's CPU time what the program itself knows of it?",
        "known-gc",
        extent,
    );
    let body = format!(
        "invocations = {}\niterations = {iterations}\nmeasured = [\"2-{iterations}\"]\n\
         configurations = [\"{{17,25}}|{{serial,parallel,g1}}\"]\n\n[heap]\nbytes = \"512m\"\n",
        extent.known_gc,
        iterations = extent.known_gc_iterations,
    );
    head.replace("{body}", &body)
}

/// `steady` under two names.
pub(super) fn same(jdk: &str, extent: &Extent) -> String {
    let head = head("same", "Is a configuration told from itself?", "steady", extent);
    let body = steady(jdk, extent, extent.comparisons * extent.invocations)
        + "\n[modifiers.a]\nabout = \"changes nothing\"\n\n[modifiers.b]\nabout = \"changes nothing\"\n";
    head.replace("{body}", &body)
}

/// `steady` with and without more work.
pub(super) fn planted(name: &str, jdk: &str, extent: &Extent, invocations: u32) -> String {
    let head = head(name, "Is a slowdown of known size found, and its size?", "steady", extent);
    let body = steady(jdk, extent, invocations)
        + &format!(
            "\n[modifiers.a]\nabout = \"changes nothing\"\n\n[modifiers.b]\nabout = \"does {percent} % more\"\n\
             arguments = [\"--extra-percent\", \"{percent}\"]\n",
            percent = extent.planted_percent
        );
    head.replace("{body}", &body)
}

/// The common part of experiments with `steady`: configurations `a` and `b`.
fn steady(jdk: &str, extent: &Extent, invocations: u32) -> String {
    let size = if extent.quick { "small" } else { "default" };
    format!(
        "invocations = {invocations}\niterations = 5\nmeasured = [\"3-5\"]\nsize = \"{size}\"\n\
         configurations = [\"{jdk}|serial|{{a,b}}\"]\n\n[heap]\nbytes = \"64m\"\n"
    )
}
