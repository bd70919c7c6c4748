//! `status`, `dump`, `stop`, `start` and `ls` against a stand-in for the agent, friendly and hostile.

mod support;

use lookback_format::control::{Answer, Dropped, Governing, MOST_BYTES, Status, ThreadStatus};
use lookback_format::costs::{Costs, Measured};
use std::path::PathBuf;
use support::{FakeAgent, Place, Reaction};

fn status() -> Status {
    Status {
        lookback: "0.1.0".into(),
        pid: std::process::id(),
        program: "com.acme.Main".into(),
        jvm: "OpenJDK 25".into(),
        by_vm: false,
        tracing: true,
        uptime_seconds: 75.0,
        region: "/run/x.region".into(),
        ring_bytes: 64 << 20,
        reach_seconds: 12.34,
        records_per_second: 1_234_567.0,
        classes: [("rewritten".to_owned(), 1_200)].into(),
        classes_to_come: 0,
        rewriting: Default::default(),
        threads: 42,
        by_thread: vec![ThreadStatus {
            name: "exec-1".into(),
            java_tid: 7,
            reach_seconds: 1.25,
            whole: false,
            braked: true,
        }],
        governing: Some(Governing {
            costs: Costs {
                budget_percent: 3.0,
                cost_percent: 1.234,
                measured: Some(Measured { percent: 0.94, low: -0.21, high: 2.0, trials: 40 }),
                own_percent_of_core: 0.4,
                unseen_threads_per_second: Some(4_105.2),
            },
            braked_threads: 2,
            dropped: vec![Dropped {
                method: "com.acme.Api.hot".into(),
                records_per_second: Some(12_345_678.9),
            }],
            waiting_classes: 1_234,
        }),
        losses: [("slab overruns".to_owned(), 3)].into(),
        rules: vec![("a.B.*:1s".into(), 1)],
        incidents: vec!["/var/lookback-1.lkb".into()],
        options: vec!["ring=64m".into()],
    }
}

fn say(answer: &Answer) -> Reaction {
    let mut bytes = serde_json::to_vec(answer).unwrap();
    bytes.push(b'\n');
    Reaction::Say(bytes)
}

fn with_status(place: &Place) -> FakeAgent {
    FakeAgent::start(place, |_| say(&Answer::Status(Box::new(status()))))
}

#[test]
fn a_status_is_shown_for_people_and_as_json() {
    let place = Place::new();
    let agent = with_status(&place);
    let pid = agent.pid.to_string();
    let text = place.run(&["status", &pid]).ok().out;
    for words in [
        "com.acme.Main",
        "1 min 15 s",
        "12.3 s at 1,234,567 records/s",
        "67.1 MB",
        "about 1.2 % (budget 3 %)",
        "exec-1 reaches back 1.2 s, braked",
        "2 threads are braked: they record waits and watched calls only, for now",
        "4,105 threads begin a second, too many to see each",
        "1 method is not traced, which would cost more:",
        "com.acme.Api.hot, 12,345,678 records/s",
        "3 slab overruns",
        "1 slow call",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
    assert!(!text.contains('\x1b'), "no colours in a pipe");
    let json = place.run(&["status", "acme.Main", "--json"]).ok().out;
    assert_eq!(serde_json::from_str::<Status>(&json).unwrap(), status());
    let asked = agent.end();
    assert!(asked.iter().all(|a| a == r#"{"cmd":"status"}"#), "{asked:?}");
}

#[test]
fn a_listing_shows_the_living_and_the_dead() {
    let place = Place::new();
    let agent = with_status(&place);
    // No process has this id: it is above the kernel's limit.
    std::fs::write(place.runtime().join("4194399.region"), "damaged").unwrap();
    let text = place.run(&["ls"]).ok().out;
    let line =
        |words: &str| text.lines().find(|l| l.contains(words)).unwrap_or_else(|| panic!("{words} in {text}"));
    assert!(
        line("com.acme.Main").contains("tracing") && line("com.acme.Main").contains("1 incident written")
    );
    assert!(line("4194399").contains("died") && line("4194399").contains("lookback recover"));
    let json: serde_json::Value = serde_json::from_str(&place.run(&["ls", "--json"]).ok().out).unwrap();
    let rows = json.as_array().unwrap();
    assert!(rows.iter().any(|r| r["pid"] == agent.pid && r["state"] == "tracing"));
    assert!(rows.iter().any(|r| r["pid"] == 4_194_399 && r["state"] == "died"));
    place.run(&["status", "4194399"]).fails(1, &["died", "lookback recover"]);
}

#[test]
fn a_dump_asks_for_an_absolute_path_and_names_the_file() {
    let place = Place::new();
    let agent = FakeAgent::start(&place, |asked| {
        let asked: serde_json::Value = serde_json::from_str(asked).unwrap();
        let file = PathBuf::from(asked["file"].as_str().unwrap());
        std::fs::write(&file, b"\x1b[1mPK").unwrap();
        say(&Answer::Dumped { file, bytes: 6 })
    });
    let pid = agent.pid.to_string();
    let ran = place.run(&["dump", &pid, "-o", "now.lkb"]).ok();
    assert_eq!(ran.out, format!("{}  6 bytes\n", place.file("now.lkb").display()));
    assert!(ran.err.contains("lookback report"), "{}", ran.err);
    place.run(&["dump", &pid, "-o", "now.lkb"]).fails(1, &["is there already", "--force"]);
    place.run(&["dump", &pid, "-o", "now.lkb", "--force"]).ok();
    place.run(&["dump", &pid, "-o", "none/now.lkb"]).fails(1, &["cannot write none/now.lkb"]);
    let piped = place.run(&["dump", &pid, "-o", "-"]).ok();
    assert_eq!(piped.out, "\x1b[1mPK", "the bytes themselves, not freed of colours");
    let asked = agent.end();
    assert_eq!(asked.len(), 3, "what was refused here was not asked for: {asked:?}");
    assert!(asked[1].contains(r#""force":true"#));
}

#[test]
fn stopping_and_starting_say_what_was_done() {
    let place = Place::new();
    let agent = FakeAgent::start(&place, |asked| match asked {
        r#"{"cmd":"stop","progress":true}"# => say(&Answer::Done { message: "tracing is off".into() }),
        _ => say(&Answer::Error { message: "it is on already".into(), hint: "nothing to do".into() }),
    });
    let pid = agent.pid.to_string();
    assert_eq!(place.run(&["stop", &pid]).ok().out, "tracing is off\n");
    place.run(&["start", &pid]).fails(1, &["it is on already", "try: nothing to do"]);
}

#[test]
fn hostile_answers_are_refused_in_words() {
    let place = Place::new();
    let mut turn = 0;
    let agent = FakeAgent::start(&place, move |_| {
        turn += 1;
        Reaction::Say(match turn {
            1 => vec![b'x'; MOST_BYTES + 10_000],
            2 => b"not json\n".to_vec(),
            3 => Vec::new(),
            4 => b"{\"answer\":\"status\"".to_vec(),
            5 => b"{\"answer\":\"done\",\"message\":\"m\"}\n".to_vec(),
            6 => b"{\"answer\":\"error\",\"message\":\"\\u001b[2Jboo\",\"hint\":\"\"}\n".to_vec(),
            _ => b"\xff\xfe\x00\n".to_vec(),
        })
    });
    let pid = agent.pid.to_string();
    let fails = |says: &[&str]| place.run(&["status", &pid]).fails(1, says);
    fails(&["not one of Lookback's", "longer than 1048576 bytes"]);
    fails(&["not one of Lookback's"]);
    fails(&["closed the connection without a word"]);
    fails(&["not one of Lookback's", "EOF"]);
    fails(&["a confirmation, which was not asked for"]);
    assert!(!fails(&["boo"]).err.contains("\x1b[2J"));
    fails(&["not one of Lookback's"]);
}

#[test]
fn a_silent_agent_is_given_up_after_its_time() {
    let place = Place::new();
    let agent = FakeAgent::start(&place, |_| Reaction::Silence);
    let begun = std::time::Instant::now();
    place.run(&["status", &agent.pid.to_string()]).fails(1, &["did not answer within 5 s"]);
    assert!((4..20).contains(&begun.elapsed().as_secs()));
}

#[test]
fn who_is_not_there_is_told_from_who_is_not_traced() {
    let place = Place::new();
    place.run(&["status", "4194399"]).fails(1, &["there is no process 4194399"]);
    place.run(&["status", "no.such.Program"]).fails(1, &["no JVM of this user matches `no.such.Program`"]);
    let us = std::process::id().to_string();
    place.run(&["status", &us]).fails(1, &["is not traced by Lookback", &format!("lookback attach {us}")]);
    // A socket that nobody listens on any more.
    drop(std::os::unix::net::UnixListener::bind(place.runtime().join(format!("{us}.sock"))).unwrap());
    place.run(&["status", &us]).fails(1, &["failed while connecting"]);
}

#[test]
fn a_directory_that_others_can_enter_is_not_used() {
    let place = Place::new();
    let agent = with_status(&place);
    place.runtime_mode(0o755);
    place
        .run(&["status", &agent.pid.to_string()])
        .fails(1, &["not safe to use: its mode is 0755", "chmod 700"]);
    let listed = place.run(&["ls"]).ok();
    assert!(listed.err.contains("not safe to use") && !listed.out.contains("com.acme.Main"));
    place.runtime_mode(0o700);
}
