//! Samples that JFR took, as events of a recording: `jdk.ExecutionSample`, `jdk.NativeMethodSample`, `jdk.CPUTimeSample`.
//!
//! The constraint that shaped it: a file has chunks of some 12 MB, each with constants of its own, and other recordings of the same
//! VM have their events in it as well. So a chunk is read at a time, events that are no samples are passed over, and of a file
//! that is damaged or cut what stands before that is taken. No value of the program is looked at.

use super::bytes::{Bytes, Read, Wrong};
use super::constants::{Constants, Frame as JfrFrame, Value, event_text, values};
use super::metadata::{Class as Layout, Metadata};
use crate::error::{Error, Result};
use lookback_format::event::{Event, ThreadEvent};
use lookback_format::sample::{Activity, Engine, Frame, Sample};
use lookback_format::symbol::{Class, Method, Role, Wait};
use lookback_format::{MethodId, Nanos, ThreadKey};
use std::collections::{BTreeMap, HashMap};

/// How a chunk begins.
const MAGIC: [u8; 4] = *b"FLR\0";
/// Bytes of a chunk's header.
const HEADER: usize = 68;
/// The version of the format that JDK 11 to 25 write is 2.0 or 2.1.
const MAJOR: u16 = 2;
/// Flag of the header: integers are LEB128.
const COMPRESSED: u8 = 1;
/// Kinds of events that are none.
const METADATA: u64 = 0;
const CONSTANTS: u64 = 1;
/// A frame without a line or a bytecode index has the largest number there.
const NONE: u64 = u16::MAX as u64;

/// What a file of JFR says of samples, beside these.
#[derive(Clone, Debug, Default)]
pub struct JfrSamples {
    /// The methods that were found in samples.
    pub classes: Vec<Class>,
    /// How many samples there are.
    pub samples: u64,
    /// When the first and the last were taken; none without samples.
    pub span: Option<(Nanos, Nanos)>,
    /// Samples of which outer frames are missing.
    pub cut: u64,
    /// From one sample to the next, as the VM had it: the shortest that any recording of it asked for. None when that is not told.
    pub interval: Option<Nanos>,
    /// Whether the VM has such samples at all; if so they may be none.
    pub is_known: bool,
    /// What JFR itself lost, by cause.
    pub losses: BTreeMap<String, u64>,
    /// What is wrong with the file, in words; what stands before that place was read.
    pub damages: Vec<String>,
}

/// Reads the samples of a file of JFR, and gives them and their threads to `each`, samples of a thread behind what tells of it.
/// [`Engine::JfrCpu`]: by processor time; any other engine: by time. `clock` is monotonic and wall clock (nanoseconds since 1970)
/// of the machine, read together.
///
/// # Errors
/// [`Error::Jfr`] when it is no file of JFR, of a version that is not known, or damaged so early that nothing of it can be read.
pub fn read_jfr(
    file: &[u8],
    engine: Engine,
    clock: (Nanos, u64),
    each: &mut dyn FnMut(Event),
) -> Result<JfrSamples> {
    let mut reader = Reader::new(engine, clock, each);
    let (mut at, mut chunks) = (0, 0_u64);
    while at < file.len() {
        chunks += 1;
        let rest = &file[at..];
        let header = match Header::read(rest) {
            Ok(header) => header,
            Err(why) if chunks == 1 => return Err(Error::Jfr { why }),
            Err(why) => {
                // Of a VM that was killed it is what it was about to write.
                let n = rest.len();
                reader.found.damages.push(format!("{n} bytes behind its chunks cannot be read: {why}"));
                break;
            }
        };
        let size = header.size.min(rest.len());
        let read = reader.chunk(&rest[..size], &header);
        let damages = &mut reader.found.damages;
        if header.size > size {
            damages.push(format!("chunk {chunks}: it ends after {size} of {} bytes", header.size));
        }
        if let Err(Wrong { at, why }) = read {
            damages.push(format!("chunk {chunks}, byte {at}: {why}"));
        }
        at += size;
    }
    if chunks == 0 {
        return Err(Error::Jfr { why: "it is empty".to_owned() });
    }
    let found = reader.finish();
    match found.damages.first() {
        Some(why) if !found.is_known => Err(Error::Jfr { why: why.clone() }),
        _ => Ok(found),
    }
}

/// The header of a chunk, as far as it is of interest.
struct Header {
    size: usize,
    /// Wall clock when it began, nanoseconds since 1970, and the VM's own clock then.
    unix: u64,
    ticks: u64,
    ticks_a_second: u64,
}

impl Header {
    fn read(chunk: &[u8]) -> std::result::Result<Header, String> {
        let Some(header) = chunk.first_chunk::<HEADER>() else {
            return Err(match chunk.starts_with(&MAGIC) {
                true => "it ends within its header".to_owned(),
                false => "it is no file of JDK Flight Recorder".to_owned(),
            });
        };
        if header[..4] != MAGIC {
            return Err("it is no file of JDK Flight Recorder".to_owned());
        }
        let version = u16::from_be_bytes([header[4], header[5]]);
        if version != MAJOR {
            return Err(format!("it has version {version} of JFR's format, and this reads {MAJOR}"));
        }
        if header[HEADER - 1] & COMPRESSED == 0 {
            return Err("its integers are not compressed, which no JDK writes".to_owned());
        }
        let long = |n: usize| {
            let at = 8 + 8 * n;
            u64::from_be_bytes(header[at..at + 8].try_into().unwrap_or_default())
        };
        // Where constants and metadata are stands there as well: they are found on the way.
        let [size, unix, ticks, ticks_a_second] = [0, 3, 5, 6].map(long);
        let size = usize::try_from(size).unwrap_or(usize::MAX).max(HEADER);
        Ok(Header { size, unix, ticks, ticks_a_second: ticks_a_second.max(1) })
    }

    /// A moment of the VM's clock, nanoseconds since 1970.
    fn unix(&self, ticks: u64) -> i128 {
        // It may be a little before the chunk's begin.
        let ticks = i128::from(ticks.wrapping_sub(self.ticks) as i64);
        i128::from(self.unix) + ticks * 1_000_000_000 / i128::from(self.ticks_a_second)
    }

    fn nanos(&self, ticks: u64) -> Nanos {
        let nanos = u128::from(ticks) * 1_000_000_000 / u128::from(self.ticks_a_second);
        Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// An event of a chunk: its kind, and what stands behind that.
struct Entry<'a> {
    kind: u64,
    bytes: Bytes<'a>,
}

/// The events of a chunk, up to the first that is damaged. They are not kept: there may be millions.
struct Entries<'a> {
    chunk: &'a [u8],
    at: usize,
    broken: Option<Wrong>,
}

impl<'a> Entries<'a> {
    const fn of(chunk: &'a [u8]) -> Entries<'a> {
        Entries { chunk, at: HEADER, broken: None }
    }

    fn read(&mut self) -> Read<Entry<'a>> {
        let (chunk, at) = (self.chunk, self.at);
        let mut bytes = Bytes::new(chunk, at, chunk.len());
        let size = usize::try_from(bytes.number()?).unwrap_or(usize::MAX);
        if size == 0 || size > chunk.len() - at {
            return Err(Wrong { at, why: "an event is longer than what is there, or empty" });
        }
        self.at += size;
        let mut bytes = Bytes::new(chunk, bytes.at(), at + size);
        Ok(Entry { kind: bytes.number()?, bytes })
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        if self.at >= self.chunk.len() || self.broken.is_some() {
            return None;
        }
        self.read().inspect_err(|&wrong| self.broken = Some(wrong)).ok()
    }
}

/// Which class of events of a chunk is which, by number.
struct Kinds {
    sample: Option<u64>,
    native: Option<u64>,
    lost: Option<u64>,
    data_loss: Option<u64>,
    setting: Option<u64>,
}

impl Kinds {
    fn of(metadata: &Metadata, by_cpu: bool) -> Kinds {
        let named = |name: &str| metadata.named(name);
        Kinds {
            sample: named(if by_cpu { "jdk.CPUTimeSample" } else { "jdk.ExecutionSample" }),
            native: named("jdk.NativeMethodSample").filter(|_| !by_cpu),
            lost: named("jdk.CPUTimeSamplesLost").filter(|_| by_cpu),
            data_loss: named("jdk.DataLoss"),
            setting: named("jdk.ActiveSetting").filter(|_| !by_cpu),
        }
    }
}

/// What is known from chunk to chunk.
struct Reader<'e> {
    engine: Engine,
    clock: (Nanos, u64),
    each: &'e mut dyn FnMut(Event),
    found: JfrSamples,
    /// By class, name and descriptor.
    methods: HashMap<(String, String, String), MethodId>,
    classes: BTreeMap<String, Vec<Method>>,
    /// By the system's and by Java's number.
    threads: HashMap<(u64, u64), ThreadKey>,
    /// How many samples were taken at each interval of processor time.
    periods: HashMap<Nanos, u64>,
}

/// What of a chunk was turned into what a recording has.
struct Chunk<'a, 'c> {
    header: &'c Header,
    metadata: &'c Metadata,
    constants: &'c Constants<'a>,
    methods: HashMap<u64, MethodId>,
    threads: HashMap<u64, ThreadKey>,
    stacks: HashMap<u64, (bool, Vec<Frame>)>,
}

impl<'e> Reader<'e> {
    fn new(engine: Engine, clock: (Nanos, u64), each: &'e mut dyn FnMut(Event)) -> Reader<'e> {
        Reader {
            engine,
            clock,
            each,
            found: JfrSamples::default(),
            methods: HashMap::new(),
            classes: BTreeMap::new(),
            threads: HashMap::new(),
            periods: HashMap::new(),
        }
    }

    fn finish(mut self) -> JfrSamples {
        let commonest = self.periods.into_iter().max_by_key(|&(period, n)| (n, period));
        self.found.interval = self.found.interval.or(commonest.map(|(period, _)| period));
        let class = |(class, methods)| Class { class, file: String::new(), methods };
        self.found.classes = self.classes.into_iter().map(class).collect();
        self.found.losses.retain(|_, n| *n > 0);
        self.found
    }

    fn lose(&mut self, why: &str, n: u64) {
        let lost = self.found.losses.entry(why.to_owned()).or_default();
        *lost = lost.saturating_add(n);
    }

    /// Reads a chunk as far as it can be read.
    fn chunk(&mut self, chunk: &[u8], header: &Header) -> Read<()> {
        let mut entries = Entries::of(chunk);
        let newest = entries.by_ref().filter(|entry| entry.kind == METADATA).last();
        let mut wrong = entries.broken;
        let Some(newest) = newest else {
            let missing = Wrong { at: chunk.len(), why: "nothing tells what its events are made of" };
            return Err(wrong.unwrap_or(missing));
        };
        let metadata = Metadata::read(&mut { newest.bytes })?;
        let mut constants = Constants::default();
        for entry in Entries::of(chunk).filter(|entry| entry.kind == CONSTANTS) {
            wrong = wrong.or(constants.add(&metadata, &mut { entry.bytes }).err());
        }
        let by_cpu = self.engine == Engine::JfrCpu;
        let kinds = Kinds::of(&metadata, by_cpu);
        self.found.is_known |= kinds.sample.is_some();
        let mut known = Chunk {
            header,
            metadata: &metadata,
            constants: &constants,
            methods: HashMap::new(),
            threads: HashMap::new(),
            stacks: HashMap::new(),
        };
        let mut found = Vec::new();
        for entry in Entries::of(chunk) {
            let kind = Some(entry.kind);
            let is_wanted =
                [kinds.sample, kinds.native, kinds.lost, kinds.data_loss, kinds.setting].contains(&kind);
            let Some(layout) = metadata.class(entry.kind).filter(|_| is_wanted) else { continue };
            let read = values(&metadata, layout, &mut { entry.bytes }, &mut found);
            let read = read.and_then(|()| {
                let event = Fields { layout, values: &found };
                if kind == kinds.sample {
                    self.sample(&mut known, &event, Activity::Running)?;
                } else if kind == kinds.native {
                    // In native code, where it ran or waited.
                    self.sample(&mut known, &event, Activity::Unknown)?;
                } else if kind == kinds.lost {
                    self.lose("samples that JFR had no room for", event.number("lostSamples"));
                } else if kind == kinds.data_loss {
                    self.lose("bytes of events that JFR had no room for", event.number("amount"));
                } else if Some(event.number("id")) == kinds.sample {
                    self.setting(&constants, &event);
                }
                Ok(())
            });
            wrong = wrong.or(read.err());
        }
        wrong.map_or(Ok(()), Err)
    }

    /// Takes note of the interval that the VM has, of all that were asked for.
    fn setting(&mut self, constants: &Constants<'_>, event: &Fields<'_, '_>) {
        if event_text(constants, event.get("name")) == "period" {
            let interval = timespan(&event_text(constants, event.get("value")));
            let known = self.found.interval.into_iter();
            self.found.interval = known.chain(interval).min();
        }
    }

    fn sample(&mut self, chunk: &mut Chunk<'_, '_>, event: &Fields<'_, '_>, activity: Activity) -> Read<()> {
        let period = event.number("samplingPeriod");
        if period > 0 {
            *self.periods.entry(chunk.header.nanos(period)).or_default() += 1;
        }
        let by_cpu = self.engine == Engine::JfrCpu;
        let thread = event.number(if by_cpu { "eventThread" } else { "sampledThread" });
        let stack = event.number("stackTrace");
        if event.number("failed") != 0 || stack == 0 {
            self.lose("samples for which JFR found no stack", 1);
            return Ok(());
        }
        let at = self.at(chunk.header, event.number("startTime"));
        let Some(thread) = self.thread(chunk, thread, at) else {
            self.lose("samples of threads that the file does not name", 1);
            return Ok(());
        };
        if !chunk.stacks.contains_key(&stack) {
            let Some(found) = chunk.constants.stacks.get(&stack) else {
                self.lose("samples whose stack is not in the file", 1);
                return Ok(());
            };
            let mut frames = Vec::new();
            chunk.constants.frames(chunk.metadata, found, &mut frames)?;
            let frames = frames.iter().map(|frame| self.frame(chunk, frame)).collect();
            chunk.stacks.insert(stack, (found.is_cut, frames));
        }
        let (is_cut, frames) = &chunk.stacks[&stack];
        self.found.samples += 1;
        let (first, last) = self.found.span.unwrap_or((at, at));
        self.found.span = Some((first.min(at), last.max(at)));
        self.found.cut += u64::from(*is_cut);
        let engine = Some(self.engine);
        (self.each)(Event::Sample(Sample {
            thread,
            at,
            activity,
            engine,
            is_cut: *is_cut,
            frames: frames.clone(),
        }));
        Ok(())
    }

    /// A moment of the VM's clock on the machine's.
    fn at(&self, header: &Header, ticks: u64) -> Nanos {
        let (monotonic, wall) = self.clock;
        let at = header.unix(ticks) - i128::from(wall) + i128::from(monotonic.0);
        Nanos(at.clamp(0, u64::MAX.into()) as u64)
    }

    /// The thread of a constant; it is told who it is when it is seen first.
    fn thread(&mut self, chunk: &mut Chunk<'_, '_>, number: u64, at: Nanos) -> Option<ThreadKey> {
        if let Some(&known) = chunk.threads.get(&number) {
            return Some(known);
        }
        let thread = chunk.constants.threads.get(&number)?;
        let name = chunk.constants.text(&thread.name);
        let (os_tid, java_tid) = (thread.os_tid, thread.java_tid);
        let fresh = match thread.is_virtual {
            true => ThreadKey::of_virtual(java_tid),
            false => ThreadKey(self.threads.len() as u32 + 1),
        };
        let key = *self.threads.entry((os_tid, java_tid)).or_insert_with(|| {
            let name = name.to_owned();
            (self.each)(match thread.is_virtual {
                true => Event::VirtualName(java_tid, at, name),
                false => Event::ThreadStart(ThreadEvent {
                    thread: fresh,
                    os_tid: os_tid as u32,
                    java_tid,
                    at,
                    name,
                }),
            });
            fresh
        });
        chunk.threads.insert(number, key);
        Some(key)
    }

    fn frame(&mut self, chunk: &mut Chunk<'_, '_>, frame: &JfrFrame) -> Frame {
        let constants = chunk.constants;
        let method = *chunk.methods.entry(frame.method).or_insert_with(|| {
            constants.method(frame.method).map_or(MethodId(0), |names| self.method(names))
        });
        let line = if frame.line < NONE { frame.line as u16 } else { 0 };
        let bci = (frame.bci < NONE && !frame.is_native).then_some(frame.bci as u16);
        Frame { method, line, bci }
    }

    fn method(&mut self, (class, name, descriptor): (&str, &str, &str)) -> MethodId {
        let class = class.replace('/', ".");
        let next = MethodId(self.methods.len() as u32 + 1);
        if next.0 > MethodId::MAX {
            return MethodId(0);
        }
        let key = (class.clone(), name.to_owned(), descriptor.to_owned());
        *self.methods.entry(key).or_insert_with(|| {
            self.classes.entry(class).or_default().push(Method {
                id: next,
                name: name.to_owned(),
                descriptor: descriptor.to_owned(),
                line: 0,
                wait: Wait::None,
                role: Role::Method,
            });
            next
        })
    }
}

/// The fields of an event by name.
struct Fields<'l, 'a> {
    layout: &'l Layout,
    values: &'l [Value<'a>],
}

impl<'a> Fields<'_, 'a> {
    fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.layout.position(name).and_then(|at| self.values.get(at))
    }

    fn number(&self, name: &str) -> u64 {
        self.get(name).map_or(0, Value::number)
    }
}

/// A time as JFR writes it in settings: `10 ms`, `1s`.
fn timespan(text: &str) -> Option<Nanos> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let scale = match text[digits..].trim() {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    number.checked_mul(scale).map(Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_settings_are_read() {
        assert_eq!(timespan("10 ms"), Some(Nanos(10_000_000)));
        assert_eq!(timespan("1s"), Some(Nanos(1_000_000_000)));
        assert_eq!([timespan("everyChunk"), timespan(""), timespan("5")], [None; 3]);
    }

    #[test]
    fn what_is_no_recording_of_jfr_says_so() {
        let why = |file: &[u8]| match read_jfr(file, Engine::Jfr, (Nanos(0), 0), &mut |_| {}) {
            Err(Error::Jfr { why }) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(why(b""), "it is empty");
        assert_eq!(why(b"PK\x03\x04"), "it is no file of JDK Flight Recorder");
        assert_eq!(why(b"FLR\0\0\x02"), "it ends within its header");
        let mut header = [0; HEADER];
        header[..6].copy_from_slice(b"FLR\0\0\x01");
        assert!(why(&header).contains("version 1"), "{}", why(&header));
        header[5] = 2;
        assert!(why(&header).contains("not compressed"), "{}", why(&header));
        header[HEADER - 1] = 1;
        assert!(why(&header).contains("nothing tells"), "{}", why(&header));
    }
}
