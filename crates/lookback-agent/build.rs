//! Compiles the classes of `java/runtime` and hands their bytes to the agent.
//!
//! They belong to `java.base` and are compiled against it; see `java/runtime`. Any JDK from 17 on does.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../java/runtime");
    let sources = ["LookbackTracePoint", "LookbackNativePoint", "LookbackSpans"];
    let sources = sources.map(|class| runtime.join(format!("src/java/lang/{class}.java")));
    // The one custom cfg of this crate, so that a misspelt one is still a warning.
    println!("cargo::rustc-check-cfg=cfg(loom)");
    println!("cargo::rerun-if-changed={}", runtime.display());
    println!("cargo::rerun-if-env-changed=JAVA_HOME");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let javac = std::env::var_os("JAVA_HOME")
        .map(|home| PathBuf::from(home).join("bin/javac"))
        .filter(|javac| javac.exists())
        .unwrap_or_else(|| "javac".into());
    let patch = format!("java.base={}:{}", runtime.join("src").display(), runtime.join("stub").display());
    let status = Command::new(&javac)
        .args([
            "-source",
            "17",
            "-target",
            "17",
            "-Xlint:-options",
            "-XDignore.symbol.file",
            "-implicit:none",
        ])
        .args(["--patch-module", &patch, "-d"])
        .arg(&out)
        .args(&sources)
        .status();
    match status {
        Ok(s) if s.success() => {}
        Ok(s) => panic!("{} failed on {}: {s}", javac.display(), runtime.display()),
        Err(e) => panic!(
            "cannot run {}: {e}; install a JDK 17 or later (Debian: apt-get install openjdk-17-jdk-headless) or set JAVA_HOME",
            javac.display()
        ),
    }
}
