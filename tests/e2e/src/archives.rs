//! Programs whose classes the VM takes out of an archive (CDS, AppCDS, JDK 25's AOT cache) are traced as any other, and what
//! of an archive can be used with the agent is used.
//!
//! The constraint that shaped it: of an AOT cache the VM loads classes before any agent sees one, so a program may be there
//! before it has begun to run.

use crate::support::{Java, Jdk, Place, artifacts, jdks};
use std::path::Path;

/// Classes that the VM loads, and how many of them out of an archive, by its own log.
fn loaded(java: &Java<'_>, place: &Place) -> (usize, usize) {
    let log = place.file("classes.log");
    let mut running = java.clone().option(format!("-Xlog:class+load:file={}", log.display())).start();
    running.ask("one 50", "did one 50");
    running.end().ok();
    let text = std::fs::read_to_string(&log).expect("the VM's log");
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(" source: ")).collect();
    (lines.len(), lines.iter().filter(|line| line.contains("shared objects file")).count())
}

fn program<'a>(jdk: &'a Jdk, place: &'a Place, jar: &Path) -> Java<'a> {
    Java::new(jdk, place, &["Hot"]).class_path(jar)
}

/// A jar with the program: archives are of jars only.
fn jar(place: &Place) -> std::path::PathBuf {
    let jar = place.file("hot.jar");
    artifacts::jar(
        &jar,
        &["Hot.class", "Hot$One.class", "Hot$Two.class", "Hot$Lists.class", "Hot$Watched.class"],
    );
    jar
}

#[test]
fn nothing_of_the_default_archive_is_lost() {
    for jdk in jdks() {
        let place = Place::new();
        let jar = jar(&place);
        let (_, bare) = loaded(&program(jdk, &place, &jar), &place);
        let (_, traced) = loaded(&program(jdk, &place, &jar).agent(""), &place);
        println!("JDK {}: {bare} classes out of the archive, {traced} with the agent", jdk.version);
        // The few that have wait points are handed over again, and stay the archive's; others are needed for the agent.
        assert!(bare > 400 && traced + 20 >= bare, "JDK {}: {bare} became {traced}", jdk.version);
    }
}

#[test]
fn a_program_out_of_an_archive_is_traced() {
    for jdk in jdks() {
        let place = Place::new();
        let (jar, archive) = (jar(&place), place.file("archive").display().to_string());
        // JEP 350, and JEP 514 where there is one: it has the classes linked before the program runs.
        let (make, using) = if jdk.version >= 25 {
            (format!("-XX:AOTCacheOutput={archive}"), format!("-XX:AOTCache={archive}"))
        } else {
            (format!("-XX:ArchiveClassesAtExit={archive}"), format!("-XX:SharedArchiveFile={archive}"))
        };
        let mut made = program(jdk, &place, &jar).option(make).start();
        made.ask("one 50", "did one 50");
        made.end().ok();
        let mut running = program(jdk, &place, &jar).option(using).agent("").start();
        running.ask("request 100", "did request 100");
        let recorded = place.dump(running.pid);
        let recording = recorded.analysed();
        let slices =
            &recording.threads[recording.thread(recorded.thread("main").key).expect("it ran")].slices;
        // Not its stages: where it calls as often as it can, the brake may hold back where the second begins.
        let requests =
            slices.indices().filter(|i| recorded.full_name(slices.method[i.at()]) == "Hot.request");
        assert_eq!(requests.count(), 1, "JDK {}", jdk.version);
        running.end().ok();
    }
}
