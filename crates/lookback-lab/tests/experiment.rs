//! From experiment files to plans: what is put together, in which order, and under which identity.

mod support;

use lookback_lab::experiment::{EXAMPLES, Missing, Surroundings, modifiers, resolve};
use lookback_lab::plan::{Cell, Durations, Estimate, Pin, Plan, Shard};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use support::{Machine, Minima, lines};

fn options(cell: &Cell) -> Vec<String> {
    cell.launch.jvm.as_ref().unwrap().options.clone()
}

/// The plan of an experiment of three workloads and two configurations, seven times.
fn plan(machine: &Machine, more: &str) -> Plan {
    let text = format!(
        "invocations = 7\nrun = [\"h2\", \"pmd\", \"ecj\"]\nconfigurations = [\"17|{{serial,g1}}\"]\n{more}"
    );
    machine.resolve(&text).unwrap_or_else(|problems| panic!("{}", lines(&problems))).plan
}

#[test]
fn each_workload_meets_each_configuration_of_a_set() {
    let machine = Machine::new();
    let cells = machine
        .cells("run = [\"h2\", \"pmd\"]\nconfigurations = [\"{17,25}|{serial,g1}|{bare,lookback}\"]\n");
    let names: Vec<_> =
        cells.iter().map(|cell| format!("{} {} {}", cell.workload, cell.jdk, cell.configuration)).collect();
    assert_eq!(names.len(), 2 * 2 * 2 * 2);
    assert_eq!(names[0], "h2 17 serial|bare");
    assert_eq!(names[15], "pmd 25 g1|lookback");
    let cell = &cells[1];
    assert_eq!((cell.collector.as_deref(), cell.tracer.as_deref()), (Some("serial"), Some("lookback")));
    assert_eq!((cells[0].iterations, cells[0].measured.as_slice(), &cells[0].tracer), (5, &[5][..], &None));
    let agent = format!(
        "-agentpath:{}=learned={{dir}}/lookback.learned,quiet=on",
        machine.around.tools.agent.display()
    );
    assert_eq!(options(cell), ["-XX:+UseSerialGC".to_owned(), agent]);
    let command = cells[0].launch.command.join(" ");
    let plugin = "--callback dev.lookback.harness.WorkloadsCallback";
    assert_eq!(command, format!("dev.lookback.workloads.Main h2 --iterations 5 --size default {plugin}"));
    let jars = cells[0].launch.jvm.as_ref().unwrap().class_path.clone();
    let expected = "lookback-workloads.jar lib/a.jar lib/b.jar".split(' ');
    let expected: Vec<_> = expected.map(|jar| format!("MACHINE/workloads/{jar}")).collect();
    assert_eq!(machine.anonymous(&jars), expected.join(":"));
}

#[test]
fn modifiers_take_parameters_include_others_and_differ_by_release() {
    let machine = Machine::new();
    let text = r#"
        run = ["h2"]
        configurations = ["25|tuned-2-16m", "25|genzgc", "25|genshen|tight"]
        [jdks.25]
        options = ["-Xlog:disable"]
        [modifiers.tuned]
        include = ["g1", "gc-threads-{0}"]
        options = ["-XX:G1HeapRegionSize={1}"]
        arguments = ["--threads", "{0}"]
        env = { THREADS = "{0}" }
        class-path = ["extra.jar"]
        [modifiers.tight]
        mocked-memory = "512m:128m"
        on = { "17..24" = ["-Dold=true"], "25.." = ["-Dnew=true"] }
        options = ["-Ddir={dir}", "-Dhere={here}"]
        [workloads.h2]
        options = ["-Dlast=true"]
    "#;
    let cells = machine.cells(text);
    let tuned = &cells[0];
    assert_eq!(
        options(tuned),
        [
            "-Xlog:disable",
            "-XX:+UseG1GC",
            "-XX:ParallelGCThreads=2",
            "-XX:ConcGCThreads=2",
            "-XX:G1HeapRegionSize=16m",
            "-Dlast=true"
        ]
    );
    assert_eq!((tuned.configuration.as_str(), tuned.collector.as_deref()), ("tuned-2-16m", Some("g1")));
    assert!(tuned.launch.command.ends_with(&["--threads".into(), "2".into()]));
    assert_eq!(tuned.launch.env, BTreeMap::from([("THREADS".into(), "2".into())]));
    assert!(tuned.launch.jvm.as_ref().unwrap().class_path.ends_with("/extra.jar"));
    // ZGenerational is gone from 24 on, and genshen is a product option from 25 on.
    assert_eq!(options(&cells[1]), ["-Xlog:disable", "-XX:+UseZGC", "-Dlast=true"]);
    let tight = options(&cells[2]).join(" ");
    let expected = "-Xlog:disable -XX:+UseShenandoahGC -XX:ShenandoahGCMode=generational -Dnew=true -Ddir={dir} -Dhere=MACHINE -Dlast=true";
    assert_eq!(machine.anonymous(&tight), expected);
    assert_eq!(cells[2].launch.jvm.as_ref().unwrap().mocked_memory, Some((512 << 20, 128 << 20)));
}

#[test]
fn a_modifier_may_have_a_rehearsal_which_is_part_of_what_a_cell_is() {
    let machine = Machine::new();
    machine.write("learn.sh", "one");
    let text = r#"
        run = ["h2"]
        configurations = ["17|g1|learned", "17|g1|bare"]
        [modifiers.learned]
        rehearsal = ["./learn.sh", "{dir}/learned", "{java}"]
        options = ["-Dlearned={dir}/learned"]
    "#;
    let cells = machine.cells(text);
    let rehearsal = cells[0].launch.rehearsal.join(" ");
    let java = cells[0].launch.jvm.as_ref().unwrap().java.display().to_string();
    assert_eq!(machine.anonymous(&rehearsal.replace(&java, "JAVA")), "MACHINE/./learn.sh {dir}/learned JAVA");
    assert!(cells[1].launch.rehearsal.is_empty());
    assert_ne!(cells[0].id, machine.cells(&text.replace("/learned\", \"{java}", "/learned"))[0].id);
    machine.write("learn.sh", "another");
    let changed = machine.cells(text);
    assert_ne!(cells[0].id, changed[0].id);
    assert_eq!(cells[1].id, changed[1].id);
    let plan = machine.resolve(text).unwrap().plan;
    let seconds = |plan: &Plan| Estimate::of(plan, &Durations::default(), |_| 10.0).total.as_secs();
    assert_eq!(seconds(&plan), 15 * (20 + 10), "a rehearsal takes as long as the invocation");
    let two = "[modifiers.other]\nrehearsal = [\"env\"]\n";
    let both = format!("{}{two}", text.replace("g1|learned", "g1|learned|other"));
    assert!(lines(&machine.resolve(&both).unwrap_err()).contains("a configuration has one"));
}

#[test]
fn every_kind_of_workload_has_its_command() {
    let machine = Machine::new();
    let text = r#"
        iterations = 3
        configurations = ["17|g1"]
        [workloads.small]
        workload = "xalan"
        size = "small"
        harness = false
        checksum = { 17 = "0123456789abcdef" }
        [workloads.chopin]
        kind = "dacapo"
        jar = "dacapo.jar"
        benchmark = "lusearch"
        arguments = ["-t", "2"]
        [workloads.als]
        kind = "renaissance"
        jar = "renaissance.jar"
        measured = ["2-3"]
        [workloads.app]
        kind = "java"
        class-path = ["app/*", "more.jar"]
        main = "com.acme.Main"
        [workloads.bracketed]
        kind = "java"
        main = "com.acme.Main"
        harness = true
        [workloads.make]
        kind = "command"
        program = ["./ring.sh", "--java", "{java}"]
        configurations = ["17", "default"]
    "#;
    std::fs::create_dir(machine.path("app")).unwrap();
    machine.write("app/app.jar", "");
    let found = machine.resolve(text);
    // The last one runs without a JDK as well, where `{java}` has no meaning.
    assert!(lines(&found.unwrap_err()).contains("`{java}` means nothing here"));
    let cells = machine.cells(&text.replace(", \"default\"", ""));
    let commands: Vec<_> =
        cells.iter().map(|cell| machine.anonymous(&cell.launch.command.join(" "))).collect();
    assert_eq!(
        commands,
        [
            "dev.lookback.workloads.Main xalan --iterations 3 --size small",
            "Harness -n 3 -s default -c dev.lookback.harness.DacapoCallback -t 2 lusearch",
            "org.renaissance.core.Launcher -r 3 --plugin MACHINE/harness.jar!dev.lookback.harness.RenaissancePlugin als",
            "com.acme.Main",
            "com.acme.Main",
            "MACHINE/./ring.sh --java MACHINE/jvm/jdk-17/bin/java",
        ]
    );
    let harness: Vec<_> = cells.iter().map(|cell| cell.launch.jvm.as_ref().map(|jvm| jvm.harness)).collect();
    assert_eq!(harness, [Some(false), Some(true), Some(true), Some(false), Some(true), None]);
    assert_eq!(cells[0].checksum.as_deref(), Some("0123456789abcdef"));
    assert_eq!((cells[2].measured.as_slice(), cells[3].iterations), (&[2, 3][..], 1));
    assert_eq!(
        machine.anonymous(&cells[3].launch.jvm.as_ref().unwrap().class_path),
        "MACHINE/app/app.jar:MACHINE/more.jar"
    );
    assert_eq!(machine.anonymous(&cells[5].launch.env["JAVA_HOME"]), "MACHINE/jvm/jdk-17");
    assert_eq!((cells[5].jdk.as_str(), cells[5].configuration.as_str()), ("17", "default"));
}

#[test]
fn heaps_are_multiples_of_each_or_of_one_minimum() {
    let machine = Machine::new();
    let text = "run = [\"h2\"]\nconfigurations = [\"17|{g1,serial,epsilon}|{bare,lookback}\"]\n[heap]\nmultiples = [1, 1.26, 4]\nsizes = { epsilon = \"2g\" }\n";
    let minima = Minima(&[("h2", "g1", 10), ("h2", "serial", 7)]);
    let heaps = |text: &str| {
        let plan =
            machine.resolve_with(text, &minima).unwrap_or_else(|problems| panic!("{}", lines(&problems)));
        let mib = |cell: &Cell| (cell.configuration.clone(), cell.heap.unwrap().bytes >> 20);
        plan.plan.cells.iter().map(mib).filter(|(name, _)| name.ends_with("bare")).collect::<Vec<_>>()
    };
    let of = |g1: [u64; 3], serial: [u64; 3]| {
        let g1 = g1.map(|mib| ("g1|bare".to_owned(), mib));
        let serial = serial.map(|mib| ("serial|bare".to_owned(), mib));
        [&g1[..], &serial[..], &[("epsilon|bare".to_owned(), 2048)]].concat()
    };
    assert_eq!(heaps(text), of([10, 13, 40], [7, 9, 28]));
    assert_eq!(heaps(&format!("{text}of = \"g1\"\n")), of([10, 13, 40], [10, 13, 40]));
    assert_eq!(heaps(&format!("{text}of = \"17|serial\"\n")), of([7, 9, 28], [7, 9, 28]));
}

#[test]
fn minimum_heaps_that_are_not_known_are_told_with_what_finds_them() {
    let machine = Machine::new();
    let text = "run = [\"h2\", \"pmd\"]\nconfigurations = [\"17|{g1,serial}|{bare,lookback}\"]\n[heap]\nmultiples = 9\n";
    let found = machine.resolve_with(text, &Minima(&[("h2", "g1", 10)])).unwrap();
    assert_eq!(found.plan.cells.len(), 2 * 9);
    let missing: Vec<_> = found.missing.iter().map(Missing::to_string).collect();
    assert_eq!(
        missing,
        [
            "the minimum heap of `h2` under `17|serial` is not known",
            "the minimum heap of `pmd` under `17|g1` is not known",
            "the minimum heap of `pmd` under `17|serial` is not known",
        ]
    );
    assert_eq!(found.searches.len(), 4);
    let search = &found.searches[0];
    assert_eq!((search.known, search.cell.heap, &search.cell.tracer), (Some(10 << 20), None, &None));
    assert_eq!(options(&search.cell), ["-XX:+UseG1GC"]);
    // A search needs the JDK also where no cell can be made yet.
    let found = machine.resolve(text).unwrap();
    assert_eq!((found.plan.cells.len(), found.plan.jdks.len(), found.searches.len()), (0, 1, 4));
}

#[test]
fn what_is_missing_does_not_hide_the_plan_and_is_not_hidden_by_it() {
    let mut machine = Machine::new();
    machine.around.tools.harness = machine.path("absent.so");
    let found = machine.resolve("run = [\"h2\"]\nconfigurations = [\"17|g1\"]\n").unwrap();
    assert_eq!(found.plan.cells.len(), 1);
    let missing = machine.anonymous(&found.missing[0].to_string());
    assert_eq!(missing, "the harness's library: MACHINE/absent.so is not there");
    let path = machine.path("experiment.toml");
    let error = lookback_lab::experiment::load(&path, &machine.around, &Minima(&[])).unwrap_err();
    assert!(error.to_string().contains("cannot run yet: 1 thing missing"), "{error}");
}

#[test]
fn what_cannot_run_is_left_out_when_the_file_says_so() {
    let machine = Machine::new();
    let text = "skip-impossible = true\nrun = [\"h2\"]\nconfigurations = [\"{17,25}|{g1,genshen}\", \"21|g1\"]\n[jdks.21]\noptional = true\n";
    let found = machine.resolve(text).unwrap();
    let names: Vec<_> =
        found.plan.cells.iter().map(|cell| format!("{}|{}", cell.jdk, cell.configuration)).collect();
    assert_eq!(names, ["17|g1", "25|g1", "25|genshen"]);
    let skipped = lines(&found.skipped);
    assert!(
        skipped.contains("left out: modifier `genshen` needs Java 24 or newer, and JDK `17` is 17"),
        "{skipped}"
    );
    assert!(skipped.contains("JDK `21` is left out: no JDK 21 is there"), "{skipped}");
    let jdks: Vec<_> = found.plan.jdks.iter().map(|jdk| (jdk.name.as_str(), jdk.version.as_str())).collect();
    assert_eq!(jdks, [("17", "17.0.15+6-Debian"), ("25", "25.0.3+9-LTS")]);
    // printf 17.0.15+6-Debian | sha256sum
    assert_eq!(found.plan.jdks[0].hash, "bce305bbd5319d71416605a00bbea03ff5704b0e0cdbcc3fab69587eeddda3ca");
}

#[test]
fn a_jdk_is_found_by_variable_first_and_by_its_own_version_only() {
    let mut machine = Machine::new();
    let home = |machine: &Machine| {
        let found = machine.resolve("run = [\"h2\"]\nconfigurations = [\"17\"]\n").unwrap();
        machine.anonymous(&found.plan.jdks[0].home.display().to_string())
    };
    // The variable names another release, so it is not believed.
    machine.around.java_homes.insert("JAVA_HOME".into(), machine.path("jvm/jdk-25"));
    assert_eq!(home(&machine), "MACHINE/jvm/jdk-17");
    let other = machine.path("other");
    std::fs::rename(machine.path("jvm/jdk-17"), &other).unwrap();
    machine.around.java_homes.insert("JAVA_HOME_17".into(), other);
    assert_eq!(home(&machine), "MACHINE/other");
}

#[test]
fn a_file_stands_over_those_that_it_includes() {
    let machine = Machine::new();
    machine.write(
        "base.toml",
        "seed = 4\ninvocations = 3\nconfigurations = [\"17|own\"]\n[quiet]\nsteal-percent = 9\nothers-percent = 8\n[modifiers.own]\noptions = [\"-Dbase\"]\n[workloads.h2]\niterations = 9\n[workloads.pmd]\niterations = 9\n",
    );
    let text = "include = [\"base.toml\"]\ninvocations = 2\n[quiet]\nsteal-percent = 1\n[modifiers.own]\noptions = [\"-Dover\"]\n[workloads.pmd]\niterations = 2\n";
    let plan = machine.resolve(text).unwrap().plan;
    assert_eq!((plan.seed, plan.order.len(), plan.name.as_str()), (4, 2 * 2, "experiment"));
    assert_eq!((plan.quiet.steal_percent, plan.quiet.others_percent), (1.0, 8.0));
    let iterations: Vec<_> =
        plan.cells.iter().map(|cell| (cell.workload.as_str(), cell.iterations)).collect();
    assert_eq!(iterations, [("h2", 9), ("pmd", 2)]);
    assert_eq!(options(&plan.cells[0]), ["-Dover"]);
}

#[test]
fn blocks_are_complete_and_shuffled_each_in_another_way() {
    let machine = Machine::new();
    let plan = plan(&machine, "");
    let blocks: Vec<Vec<usize>> = plan
        .order
        .chunks(plan.cells.len())
        .enumerate()
        .map(|(i, block)| {
            assert!(block.iter().all(|one| one.number as usize == i + 1));
            block.iter().map(|one| one.cell).collect()
        })
        .collect();
    assert_eq!(blocks.len(), 7);
    for block in &blocks {
        assert_eq!(block.iter().collect::<BTreeSet<_>>().len(), plan.cells.len(), "{block:?}");
    }
    assert!(blocks.iter().collect::<BTreeSet<_>>().len() > 4, "{blocks:?}");
}

#[test]
fn the_order_is_a_matter_of_the_seed_alone() {
    let machine = Machine::new();
    assert_eq!(plan(&machine, "").order, plan(&Machine::new(), "").order);
    assert_ne!(plan(&machine, "").order, plan(&machine, "seed = 2\n").order);
    let sorted = |plan: &Plan| {
        let mut all: Vec<_> = plan.order.iter().map(|one| (one.cell, one.number)).collect();
        all.sort_unstable();
        all
    };
    let interleaved = plan(&machine, "");
    for order in ["random", "sequential"] {
        let other = plan(&machine, &format!("order = \"{order}\"\n"));
        assert_ne!(other.order, interleaved.order);
        assert_eq!(sorted(&other), sorted(&interleaved));
        for cell in 0..other.cells.len() {
            let numbers = other.order.iter().filter(|one| one.cell == cell).map(|one| one.number);
            assert!(numbers.eq(1..=7), "a cell's invocations are numbered as they run");
        }
    }
    let sequential = plan(&machine, "order = \"sequential\"\n");
    assert!(sequential.order.is_sorted_by_key(|one| one.cell));
}

#[test]
fn shards_are_whole_blocks_and_together_the_plan() {
    let machine = Machine::new();
    let whole = plan(&machine, "");
    let mut together = Vec::new();
    for index in 1..=3 {
        let part = whole.shard(Shard::new(index, 3).unwrap());
        for block in part.order.chunk_by(|a, b| a.number == b.number) {
            assert_eq!(block.len(), whole.cells.len());
        }
        assert!([2 * 6, 3 * 6].contains(&part.order.len()));
        together.extend(part.order);
    }
    together.sort_by_key(|one| one.number);
    assert_eq!(together, whole.order);
    assert_eq!("2/3".parse(), Ok(Shard::new(2, 3).unwrap()));
    for bad in ["0/3", "4/3", "1", "1/0", "a/b"] {
        assert!(bad.parse::<Shard>().is_err(), "{bad}");
    }
}

#[test]
fn an_identity_depends_on_what_is_run_and_not_on_where() {
    let text = "run = [\"h2\"]\nconfigurations = [\"17|g1|lookback\"]\n[modifiers.g1]\ncollector = \"g1\"\noptions = [\"-XX:+UseG1GC\", \"-Dx={here}\"]\n";
    let id = |machine: &Machine, text: &str| machine.cells(text)[0].id.clone();
    let machine = Machine::new();
    let first = id(&machine, text);
    assert_eq!(first.0.len(), 16);
    assert_eq!(first, id(&Machine::new(), text), "another directory");
    assert_eq!(
        first,
        id(&machine, &format!("timeout = \"7s\"\nretries = 9\n{text}")),
        "what changes no figure"
    );
    let mut ids = BTreeSet::from([first.clone()]);
    for change in ["pin = [0]\n", "iterations = 6\n", "measured = [4]\n", "size = \"small\"\n"] {
        ids.insert(id(&machine, &format!("{change}{text}")));
    }
    ids.insert(id(&machine, &text.replace("-XX:+UseG1GC", "-XX:+UseSerialGC")));
    ids.insert(id(&machine, &text.replace("17|g1", "25|g1")));
    ids.insert(id(&machine, &format!("{text}[heap]\nbytes = \"64m\"\n")));
    for file in [
        "workloads/lib/a.jar",
        "liblookback.so",
        "harness.so",
        "harness.jar",
        "jvm/jdk-17/lib/server/libjvm.so",
    ] {
        let machine = Machine::new();
        machine.write(file, "another build");
        ids.insert(id(&machine, text));
    }
    assert_eq!(ids.len(), 1 + 4 + 3 + 5, "each change makes another cell");
    let twins = "run = [\"h2\"]\nconfigurations = [\"17|{a,b}\"]\n[modifiers.a]\n[modifiers.b]\n";
    let twins = machine.cells(twins);
    assert_ne!(twins[0].id, twins[1].id, "two names of the same are compared with one another");
}

#[test]
fn an_estimate_tells_what_it_rests_on() {
    let machine = Machine::new();
    let plan = plan(&machine, "");
    let mut durations = Durations::default();
    durations.add(plan.cells[0].id.clone(), "h2".into(), 3_000_000_000);
    durations.add(plan.cells[0].id.clone(), "h2".into(), 1_000_000_000);
    let estimate = Estimate::of(&plan, &durations, |_| 10.0);
    // 7 of the cell, 7 of the workload's other cell, and 28 guesses.
    assert_eq!(estimate.total, Duration::from_secs(7 * 2 + 7 * 2 + 28 * 10));
    assert_eq!(estimate.bases.values().copied().collect::<Vec<_>>(), [7, 7, 28]);
    let directory = tempfile::tempdir().unwrap();
    let record = format!(
        "{{\"cell\":\"{}\",\"workload\":\"h2\",\"process_ns\":2000000000,\"more\":1}}\nnot a record\n",
        plan.cells[0].id
    );
    std::fs::write(directory.path().join("results.jsonl"), record).unwrap();
    let again = Estimate::of(&plan, &Durations::read(directory.path()), |_| 10.0);
    assert_eq!(again, estimate);
}

#[test]
fn the_examples_are_valid() {
    for example in EXAMPLES {
        let machine = Machine::new();
        let found = machine.resolve(example.text);
        let found = found.unwrap_or_else(|problems| panic!("{}: {}", example.name, lines(&problems)));
        assert_eq!(found.plan.name, example.name);
        assert!(!found.plan.cells.is_empty() || !found.searches.is_empty(), "{}", example.name);
    }
}

#[test]
fn the_committed_experiments_are_valid() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let machine = Machine::new();
    let mut sizes = BTreeMap::new();
    let programs = ["tracepoint", "api", "ring", "ring-load", "replay"];
    for name in ["gc", "gc-curves", "tracer", "startup", "desktop", "smoke"].into_iter().chain(programs) {
        let found = machine.resolve_file(&directory.join(name).with_extension("toml"), &EveryHeapIs16M);
        let found = found.unwrap_or_else(|problems| panic!("{}", lines(&problems)));
        assert_eq!(found.plan.name, name);
        assert_eq!(found.plan.pin, Pin::All);
        assert!(found.missing.is_empty(), "{:?}", found.missing);
        sizes.insert(name, (found.plan.cells.len(), found.plan.order.len()));
    }
    assert_eq!(sizes["smoke"], (2, 4));
    assert!(programs.iter().all(|name| sizes[name] == (1, 1)));
    // 5 collectors on 17, 6 on 25; Epsilon's heap does not fit 8 GiB.
    assert_eq!(sizes["gc"].0, 12 * (5 + 6));
    assert_eq!(sizes["gc-curves"].0, 4 * 5 * 9);
}

struct EveryHeapIs16M;

impl lookback_lab::experiment::MinimumHeaps for EveryHeapIs16M {
    fn minimum(&self, _: &str, _: &[String], _: &str, _: &str) -> Option<u64> {
        Some(16 << 20)
    }
}

#[test]
fn real_jvms_take_the_options_of_all_built_in_modifiers() {
    let machine = Machine::new();
    let tools = machine.around.tools.clone();
    let around = Surroundings { memory: u64::MAX, ..Surroundings::here(tools) };
    // Lookback's agent is a library that this crate does not build.
    let names: Vec<_> = modifiers().into_iter().map(|modifier| modifier.name).collect();
    let names: Vec<_> =
        names.iter().filter(|name| !name.starts_with("lookback") && *name != "gc-threads").collect();
    let names = names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(",");
    let text = format!(
        "run = [\"h2\"]\nskip-impossible = true\nconfigurations = [\"{{17,25}}|{{{names},gc-threads-2}}\"]\n[jdks.25]\noptional = true\n[heap]\nbytes = \"64m\"\n"
    );
    let path = machine.write("real.toml", &text);
    let found = resolve(&path, &around, &Minima(&[])).unwrap_or_else(|error| match error {
        lookback_lab::Error::Experiment { problems, .. } => panic!("{}", lines(&problems)),
        other => panic!("{other}"),
    });
    assert!(found.plan.cells.len() >= 13, "{}", found.plan.cells.len());
    for cell in &found.plan.cells {
        let jvm = cell.launch.jvm.as_ref().unwrap();
        let here = machine.path("").display().to_string();
        let options = jvm.options.iter().map(|option| option.replace("{dir}", &here));
        let ran = Command::new(&jvm.java).args(options).arg("-Xmx64m").arg("-version").output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).to_lowercase();
        let name = format!("{}|{}", cell.jdk, cell.configuration);
        assert!(ran.status.success(), "{name}: {said}");
        assert!(!said.contains("warning") && !said.contains("deprecated"), "{name}: {said}");
    }
}
