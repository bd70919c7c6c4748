//! `lookback lab jit` from a plan to the prior, with a stand-in for the JVM that writes the compilers' log.

mod support;

use lookback_lab::jit::Prior;
use lookback_lab::plan::{Cell, HeapSize};
use std::path::Path;
use support::{Place, plans, script};

/// Writes the log that it is asked for: with `-agentpath`, B is not inlined into A. Each start is noted.
const JAVA: &str = r#"answer="<inline_success reason='inline (hot)'/>"
for word; do
  case $word in
    -XX:LogFile=*) log=${word#-XX:LogFile=} ;;
    -agentpath:*) answer="<inline_fail reason='too big'/>" ;;
    fail) echo 'it fails' >&2; exit 3 ;;
  esac
done
echo "$log" >>"$STARTS"
cat >"$log" <<END
<hotspot_log><vm_version><release>
99.0.1
</release></vm_version><task compile_id='1' method='a.A m ()V' bytes='50' iicount='9000' stamp='1'>
<type id='1' name='void'/><klass id='2' name='a.A'/><method id='3' holder='2' name='m' return='1' bytes='50'/>
<parse method='3'><bc code='182' bci='4'/><klass id='4' name='a.B'/><method id='5' holder='4' name='m' return='1' bytes='30'/>
<call method='5' count='7000'/>$answer</parse><task_done success='1' nmsize='100'/></task></hotspot_log>
END
"#;

fn cell(place: &Place, workload: &str, configuration: &str, tracer: Option<&str>) -> Cell {
    let mut cell = plans::cell(workload, configuration, &["Main", workload]);
    cell.jdk = "99".into();
    cell.tracer = tracer.map(str::to_owned);
    let options: &[&str] = if tracer.is_some() { &["-agentpath:tracer.so"] } else { &[] };
    cell.launch.jvm = Some(plans::jvm(place.file("java"), options));
    cell.launch.env.insert("STARTS".to_owned(), place.file("starts").display().to_string());
    cell
}

fn plan(place: &Place, cells: Vec<Cell>) {
    script(place, "java", JAVA);
    plans::write(place, &plans::plan(cells, 0));
}

fn starts(place: &Place) -> usize {
    std::fs::read_to_string(place.file("starts")).map_or(0, |text| text.lines().count())
}

fn log(place: &Place, run: &str) -> std::path::PathBuf {
    place.file("logs").join(Path::new(run)).join("compilation.log")
}

#[test]
fn runs_are_made_once_and_their_difference_is_shown_and_written() {
    let place = Place::new();
    plan(&place, vec![cell(&place, "w", "g1", None), cell(&place, "w", "g1|t", Some("t"))]);
    let arguments =
        ["lab", "jit", "logs", "--plan", "plan.json", "--workload", "w", "--runs", "2", "-o", "prior.json"];
    let shown = place.run(&arguments).ok();
    for words in [
        "w on 99.0.1",
        "2 of 99|g1, 2 of 99|g1|t; 2 of each must agree",
        "0 of 1 between equal runs",
        "B.m",
        "too big",
    ] {
        assert!(shown.out.contains(words), "{words}: {}", shown.out);
    }
    assert!(shown.err.contains("run 6 of 6: w, control"), "{}", shown.err);
    let prior: Prior = serde_json::from_slice(&std::fs::read(place.file("prior.json")).unwrap()).unwrap();
    assert_eq!((prior.de_inlined_sites, prior.methods[0].calls), (1, 7000));
    assert_eq!(prior.runs.traced, "99|g1|t");
    assert_eq!(starts(&place), 6);
    // Only what is missing is made again; without a plan, nothing is.
    std::fs::remove_file(log(&place, "traced/2")).unwrap();
    place.run(&arguments).ok();
    assert_eq!(starts(&place), 7);
    let json = place.run(&["lab", "jit", "logs", "--json", "--agree", "1"]).ok();
    let prior: Prior = serde_json::from_str(&json.out).unwrap();
    assert_eq!((prior.workload.as_str(), prior.runs.agree, starts(&place)), ("logs", 1, 7));
}

#[test]
fn what_cannot_be_compared_is_said_with_what_there_is() {
    let place = Place::new();
    let mut failing = cell(&place, "f", "g1|t", Some("t"));
    failing.launch.command.push("fail".into());
    let mut sized = cell(&place, "w", "g1", None);
    sized.heap = Some(HeapSize { multiple: None, bytes: 64 << 20 });
    let cells = vec![sized, cell(&place, "w", "serial", None), cell(&place, "f", "g1", None), failing];
    plan(&place, cells);
    let jit = |more: &[&str]| place.run(&[&["lab", "jit", "logs"], more].concat());
    jit(&[]).fails(2, &["logs holds no logs to compare", "--experiment"]);
    jit(&["--workload", "w"]).fails(2, &["nothing says what the workload `w` is", "--experiment"]);
    jit(&["--plan", "none.json", "--workload", "w"]).fails(1, &["none.json"]);
    jit(&["--plan", "plan.json", "--workload", "x"]).fails(2, &["no workload `x`", "it has w, f"]);
    jit(&["--plan", "plan.json", "--workload", "w"])
        .fails(2, &["several configurations of `w` are fit for --bare", "`99|serial`"]);
    for name in ["99|g1", "99|g1|64 MiB"] {
        jit(&["--plan", "plan.json", "--workload", "w", "--bare", name])
            .fails(2, &["no configuration of `w` is fit for --traced", "`99|g1|64 MiB`"]);
    }
    jit(&["--plan", "plan.json", "--workload", "w", "--bare", "z"])
        .fails(2, &["`w` has no configuration `z`"]);
    jit(&["--plan", "plan.json", "--workload", "f"])
        .fails(1, &["traced/1.part failed: exit code 3: it fails", "traced/1.part/stderr"]);
    assert!(log(&place, "bare/1").exists() && !log(&place, "traced/1").exists());
}
