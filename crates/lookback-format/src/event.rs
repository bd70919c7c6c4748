//! Events: what the agent writes into the ring, and the framing that carries the same events in a file.
//!
//! The constraint that shaped them: each event stands for itself. A reader that finds one event and nothing
//! else still knows the thread, the place in the thread's sequence and the time span it speaks of.
//! Layouts (little-endian; `docs/FORMAT.md` has them as tables):
//!
//! ```text
//! CHUNK         key u32 | seq u32 | first u64 | last u64 | lost u32 | 0 u32 | slots u32...
//! PAUSE         start u64 | end u64 | cause u32 | 0 u32
//! THREAD_START  key u32 | os tid u32 | java tid u64 | at u64 | name (UTF-8, to the end)
//! THREAD_END    key u32 | os tid u32 | java tid u64 | at u64 | chunks u32 | 0 u32 | name (UTF-8, to the end)
//! TRIGGER       key u32 | method u32 | at u64 | start u64 | rule (UTF-8, to the end)
//! VIRTUAL_NAME  java tid u64 | at u64 | name (UTF-8, to the end)
//! SAMPLE        see `sample`
//! INSTANT       see `native`, as for SPAN_BEGIN and SPAN_END
//! ```

use crate::native::{Native, Record};
use crate::sample::Sample;
use crate::{Error, MethodId, Nanos, Result, Seq, ThreadKey};

/// Kinds of events. Numbers are part of the format and never reused.
pub mod kind {
    /// A thread's chunk of slots.
    pub const CHUNK: u16 = 1;
    /// The VM stopped the program, to collect garbage.
    pub const PAUSE: u16 = 2;
    /// A thread began.
    pub const THREAD_START: u16 = 3;
    /// A thread ended; carries its last name, since its chunks do not.
    pub const THREAD_END: u16 = 4;
    /// A detector fired.
    pub const TRIGGER: u16 = 5;
    /// What a virtual thread is called.
    pub const VIRTUAL_NAME: u16 = 6;
    /// Where a thread was at one moment.
    pub const SAMPLE: u16 = 7;
    /// A native event that stands for itself.
    pub const INSTANT: u16 = 16;
    /// A span of native code begins.
    pub const SPAN_BEGIN: u16 = 17;
    /// A span of native code ends.
    pub const SPAN_END: u16 = 18;
}

/// Bytes of a chunk's header, before its slots.
pub const CHUNK_HEADER: usize = 32;

/// Bytes of what stands first in the payload of a thread's beginning or end.
pub const THREAD_HEADER: usize = 24;

/// A chunk: consecutive slots of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The thread.
    pub thread: ThreadKey,
    /// Its place among the thread's chunks.
    pub seq: Seq,
    /// No slot is older than this.
    pub first: Nanos,
    /// No slot is younger than this.
    pub last: Nanos,
    /// Records that were lost within it.
    pub lost: u32,
    /// The slots, oldest first; see [`crate::slot::Records`].
    pub slots: Vec<u32>,
}

impl Chunk {
    /// The thread of a chunk, its place, and the time that no slot in it is older than, from its payload.
    #[must_use]
    pub fn peek(payload: &[u8]) -> Option<(ThreadKey, Seq, Nanos)> {
        let key = u32::from_le_bytes(*payload.first_chunk()?);
        let seq = u32::from_le_bytes(*payload.get(4..)?.first_chunk()?);
        let first = u64::from_le_bytes(*payload.get(8..)?.first_chunk()?);
        Some((ThreadKey(key), Seq(seq), Nanos(first)))
    }

    /// The header that stands before the slots in the ring.
    #[must_use]
    pub fn header(thread: ThreadKey, seq: Seq, first: Nanos, last: Nanos, lost: u32) -> [u8; CHUNK_HEADER] {
        let mut h = [0; CHUNK_HEADER];
        h[0..4].copy_from_slice(&thread.0.to_le_bytes());
        h[4..8].copy_from_slice(&seq.0.to_le_bytes());
        h[8..16].copy_from_slice(&first.0.to_le_bytes());
        h[16..24].copy_from_slice(&last.0.to_le_bytes());
        h[24..28].copy_from_slice(&lost.to_le_bytes());
        h
    }
}

/// A beginning or an end of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadEvent {
    /// The thread.
    pub thread: ThreadKey,
    /// The operating system's id.
    pub os_tid: u32,
    /// Java's `Thread.threadId()`.
    pub java_tid: u64,
    /// When.
    pub at: Nanos,
    /// The thread's name at that moment.
    pub name: String,
}

impl ThreadEvent {
    /// What stands before the name in the ring, and before the number of chunks of a thread that ends.
    #[must_use]
    pub fn header(thread: ThreadKey, os_tid: u32, java_tid: u64, at: Nanos) -> [u8; THREAD_HEADER] {
        let mut h = [0; THREAD_HEADER];
        h[0..4].copy_from_slice(&thread.0.to_le_bytes());
        h[4..8].copy_from_slice(&os_tid.to_le_bytes());
        h[8..16].copy_from_slice(&java_tid.to_le_bytes());
        h[16..24].copy_from_slice(&at.0.to_le_bytes());
        h
    }
}

/// One decoded event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Slots of a thread.
    Chunk(Chunk),
    /// A pause of the whole program, from and to, and a cause (0 = garbage collection).
    Pause(Nanos, Nanos, u32),
    /// A thread began.
    ThreadStart(ThreadEvent),
    /// A thread ended, and how many chunks it had written.
    ThreadEnd(ThreadEvent, u32),
    /// A detector fired: thread, method, when, when the call had begun, rule.
    Trigger(ThreadKey, MethodId, Nanos, Nanos, String),
    /// What the virtual thread with this Java id is called, and when it was. Told when it begins to run on a carrier: the
    /// first time, and again when half of the ring was overwritten since.
    VirtualName(u64, Nanos, String),
    /// Where a thread was at one moment.
    Sample(Sample),
    /// Written by a program that uses the recorder's API. In a ring file its time is not yet in
    /// nanoseconds: there, [`Record::decode`] reads it.
    Native(Native),
    /// A kind that this build does not know.
    Unknown(u16),
}

impl Event {
    /// Appends the payload of this event to `out` and returns its kind. [`Event::Unknown`] has no payload.
    pub fn encode(&self, out: &mut Vec<u8>) -> u16 {
        match self {
            Event::Chunk(c) => {
                out.extend_from_slice(&Chunk::header(c.thread, c.seq, c.first, c.last, c.lost));
                c.slots.iter().for_each(|s| out.extend_from_slice(&s.to_le_bytes()));
                kind::CHUNK
            }
            Event::Pause(start, end, cause) => {
                out.extend_from_slice(&start.0.to_le_bytes());
                out.extend_from_slice(&end.0.to_le_bytes());
                out.extend_from_slice(&u64::from(*cause).to_le_bytes());
                kind::PAUSE
            }
            Event::ThreadStart(t) => {
                out.extend_from_slice(&ThreadEvent::header(t.thread, t.os_tid, t.java_tid, t.at));
                out.extend_from_slice(t.name.as_bytes());
                kind::THREAD_START
            }
            Event::ThreadEnd(t, chunks) => {
                out.extend_from_slice(&ThreadEvent::header(t.thread, t.os_tid, t.java_tid, t.at));
                out.extend_from_slice(&u64::from(*chunks).to_le_bytes());
                out.extend_from_slice(t.name.as_bytes());
                kind::THREAD_END
            }
            Event::Trigger(thread, method, at, start, rule) => {
                out.extend_from_slice(&thread.0.to_le_bytes());
                out.extend_from_slice(&method.0.to_le_bytes());
                out.extend_from_slice(&at.0.to_le_bytes());
                out.extend_from_slice(&start.0.to_le_bytes());
                out.extend_from_slice(rule.as_bytes());
                kind::TRIGGER
            }
            Event::VirtualName(java_tid, at, name) => {
                out.extend_from_slice(&java_tid.to_le_bytes());
                out.extend_from_slice(&at.0.to_le_bytes());
                out.extend_from_slice(name.as_bytes());
                kind::VIRTUAL_NAME
            }
            Event::Sample(sample) => {
                sample.encode(out);
                kind::SAMPLE
            }
            Event::Native(native) => native.encode(out),
            Event::Unknown(kind) => *kind,
        }
    }

    /// Reads one event.
    ///
    /// # Errors
    /// [`Error::Truncated`] when the payload is shorter than its kind needs.
    pub fn decode(event: u16, payload: &[u8]) -> Result<Event> {
        let mut p = Reader { bytes: payload };
        Ok(match event {
            kind::CHUNK => {
                let (thread, seq) = (ThreadKey(p.u32()?), Seq(p.u32()?));
                let (first, last) = (Nanos(p.u64()?), Nanos(p.u64()?));
                let lost = p.u64()? as u32;
                let slots = p.bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                Event::Chunk(Chunk { thread, seq, first, last, lost, slots: slots.collect() })
            }
            kind::PAUSE => Event::Pause(Nanos(p.u64()?), Nanos(p.u64()?), p.u64()? as u32),
            kind::THREAD_START => {
                let thread = p.thread()?;
                Event::ThreadStart(ThreadEvent { name: p.text(), ..thread })
            }
            kind::THREAD_END => {
                let (thread, chunks) = (p.thread()?, p.u64()? as u32);
                Event::ThreadEnd(ThreadEvent { name: p.text(), ..thread }, chunks)
            }
            kind::TRIGGER => Event::Trigger(
                ThreadKey(p.u32()?),
                MethodId(p.u32()?),
                Nanos(p.u64()?),
                Nanos(p.u64()?),
                p.text(),
            ),
            kind::VIRTUAL_NAME => Event::VirtualName(p.u64()?, Nanos(p.u64()?), p.text()),
            kind::SAMPLE => Event::Sample(Sample::decode(payload)?),
            other => match Record::decode(other, payload) {
                Some(record) => record.map(|r| Event::Native(r.at(Nanos(r.time.0))))?,
                None => Event::Unknown(other),
            },
        })
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let Some((head, rest)) = self.bytes.split_first_chunk::<N>() else {
            let found = self.bytes.len() as u64;
            return Err(Error::Truncated { what: "an event", needed: N as u64, found });
        };
        self.bytes = rest;
        Ok(*head)
    }

    fn u32(&mut self) -> Result<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> String {
        String::from_utf8_lossy(self.bytes).into_owned()
    }

    /// All but the name.
    fn thread(&mut self) -> Result<ThreadEvent> {
        Ok(ThreadEvent {
            thread: ThreadKey(self.u32()?),
            os_tid: self.u32()?,
            java_tid: self.u64()?,
            at: Nanos(self.u64()?),
            name: String::new(),
        })
    }
}

/// Appends one framed event to `out`: payload length u32, kind u16, zero u16, payload, zeros up to a
/// multiple of 8. This is how events stand in the sections of an incident file.
pub fn frame(event: u16, parts: &[&[u8]], out: &mut Vec<u8>) {
    let len: usize = parts.iter().map(|p| p.len()).sum();
    out.extend_from_slice(&(len as u32).to_le_bytes());
    out.extend_from_slice(&event.to_le_bytes());
    out.extend_from_slice(&[0, 0]);
    parts.iter().for_each(|p| out.extend_from_slice(p));
    out.resize(out.len().next_multiple_of(8), 0);
}

/// Takes framed events apart. Ends at the first frame that does not fit; [`Frames::rest`] tells how much
/// was left.
#[derive(Clone, Debug)]
pub struct Frames<'a> {
    bytes: &'a [u8],
}

impl<'a> Frames<'a> {
    /// Reads the frames in `bytes`, which begin at a frame.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Frames { bytes }
    }

    /// Bytes not read: more than zero after the end means a cut or damaged section.
    #[must_use]
    pub const fn rest(&self) -> usize {
        self.bytes.len()
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (head, body) = self.bytes.split_first_chunk::<8>()?;
        let len = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let kind = u16::from_le_bytes([head[4], head[5]]);
        let payload = body.get(..len)?;
        self.bytes = body.get(len.next_multiple_of(8)..).unwrap_or(&[]);
        Some((kind, payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TypeId;
    use crate::native::Phase;
    use crate::sample::{Activity, Engine, Frame};

    fn samples() -> Vec<Event> {
        let thread = ThreadEvent {
            thread: ThreadKey(3),
            os_tid: 4711,
            java_tid: 22,
            at: Nanos(99),
            name: "exec-1 ü".into(),
        };
        vec![
            Event::Chunk(Chunk {
                thread: ThreadKey(1),
                seq: Seq(2),
                first: Nanos(3),
                last: Nanos(4),
                lost: 5,
                slots: vec![1, 2, 3],
            }),
            Event::Pause(Nanos(1), Nanos(2), 0),
            Event::ThreadStart(thread.clone()),
            Event::ThreadEnd(thread, 7),
            Event::Trigger(ThreadKey(1), MethodId(2), Nanos(3), Nanos(4), "slow=a.B.c:1ms".into()),
            Event::VirtualName(1 << 40, Nanos(3), "request-7 ü".into()),
            Event::Sample(Sample {
                thread: ThreadKey(1),
                at: Nanos(2),
                activity: Activity::Waiting,
                engine: Some(Engine::Handshake),
                is_cut: true,
                frames: vec![Frame { method: MethodId(7), line: 12, bci: Some(3) }],
            }),
            Event::Native(Native {
                phase: Phase::Begin,
                time: Nanos(5),
                event_type: TypeId(6),
                thread: ThreadKey(7),
                fields: vec![8; 11],
            }),
        ]
    }

    #[test]
    fn framed_events_are_read_back() {
        let mut file = Vec::new();
        for e in samples() {
            let mut payload = Vec::new();
            let kind = e.encode(&mut payload);
            frame(kind, &[&payload], &mut file);
        }
        let mut frames = Frames::new(&file);
        let read: Vec<_> = frames.by_ref().map(|(k, p)| Event::decode(k, p).unwrap()).collect();
        assert_eq!(read, samples());
        assert_eq!(frames.rest(), 0);
    }

    #[test]
    fn a_chunk_tells_whose_it_is_before_it_is_decoded() {
        let header = Chunk::header(ThreadKey(7), Seq(1), Nanos(1 << 40), Nanos(2), 3);
        assert_eq!(Chunk::peek(&header), Some((ThreadKey(7), Seq(1), Nanos(1 << 40))));
        assert_eq!(Chunk::peek(&header[..15]), None);
    }

    #[test]
    fn a_cut_payload_is_an_error_and_not_a_panic() {
        for e in samples() {
            let mut payload = Vec::new();
            let kind = e.encode(&mut payload);
            for cut in 0..16 {
                assert!(matches!(Event::decode(kind, &payload[..cut]), Err(Error::Truncated { .. })));
            }
        }
        assert_eq!(Event::decode(999, &[]).unwrap(), Event::Unknown(999));
    }

    #[test]
    fn a_cut_section_gives_its_intact_frames() {
        let mut file = Vec::new();
        frame(2, &[&[1; 24]], &mut file);
        frame(2, &[&[2; 24]], &mut file);
        let cut = &file[..file.len() - 3];
        let mut frames = Frames::new(cut);
        assert_eq!(frames.by_ref().count(), 1);
        assert!(frames.rest() > 0);
    }
}
