//! Values by the description of their classes, and the constants of a chunk that samples refer to.
//!
//! The constraint that shaped it: most constants are of no interest, and most stacks belong to other events than samples. So
//! constants that are not wanted are passed over, and frames of a stack are read when a sample has it.

use super::bytes::{Bytes, Read, Text};
use super::metadata::{Class, Metadata, Primitive};
use std::borrow::Cow;
use std::collections::HashMap;

/// Values hold values so deeply at most; in files of JDKs it is four.
const MOST_NESTED: usize = 16;

/// A value of a field.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    /// An integer, a boolean, or the number of a constant.
    Number(u64),
    Text(Text<'a>),
    /// So many elements, which begin there.
    Array(usize, Bytes<'a>),
    /// Of no interest: passed over.
    Other,
}

impl Value<'_> {
    pub(super) const fn number(&self) -> u64 {
        match self {
            Value::Number(n) => *n,
            _ => 0,
        }
    }
}

/// The values of an object's fields, in their order.
pub(super) fn values<'a>(
    metadata: &Metadata,
    class: &Class,
    bytes: &mut Bytes<'a>,
    out: &mut Vec<Value<'a>>,
) -> Read<()> {
    out.clear();
    for field in &class.fields {
        let value = match (field.is_array, field.is_constant) {
            (true, is_constant) => {
                let n = bytes.count()?;
                let begin = *bytes;
                for _ in 0..n {
                    if is_constant {
                        bytes.number()?;
                    } else {
                        one(metadata, field.class, bytes, 0)?;
                    }
                }
                Value::Array(n, begin)
            }
            (false, true) => Value::Number(bytes.number()?),
            (false, false) => one(metadata, field.class, bytes, 0)?,
        };
        out.push(value);
    }
    Ok(())
}

/// Reads a value of a class, which has at least one byte: so no file has more of them than bytes.
fn one<'a>(metadata: &Metadata, class: u64, bytes: &mut Bytes<'a>, depth: usize) -> Read<Value<'a>> {
    let Some(class) = metadata.class(class) else {
        return Err(bytes.wrong("a value is of a class that is not described"));
    };
    match class.primitive {
        Some(Primitive::Bytes(1)) => return Ok(Value::Number(bytes.byte()?.into())),
        Some(Primitive::Bytes(n)) => return bytes.take(n).map(|_| Value::Other),
        Some(Primitive::Integer) => return Ok(Value::Number(bytes.number()?)),
        Some(Primitive::Text) => return Ok(Value::Text(bytes.text()?)),
        None => {}
    }
    if depth >= MOST_NESTED || class.fields.is_empty() {
        return Err(bytes.wrong("a value is of a class that cannot be read"));
    }
    for field in &class.fields {
        let n = if field.is_array { bytes.count()? } else { 1 };
        for _ in 0..n {
            if field.is_constant {
                bytes.number()?;
            } else {
                one(metadata, field.class, bytes, depth + 1)?;
            }
        }
    }
    Ok(Value::Other)
}

/// A thread.
#[derive(Clone, Debug)]
pub(super) struct Thread<'a> {
    pub(super) name: Text<'a>,
    pub(super) os_tid: u64,
    pub(super) java_tid: u64,
    pub(super) is_virtual: bool,
}

/// A stack, innermost frame first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stack<'a> {
    pub(super) is_cut: bool,
    frames: usize,
    begin: Bytes<'a>,
}

/// A frame of a stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) method: u64,
    pub(super) line: u64,
    pub(super) bci: u64,
    pub(super) is_native: bool,
}

/// A method: numbers of the constants that name it.
#[derive(Clone, Copy, Debug)]
struct Method {
    class: u64,
    name: u64,
    descriptor: u64,
}

/// The constants of a chunk that samples refer to, by number.
#[derive(Debug, Default)]
pub(super) struct Constants<'a> {
    pub(super) threads: HashMap<u64, Thread<'a>>,
    pub(super) stacks: HashMap<u64, Stack<'a>>,
    methods: HashMap<u64, Method>,
    /// To the number of the symbol that is its name.
    classes: HashMap<u64, u64>,
    symbols: HashMap<u64, Text<'a>>,
    texts: HashMap<u64, Text<'a>>,
    frame_types: HashMap<u64, Text<'a>>,
}

/// Which constants these are.
#[derive(Clone, Copy)]
enum Wanted {
    Threads,
    Stacks,
    Methods,
    Classes,
    Symbols,
    Texts,
    FrameTypes,
    Others,
}

impl Wanted {
    fn of(class: &str) -> Wanted {
        match class {
            "java.lang.Thread" => Wanted::Threads,
            "jdk.types.StackTrace" => Wanted::Stacks,
            "jdk.types.Method" => Wanted::Methods,
            "java.lang.Class" => Wanted::Classes,
            "jdk.types.Symbol" => Wanted::Symbols,
            "java.lang.String" => Wanted::Texts,
            "jdk.types.FrameType" => Wanted::FrameTypes,
            _ => Wanted::Others,
        }
    }
}

impl<'a> Constants<'a> {
    /// Adds what stands in an event of constants behind its size and kind.
    pub(super) fn add(&mut self, metadata: &Metadata, bytes: &mut Bytes<'a>) -> Read<()> {
        // When, how long, where the one before this is, what kind it is.
        for _ in 0..3 {
            bytes.number()?;
        }
        bytes.byte()?;
        let mut found = Vec::new();
        for _ in 0..bytes.count()? {
            let begin = *bytes;
            let id = bytes.number()?;
            let class =
                metadata.class(id).ok_or(begin.wrong("constants are of a class that is not described"))?;
            let wanted = Wanted::of(&class.name);
            for _ in 0..bytes.count()? {
                let number = bytes.number()?;
                if class.primitive.is_some() {
                    let value = one(metadata, id, bytes, 0)?;
                    found.clear();
                    found.push(value);
                } else {
                    values(metadata, class, bytes, &mut found)?;
                }
                self.put(wanted, class, number, &found);
            }
        }
        Ok(())
    }

    fn put(&mut self, wanted: Wanted, class: &Class, number: u64, found: &[Value<'a>]) {
        let field = |name: &str| class.position(name).and_then(|at| found.get(at));
        let integer = |name: &str| field(name).map_or(0, Value::number);
        let text = |name: &str| match field(name) {
            Some(Value::Text(text)) => text.clone(),
            _ => Text::Plain("".into()),
        };
        match wanted {
            Wanted::Threads => {
                let empty = Text::Plain("".into());
                let name = Some(text("javaName")).filter(|name| *name != empty);
                let thread = Thread {
                    name: name.unwrap_or_else(|| text("osName")),
                    os_tid: integer("osThreadId"),
                    java_tid: integer("javaThreadId"),
                    is_virtual: integer("virtual") != 0,
                };
                self.threads.insert(number, thread);
            }
            Wanted::Stacks => {
                if let Some(&Value::Array(frames, begin)) = field("frames") {
                    self.stacks.insert(number, Stack { is_cut: integer("truncated") != 0, frames, begin });
                }
            }
            Wanted::Methods => {
                let method = Method {
                    class: integer("type"),
                    name: integer("name"),
                    descriptor: integer("descriptor"),
                };
                self.methods.insert(number, method);
            }
            Wanted::Classes => drop(self.classes.insert(number, integer("name"))),
            Wanted::Symbols => drop(self.symbols.insert(number, text("string"))),
            Wanted::FrameTypes => drop(self.frame_types.insert(number, text("description"))),
            Wanted::Texts => {
                if let Some(Value::Text(text)) = found.first() {
                    self.texts.insert(number, text.clone());
                }
            }
            Wanted::Others => {}
        }
    }

    /// A text; empty when it is a constant that is not there.
    pub(super) fn text<'t>(&'t self, text: &'t Text<'a>) -> &'t str {
        match text {
            Text::Plain(text) => text,
            Text::Constant(number) => match self.texts.get(number) {
                Some(Text::Plain(text)) => text,
                _ => "",
            },
        }
    }

    fn symbol(&self, number: u64) -> Option<&str> {
        self.symbols.get(&number).map(|text| self.text(text))
    }

    /// Class (`java/lang/Thread`), name and descriptor of a method; none when it is not there.
    pub(super) fn method(&self, number: u64) -> Option<(&str, &str, &str)> {
        let method = self.methods.get(&number)?;
        let class = self.symbol(*self.classes.get(&method.class)?)?;
        Some((class, self.symbol(method.name)?, self.symbol(method.descriptor).unwrap_or_default()))
    }

    /// The frames of a stack, innermost first.
    pub(super) fn frames(&self, metadata: &Metadata, stack: &Stack<'a>, out: &mut Vec<Frame>) -> Read<()> {
        out.clear();
        let missing = stack.begin.wrong("frames of stacks are not described");
        let class =
            metadata.named("jdk.types.StackFrame").and_then(|id| metadata.class(id)).ok_or(missing)?;
        let [method, line, bci, kind] =
            ["method", "lineNumber", "bytecodeIndex", "type"].map(|name| class.position(name));
        let mut bytes = stack.begin;
        let mut found = Vec::new();
        for _ in 0..stack.frames {
            values(metadata, class, &mut bytes, &mut found)?;
            let integer = |at: Option<usize>| at.and_then(|at| found.get(at)).map_or(0, Value::number);
            let kind = self.frame_types.get(&integer(kind)).map(|text| self.text(text));
            let is_native = kind == Some("Native");
            out.push(Frame { method: integer(method), line: integer(line), bci: integer(bci), is_native });
        }
        Ok(())
    }
}

/// A text of an event.
pub(super) fn event_text<'a>(constants: &Constants<'a>, value: Option<&Value<'a>>) -> Cow<'a, str> {
    match value {
        Some(Value::Text(Text::Plain(text))) => text.clone(),
        Some(Value::Text(text)) => Cow::Owned(constants.text(text).to_owned()),
        _ => Cow::Borrowed(""),
    }
}
