//! The mapped region: the one file that holds all that Lookback remembers of a running program.
//!
//! The constraint that shaped it: it must be readable after the writer was killed at any instruction, so
//! each part is found from the header alone and no part needs a pointer or the writer's heap.
//!
//! ```text
//! 0          header page (this module's offsets)
//! 4096       one byte a slab: 1 when its thread took note of a tick (see the agent's ticker)
//! 36864      one byte a slab: 1 while its thread is inside a watched call
//! symbols    append-only log, see `symbol`
//! slabs      one a thread, SLAB_STRIDE apart: 64 KiB of slots, then the thread's cold page
//! ring       see the ring's own layout
//! ```
//!
//! A slab (offsets within it). Compiled code reads and writes the first half; what native code needs each time stands in the first
//! line beside the poll word, since a page behind is seldom in a core's caches, and the rest in the second half:
//! ```text
//! 0       poll   u32  0: nothing; 1: exact time wanted; 2: a tick passed (set by the ticker)
//! 4       lost   u32  how often the slots ran over the slab's end
//! 8       active u64  address, in the writing process, of the slab's byte in the area at 4096
//! 16      state  u32  see [`slab::STATE_FREE`] and its like
//! 20      key u32 | seq u32 | flushing u32 | first u64
//! 40      mounted u64: Java id of the virtual thread that the thread carries now, or see [`slab::UNMOUNTED`]
//! 48      os tid u32
//! 52      held u32: 1 while, if the thread is braked, its precise methods are not recorded either
//! 56      java tid u64
//! 64      slots  u32...  up to the first zero word; at 4096 a filler record stands until a slot takes its place
//!                      (the part from 8192 on is memory of the process and not in the file)
//! 65536   guard  u32  always 3: makes the poll of a cursor that ran off the end fail
//! 65600   name: length u16, then up to 190 bytes of UTF-8
//! 65792   watched calls: depth u32, 0 u32, then 16 x (method u32 | rule u32 | state u64: twice its start, plus 1 when
//!         it was reported; see [`slab::WATCH_NONE`])
//! ```

use crate::{Error, Nanos, Result, Seq, ThreadKey, event::Chunk, slot};

/// First bytes of a region file.
pub const MAGIC: [u8; 8] = *b"LKBREGN\n";
/// Version of this layout.
pub const VERSION: u32 = 2;
/// The most slabs that a region has.
pub const MAX_SLABS: u32 = 32_768;
/// Offset of the bytes that tell which threads took note of a tick.
pub const ACTIVE: usize = 4096;
/// Offset of the bytes that tell which threads are inside a watched call.
pub const WATCHING: usize = ACTIVE + MAX_SLABS as usize;
/// Bytes of the header and of the two areas of bytes that follow it.
pub const HEADER_BYTES: usize = WATCHING + MAX_SLABS as usize;

/// Offsets in the header page.
pub mod header {
    /// [`super::MAGIC`], stored last by the writer.
    pub const MAGIC: usize = 0;
    /// u32, [`super::VERSION`].
    pub const VERSION: usize = 8;
    /// u32, process id.
    pub const PID: usize = 12;
    /// u64, whole length of the region in bytes.
    pub const BYTES: usize = 16;
    /// u64, offset of the symbol log.
    pub const SYMBOLS_AT: usize = 24;
    /// u64, its bytes.
    pub const SYMBOLS_BYTES: usize = 32;
    /// u64, offset of the first slab.
    pub const SLABS_AT: usize = 40;
    /// u32, number of slabs.
    pub const SLABS: usize = 48;
    /// u64, offset of the ring.
    pub const RING_AT: usize = 56;
    /// u64, its bytes.
    pub const RING_BYTES: usize = 64;
    /// u64, the clock at tick 0, monotonic nanoseconds.
    pub const EPOCH: usize = 72;
    /// u64, nanoseconds of a tick.
    pub const TICK_NANOS: usize = 80;
    /// u64 + u64, monotonic and wall clock read together at the start.
    pub const CLOCK_PAIR: usize = 88;
    /// u32, the TICK record that entry trace points copy (on its own cache line, written by the ticker).
    pub const TICK_WORD: usize = 128;
    /// u64, the latest that a tick has come, nanoseconds.
    pub const TICK_LATE: usize = 136;
    /// u64 x 8, counters of losses by cause.
    pub const LOSSES: usize = 192;
    /// length u16 + UTF-8, the program (main class or jar, no arguments).
    pub const PROGRAM: usize = 512;
    /// length u16 + UTF-8, the VM's name and version.
    pub const JVM: usize = 1024;
}

/// Causes of losses counted in the header, by index.
pub const LOSS_CAUSES: [&str; 8] = [
    "threads without a slab",
    "chunks the ring had no room for",
    "slab overruns",
    "symbols that did not fit",
    "monitors without a name",
    "watched calls nested too deep",
    "records held back by the brake, about",
    "watched calls of unmounted virtual threads there was no room for",
];

/// Offsets in a slab, and the values of its words.
pub mod slab {
    /// Bytes from one slab to the next.
    pub const STRIDE: usize = 131_072;
    /// Bytes of the part that compiled code writes; cursors are masked by it.
    pub const SLOTS_END: usize = 65_536;
    /// Offset of the first slot.
    pub const SLOTS: usize = 64;
    /// Offset from which on an exit empties the slab. A filler record stands here, so that the exit's look
    /// at the first word of the cursor's page finds something other than 0.
    pub const FILLED: usize = 4096;
    /// Bytes of slots that are in the file; what deep recursion uses beyond is not, and reads as 0.
    pub const IN_FILE: usize = 8192;
    /// Offset of the poll word.
    pub const POLL: usize = 0;
    /// Offset of the overrun counter.
    pub const LOST: usize = 4;
    /// Offset of the address of the slab's byte at [`super::ACTIVE`].
    pub const ACTIVE_BYTE: usize = 8;
    /// A tick passed.
    pub const POLL_TICK: u32 = 2;
    /// The coarse time is written, the exact time is still wanted.
    pub const POLL_EXACT: u32 = 1;
    /// Offset of the state word.
    pub const STATE: usize = 16;
    /// The slab belongs to no thread.
    pub const STATE_FREE: u32 = 0;
    /// The slab's thread is traced.
    pub const STATE_ON: u32 = 1;
    /// The slab's thread is asked to stop, or has stopped.
    pub const STATE_OFF: u32 = 2;
    /// Offset of the thread key.
    pub const KEY: usize = 20;
    /// Offset of the sequence number of the chunk being filled.
    pub const SEQ: usize = 24;
    /// Offset of the word that is odd while the thread moves the slab's slots into the ring.
    pub const FLUSHING: usize = 28;
    /// Offset of the time at which the chunk was begun.
    pub const FIRST: usize = 32;
    /// Offset of the Java id of the virtual thread that the thread carries.
    pub const MOUNTED: usize = 40;
    /// What stands there when the end of the last virtual thread's turn is recorded, and no other's turn has begun.
    pub const UNMOUNTED: u64 = u64::MAX;
    /// Offset of the operating system's thread id.
    pub const OS_TID: usize = 48;
    /// Offset of the word that is 1 while, if the thread is braked, its precise methods are not recorded either.
    pub const HELD: usize = 52;
    /// Offset of Java's thread id.
    pub const JAVA_TID: usize = 56;
    /// Offset of the guard word.
    pub const GUARD: usize = 65_536;
    /// What stands there.
    pub const GUARD_VALUE: u32 = 3;
    /// Offset of the name.
    pub const NAME: usize = 65_600;
    /// Bytes that a name may have.
    pub const NAME_BYTES: usize = 190;
    /// Offset of the depth of watched calls.
    pub const WATCH_DEPTH: usize = 65_792;
    /// Offset of the first watched call.
    pub const WATCHES: usize = 65_800;
    /// Bytes of one.
    pub const WATCH_BYTES: usize = 16;
    /// In place of a call's state while its thread writes another over it.
    pub const WATCH_NONE: u64 = u64::MAX;
    /// How many nested watched calls are remembered.
    pub const WATCH_MAX: usize = 16;
    /// End of what is used of a slab.
    pub const COLD_END: usize = WATCHES + WATCH_MAX * WATCH_BYTES;
}

/// Reads a little-endian u32 at `at`.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_le_bytes(*b))
}

/// Reads a little-endian u64 at `at`.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|b| u64::from_le_bytes(*b))
}

/// Reads a length-prefixed text of at most `most` bytes at `at`.
#[must_use]
pub fn text_at(bytes: &[u8], at: usize, most: usize) -> Option<String> {
    let len = usize::from(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?)).min(most);
    Some(String::from_utf8_lossy(bytes.get(at + 2..at + 2 + len)?).into_owned())
}

/// Writes a length-prefixed text of at most `most` bytes into `out`, cut at a character.
pub fn put_text(out: &mut [u8], text: &str, most: usize) {
    let mut len = text.len().min(most).min(out.len().saturating_sub(2));
    while !text.is_char_boundary(len) {
        len -= 1;
    }
    out[..2].copy_from_slice(&(len as u16).to_le_bytes());
    out[2..2 + len].copy_from_slice(&text.as_bytes()[..len]);
}

/// What the header of a region says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Process that wrote it.
    pub pid: u32,
    /// Offset and length of the symbol log.
    pub symbols: (usize, usize),
    /// Offset of the first slab, and their number.
    pub slabs: (usize, u32),
    /// Offset and length of the ring.
    pub ring: (usize, usize),
    /// The clock at tick 0.
    pub epoch: Nanos,
    /// Length of a tick.
    pub tick: Nanos,
    /// The latest that a tick has come.
    pub tick_late: Nanos,
    /// Monotonic and wall clock (nanoseconds since 1970) read together.
    pub clock_pair: (Nanos, u64),
    /// The program.
    pub program: String,
    /// The VM.
    pub jvm: String,
    /// Losses by cause; see [`LOSS_CAUSES`].
    pub losses: [u64; 8],
}

impl Header {
    /// Reads and checks the header of a whole region: every part lies within it.
    ///
    /// # Errors
    /// [`Error::Foreign`], [`Error::Version`], [`Error::Truncated`] or [`Error::Corrupt`].
    pub fn read(region: &[u8]) -> Result<Header> {
        let found = region.get(..8).unwrap_or(region).to_vec();
        if found != MAGIC {
            return Err(Error::Foreign { expected: "a Lookback region file", found });
        }
        let u32s = |at| u32_at(region, at).unwrap_or(0);
        let u64s = |at| u64_at(region, at).unwrap_or(0);
        let version = u32s(header::VERSION);
        if version != VERSION {
            return Err(Error::Version { what: "the region file", found: version, supported: VERSION });
        }
        let needed = u64s(header::BYTES);
        if region.len() < HEADER_BYTES || (region.len() as u64) < needed {
            let found = region.len() as u64;
            return Err(Error::Truncated { what: "the region file", needed, found });
        }
        let part = |name: &str, at: u64, len: u64| -> Result<(usize, usize)> {
            match at.checked_add(len) {
                Some(end) if at >= HEADER_BYTES as u64 && end <= region.len() as u64 => {
                    Ok((at as usize, len as usize))
                }
                _ => Err(Error::Corrupt {
                    what: "the region's header",
                    why: format!("{name} at {at} with {len} bytes in a file of {}", region.len()),
                }),
            }
        };
        let slabs = u32s(header::SLABS);
        if slabs > MAX_SLABS {
            return Err(Error::Corrupt { what: "the region's header", why: format!("{slabs} slabs") });
        }
        let slabs_bytes = u64::from(slabs) * slab::STRIDE as u64;
        let mut losses = [0; 8];
        for (i, n) in losses.iter_mut().enumerate() {
            *n = u64s(header::LOSSES + i * 8);
        }
        Ok(Header {
            pid: u32s(header::PID),
            symbols: part("symbols", u64s(header::SYMBOLS_AT), u64s(header::SYMBOLS_BYTES))?,
            slabs: (part("slabs", u64s(header::SLABS_AT), slabs_bytes)?.0, slabs),
            ring: part("the ring", u64s(header::RING_AT), u64s(header::RING_BYTES))?,
            epoch: Nanos(u64s(header::EPOCH)),
            tick: Nanos(u64s(header::TICK_NANOS).max(1)),
            tick_late: Nanos(u64s(header::TICK_LATE)),
            clock_pair: (Nanos(u64s(header::CLOCK_PAIR)), u64s(header::CLOCK_PAIR + 8)),
            program: text_at(region, header::PROGRAM, 500).unwrap_or_default(),
            jvm: text_at(region, header::JVM, 500).unwrap_or_default(),
            losses,
        })
    }
}

/// What a slab says about its thread, and the slots that are not in the ring yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlabCopy {
    /// The thread's name.
    pub name: String,
    /// The operating system's id of it.
    pub os_tid: u32,
    /// Java's id of it.
    pub java_tid: u64,
    /// The chunk being filled.
    pub chunk: Chunk,
    /// Watched calls that run, outermost first: method, rule, start.
    pub watched: Vec<(u32, u32, Nanos)>,
}

/// Reads the copy of one slab; none when it belongs to no thread. `now` closes the chunk's time span, unless the chunk was
/// begun since.
/// After an overrun the slots are out of order and none is given; [`Chunk::lost`] says so.
#[must_use]
pub fn read_slab(bytes: &[u8], now: Nanos) -> Option<SlabCopy> {
    let state = u32_at(bytes, slab::STATE)?;
    if state == slab::STATE_FREE || bytes.len() < slab::COLD_END {
        return None;
    }
    let overruns = u32_at(bytes, slab::LOST)?;
    let lost = overruns.saturating_mul(((slab::SLOTS_END - slab::SLOTS) / 4) as u32);
    let words = bytes[slab::SLOTS..slab::SLOTS_END].chunks_exact(4);
    let mut slots: Vec<u32> = Vec::new();
    if overruns == 0 {
        slots.extend(words.map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).take_while_valid());
    }
    let depth = (u32_at(bytes, slab::WATCH_DEPTH)? as usize).min(slab::WATCH_MAX);
    let watched = (0..depth).filter_map(|i| {
        let at = slab::WATCHES + i * slab::WATCH_BYTES;
        let state = u64_at(bytes, at + 8).filter(|&state| state != slab::WATCH_NONE)?;
        Some((u32_at(bytes, at)?, u32_at(bytes, at + 4)?, Nanos(state >> 1)))
    });
    let first = Nanos(u64_at(bytes, slab::FIRST)?);
    Some(SlabCopy {
        name: text_at(bytes, slab::NAME, slab::NAME_BYTES)?,
        os_tid: u32_at(bytes, slab::OS_TID)?,
        java_tid: u64_at(bytes, slab::JAVA_TID)?,
        watched: watched.collect(),
        chunk: Chunk {
            thread: ThreadKey(u32_at(bytes, slab::KEY)?),
            seq: Seq(u32_at(bytes, slab::SEQ)?),
            first,
            last: now.max(first),
            lost,
            slots,
        },
    })
}

/// Ends an iterator of slots at the first word that is not written: a zero word that is not the body of a
/// control record.
trait TakeWhileValid: Iterator<Item = u32> + Sized {
    fn take_while_valid(self) -> impl Iterator<Item = u32> {
        let mut body = 0;
        self.take_while(move |&word| {
            if body > 0 {
                body -= 1;
                return true;
            }
            if word & slot::CONTROL != 0 {
                body = word >> slot::PAYLOAD_BITS & 0xf;
            }
            word != 0
        })
    }
}

impl<I: Iterator<Item = u32>> TakeWhileValid for I {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MethodId;

    fn region() -> Vec<u8> {
        let mut r = vec![0; HEADER_BYTES + 4096 + 2 * slab::STRIDE + 4096];
        let len = r.len() as u64;
        r[..8].copy_from_slice(&MAGIC);
        let mut put = |at: usize, v: u64| r[at..at + 8].copy_from_slice(&v.to_le_bytes());
        put(header::VERSION, u64::from(VERSION) | 77 << 32);
        put(header::BYTES, len);
        put(header::SYMBOLS_AT, HEADER_BYTES as u64);
        put(header::SYMBOLS_BYTES, 4096);
        put(header::SLABS_AT, HEADER_BYTES as u64 + 4096);
        put(header::SLABS, 2);
        put(header::RING_AT, len - 4096);
        put(header::RING_BYTES, 4096);
        put_text(&mut r[header::PROGRAM..], "com.acme.Main", 500);
        r
    }

    #[test]
    fn a_header_is_read_and_every_lie_in_it_is_refused() {
        let good = region();
        let header = Header::read(&good).unwrap();
        assert_eq!((header.pid, header.program.as_str(), header.slabs.1), (77, "com.acme.Main", 2));
        for at in [header::SYMBOLS_AT, header::SYMBOLS_BYTES, header::SLABS_AT, header::RING_AT] {
            let mut bad = good.clone();
            bad[at + 6] = 0xff;
            assert!(matches!(Header::read(&bad), Err(Error::Corrupt { .. })), "offset {at}");
        }
        let mut newer = good.clone();
        newer[header::VERSION] = 9;
        assert!(matches!(Header::read(&newer), Err(Error::Version { found: 9, .. })));
        assert!(matches!(Header::read(&good[..good.len() - 1]), Err(Error::Truncated { .. })));
        assert!(matches!(Header::read(b"PK"), Err(Error::Foreign { .. })));
    }

    #[test]
    fn a_slab_is_read_up_to_the_first_unwritten_word() {
        let mut s = vec![0; slab::STRIDE];
        assert_eq!(read_slab(&s, Nanos(1)), None, "a free slab is nobody's");
        s[slab::STATE] = 1;
        s[slab::KEY] = 9;
        put_text(&mut s[slab::NAME..], "main", slab::NAME_BYTES);
        let mut words = slot::time(Nanos(1 << 32)).to_vec();
        words.push(slot::entry(MethodId(5)));
        for (i, w) in words.iter().enumerate() {
            s[slab::SLOTS + i * 4..][..4].copy_from_slice(&w.to_le_bytes());
        }
        s[slab::FIRST] = 9;
        let later = read_slab(&s, Nanos(8)).unwrap().chunk;
        assert_eq!((later.first, later.last), (Nanos(9), Nanos(9)), "begun after the clock was read");
        s[slab::FIRST] = 1;
        let copy = read_slab(&s, Nanos(8)).unwrap();
        assert_eq!(copy.chunk.slots, words, "the zero low half of the time does not end the reading");
        assert_eq!(
            (copy.name.as_str(), copy.chunk.thread, copy.chunk.last),
            ("main", ThreadKey(9), Nanos(8))
        );
        s[slab::LOST] = 1;
        let overrun = read_slab(&s, Nanos(8)).unwrap();
        assert_eq!((overrun.chunk.slots.len(), overrun.chunk.lost), (0, 16_368));
    }
}
