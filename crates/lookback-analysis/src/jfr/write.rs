//! Samples as a recording of JDK Flight Recorder: one chunk of format 2.1 with `jdk.ExecutionSample` events, as JDK Mission
//! Control, `jfr print` and IDEs read them. Threads that waited are sampled as `STATE_SLEEPING`.
//!
//! The constraint that shaped it: the format describes itself. What an event or a constant holds is told by a tree of classes
//! and fields in the chunk, so each is named once here, in [`CLASSES`], and written in that order below. Integers in fixed places are
//! big-endian, all others are LEB128.

use crate::{ContextId, Recording};
use lookback_format::{MethodId, ThreadKey};
use std::collections::HashMap;
use std::io::{self, Write};

/// Bytes of a chunk's header.
const HEADER: usize = 68;
/// One tick is a nanosecond.
const TICKS: u64 = 1_000_000_000;

/// Numbers of classes; any will do that are not 0 (metadata) and 1 (constants).
mod class {
    pub(super) const BOOLEAN: u64 = 4;
    pub(super) const INT: u64 = 10;
    pub(super) const LONG: u64 = 11;
    pub(super) const STRING: u64 = 20;
    pub(super) const CLASS: u64 = 21;
    pub(super) const THREAD: u64 = 22;
    pub(super) const LOADER: u64 = 23;
    pub(super) const FRAME_TYPE: u64 = 24;
    pub(super) const THREAD_STATE: u64 = 25;
    pub(super) const STACK_TRACE: u64 = 26;
    pub(super) const STACK_FRAME: u64 = 27;
    pub(super) const METHOD: u64 = 28;
    pub(super) const PACKAGE: u64 = 29;
    pub(super) const SYMBOL: u64 = 30;
    pub(super) const TIMESTAMP: u64 = 40;
    pub(super) const SAMPLE: u64 = 101;
}

/// How a field is written.
#[derive(Clone, Copy)]
enum How {
    Inline,
    /// As the number of a constant.
    Constant,
    /// A length and so many in a row.
    Array,
    /// A time in ticks.
    Time,
}

struct Class {
    id: u64,
    name: &'static str,
    parent: Option<&'static str>,
    /// Whether it stands for its only field.
    is_simple: bool,
    fields: &'static [(&'static str, u64, How)],
}

const fn plain(id: u64, name: &'static str, fields: &'static [(&'static str, u64, How)]) -> Class {
    Class { id, name, parent: None, is_simple: false, fields }
}

const fn simple(id: u64, name: &'static str, fields: &'static [(&'static str, u64, How)]) -> Class {
    Class { id, name, parent: None, is_simple: true, fields }
}

/// The classes, with their fields in the order in which they are written.
const CLASSES: &[Class] = &[
    plain(class::BOOLEAN, "boolean", &[]),
    plain(class::INT, "int", &[]),
    plain(class::LONG, "long", &[]),
    plain(class::STRING, "java.lang.String", &[]),
    plain(
        class::CLASS,
        "java.lang.Class",
        &[
            ("classLoader", class::LOADER, How::Constant),
            ("name", class::SYMBOL, How::Constant),
            ("package", class::PACKAGE, How::Constant),
            ("modifiers", class::INT, How::Inline),
        ],
    ),
    plain(
        class::THREAD,
        "java.lang.Thread",
        &[
            ("osName", class::STRING, How::Inline),
            ("osThreadId", class::LONG, How::Inline),
            ("javaName", class::STRING, How::Inline),
            ("javaThreadId", class::LONG, How::Inline),
        ],
    ),
    plain(class::LOADER, "jdk.types.ClassLoader", &[("name", class::SYMBOL, How::Constant)]),
    simple(class::FRAME_TYPE, "jdk.types.FrameType", &[("description", class::STRING, How::Inline)]),
    simple(class::THREAD_STATE, "jdk.types.ThreadState", &[("name", class::STRING, How::Inline)]),
    plain(
        class::STACK_TRACE,
        "jdk.types.StackTrace",
        &[("truncated", class::BOOLEAN, How::Inline), ("frames", class::STACK_FRAME, How::Array)],
    ),
    plain(
        class::STACK_FRAME,
        "jdk.types.StackFrame",
        &[
            ("method", class::METHOD, How::Constant),
            ("lineNumber", class::INT, How::Inline),
            ("bytecodeIndex", class::INT, How::Inline),
            ("type", class::FRAME_TYPE, How::Constant),
        ],
    ),
    plain(
        class::METHOD,
        "jdk.types.Method",
        &[
            ("type", class::CLASS, How::Constant),
            ("name", class::SYMBOL, How::Constant),
            ("descriptor", class::SYMBOL, How::Constant),
            ("modifiers", class::INT, How::Inline),
            ("hidden", class::BOOLEAN, How::Inline),
        ],
    ),
    plain(class::PACKAGE, "jdk.types.Package", &[("name", class::SYMBOL, How::Constant)]),
    simple(class::SYMBOL, "jdk.types.Symbol", &[("string", class::STRING, How::Inline)]),
    Class {
        id: class::TIMESTAMP,
        name: "jdk.jfr.Timestamp",
        parent: Some("java.lang.annotation.Annotation"),
        is_simple: false,
        fields: &[("value", class::STRING, How::Inline)],
    },
    Class {
        id: class::SAMPLE,
        name: "jdk.ExecutionSample",
        parent: Some("jdk.jfr.Event"),
        is_simple: false,
        fields: &[
            ("startTime", class::LONG, How::Time),
            ("sampledThread", class::THREAD, How::Constant),
            ("stackTrace", class::STACK_TRACE, How::Constant),
            ("state", class::THREAD_STATE, How::Constant),
        ],
    },
];

const FRAME_TYPES: [&str; 1] = ["JIT compiled"];
/// By activity; what may run counts as running.
const STATES: [&str; 3] = ["STATE_RUNNABLE", "STATE_SLEEPING", "STATE_RUNNABLE"];

/// Appends an integer.
fn number(out: &mut Vec<u8>, mut n: u64) {
    for _ in 0..8 {
        if n < 0x80 {
            return out.push(n as u8);
        }
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    // The ninth byte has all its bits.
    out.push(n as u8);
}

/// Appends a text: how it is encoded (3: UTF-8; 1: empty), its length, its bytes.
fn text(out: &mut Vec<u8>, text: &str) {
    if text.is_empty() {
        return out.push(1);
    }
    out.push(3);
    number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Appends an event: its size, as four bytes of LEB128, then what `fill` writes.
fn event(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    let begin = out.len();
    out.extend_from_slice(&[0; 4]);
    fill(out);
    let size = (out.len() - begin) as u32;
    for i in 0..4 {
        let more = if i < 3 { 0x80 } else { 0 };
        out[begin + i] = (size >> (7 * i)) as u8 & 0x7f | more;
    }
}

/// Constants of one class, each once, numbered from 1.
struct Pool<K> {
    known: HashMap<K, u64>,
    written: Vec<u8>,
}

impl<K: std::hash::Hash + Eq> Pool<K> {
    fn new() -> Self {
        Pool { known: HashMap::new(), written: Vec::new() }
    }

    /// The number of a constant; a new one is written by `fill`.
    fn of(&mut self, key: K, fill: impl FnOnce(&mut Vec<u8>)) -> u64 {
        let next = self.known.len() as u64 + 1;
        let known = *self.known.entry(key).or_insert(next);
        if known == next {
            number(&mut self.written, next);
            fill(&mut self.written);
        }
        known
    }

    /// Appends all of them.
    fn put(&self, class: u64, out: &mut Vec<u8>) {
        number(out, class);
        number(out, self.known.len() as u64);
        out.extend_from_slice(&self.written);
    }
}

struct Pools<'a> {
    r: &'a Recording,
    symbols: Pool<String>,
    classes: Pool<String>,
    methods: Pool<MethodId>,
    threads: Pool<ThreadKey>,
    stacks: Pool<ContextId>,
}

impl Pools<'_> {
    fn symbol(symbols: &mut Pool<String>, name: &str) -> u64 {
        symbols.of(name.to_owned(), |out| text(out, name))
    }

    fn method(&mut self, id: MethodId) -> u64 {
        let info = self.r.methods.get(id);
        let (class, name, descriptor) = info.map_or_else(
            || ("unknown".to_owned(), self.r.methods.short(id), String::new()),
            |m| (m.class.replace('.', "/"), m.name.clone(), m.descriptor.clone()),
        );
        let symbols = &mut self.symbols;
        let class_name = Self::symbol(symbols, &class);
        let class =
            self.classes.of(class, |out| [0, class_name, 0, 0].into_iter().for_each(|n| number(out, n)));
        let (name, descriptor) = (Self::symbol(symbols, &name), Self::symbol(symbols, &descriptor));
        self.methods.of(id, |out| [class, name, descriptor, 0, 0].into_iter().for_each(|n| number(out, n)))
    }

    fn thread(&mut self, key: ThreadKey) -> u64 {
        let thread = self.r.thread(key).map(|i| &self.r.threads[i]);
        self.threads.of(key, |out| {
            let (name, os_tid, java_tid) = thread.map_or(("", 0, 0), |t| (&*t.name, t.os_tid, t.java_tid));
            text(out, name);
            number(out, os_tid.into());
            text(out, name);
            number(out, java_tid);
        })
    }

    fn stack(&mut self, context: ContextId) -> u64 {
        if let Some(&known) = self.stacks.known.get(&context) {
            return known;
        }
        let contexts = &self.r.samples.contexts;
        let frames: Vec<(u64, u16)> = contexts
            .frames(context)
            .map(|c| (contexts.method[c.at()], contexts.line[c.at()]))
            .map(|(method, line)| (self.method(method), line))
            .collect();
        self.stacks.of(context, |out| {
            out.push(0);
            number(out, frames.len() as u64);
            for (method, line) in frames {
                [method, line.into(), 0, 1].into_iter().for_each(|n| number(out, n));
            }
        })
    }
}

/// Writes the samples of `r` to `out`.
///
/// # Errors
/// What `out` fails with.
pub fn jfr(r: &Recording, out: &mut dyn Write) -> io::Result<()> {
    let start = r.span.0.0;
    let mut pools = Pools {
        r,
        symbols: Pool::new(),
        classes: Pool::new(),
        methods: Pool::new(),
        threads: Pool::new(),
        stacks: Pool::new(),
    };
    let mut chunk = vec![0; HEADER];
    let samples = &r.samples;
    for i in 0..samples.len() {
        let thread = pools.thread(samples.thread[i]);
        let stack = pools.stack(samples.context[i]);
        event(&mut chunk, |out| {
            let state = samples.activity[i] as u64 + 1;
            [class::SAMPLE, samples.at[i].0, thread, stack, state].into_iter().for_each(|n| number(out, n));
        });
    }
    let constants_at = chunk.len() as u64;
    event(&mut chunk, |out| constants(&pools, start, out));
    let metadata_at = chunk.len() as u64;
    event(&mut chunk, |out| metadata(start, out));

    let unix = u64::try_from(r.unix_nanos(r.span.0)).unwrap_or(0);
    let length = r.span.1.since(r.span.0).0;
    chunk[..4].copy_from_slice(b"FLR\0");
    chunk[4..8].copy_from_slice(&[0, 2, 0, 1]);
    let size = chunk.len() as u64;
    for (i, n) in [size, constants_at, metadata_at, unix, length, start, TICKS].into_iter().enumerate() {
        chunk[8 + i * 8..16 + i * 8].copy_from_slice(&n.to_be_bytes());
    }
    // Integers are LEB128.
    chunk[64..68].copy_from_slice(&1_u32.to_be_bytes());
    out.write_all(&chunk)?;
    out.flush()
}

fn constants(pools: &Pools<'_>, start: u64, out: &mut Vec<u8>) {
    // Kind, when, how long, the checkpoint before this, what kind of checkpoint, how many classes.
    [1, start, 0, 0, 1, 7].into_iter().for_each(|n| number(out, n));
    for (class, names) in [(class::FRAME_TYPE, &FRAME_TYPES[..]), (class::THREAD_STATE, &STATES)] {
        let mut pool = Pool::new();
        for (i, name) in names.iter().enumerate() {
            pool.of(i, |out| text(out, name));
        }
        pool.put(class, out);
    }
    pools.symbols.put(class::SYMBOL, out);
    pools.classes.put(class::CLASS, out);
    pools.methods.put(class::METHOD, out);
    pools.threads.put(class::THREAD, out);
    pools.stacks.put(class::STACK_TRACE, out);
}

/// A node of the tree that describes the classes.
struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Element>,
}

impl Element {
    fn new(name: &'static str, attributes: Vec<(&'static str, String)>) -> Element {
        Element { name, attributes, children: Vec::new() }
    }

    /// Appends it, with texts as their numbers.
    fn put(&self, texts: &mut Vec<String>, out: &mut Vec<u8>) {
        let mut of = |text: &str| {
            texts.iter().position(|t| t == text).unwrap_or_else(|| {
                texts.push(text.to_owned());
                texts.len() - 1
            }) as u64
        };
        number(out, of(self.name));
        number(out, self.attributes.len() as u64);
        for (key, value) in &self.attributes {
            let (key, value) = (of(key), of(value));
            number(out, key);
            number(out, value);
        }
        number(out, self.children.len() as u64);
        self.children.iter().for_each(|child| child.put(texts, out));
    }
}

fn metadata(start: u64, out: &mut Vec<u8>) {
    let mut all = Element::new("metadata", Vec::new());
    for c in CLASSES {
        let mut attributes = vec![("id", c.id.to_string()), ("name", c.name.to_owned())];
        attributes.extend(c.parent.map(|parent| ("superType", parent.to_owned())));
        attributes.extend(c.is_simple.then(|| ("simpleType", "true".to_owned())));
        let mut element = Element::new("class", attributes);
        for &(name, class, how) in c.fields {
            let mut attributes = vec![("name", name.to_owned()), ("class", class.to_string())];
            match how {
                How::Constant => attributes.push(("constantPool", "true".to_owned())),
                How::Array => attributes.push(("dimension", "1".to_owned())),
                How::Inline | How::Time => {}
            }
            let mut field = Element::new("field", attributes);
            if matches!(how, How::Time) {
                let attributes = vec![("class", class::TIMESTAMP.to_string()), ("value", "TICKS".to_owned())];
                field.children.push(Element::new("annotation", attributes));
            }
            element.children.push(field);
        }
        all.children.push(element);
    }
    let region = Element::new("region", vec![("locale", "en_US".to_owned()), ("gmtOffset", "0".to_owned())]);
    let root = Element { name: "root", attributes: Vec::new(), children: vec![all, region] };
    let (mut texts, mut tree) = (Vec::new(), Vec::new());
    root.put(&mut texts, &mut tree);
    // Kind, when, how long, the number of this description, how many texts.
    [0, start, 0, 1, texts.len() as u64].into_iter().for_each(|n| number(out, n));
    texts.iter().for_each(|t| text(out, t));
    out.extend_from_slice(&tree);
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookback_format::sample::Activity;

    #[test]
    fn numbers_are_leb128_of_at_most_nine_bytes() {
        let of = |n| {
            let mut out = Vec::new();
            number(&mut out, n);
            out
        };
        assert_eq!((of(0), of(127), of(128)), (vec![0], vec![127], vec![0x80, 1]));
        assert_eq!(of(u64::MAX), [0xff; 9]);
    }

    #[test]
    fn an_event_begins_with_its_size() {
        let mut out = vec![9];
        event(&mut out, |out| out.extend_from_slice(&[7; 200]));
        assert_eq!(out[1..5], [204 & 0x7f | 0x80, 0x81, 0x80, 0]);
        assert_eq!(out.len(), 205);
    }

    #[test]
    fn each_class_that_a_field_has_is_described() {
        for c in CLASSES {
            for (name, class, _) in c.fields {
                assert!(CLASSES.iter().any(|c| c.id == *class), "{}.{name}", c.name);
            }
        }
        assert_eq!(STATES.len(), Activity::ALL.len());
    }
}
