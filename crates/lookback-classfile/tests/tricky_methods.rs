//! Methods no compiler at hand writes: loops to the first instruction, switches
//! at every alignment, subroutines, methods and pools at their limits.
//!
//! Constraint: assembled here, run in a JVM under `-Xverify:all` before and after
//! rewriting with the recording trace points; results must agree and every
//! entry must have its exit. What must be left alone is asked of the outcome.

mod support;

use lookback_classfile::{Outcome, Scratch, SkipReason, TracePoints, rewrite};
use support::assembler::{ClassBuilder, Code};
use support::{TempDir, TraceAll, dump_classes, java_sources, jdks, run, write_class};

const RECORDER: TracePoints = TracePoints::in_class("recorder/Recorder");
const PUBLIC_STATIC: u16 = 9;

fn traced(bytes: &[u8], first_id: u32) -> Outcome {
    rewrite(bytes, &RECORDER, &mut TraceAll::mixed(first_id), &mut Scratch::new()).expect("well formed")
}

/// A class whose `static int run(int)` is this code.
fn with_run(name: &str, major: u16, code: &Code) -> Vec<u8> {
    let mut builder = ClassBuilder::new(name, major, if major == 45 { 3 } else { 0 });
    builder.method(PUBLIC_STATIC, "run", "(I)I", code);
    builder.build()
}

fn code(max_stack: u16, max_locals: u16, bytes: Vec<u8>) -> Code {
    Code { max_stack, max_locals, bytes, ..Code::default() }
}

/// Frames that all have the locals of the method's start and an empty stack.
fn same_frames(targets: &[u16]) -> Option<Vec<u8>> {
    let mut out = (targets.len() as u16).to_be_bytes().to_vec();
    let mut next = 0;
    for target in targets {
        out.push(251);
        out.extend((target - next).to_be_bytes());
        next = target + 1;
    }
    Some(out)
}

/// `nops` times nop, then a switch on the argument over four targets that return 10, 20, 30, 40.
fn switch_case(nops: usize, table: bool) -> Code {
    let mut bytes = vec![0; nops];
    bytes.push(26);
    let pc = bytes.len();
    bytes.push(if table { 170 } else { 171 });
    bytes.resize((pc & !3) + 4, 0);
    let operands = bytes.len();
    let length = operands - pc + if table { 12 + 3 * 4 } else { 8 + 3 * 8 };
    let target = |i: usize| ((length + i * 3) as i32).to_be_bytes();
    bytes.extend(target(3));
    if table {
        bytes.extend([0, 0, 0, 0, 0, 0, 0, 2]);
        (0..3).for_each(|i| bytes.extend(target(i)));
    } else {
        bytes.extend([0, 0, 0, 3]);
        for i in 0..3 {
            bytes.extend((i as i32 * 2).to_be_bytes());
            bytes.extend(target(i));
        }
    }
    let targets: Vec<u16> = (0..4).map(|i| (pc + length + i * 3) as u16).collect();
    for i in 1..=4 {
        bytes.extend([16, i * 10, 172]);
    }
    Code { frames: same_frames(&targets), ..code(1, 1, bytes) }
}

/// Classes to run: name and file.
fn cases() -> Vec<(String, Vec<u8>)> {
    let mut cases = Vec::new();
    let mut add = |name: &str, majors: &[u16], code: Code| {
        for major in majors {
            let name = format!("{name}{major}");
            let code = Code { frames: code.frames.clone().filter(|_| *major >= 50), ..code.clone() };
            cases.push((name.clone(), with_run(&name, *major, &code)));
        }
    };
    let versions = [45, 46, 49, 50, 52, 61];
    // 0 iinc 0 -1; 3 iload_0; 4 ifgt 0; 7 iload_0; 8 ireturn
    let to_start = vec![132, 0, 0xff, 26, 157, 0xff, 0xfc, 26, 172];
    add("LoopToStart", &versions, Code { frames: same_frames(&[0]), ..code(1, 1, to_start) });
    // 0 iconst_1; 1 iload_0; 2 ifeq 9; 5 pop; 6 bipush 42; 8 nop; 9 ireturn (with an int on the stack)
    let to_return = vec![4, 26, 153, 0, 7, 87, 16, 42, 0, 172];
    add("BranchToReturn", &versions, Code { frames: Some(vec![0, 1, 64 + 9, 1]), ..code(2, 1, to_return) });
    for nops in 0..4 {
        add(&format!("Table{nops}_"), &versions, switch_case(nops, true));
        add(&format!("Lookup{nops}_"), &versions, switch_case(nops, false));
    }
    // A handler that covers returns and itself: 0 bipush 100; 2 iload_0; 3 idiv; 4 iload_0; 5 ifgt 10;
    // 8 nop; 9 ireturn; 10 ireturn; 11 pop; 12 iload_0; 13 ifne 18; 16 iconst_5; 17 ireturn; 18 iconst_m1; 19 ireturn
    let covered = vec![16, 100, 26, 108, 26, 157, 0, 5, 0, 172, 172, 87, 26, 154, 0, 5, 8, 172, 2, 172];
    let frames = vec![0, 3, 64 + 10, 1, 64, 7, 0, 0, 18 - 11 - 1];
    let mut code_covered = Code { frames: Some(frames), ..code(2, 1, covered) };
    code_covered.handlers = vec![[0, 11, 11, 0], [0, 10, 11, 0]];
    add("CoveredReturns", &versions, code_covered.clone());
    // Code nobody reaches behind a return.
    let dead = vec![26, 172, 0, 26, 172];
    add("DeadCode", &versions, Code { frames: same_frames(&[2]), ..code(1, 1, dead) });
    // wide iload, wide iinc +1000, wide istore; goto_w over a nop.
    let wide =
        vec![196, 132, 0, 0, 3, 232, 196, 21, 0, 0, 196, 54, 1, 0, 200, 0, 0, 0, 6, 0, 196, 21, 1, 0, 172];
    let wide_frames = Some(vec![0, 2, 251, 0, 19, 251, 0, 0]);
    add("Wide", &[45, 49], code(1, 257, wide.clone()));
    add(
        "Wide",
        &[52],
        Code {
            frames: wide_frames,
            ..code(1, 257, {
                // The stored local is not in a same_frame: read the argument instead.
                let mut w = wide;
                w[22] = 0;
                w
            })
        },
    );
    // A conditional branch that just reaches, with room for what is inserted.
    let mut far = vec![26, 154, 0x7f, 0x00];
    far.resize(1 + 0x7f00, 0);
    far.extend([4, 172]);
    let frames = same_frames(&[1 + 0x7f00]);
    add("Far", &versions, Code { frames, ..code(1, 1, far) });
    // Object type of the handler frame in CoveredReturns: index 0 would not verify; see `patch`.
    for (_, bytes) in &mut cases {
        patch_throwable(bytes);
    }
    cases
}

/// Frames above name a Throwable by index 0: puts the index of the class's `java/lang/Object` there,
/// which is constant 4 of every assembled class; the handler only pops it.
fn patch_throwable(bytes: &mut [u8]) {
    if let Some(at) = bytes.windows(5).position(|w| w == [64, 7, 0, 0, 6]) {
        bytes[at + 3] = 4;
    }
}

#[test]
fn assembled_methods_do_the_same() {
    for jdk in jdks() {
        let dir = TempDir::new(&format!("tricky-{}", jdk.release));
        let (tools, original) = (dir.join("tools"), dir.join("original"));
        run(jdk
            .command("javac")
            .arg("-d")
            .arg(&tools)
            .arg(java_sources().join("recording/recorder/Recorder.java"))
            .arg(java_sources().join("tools/RunRecorded.java")));
        let cases = cases();
        for (name, bytes) in &cases {
            write_class(&original, name, bytes);
        }
        let run_all = |folder: &std::path::Path| {
            let path = std::env::join_paths([folder, &tools]).expect("a class path");
            let mut command = jdk.command("java");
            command.args(["-Xverify:all", "-cp"]).arg(path).args(["RunRecorded", "cases"]);
            let printed = run(command.args(cases.iter().map(|(name, _)| name)));
            let (output, recorded) = printed.split_once("RECORDED ").expect("a summary");
            let output: Vec<String> =
                output.lines().filter(|l| l.contains(": ")).map(str::to_string).collect();
            (output, recorded.lines().next().unwrap_or_default().to_string())
        };
        let (expected, _) = run_all(&original);
        let runs = expected.iter().filter(|l| !l.contains("warning")).count();
        assert!(runs >= cases.len(), "{expected:#?}");
        let broken: Vec<_> = expected.iter().filter(|l| l.contains("does not link")).collect();
        assert!(broken.is_empty(), "assembled classes must be valid before rewriting: {broken:#?}");
        // Ids that need bipush, sipush and ldc_w.
        for first_id in [1, 200, 32_766, 1 << 29] {
            let rewritten = dir.join(format!("rewritten-{first_id}"));
            for (name, bytes) in &cases {
                let outcome = traced(bytes, first_id);
                assert_eq!(outcome.skipped.total(), 0, "{name}: {:?}", outcome.refused);
                write_class(&rewritten, name, &outcome.bytes.expect("rewritten"));
            }
            let (output, recorded) = run_all(&rewritten);
            assert_eq!(output, expected);
            let calls = 7 * cases.len();
            assert_eq!(recorded, format!("enters {calls}, exits {calls}, complaints [], open []"));
        }
        println!("JDK {}: {} assembled methods do the same", jdk.release, cases.len());
    }
}

#[test]
fn subroutines_are_left_alone_and_the_rest_of_the_class_is_not() {
    let mut builder = ClassBuilder::new("Jsr", 46, 0);
    // 0 jsr 5; 3 iconst_1; 4 ireturn; 5 astore_1; 6 ret 1
    builder.method(PUBLIC_STATIC, "run", "(I)I", &code(1, 2, vec![168, 0, 5, 4, 172, 76, 169, 1]));
    builder.method(PUBLIC_STATIC, "other", "()V", &code(0, 0, vec![177]));
    let outcome = traced(&builder.build(), 1);
    assert_eq!(outcome.skipped.get(SkipReason::Subroutine), 1);
    assert_eq!(outcome.traced.iter().map(|t| t.index).collect::<Vec<_>>(), [1]);
}

#[test]
fn code_at_its_limits_is_left_alone() {
    let sized = |length: usize| {
        let mut bytes = vec![0; length - 2];
        bytes.extend([4, 172]);
        traced(&with_run("Sized", 45, &code(1, 1, bytes)), 1)
    };
    let reason = |length: usize| sized(length).refused.first().map(|r| r.reason);
    // Entry and exit take 5 bytes each, the handler 6.
    assert_eq!(reason(65535 - 16), None);
    assert_eq!(reason(65535 - 15), Some(SkipReason::CodeTooLarge));
    assert_eq!(reason(65535), Some(SkipReason::CodeTooLarge));
    assert_eq!(reason(8000 - 16), None);
    assert_eq!(reason(8000 - 15), Some(SkipReason::PastCompileLimit));
    assert_eq!(reason(8000), Some(SkipReason::PastCompileLimit));
    assert_eq!(reason(8001), None);
    let deep = with_run("Deep", 45, &code(65535, 1, vec![4, 172]));
    assert_eq!(traced(&deep, 1).refused[0].reason, SkipReason::StackTooDeep);
}

#[test]
fn branches_that_no_longer_reach_are_left_alone() {
    // ifne over 32766 bytes with a return in between.
    let mut bytes = vec![26, 154, 0x7f, 0xfe, 4, 172];
    bytes.resize(1 + 0x7ffe, 0);
    bytes.extend([4, 172]);
    let outcome = traced(&with_run("Branch", 45, &code(1, 1, bytes.clone())), 1);
    assert_eq!(outcome.refused[0].reason, SkipReason::BranchOffset);
    assert_eq!(outcome.skipped.get(SkipReason::BranchOffset), 1);
    assert_eq!(outcome.bytes, None);
    // The same distance with goto_w reaches.
    let mut wide = vec![200, 0, 0, 0x7f, 0xfe, 4, 172];
    wide.resize(0x7ffe, 0);
    wide.extend([4, 172]);
    assert_eq!(traced(&with_run("WideBranch", 45, &code(1, 1, wide)), 1).traced.len(), 1);
}

#[test]
fn a_full_constant_pool_leaves_what_does_not_fit() {
    let build = |free: u16, first_id: u32| {
        let mut builder = ClassBuilder::new("Full", 52, 0);
        let method = code(1, 1, vec![4, 172]);
        for name in ["run", "second", "third"] {
            builder.method(PUBLIC_STATIC, name, "(I)I", &method);
        }
        builder.fill_pool(65535 - free);
        assert_eq!(builder.pool_count(), 65535 - free);
        rewrite(
            &builder.build(),
            &RECORDER,
            &mut TraceAll { next: first_id, ..TraceAll::plain() },
            &mut Scratch::new(),
        )
        .expect("well formed")
    };
    // Class 2, two descriptors, three names, three methods of 2, Throwable 2, StackMapTable 1.
    let all = build(16, 1);
    assert_eq!((all.traced.len(), all.skipped.total()), (3, 0));
    let none = build(15, 1);
    assert_eq!((none.traced.len(), none.skipped.get(SkipReason::TableFull)), (0, 3));
    assert_eq!(none.bytes, None);
    // Large ids take one entry each.
    let some = build(18, 40_000);
    assert_eq!((some.traced.len(), some.skipped.get(SkipReason::TableFull)), (2, 1));
    assert_eq!(some.refused[0].index, 2);
    let count = some.bytes.map(|b| u16::from_be_bytes([b[8], b[9]]));
    assert_eq!(count, Some(65535));
}

#[test]
fn versions_up_to_today_and_beyond_keep_their_header() {
    for (major, minor) in [(45, 3), (46, 0), (50, 0), (52, 0), (61, 65535), (69, 0), (69, 65535), (200, 1)] {
        let mut builder = ClassBuilder::new("Version", major, minor);
        builder.default_constructor();
        let bytes = builder.build();
        let outcome = traced(&bytes, 1);
        let new = outcome.bytes.expect("rewritten");
        assert_eq!(new[..8], bytes[..8]);
        let has_frames = new.windows(13).any(|w| w == b"StackMapTable");
        assert_eq!(has_frames, major >= 50, "{major}.{minor}");
    }
}

#[test]
fn constructors_with_two_super_calls_are_left_alone() {
    let mut builder = ClassBuilder::new("Two", 45, 3);
    let [a, b] = builder.method_ref("java/lang/Object", "<init>", "()V").to_be_bytes();
    // 0 aload_0; 1 iload_1; 2 ifeq 9; 5 invokespecial; 8 return; 9 invokespecial; 12 return
    let bytes = vec![42, 27, 153, 0, 7, 183, a, b, 177, 183, a, b, 177];
    builder.method(1, "<init>", "(I)V", &code(2, 2, bytes));
    let outcome = traced(&builder.build(), 1);
    assert_eq!(outcome.refused[0].reason, SkipReason::ConstructorFlow);
}

#[test]
fn methods_without_code_and_contradictions_are_counted() {
    let mut builder = ClassBuilder::new("Bare", 61, 0);
    builder.bare_method(0x401, "a", "()V");
    builder.bare_method(0x101, "n", "()V");
    builder.bare_method(1, "m", "()V");
    builder.method(1, "finalize", "()V", &code(0, 1, vec![177]));
    builder.method(1, "bad", "()V", &code(0, 1, vec![203]));
    builder.method(1, "good", "()V", &code(0, 1, vec![177]));
    let outcome = traced(&builder.build(), 1);
    let expected = [
        (SkipReason::Abstract, 1),
        (SkipReason::Native, 1),
        (SkipReason::KnownToVm, 1),
        (SkipReason::Malformed, 2),
    ];
    for (reason, count) in expected {
        assert_eq!(outcome.skipped.get(reason), count, "{}", reason.name());
    }
    assert_eq!(outcome.skipped.total(), 5);
    assert_eq!(outcome.traced.len(), 1);
    assert_eq!(outcome.traced[0].index, 5);
}

/// Observed: with these two rewritten, JDK 17 queued every object for finalization at start-up
/// and died, and then its C2 compiler crashed.
#[test]
fn object_keeps_its_constructor_and_its_empty_finalizer() {
    for jdk in jdks() {
        let classes = dump_classes(&jdk, &["java.base"]);
        let object = classes.iter().find(|c| c.name == "java/lang/Object").expect("java.lang.Object");
        let outcome = traced(&object.bytes, 1);
        assert_eq!(outcome.skipped.get(SkipReason::KnownToVm), 2, "JDK {}", jdk.release);
        assert!(!outcome.traced.is_empty());
    }
}

#[test]
fn methods_that_are_not_rewritten_stay_byte_for_byte() {
    let mut builder = ClassBuilder::new("Part", 52, 0);
    let marker = [16, 77, 87, 17, 12, 34, 87, 177];
    builder.method(PUBLIC_STATIC, "first", "()V", &code(1, 0, marker.to_vec()));
    builder.bare_method(0x401, "between", "()V");
    builder.method(PUBLIC_STATIC, "last", "()V", &code(65535, 0, marker.to_vec()));
    let bytes = builder.build();
    let outcome = traced(&bytes, 1);
    assert_eq!(outcome.traced.len(), 1);
    let new = outcome.bytes.expect("rewritten");
    // The tail: `between`, `last` and the empty class attributes.
    let tail = 8 + (8 + 6 + 12 + marker.len()) + 2;
    assert_eq!(new[new.len() - tail..], bytes[bytes.len() - tail..]);
}
