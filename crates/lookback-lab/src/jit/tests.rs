//! Logs of real compilers, trimmed, and logs made up for a question.

use super::*;
use std::fmt::Write;
use std::slice::from_ref;

fn told(log: &[u8]) -> (Vec<Told>, Result<(), String>) {
    let mut all = Vec::new();
    let read = read(log, |told| all.push(told));
    (all, read)
}

fn compilations(log: &[u8]) -> Vec<Compilation> {
    let one = |told| if let Told::Compilation(compilation) = told { Some(*compilation) } else { None };
    told(log).0.into_iter().filter_map(one).collect()
}

const REAL: [&str; 2] = [include_str!("../../tests/jit/17.xml"), include_str!("../../tests/jit/25.xml")];

#[test]
fn logs_of_17_and_25_are_read_alike() {
    for (log, release, ids) in [
        (REAL[0], "17.0.15+6-Debian-1deb12u1", [2274, 938, 2414]),
        (REAL[1], "25.0.3+9-LTS", [2348, 677, 342]),
    ] {
        let (all, read) = told(log.as_bytes());
        assert_eq!(read, Ok(()));
        assert_eq!(all[0], Told::Release(release.into()));
        assert!(all.iter().any(|told| matches!(told, Told::Trap { .. })), "{release}");
        // The task that failed and the torn one in the fragment are not among them.
        let compilations = compilations(log.as_bytes());
        assert_eq!(Vec::from_iter(compilations.iter().map(|c| c.id)), ids, "{release}");
        assert_eq!(Vec::from_iter(compilations.iter().map(|c| c.level)), [4, 4, 3], "{release}");
        for compilation in &compilations {
            assert!(
                compilation.code_bytes > 0 && !compilation.decisions.is_empty(),
                "{release} {compilation:?}"
            );
            for decision in &compilation.decisions {
                assert_eq!(decision.chain[0].0, compilation.method, "{release}");
                assert!(!decision.reason.is_empty(), "{release}");
            }
        }
        // What was inlined within what was inlined, and what C2 would not.
        let decisions = &compilations[0].decisions;
        assert!(decisions.iter().any(|d| d.inlined && d.chain.len() >= 2), "{release}");
        assert!(decisions.iter().any(|d| !d.inlined), "{release}");
    }
}

#[test]
fn calls_inlined_after_the_parse_keep_their_callers() {
    let late = compilations(REAL[1].as_bytes()).remove(0);
    let inner = late.decisions.iter().filter(|d| d.chain.len() >= 2 && d.chain[0].1 == 17);
    assert!(inner.count() > 0, "the late inlining at bytecode index 17 has calls of its own: {late:?}");
}

#[test]
fn a_copys_calls_are_its_share_of_the_profile() {
    let decisions = &compilations(REAL[0].as_bytes())[0].decisions;
    let shared = decisions.iter().find(|d| d.chain.len() == 2 && d.chain[1].1 == 49).expect("a call at 49");
    assert_eq!(shared.calls, Some((16_865_440.0 * 0.003_878_f64).round() as u64));
    assert!(decisions.iter().any(|d| d.calls.is_none()), "a count of -1 is no count");
}

#[test]
fn damaged_logs_give_what_was_whole_and_never_panic() {
    // Deterministic: splitmix64.
    let mut state = 7u64;
    let mut random = |below: usize| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % below as u64) as usize
    };
    for log in REAL {
        let whole = compilations(log.as_bytes());
        for round in 0..100 {
            let mut bytes = log.as_bytes().to_vec();
            if round % 3 == 0 {
                bytes.truncate(random(bytes.len()));
                let (some, _) = told(&bytes);
                let some = some.into_iter().filter(|told| matches!(told, Told::Compilation(_))).count();
                assert!(some <= whole.len());
                continue;
            }
            for _ in 0..=random(8) {
                let at = random(bytes.len());
                bytes[at] = b"<>/'\"&= 0\xff\n-]!?["[random(16)];
            }
            let run = Run::read(&bytes[..]);
            compare(from_ref(&run), from_ref(&run), 1);
        }
    }
    let torn = Run::read(&REAL[0].as_bytes()[..REAL[0].len() / 2]);
    assert_eq!(torn.release, "17.0.15+6-Debian-1deb12u1");
}

/// Bytecode index, callee, count, and the reason when it was not inlined.
type Call<'a> = (u32, &'a str, u64, Option<&'a str>);

/// A log with one C2 compilation a method: name, bytes, calls.
fn log(methods: &[(&str, u32, &[Call<'_>])]) -> Run {
    let mut xml = String::from("<hotspot_log>");
    for (i, (name, bytes, calls)) in methods.iter().enumerate() {
        write!(
            xml,
            "<task compile_id='{i}' method='a.{name} m ()V' bytes='{bytes}' iicount='9000' stamp='1'>"
        )
        .unwrap();
        write!(xml, "<type id='1' name='void'/><klass id='2' name='a.{name}'/><method id='3' holder='2' name='m' return='1' bytes='{bytes}'/>").unwrap();
        xml += "<parse method='3'>";
        for (n, (bci, callee, count, refused)) in calls.iter().enumerate() {
            let (klass, method) = (10 + 2 * n, 11 + 2 * n);
            write!(xml, "<bc code='182' bci='{bci}'/><klass id='{klass}' name='a.{callee}'/><method id='{method}' holder='{klass}' name='m' return='1' bytes='9'/>").unwrap();
            write!(xml, "<call method='{method}' count='{count}'/>").unwrap();
            match refused {
                Some(reason) => write!(xml, "<inline_fail reason='{reason}'/>").unwrap(),
                None => xml += "<inline_success reason='inline (hot)'/>",
            }
        }
        xml += "</parse><task_done success='1' nmsize='100'/></task>";
    }
    Run::read(xml.as_bytes())
}

const BIG: Option<&str> = Some("too big");

#[test]
fn a_site_counts_when_enough_runs_of_both_groups_agree() {
    let inlined = log(&[("A", 50, &[(4, "B", 100, None)])]);
    let refused = log(&[("A", 50, &[(4, "B", 70, BIG)])]);
    let bare = [inlined.clone(), inlined.clone(), refused.clone()];
    let traced = [refused.clone(), refused.clone(), inlined.clone()];
    let two = compare(&bare, &traced, 2);
    assert_eq!((two.de_inlined.len(), two.newly_inlined.len(), two.sites), (1, 0, 1));
    let site = &two.de_inlined[0];
    assert_eq!((site.inlined, site.refused, site.calls), ([2, 1], [1, 2], 70));
    assert_eq!((site.reason.as_str(), site.bci), ("too big", Some(4)));
    assert_eq!(site.callee.to_string(), "a.B.m()V");
    assert_eq!(compare(&bare, &traced, 3).sites, 0, "no three runs agree");
    let back = compare(&traced, &bare, 2);
    assert_eq!((back.de_inlined.len(), back.newly_inlined.len()), (0, 1));
    assert_eq!(compare(&bare, &bare, 2).de_inlined, []);
}

#[test]
fn calls_in_rewritten_methods_are_matched_by_their_order() {
    let bare = [log(&[("A", 50, &[(4, "B", 9, None), (9, "B", 8, None), (30, "C", 7, None)])])];
    // The tracer's own calls stand before and between; the second of B is refused.
    let calls: &[_] = &[
        (2, "Trace", 9, None),
        (10, "B", 9, None),
        (15, "B", 8, BIG),
        (36, "C", 7, None),
        (40, "Trace", 9, BIG),
    ];
    let rewritten = compare(&bare, &[log(&[("A", 62, calls)])], 1);
    assert_eq!(rewritten.sites, 3);
    assert_eq!(Vec::from_iter(rewritten.de_inlined.iter().map(|s| s.bci)), [Some(9)]);
    assert_eq!(rewritten.own_calls, OwnCalls { inlined: 1, refused: 1 });
    // One of the two calls is not seen in the other run: both count as one, by the weight of their calls.
    let fewer = compare(&bare, &[log(&[("A", 62, &[(15, "B", 90, BIG)])])], 1);
    assert_eq!(Vec::from_iter(fewer.de_inlined.iter().map(|s| (s.bci, s.calls))), [(None, 90)]);
    // The same code has the same places.
    let same = compare(&bare, &[log(&[("A", 50, &[(9, "B", 8, BIG)])])], 1);
    assert_eq!(Vec::from_iter(same.de_inlined.iter().map(|s| s.bci)), [Some(9)]);
}

#[test]
fn equal_runs_tell_the_noise_and_mark_unsteady_sites() {
    let one = log(&[("A", 50, &[(4, "B", 100, None), (8, "C", 5, None)])]);
    let other = log(&[("A", 50, &[(4, "B", 70, BIG), (8, "C", 5, None)])]);
    let traced = log(&[("A", 50, &[(4, "B", 70, BIG), (8, "C", 5, BIG)])]);
    let p = Perturbation::of(from_ref(&one), &[traced], &[other], 1);
    let noise = p.noise.expect("there is a control");
    assert_eq!((noise.changed_sites, noise.sites, noise.changed_levels), (0.5, 2, 0));
    let unsteady: Vec<_> =
        p.difference.de_inlined.iter().map(|s| (s.callee.class.as_str(), p.is_unsteady(s))).collect();
    assert_eq!(unsteady, [("a/B", true), ("a/C", false)]);
    assert_eq!(Perturbation::of(from_ref(&one), from_ref(&one), &[], 1).noise, None);
}

#[test]
fn methods_that_end_at_another_level_are_told() {
    let c2 = log(&[("A", 50, &[]), ("B", 50, &[])]);
    let mut c1 = c2.clone();
    let a = c1.methods.values_mut().next().expect("two methods");
    a.level = 3;
    let gone = log(&[("B", 50, &[])]);
    let levels = |traced: &Run| {
        compare(from_ref(&c2), from_ref(traced), 1).levels.iter().map(|l| l.levels).collect::<Vec<_>>()
    };
    assert_eq!((levels(&c1), levels(&gone), levels(&c2)), (vec![[4, 3]], vec![[4, 0]], vec![]));
}

#[test]
fn the_prior_is_what_its_documentation_says() {
    let bare = log(&[("A", 50, &[(4, "B", 100, None), (9, "B", 1, None)])]);
    let traced = log(&[("A", 50, &[(4, "B", 70, BIG), (9, "B", 5, BIG)])]);
    let p = Perturbation::of(&[bare], &[traced], &[], 1);
    let prior = Prior::of(&p, "h2", "25", "25|g1", "25|g1|lookback");
    let json = serde_json::to_value(&prior).expect("it can be written");
    assert_eq!((&json["format"], &json["version"]), (&"lookback-jit-prior".into(), &1.into()));
    let method = &json["methods"][0];
    assert_eq!(
        (&method["class"], &method["name"], &method["descriptor"]),
        (&"a/B".into(), &"m".into(), &"()V".into())
    );
    assert_eq!(method["calls"], 75);
    let site = &method["sites"][0];
    assert_eq!((&site["bci"], &site["reason"], &site["calls"]), (&4.into(), &"too big".into(), &70.into()));
    assert_eq!((&site["bare_inlined"], &site["traced_refused"]), (&1.into(), &1.into()));
    assert_eq!(serde_json::from_value::<Prior>(json).expect("it can be read"), prior);
}

/// A JVM that counts its starts in a file, writes an empty log, and fails when it is told to.
const JAVA: &str = r#"
here=$(dirname "$0")
for word; do
  case $word in -XX:LogFile=*) log=${word#-XX:LogFile=} ;; esac
done
echo "$*" >>"$here/starts"
echo '<hotspot_log></hotspot_log>' >"$log"
[ "$(wc -l <"$here/starts")" != "$(cat "$here/fail" 2>/dev/null)" ] || { echo 'it fails' >&2; exit 3; }
"#;

#[test]
fn groups_take_turns_and_a_failed_run_is_made_again() {
    use crate::machine::System;
    use crate::run::tests_support::{java_cell, plan, script};
    let dir = tempfile::tempdir().expect("a directory");
    let file = |name: &str| dir.path().join(name);
    let java = script(dir.path(), JAVA);
    let cell = |name: &str| {
        let command = ["Main", "--callback", "dev.lookback.harness.WorkloadsCallback", name];
        let mut cell = java_cell(java.to_str().expect("text"), &["-XX:+UseG1GC"], "w.jar", &command);
        cell.launch.jvm.as_mut().expect("a JVM").harness = true;
        cell
    };
    let (bare, traced) = (cell("b"), cell("t"));
    let plan = plan(vec![bare.clone(), traced.clone()], 1);
    let logs = file("logs");
    let go = |told: &mut Vec<(u32, u32, Group)>, stop: bool| {
        let mut tell = |number, all, group| told.push((number, all, group));
        record(&plan, [&bare, &traced], 2, &logs, &mut System::new(&[0]), &|| stop, &mut tell)
    };
    let starts = || -> Vec<String> {
        let text = std::fs::read_to_string(file("starts")).unwrap_or_default();
        text.lines().map(|line| line.rsplit(' ').next().expect("a word").to_owned()).collect()
    };
    let mut told = Vec::new();
    std::fs::write(file("fail"), "5").expect("a file");
    let error = go(&mut told, false).expect_err("the fifth run fails");
    assert!(error.to_string().contains("traced/2.part failed: exit code 3: it fails"), "{error}");
    assert!(error.hint().contains("traced/2.part/stderr"), "{}", error.hint());
    assert_eq!(starts(), ["b", "t", "b", "b", "t"]);
    assert_eq!(runs(&logs, Group::Traced).expect("logs").len(), 1, "what failed is no run");
    let error = go(&mut told, true).expect_err("it is asked to end");
    assert!(matches!(error, crate::Error::Interrupted { done: 4, all: 6 }), "{error}");
    std::fs::remove_file(file("starts")).expect("it is there");
    std::fs::remove_file(file("fail")).expect("it is there");
    go(&mut told, false).expect("the rest goes well");
    assert_eq!(starts(), ["t", "b"]);
    assert_eq!(told[..3], [(1, 6, Group::Bare), (2, 6, Group::Traced), (3, 6, Group::Control)]);
    let command = std::fs::read_to_string(logs.join("bare/1/command")).expect("it is kept");
    assert!(command.contains("LogCompilation") && command.contains("ExitOnOutOfMemoryError"), "{command}");
    assert!(!command.contains("harness"), "nothing is timed: {command}");
    for group in [Group::Bare, Group::Traced, Group::Control] {
        assert_eq!(runs(&logs, group).expect("logs").len(), 2);
    }
    assert_eq!(runs(&logs.join("none"), Group::Bare).expect("no logs").len(), 0);
}
