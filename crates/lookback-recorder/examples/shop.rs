//! A program that records into a ring file: threads that serve requests, each with a query and now and then an
//! order.
//!
//! The constraint that shaped it: end-to-end tests compare what is read back with what it did, so each request
//! carries its number, each thread tells its last one in the end, and nothing depends on how long anything takes.
//!
//! ```text
//! LOOKBACK_RING=shop.ring shop [THREADS [REQUESTS]]        0 requests: until it is killed
//! ```

use lookback_recorder::{EventType, Level, Options, Recorder};
use std::io::Write;
use std::time::Duration;

/// Every so many requests are an order.
const ORDER: u64 = 100;
/// After so many requests a thread tells how far it is.
const BEAT: u64 = 1_000;
/// How long the next client takes to come, where requests go on until the end: without that, a processor's worth of
/// them would overwrite what a thread did that had to wait for the processor.
const CLIENT: Duration = Duration::from_micros(20);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1).map(|a| a.parse::<u64>());
    let (threads, requests) = (args.next().unwrap_or(Ok(2))?, args.next().unwrap_or(Ok(1_000))?);
    let path = std::env::var_os("LOOKBACK_RING").ok_or("LOOKBACK_RING names no ring file")?;
    let recorder = Options::new().program("shop").open_or_create(path)?;
    let served = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|n| {
                let recorder = &recorder;
                let work = move || serve(recorder, n, requests);
                std::thread::Builder::new().name(format!("worker-{n}")).spawn_scoped(scope, work)
            })
            .collect();
        workers.into_iter().map(|w| w.map(|w| w.join().unwrap_or(0))).sum::<std::io::Result<u64>>()
    })?;
    println!("served {served}");
    Ok(())
}

fn serve(recorder: &Recorder, thread: u64, requests: u64) -> u64 {
    let (web, db) = (recorder.category("web"), recorder.category("db"));
    let request: EventType<u64, str> = web.event_type_with("request", Level::Info, ["number"], "path");
    let query: EventType<(u32, Duration)> = db.event_type("query", Level::Info, ["rows", "timeout"]);
    let order: EventType<(u64, f64, bool)> =
        web.event_type("order", Level::Info, ["number", "total", "paid"]);
    let step: EventType<u64> = web.event_type("step", Level::Debug, ["number"]);
    let mut number = 0;
    while requests == 0 || number < requests {
        let serving = request.span_with(number, if number.is_multiple_of(ORDER) { "/order" } else { "/" });
        step.instant(number);
        {
            let _query = query.span((number as u32 % 7, Duration::from_millis(250)));
            std::hint::black_box((0..50 + number % 64).sum::<u64>());
        }
        if number.is_multiple_of(ORDER) {
            order.instant((number, number as f64 / 8.0, !number.is_multiple_of(3 * ORDER)));
        }
        number += 1;
        if number % BEAT == 1 {
            let mut out = std::io::stdout().lock();
            // Whoever listens may be gone: that ends nothing.
            let _ = writeln!(out, "worker-{thread} {number}");
            let _ = out.flush();
        }
        if requests == 0 {
            drop(serving);
            std::thread::sleep(CLIENT);
        }
    }
    number
}
