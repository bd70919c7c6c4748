//! Samples: where a thread was at one moment.
//!
//! The constraint that shaped them: the ring may hold one sample and nothing of what was before it, and a program may be
//! killed at any moment. So a sample carries its whole stack, by the same identifiers of methods as slots do, and refers to
//! no other sample; what repeats is left to the packing of files.
//!
//! ```text
//! SAMPLE   key u32 | activity u8 | engine u8 | flags u16 | at u64 | frames, innermost first
//! frame    method u32 (0: unknown) | line u16 (0: unknown) | bytecode index u16 (0xffff: none)
//! flags    bit 0: there were more frames than these, outside of them
//! ```

use crate::{Error, MethodId, Nanos, Result, ThreadKey};
use serde::{Deserialize, Serialize};

/// Bytes of a sample before its frames, and of a frame.
pub const HEAD: usize = 16;
/// Bytes of a frame.
pub const FRAME: usize = 8;

/// Stands where a frame has no bytecode index: in a native method.
const NO_INDEX: u16 = u16::MAX;
/// Bit of the flags: there were more frames.
const CUT: u16 = 1;

/// What a thread did when it was sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Activity {
    /// It was on a processor, or could have been.
    #[default]
    Running,
    /// It waited: for time, a monitor, another thread, input or output.
    Waiting,
    /// The sampler cannot tell.
    Unknown,
}

impl Activity {
    /// All of them, by code.
    pub const ALL: [Activity; 3] = [Activity::Running, Activity::Waiting, Activity::Unknown];

    /// In a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Activity::Running => "running",
            Activity::Waiting => "waiting",
            Activity::Unknown => "unknown",
        }
    }

    fn from_code(code: u8) -> Activity {
        Activity::ALL.get(usize::from(code)).copied().unwrap_or(Activity::Unknown)
    }
}

/// How samples are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Engine {
    /// All threads stop at a safepoint, and all are sampled: JVMTI's `GetAllStackTraces`.
    Safepoint,
    /// Threads that run, which the kernel tells, are stopped one by one: JVMTI's `GetStackTrace`.
    Handshake,
    /// A timer of each thread's processor time sends it a signal: `AsyncGetCallTrace`.
    Signal,
    /// Threads sample themselves at a trace point, once a tick at the most.
    Poll,
    /// Partial safepoints, on the extended VM: threads that reach a poll first sample themselves, whole stacks (thesis, 4.1).
    Partial,
    /// All threads stop at a safepoint of the extended VM, and callers are recorded when they go on (thesis, chapter 3).
    Incremental,
    /// Both: partial safepoints with incremental stack traces.
    PartialIncremental,
    /// On the extended VM, by signals as `Signal`, but at the next poll, and callers are recorded when they go on (thesis, 4.2).
    IncrementalSignal,
    /// JDK Flight Recorder's own sampler, by time: `jdk.ExecutionSample`.
    Jfr,
    /// JDK Flight Recorder's sampler by processor time (JEP 509): `jdk.CPUTimeSample`.
    JfrCpu,
}

impl Engine {
    /// All of them, by code.
    pub const ALL: [Engine; 10] = [
        Engine::Safepoint,
        Engine::Handshake,
        Engine::Signal,
        Engine::Poll,
        Engine::Partial,
        Engine::Incremental,
        Engine::PartialIncremental,
        Engine::IncrementalSignal,
        Engine::Jfr,
        Engine::JfrCpu,
    ];

    /// Its name on the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Engine::Safepoint => "safepoint",
            Engine::Handshake => "handshake",
            Engine::Signal => "signal",
            Engine::Poll => "poll",
            Engine::Partial => "partial",
            Engine::Incremental => "incremental",
            Engine::PartialIncremental => "partial-incremental",
            Engine::IncrementalSignal => "incremental-signal",
            Engine::Jfr => "jfr",
            Engine::JfrCpu => "jfr-cpu",
        }
    }

    /// How it takes them, in words, to follow "taken ".
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Engine::Safepoint => "with all threads stopped at a safepoint",
            Engine::Handshake => "of threads that ran, each stopped alone",
            Engine::Signal => "by signals, wherever a thread was",
            Engine::Poll => "by the threads themselves, at trace points",
            Engine::Partial => "by the threads themselves, at the VM's polls",
            Engine::Incremental => "with all threads stopped at a safepoint, callers as they go on",
            Engine::PartialIncremental => {
                "by the threads themselves, at the VM's polls, callers as they go on"
            }
            Engine::IncrementalSignal => {
                "by signals, at the VM's next poll of the thread, callers as they go on"
            }
            Engine::Jfr => "by JDK Flight Recorder, of threads in Java code",
            Engine::JfrCpu => "by JDK Flight Recorder, each time a thread had used so much processor time",
        }
    }

    /// Whether it is the VM's own recorder that samples, and not the agent.
    #[must_use]
    pub const fn is_jfr(self) -> bool {
        matches!(self, Engine::Jfr | Engine::JfrCpu)
    }

    /// The engine of a name.
    #[must_use]
    pub fn parse(word: &str) -> Option<Engine> {
        Engine::ALL.into_iter().find(|engine| engine.word() == word)
    }
}

/// A frame of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame {
    /// The method; identifier 0 when there was no memory for its name.
    pub method: MethodId,
    /// The source line; 0 when unknown.
    pub line: u16,
    /// The bytecode's index in the method as the VM runs it; none in a native method.
    pub bci: Option<u16>,
}

/// Where a thread was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The thread.
    pub thread: ThreadKey,
    /// When.
    pub at: Nanos,
    /// What it did.
    pub activity: Activity,
    /// Who sampled it; none for an engine that this build does not know.
    pub engine: Option<Engine>,
    /// Whether outer frames are missing.
    pub is_cut: bool,
    /// Its frames, innermost first.
    pub frames: Vec<Frame>,
}

impl Sample {
    /// Appends the payload of the event to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let engine = self.engine.map_or(u8::MAX, |engine| engine as u8);
        out.extend_from_slice(&self.thread.0.to_le_bytes());
        out.extend_from_slice(&[self.activity as u8, engine]);
        out.extend_from_slice(&(u16::from(self.is_cut) * CUT).to_le_bytes());
        out.extend_from_slice(&self.at.0.to_le_bytes());
        for frame in &self.frames {
            out.extend_from_slice(&frame.method.0.to_le_bytes());
            out.extend_from_slice(&frame.line.to_le_bytes());
            out.extend_from_slice(&frame.bci.unwrap_or(NO_INDEX).to_le_bytes());
        }
    }

    /// Reads the payload of an event.
    ///
    /// # Errors
    /// [`Error::Truncated`] when it is shorter than a sample without frames. What is left of a cut frame is passed over.
    pub fn decode(payload: &[u8]) -> Result<Sample> {
        let truncated =
            || Error::Truncated { what: "a sample", needed: HEAD as u64, found: payload.len() as u64 };
        let (head, frames) = payload.split_first_chunk::<HEAD>().ok_or_else(truncated)?;
        let [k0, k1, k2, k3, activity, engine, f0, f1, at @ ..] = *head;
        let frames = frames.chunks_exact(FRAME).map(|f| {
            let index = u16::from_le_bytes([f[6], f[7]]);
            Frame {
                method: MethodId(u32::from_le_bytes([f[0], f[1], f[2], f[3]])),
                line: u16::from_le_bytes([f[4], f[5]]),
                bci: (index != NO_INDEX).then_some(index),
            }
        });
        Ok(Sample {
            thread: ThreadKey(u32::from_le_bytes([k0, k1, k2, k3])),
            at: Nanos(u64::from_le_bytes(at)),
            activity: Activity::from_code(activity),
            engine: Engine::ALL.get(usize::from(engine)).copied(),
            is_cut: u16::from_le_bytes([f0, f1]) & CUT != 0,
            frames: frames.collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_their_places() {
        assert!(Engine::ALL.iter().enumerate().all(|(code, engine)| *engine as usize == code));
        assert!(Activity::ALL.iter().enumerate().all(|(code, activity)| *activity as usize == code));
        assert!(Engine::ALL.iter().all(|engine| Engine::parse(engine.word()) == Some(*engine)));
        assert_eq!(Activity::from_code(200), Activity::Unknown);
    }

    #[test]
    fn an_engine_of_another_version_is_no_error() {
        let mut payload = Vec::new();
        let sample = Sample {
            thread: ThreadKey(1),
            at: Nanos(2),
            activity: Activity::Waiting,
            engine: None,
            is_cut: true,
            frames: vec![Frame { method: MethodId(3), line: 4, bci: None }],
        };
        sample.encode(&mut payload);
        assert_eq!(payload.len(), HEAD + FRAME);
        assert_eq!(Sample::decode(&payload).unwrap(), sample);
        assert_eq!(Sample::decode(&payload[..HEAD + 7]).unwrap().frames, []);
        assert!(Sample::decode(&payload[..HEAD - 1]).is_err());
    }
}
