//! Who takes the samples.
//!
//! The constraint that shaped it: no stock VM offers what is cheap, exact and safe at once, so there are several, with one
//! interface, and the best that a VM offers is taken unless somebody asks for another.

use super::Wanted;
use super::collect::Collector;
use super::handshake::Handshakes;
use super::incremental_signal::IncrementalSignals;
use super::latency::Latencies;
use super::partial::Partial;
use super::poll::Polls;
use super::safepoint::Safepoints;
use super::signal::Signals;
use crate::agent::Agent;
use jni_sys::JNIEnv;
use lookback_format::sample;

/// Takes samples on the sampler's thread, or has threads take their own.
pub(super) trait Engine {
    /// Takes what is due now, and hands over what was taken since.
    fn sample(&mut self, collector: &mut Collector<'_>);

    /// How long requests take, where that is longer than [`Engine::sample`] does: threads go on with them.
    fn latencies(&self) -> Option<&Latencies> {
        None
    }

    /// Hands over what is left, at the end.
    fn finish(&mut self, _: &mut Collector<'_>) {}
}

/// The engine that is wanted, or the best one: partial safepoints where the VM has them, else handshakes, which need
/// nothing that a stock VM does not guarantee.
pub(super) fn choose(
    agent: &'static Agent,
    env: *mut JNIEnv,
    wanted: &Wanted,
) -> Result<(sample::Engine, Box<dyn Engine>), String> {
    use sample::Engine as Kind;
    let kind = wanted.engine.unwrap_or(if Partial::is_offered(agent) {
        Kind::PartialIncremental
    } else {
        Kind::Handshake
    });
    let engine: Box<dyn Engine> = match kind {
        Kind::Safepoint => Box::new(Safepoints::new()),
        Kind::Handshake => Box::new(Handshakes::new(agent, env, wanted.all)?),
        Kind::Signal => Box::new(Signals::new(agent, env, wanted.interval)?),
        Kind::Poll => Box::new(Polls::new(agent, wanted.interval)?),
        Kind::Partial | Kind::Incremental | Kind::PartialIncremental => {
            Box::new(Partial::new(agent, kind, wanted.all)?)
        }
        Kind::IncrementalSignal => Box::new(IncrementalSignals::new(agent, env, wanted.interval)?),
        _ => return Err(format!("this version has no engine {}", kind.word())),
    };
    Ok((kind, engine))
}

/// So many threads can run at a time.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}
