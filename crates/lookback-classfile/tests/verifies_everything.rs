//! Every class of java.base, every method traced, under the JVM's own verifier.
//!
//! Constraint: classes of java.base cannot be defined by a custom loader, and
//! renaming them would change what is verified, so the rewritten ones replace
//! the originals with `--patch-module` in a JVM that boots from them. A class
//! that is broken on purpose shows that the driver would notice. HotSpot never
//! verifies a few classes it needs before the verifier works; they are listed.
//!
//! `LOOKBACK_VERIFY_MODULES` (names separated by commas, or `ALL`) adds modules
//! to java.base, `LOOKBACK_VERIFY_JARS` (a path list) adds jar files.

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use lookback_classfile::{Scratch, SkipCounts, rewrite};
use support::assembler::{ClassBuilder, Code};
use support::{
    Jdk, POINTS, PackedClass, TempDir, TraceAll, dump_classes, java_sources, jdks, run, write_class,
};

/// HotSpot skips these in `Verifier::is_eligible_for_verification`: the verifier itself rests on them.
const NEVER_VERIFIED: [&str; 4] =
    ["java/lang/Class", "java/lang/Object", "java/lang/String", "java/lang/Throwable"];

/// And whatever is below this (up to JDK 23): generated subclasses break the rules on purpose.
const NEVER_VERIFIED_BELOW: &str = "jdk/internal/reflect/MagicAccessorImpl";

#[test]
fn java_base_verifies_on_every_jdk() {
    let extra = std::env::var("LOOKBACK_VERIFY_MODULES").unwrap_or_default();
    for jdk in jdks() {
        let mut names = vec!["java.base".to_string()];
        if extra == "ALL" {
            let listing = run(jdk.command("java").arg("--list-modules"));
            names.extend(listing.lines().filter_map(|l| l.split('@').next()).map(str::to_string));
        } else {
            names.extend(extra.split(',').filter(|n| !n.is_empty()).map(str::to_string));
        }
        names.dedup();
        verify_modules(&jdk, &names, TraceAll::plain());
    }
}

#[test]
fn java_base_verifies_with_every_kind_of_trace_point() {
    let jdk = jdks().pop().expect("a JDK");
    verify_modules(&jdk, &["java.base".to_string()], TraceAll::mixed(32_000));
}

#[test]
fn jars_verify_on_every_jdk() {
    let list = std::env::var_os("LOOKBACK_VERIFY_JARS").unwrap_or_default();
    for jdk in jdks() {
        // Every JDK has this one, compiled for Java 8.
        let mut jars = vec![jdk.home.join("lib/jrt-fs.jar")];
        jars.extend(std::env::split_paths(&list).filter(|p| !p.as_os_str().is_empty()));
        for jar in &jars {
            let classes = dump_classes(&jdk, &[jar.to_str().expect("a UTF-8 path")]);
            assert!(!classes.is_empty(), "{} has no classes", jar.display());
            verify_jar(&jdk, jar, &jars, &classes);
        }
    }
}

/// Rewrites all classes into `folder`, also those in which nothing changes.
fn rewrite_all(classes: &[PackedClass], policy: &mut TraceAll, folder: &Path) -> (SkipCounts, usize) {
    let mut scratch = Scratch::new();
    let (mut skipped, mut methods) = (SkipCounts::default(), 0);
    for class in classes {
        let outcome = rewrite(&class.bytes, &POINTS, policy, &mut scratch)
            .unwrap_or_else(|e| panic!("{}: {e}", class.name));
        skipped.add(&outcome.skipped);
        methods += outcome.traced.len();
        write_class(folder, &class.name, outcome.bytes.as_deref().unwrap_or(&class.bytes));
    }
    (skipped, methods)
}

fn list(classes: impl Iterator<Item = String>, file: &Path) {
    let names: Vec<String> = classes.map(|n| n.replace('/', ".")).collect();
    std::fs::write(file, names.join("\n")).expect("the name list");
}

/// A class whose only method pops from an empty stack.
fn broken_class(name: &str) -> Vec<u8> {
    let mut builder = ClassBuilder::new(name, 61, 0);
    builder.default_constructor();
    let code = Code { max_stack: 1, max_locals: 0, bytes: vec![87, 177], ..Code::default() };
    builder.method(9, "broken", "()V", &code);
    builder.build()
}

/// Compiles the silent trace points and the driver.
fn compile(jdk: &Jdk, base: &Path, tools: &Path) {
    let quiet = java_sources().join("quiet");
    run(jdk
        .command("javac")
        .arg("--patch-module")
        .arg(format!("java.base={}", quiet.display()))
        .arg("-d")
        .arg(base)
        .arg(quiet.join("java/lang/LookbackTracePoint.java")));
    run(jdk.command("javac").arg("-d").arg(tools).arg(java_sources().join("tools/LinkAll.java")));
}

/// Rewrites whole modules, java.base first, and boots a JVM from them.
fn verify_modules(jdk: &Jdk, modules: &[String], mut policy: TraceAll) {
    let dir = TempDir::new(&format!("verify-{}", jdk.release));
    let (tools, names, log) = (dir.join("tools"), dir.join("names"), dir.join("verification.log"));
    let mut command = jdk.command("java");
    let (mut classes, mut skipped, mut methods) = (Vec::new(), SkipCounts::default(), 0);
    for module in modules {
        let patch = dir.join(module);
        let found = dump_classes(jdk, &[module]);
        let (skips, count) = rewrite_all(&found, &mut policy, &patch);
        skipped.add(&skips);
        methods += count;
        classes.extend(found.into_iter().map(|c| c.name));
        command.arg(format!("--patch-module={module}={}", patch.display()));
    }
    let base = dir.join(&modules[0]);
    compile(jdk, &base, &tools);
    write_class(&base, "java/lang/LookbackBroken", &broken_class("java/lang/LookbackBroken"));
    list(classes.iter().cloned().chain(["java/lang/LookbackBroken".to_string()]), &names);

    let printed = run(command
        .current_dir(dir.path())
        .args(["-Xverify:all", "-Xshare:off", "--add-modules=ALL-SYSTEM"])
        .arg(format!("-Xlog:class+init=info:file={}:none", log.display()))
        .arg("-cp")
        .arg(&tools)
        .arg("LinkAll")
        .arg(&names));

    let failures: Vec<&str> = printed.lines().filter(|l| l.starts_with("FAILED")).collect();
    assert!(
        failures.iter().any(|l| l.contains("java.lang.LookbackBroken: java.lang.VerifyError")),
        "the broken class was not noticed, so nothing is verified:\n{printed}"
    );
    assert_eq!(failures.len(), 1, "rewritten classes do not verify:\n{}", failures.join("\n"));
    let summary = format!("linked {} classes, 1 verify errors, 0 unlinkable", classes.len());
    assert!(printed.contains(&summary), "expected `{summary}`:\n{printed}");

    let verified = verified_classes(&log);
    let (missed, verified): (Vec<&str>, Vec<&str>) =
        classes.iter().map(String::as_str).partition(|n| !verified.contains(&n.replace('/', ".")));
    let expected = |n: &&str| NEVER_VERIFIED.contains(n) || policy.is_below(n, NEVER_VERIFIED_BELOW);
    let surprises: Vec<&&str> = missed.iter().filter(|n| !expected(n)).collect();
    assert!(surprises.is_empty(), "linked but not verified by the JVM: {surprises:?}");
    let modules = if modules.len() > 3 { format!("{} modules", modules.len()) } else { modules.join(" ") };
    println!(
        "JDK {}: {modules}: {methods} methods rewritten, left alone: {}",
        jdk.release,
        reasons(&skipped)
    );
    println!("JDK {}: {} classes HotSpot never verifies: {}", jdk.release, missed.len(), missed.join(", "));
    println!("JDK {}: {modules}: verified {} classes, 0 errors", jdk.release, verified.len());
}

/// The classes whose bytecode HotSpot went through, by its own log.
fn verified_classes(log: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(log).expect("the JVM's log");
    text.lines().filter_map(|l| l.strip_prefix("End class verification for: ")).map(str::to_string).collect()
}

fn reasons(skipped: &SkipCounts) -> String {
    let parts: Vec<String> =
        skipped.iter().filter(|(_, n)| *n > 0).map(|(reason, n)| format!("{n} {}", reason.name())).collect();
    parts.join(", ")
}

/// Verifies a jar's classes rewritten on the class path. Classes whose dependencies are missing
/// must be as unlinkable as the originals.
fn verify_jar(jdk: &Jdk, jar: &Path, class_path: &[std::path::PathBuf], classes: &[PackedClass]) {
    let dir = TempDir::new(&format!("jar-{}", jdk.release));
    let (rewritten, tools, names) = (dir.join("rewritten"), dir.join("tools"), dir.join("names"));
    let (skipped, methods) = rewrite_all(classes, &mut TraceAll::mixed(30_000), &rewritten);
    let patch = dir.join("patch");
    compile(jdk, &patch, &tools);
    list(classes.iter().map(|c| c.name.clone()), &names);
    let summary = |first: &Path| {
        let path = [first, &tools].into_iter().chain(class_path.iter().map(|p| p.as_path()));
        let printed = run(jdk
            .command("java")
            .arg(format!("--patch-module=java.base={}", patch.display()))
            .arg("-Xverify:all")
            .arg("-cp")
            .arg(std::env::join_paths(path).expect("a class path"))
            .arg("LinkAll")
            .arg(&names));
        let failed: Vec<String> =
            printed.lines().filter(|l| l.starts_with("FAILED")).map(str::to_string).collect();
        let last = printed.lines().rfind(|l| l.starts_with("linked")).expect("a summary").to_string();
        (last, failed)
    };
    let (before, after) = (summary(&tools), summary(&rewritten));
    assert_eq!(
        before.0,
        after.0,
        "{}: first differences: {:?}",
        jar.display(),
        &after.1[..after.1.len().min(5)]
    );
    let name = jar.file_name().unwrap_or_default().to_string_lossy();
    println!("JDK {}: {name}: {methods} methods rewritten, left alone: {}", jdk.release, reasons(&skipped));
    println!("JDK {}: {name}: {}", jdk.release, after.0);
}
