//! Declares the one custom cfg of this crate, `loom`, so that a misspelt cfg is still a warning.
//! It must not probe the machine or generate code.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(loom)");
    println!("cargo::rerun-if-changed=build.rs");
}
