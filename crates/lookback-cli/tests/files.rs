//! Inputs that are not what they should be, and outputs that cannot be written.

mod support;

use lookback_format::Nanos;
use lookback_format::incident::{MANIFEST, Manifest, Trigger, VERSION, Writer};
use std::io::Cursor;
use std::process::Command;
use support::{Place, Ran};

fn incident(version: u32) -> Vec<u8> {
    let manifest = Manifest {
        version,
        lookback: "9.9".into(),
        clock_pair: (Nanos(0), 0),
        pid: 1,
        program: "Main\u{1b}[2J".into(),
        jvm: String::new(),
        host: String::new(),
        tick: Nanos(1),
        tick_late: Nanos(0),
        dropped: Vec::new(),
        waiting_classes: 0,
        costs: None,
        sampling: None,
        ring_file: None,
        trigger: Trigger::Command { at: Nanos(0) },
        losses: std::collections::BTreeMap::new(),
    };
    let mut writer = Writer::new(Cursor::new(Vec::new()));
    writer.threads(&[]).unwrap();
    writer.finish(&manifest).unwrap().into_inner()
}

#[test]
fn foreign_cut_and_newer_incidents_are_told_apart() {
    let place = Place::new();
    let write = |bytes: &[u8]| std::fs::write(place.file("x.lkb"), bytes).unwrap();
    let info = || place.run(&["info", "x.lkb"]);
    write(b"hello");
    info().fails(1, &["cannot use x.lkb: not an incident file", "lookback dump"]);
    write(b"");
    info().fails(1, &["not an incident file"]);
    let good = incident(VERSION);
    write(&good[..good.len() - 30]);
    info().fails(1, &["cut short", "copy it again"]);
    write(&incident(VERSION + 1));
    info().fails(1, &["format version 2", "as new as"]);
    write(&lookback_format::region::MAGIC);
    info().fails(1, &["not an incident file", "it is a region file: `lookback recover`"]);
    std::fs::remove_file(place.file("x.lkb")).unwrap();
    info().fails(1, &["cannot read x.lkb: No such file"]);
}

#[test]
fn an_incident_with_missing_parts_is_shown_with_its_damage_and_harmless_names() {
    let place = Place::new();
    std::fs::write(place.file("x.lkb"), incident(VERSION)).unwrap();
    let shown = place.run(&["info", "x.lkb"]).ok().out;
    assert!(shown.contains("the section symbols.json.zst is missing") && shown.contains(MANIFEST), "{shown}");
    assert!(!shown.contains('\x1b'));
}

#[test]
fn a_full_disk_leaves_nothing_behind() {
    let place = Place::new();
    let small = place.file("small");
    std::fs::create_dir(&small).unwrap();
    // A mount of its own in a namespace of its own: nothing outside of this test sees it.
    let script = format!(
        "mount -t tmpfs -o size=16k none {0} && cd {0} && \"$@\"; code=$?; ls -A {0}; exit $code",
        small.display()
    );
    let unshare = |args: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["-r", "-m", "sh", "-c", &script, "sh"]).args(args).current_dir(place.path());
        Ran::of(&mut command)
    };
    let permitted = unshare(&["true"]).code == Some(0);
    let region = place.file("big.region");
    big_region(&region);
    let bin = env!("CARGO_BIN_EXE_lookback");
    if permitted {
        let ran = unshare(&[bin, "recover", &region.to_string_lossy(), "-o", "x.lkb"]);
        let ran = ran.fails(1, &["cannot write x.lkb: No space left on device", "nothing was left behind"]);
        assert_eq!(ran.out, "", "the directory is empty");
    }
    // A device that is always full stands for the disk where mounting is not permitted.
    let ran = place.run(&["recover", "big.region", "-o", "/dev/full"]);
    ran.fails(1, &["cannot write /dev/full: No space left on device"]);
}

/// A region with 64 slabs of slots that do not pack, more than the small disk holds.
fn big_region(path: &std::path::Path) {
    use lookback_format::region::{HEADER_BYTES, MAGIC, header, slab};
    const SLABS: usize = 64;
    let bytes = HEADER_BYTES + SLABS * slab::STRIDE;
    let mut region = vec![0; bytes];
    let mut put = |at: usize, v: u64| region[at..at + 8].copy_from_slice(&v.to_le_bytes());
    put(header::VERSION, u64::from(lookback_format::region::VERSION) | 4_194_399 << 32);
    put(header::BYTES, bytes as u64);
    put(header::SYMBOLS_AT, bytes as u64);
    put(header::SLABS_AT, HEADER_BYTES as u64);
    put(header::SLABS, SLABS as u64);
    put(header::RING_AT, bytes as u64);
    let mut seed = 5_u64;
    for n in 0..SLABS {
        let at = HEADER_BYTES + n * slab::STRIDE;
        for i in 0..8_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Two entries: ids of 29 bits that are not zero.
            put(at + slab::SLOTS + 8 * i, seed >> 3 & 0x1fff_ffff_1fff_ffff | 0x1_0000_0001);
        }
        put(at + slab::STATE, 1 | (n as u64 + 1) << 32);
    }
    region[..8].copy_from_slice(&MAGIC);
    std::fs::write(path, region).unwrap();
}

#[test]
fn outputs_that_are_there_or_cannot_be_are_refused() {
    let place = Place::new();
    big_region(&place.file("r"));
    std::fs::write(place.file("there.lkb"), "mine").unwrap();
    place.run(&["recover", "r", "-o", "there.lkb"]).fails(1, &["there.lkb is there already", "--force"]);
    assert_eq!(std::fs::read_to_string(place.file("there.lkb")).unwrap(), "mine");
    place.run(&["recover", "r", "-o", "there.lkb", "--force"]).ok();
    assert!(std::fs::read(place.file("there.lkb")).unwrap().starts_with(b"PK"));
    place.run(&["recover", "r", "-o", "none/x.lkb"]).fails(1, &["cannot write none/x.lkb: No such file"]);
    place.run(&["recover", "r", "-o", "/proc/x.lkb"]).fails(1, &["cannot write /proc/x.lkb"]);
    place.run(&["recover", "r", "-o", "r/x.lkb"]).fails(1, &["cannot write r/x.lkb"]);
    place.run(&["recover", "r", "-o", "-"]).fails(2, &["ZIP"]);
    place.run(&["recover", "r", "-o", "lookback"]).fails(1, &["lookback is there already"]);
}
