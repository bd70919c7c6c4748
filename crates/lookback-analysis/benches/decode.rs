//! Decode of a full ring: 64 MB of slots of several threads, from the packed file to slices.
//!
//! Prints `result NAME VALUE UNIT` lines. The incident is made first and lies in memory; time and peak cover
//! reading, unpacking and decoding. `LOOKBACK_BENCH_SLOTS` sets another number of slots, for a quick run.

#[path = "../tests/support/mod.rs"]
mod support;

use lookback_analysis::*;
use lookback_format::event::{Event, frame};
use lookback_format::incident::{Reader, Writer};
use lookback_format::symbol::Wait;
use std::io::{Cursor, Write};
use std::time::Instant;
use support::*;

const THREADS: u32 = 8;
/// Slots of a chunk: a slab of 64 KiB.
const CHUNK: usize = 16_368;

fn main() {
    let slots: usize =
        std::env::var("LOOKBACK_BENCH_SLOTS").ok().and_then(|s| s.parse().ok()).unwrap_or(16 << 20);
    let (file, methods) = (incident(slots), 2_000);
    println!("result decode.64mb.file {:.1} MB", file.len() as f64 / 1e6);
    reset_peak();
    let before = status("VmRSS");
    let begin = Instant::now();
    let mut reader = Reader::open(Cursor::new(&file[..])).expect("the incident is whole");
    let recording = Recording::load(&mut reader);
    let seconds = begin.elapsed().as_secs_f64();
    let peak = status("VmHWM") - before;
    assert_eq!(recording.threads.len(), THREADS as usize);
    assert_eq!(recording.methods.iter().count(), methods);
    assert!(recording.slices() * 2 > slots / 10 * 9, "{} slices", recording.slices());
    println!("result decode.64mb.slots {slots} slots");
    println!("result decode.64mb.slices {} slices", recording.slices());
    println!("result decode.64mb.seconds {seconds:.3} s");
    println!("result decode.64mb.peak_mb {:.0} MB", peak / 1e3);
    time("report.64mb.words", || {
        let verdict = Verdict::of(&recording);
        report(&recording, &verdict, Style::default(), &mut std::io::sink()).expect("a sink takes all");
        verdict.sentences.len() as u64
    });
    time("report.64mb.page", || page_json(&recording, &Verdict::of(&recording), DEFAULT_SLICES).len() as u64);
    let all = Trim::new(&recording, usize::MAX);
    time("report.64mb.perfetto", || written(|out| perfetto(&recording, &all, out)));
    time("report.64mb.chrome", || written(|out| chrome_json(&recording, &all, out)));
    time("report.64mb.collapsed", || written(|out| collapsed(&recording, out)));
    println!("result report.64mb.peak_mb {:.0} MB", (status("VmHWM") - before) / 1e3);
}

fn time(name: &str, work: impl FnOnce() -> u64) {
    let begin = Instant::now();
    let made = work();
    assert!(made > 0, "{name} made nothing");
    println!("result {name}.seconds {:.3} s", begin.elapsed().as_secs_f64());
}

/// Counts what is written and drops it.
fn written(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> u64 {
    struct Count(u64);
    impl Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    write(&mut count).expect("counting cannot fail");
    count.0
}

fn incident(slots: usize) -> Vec<u8> {
    let mut w = Writer::new(Cursor::new(Vec::new()));
    w.ring(|out| {
        for key in 0..THREADS {
            let mut random = Random(u64::from(key));
            let mut t = Tracer::new(key, EPOCH, CHUNK);
            let mut written = 0;
            while written < slots / THREADS as usize {
                random_walk(&mut t, &mut random, 10_000, 40, 2_000);
                t.forget();
                for c in t.chunks.drain(..) {
                    written += c.slots.len();
                    let (mut payload, mut framed) = (Vec::new(), Vec::new());
                    let kind = Event::Chunk(c).encode(&mut payload);
                    frame(kind, &[&payload], &mut framed);
                    out.write_all(&framed)?;
                }
            }
        }
        Ok(())
    })
    .expect("memory takes all");
    let names: Vec<_> = (1..=2_000).map(|i| format!("com.acme.p{}.Class{i}", i % 50)).collect();
    let symbols: Vec<_> = names.iter().zip(1..).map(|(n, i)| (i, n.as_str(), "run", 7, Wait::None)).collect();
    w.symbols(classes(&symbols)).expect("memory takes all");
    w.threads(&[]).expect("memory takes all");
    w.finish(&command(EPOCH)).expect("memory takes all").into_inner()
}

/// A field of this process' status, kilobytes.
fn status(field: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with(field)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0.0)
}

fn reset_peak() {
    // 5 sets the high-water mark of resident memory back; without it the making of the incident would count.
    std::fs::write("/proc/self/clear_refs", "5").expect("the kernel resets the peak");
}
