//! Which method an identifier stands for, and what the decoder must know about it.
//!
//! The constraint that shaped it: the decoder asks once a slot. Identifiers are dense in practice, so the
//! answer is one byte in an array; identifiers beyond the array, which only a damaged file has, go through a
//! map, so that a hostile identifier costs no memory.

use crate::Flags;
use lookback_format::definitions::Definitions;
use lookback_format::incident::Category;
use lookback_format::symbol::{Class, Role, Wait};
use lookback_format::{MethodId, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

/// Identifiers below this are looked up in an array: 4 million methods are 200 times a large server's.
const DENSE: u32 = 1 << 22;

/// Identifiers from here on are event types of native programs: this and the type's number, so that no
/// method of a class has the same. A slot cannot carry them.
pub(crate) const EVENT_TYPES: u32 = MethodId::MAX + 1;

/// A method, or an event type of a native program: then the class is its category.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodInfo {
    /// Its identifier.
    pub id: MethodId,
    /// Its class: `com.acme.Outer$Inner`.
    pub class: Arc<str>,
    /// Its name.
    pub name: String,
    /// Its descriptor, as in the class file.
    pub descriptor: String,
    /// Source file of the class; empty when unknown.
    pub file: Arc<str>,
    /// First line; 0 when unknown.
    pub line: u16,
    /// What it waits for.
    pub wait: Wait,
    /// Whether it is a method at all.
    pub role: Role,
}

impl MethodInfo {
    /// `com.acme.Orders.place`.
    #[must_use]
    pub fn full(&self) -> String {
        join(&self.class, &self.name)
    }

    /// `Orders.place`.
    #[must_use]
    pub fn short(&self) -> String {
        // A category is no class: it has no package to leave out.
        if self.id.0 >= EVENT_TYPES { self.full() } else { join(short_class(&self.class), &self.name) }
    }

    /// `Orders.java:12`, `Orders.java`, or nothing.
    #[must_use]
    pub fn source(&self) -> Option<String> {
        match (&*self.file, self.line) {
            ("", _) => None,
            (file, 0) => Some(file.to_owned()),
            (file, line) => Some(format!("{file}:{line}")),
        }
    }
}

/// With a dot between, unless there is no class: events of category 0 have none.
fn join(class: &str, name: &str) -> String {
    if class.is_empty() { name.to_owned() } else { format!("{class}.{name}") }
}

/// The class without its package.
#[must_use]
pub(crate) fn short_class(class: &str) -> &str {
    class.rsplit_once('.').map_or(class, |(_, short)| short)
}

/// The methods of a recording.
#[derive(Clone, Debug, Default)]
pub struct Methods {
    all: Vec<MethodInfo>,
    by_id: HashMap<MethodId, u32>,
    by_type: HashMap<TypeId, MethodId>,
    marks: Vec<u8>,
}

/// What the decoder must know of a method: one of [`KINDS`], or one of these, which are no slice's flags.
pub(crate) const CARRIER: u8 = 8;
/// It has exact times, and yet may not be recorded while its thread is braked.
pub(crate) const PRECISE: u8 = 4;
/// Flags that every slice of a method has.
pub(crate) const KINDS: Flags = Flags::WAIT.with(Flags::SPAN).with(Flags::INSTANT);

fn mark(wait: Wait, role: Role) -> u8 {
    match (role, wait) {
        (Role::Span, _) => Flags::SPAN.0,
        (Role::Instant, _) => Flags::INSTANT.0,
        (_, Wait::Carrier) => CARRIER,
        (_, w) if w.is_wait() => Flags::WAIT.0,
        (Role::Precise, _) => PRECISE,
        _ => 0,
    }
}

impl Methods {
    /// The table of `classes`. When an identifier occurs twice the later one counts.
    #[must_use]
    pub fn new(classes: impl IntoIterator<Item = Class>) -> Self {
        let mut m = Methods::default();
        for c in classes {
            let (class, file): (Arc<str>, Arc<str>) = (c.class.into(), c.file.into());
            for s in c.methods {
                m.by_id.insert(s.id, m.all.len() as u32);
                if s.id.0 < DENSE {
                    let at = s.id.0 as usize;
                    m.marks.resize(m.marks.len().max(at + 1), 0);
                    m.marks[at] = mark(s.wait, s.role);
                }
                m.all.push(MethodInfo {
                    id: s.id,
                    class: class.clone(),
                    name: s.name,
                    descriptor: s.descriptor,
                    file: file.clone(),
                    line: s.line,
                    wait: s.wait,
                    role: s.role,
                });
            }
        }
        m
    }

    /// Adds a method that no class has, under an identifier that no method has; none when all are in use.
    pub(crate) fn add(&mut self, class: &str, name: &str, wait: Wait) -> Option<MethodId> {
        let mut id = MethodId(u32::try_from(self.marks.len()).ok()?.max(1));
        while id.0 >= DENSE && self.by_id.contains_key(&id) {
            id.0 += 1;
        }
        if id.0 > MethodId::MAX {
            return None;
        }
        self.by_id.insert(id, self.all.len() as u32);
        if id.0 < DENSE {
            self.marks.resize(id.0 as usize + 1, 0);
            self.marks[id.0 as usize] = mark(wait, Role::Method);
        }
        self.all.push(MethodInfo {
            id,
            class: class.into(),
            name: name.to_owned(),
            descriptor: "()V".to_owned(),
            file: "".into(),
            line: 0,
            wait,
            role: Role::Method,
        });
        Some(id)
    }

    /// Adds the event types of native programs. Those with the same category and name are one, whatever
    /// their fields.
    pub(crate) fn add_event_types(&mut self, definitions: &Definitions, categories: &[Category]) {
        let mut known: HashMap<(u16, &str), MethodId> = HashMap::new();
        let nothing: Arc<str> = "".into();
        let classes: Vec<Arc<str>> = categories.iter().map(|c| c.name.as_str().into()).collect();
        for (id, of) in definitions.event_types().filter(|(id, _)| id.0 < EVENT_TYPES) {
            let name = definitions.name(of.name).unwrap_or("?");
            let fresh = MethodId(EVENT_TYPES + id.0);
            let method = *known.entry((of.category.0, name)).or_insert(fresh);
            self.by_type.insert(id, method);
            if method == fresh {
                self.by_id.insert(method, self.all.len() as u32);
                self.all.push(MethodInfo {
                    id: method,
                    class: classes.get(usize::from(of.category.0)).unwrap_or(&nothing).clone(),
                    name: name.to_owned(),
                    descriptor: String::new(),
                    file: nothing.clone(),
                    line: 0,
                    wait: Wait::None,
                    role: Role::Span,
                });
            }
        }
    }

    /// What stands for an event type. All types that are not defined are one.
    pub(crate) fn of_type(&self, id: TypeId) -> MethodId {
        self.by_type.get(&id).copied().unwrap_or(MethodId(EVENT_TYPES))
    }

    /// The method with this identifier.
    #[must_use]
    pub fn get(&self, id: MethodId) -> Option<&MethodInfo> {
        self.by_id.get(&id).map(|&i| &self.all[i as usize])
    }

    /// All methods.
    pub fn iter(&self) -> impl Iterator<Item = &MethodInfo> {
        self.all.iter()
    }

    /// What the method waits for.
    #[must_use]
    pub fn wait(&self, id: MethodId) -> Wait {
        self.get(id).map_or(Wait::None, |m| m.wait)
    }

    /// `com.acme.Orders.place`, or a name that says that the symbol is missing.
    #[must_use]
    pub fn full(&self, id: MethodId) -> String {
        self.get(id).map_or_else(|| unknown(id), MethodInfo::full)
    }

    /// `Orders.place`, or a name that says that the symbol is missing.
    #[must_use]
    pub fn short(&self, id: MethodId) -> String {
        self.get(id).map_or_else(|| unknown(id), MethodInfo::short)
    }

    /// `Orders.place (Orders.java:12)`, without the brackets when the source is unknown.
    #[must_use]
    pub fn placed(&self, id: MethodId) -> String {
        match self.get(id).and_then(MethodInfo::source) {
            Some(source) => format!("{} ({source})", self.short(id)),
            None => self.short(id),
        }
    }

    #[inline]
    pub(crate) fn mark(&self, id: MethodId) -> u8 {
        match self.marks.get(id.0 as usize) {
            Some(&m) => m,
            None => self.far_mark(id),
        }
    }

    #[cold]
    fn far_mark(&self, id: MethodId) -> u8 {
        if id.0 < DENSE { 0 } else { self.get(id).map_or(0, |m| mark(m.wait, m.role)) }
    }
}

fn unknown(id: MethodId) -> String {
    if id.0 >= EVENT_TYPES { "event of unknown type".to_owned() } else { format!("method #{}", id.0) }
}
