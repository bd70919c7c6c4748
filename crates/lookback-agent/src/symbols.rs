//! Gives methods their ids and writes their names into the region, ahead of the first record.
//!
//! The constraint that shaped it: classes load on many threads at once and may be rewritten again at any
//! time (another agent retransforms them), so a method keeps its id, and one short critical section appends
//! a class. No thread waits for it on a trace point.

use crate::log;
use crate::region::{Loss, Region};
use lookback_format::MethodId;
use lookback_format::symbol::{Class, Log, Method, Role, Wait};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// From this id on, an agent that takes up where another has left begins anew: tables are indexed by ids.
const ANEW: u32 = 1 << 18;

/// Ids and the log.
pub(crate) struct Symbols {
    next: AtomicU32,
    /// Ids that the agent before this one gave, and that are still in use.
    taken: FxHashSet<u32>,
    inner: Mutex<Inner>,
}

/// A method's hash and its id.
pub(crate) type Known = (u64, MethodId);

#[derive(Default)]
struct Inner {
    /// Bytes of the log that are written.
    written: usize,
    /// Whether a class did not fit.
    full: bool,
    /// Whether nothing may be written any more.
    closed: bool,
    /// Ids by the hash of the class's name.
    classes: FxHashMap<u64, Arc<[Known]>>,
}

/// A hash that stands for the name of a class.
pub(crate) fn hash_class(class: &str) -> u64 {
    FxBuildHasher.hash_one(class)
}

/// A hash that stands for a method within its class.
pub(crate) fn hash_method(name: &str, descriptor: &str) -> u64 {
    FxBuildHasher.hash_one((name, descriptor))
}

/// As [`hash_method`]; a span, an instant and a method may share a name, and a method has another id where it is precise.
pub(crate) fn hash_single(name: &str, descriptor: &str, role: Role) -> u64 {
    match role {
        Role::Method => hash_method(name, descriptor),
        _ => FxBuildHasher.hash_one((name, descriptor, role)),
    }
}

impl Symbols {
    pub(crate) fn new() -> Self {
        Symbols { next: AtomicU32::new(1), taken: FxHashSet::default(), inner: Mutex::default() }
    }

    /// Takes up where another agent has left, with what it has carried over. A method that began then may end now: so
    /// its id is not given to another at once.
    pub(crate) fn after(before: &Symbols, region: &Region, carried: &[Class]) -> Self {
        // Relaxed: that agent gives no more ids.
        let next = before.next.load(Ordering::Relaxed);
        let mut symbols = Symbols::new();
        symbols.next = AtomicU32::new(if next < ANEW { next } else { 1 });
        symbols.taken = carried.iter().flat_map(|class| class.methods.iter().map(|m| m.id.0)).collect();
        symbols.write(region, &mut symbols.lock(), carried);
        symbols
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Forgets all but the program's own spans and the classes with these hashes, while `give_back` empties the region.
    pub(crate) fn forget(&self, region: &Region, keep: impl Fn(u64) -> bool, give_back: impl FnOnce()) {
        let mut inner = self.lock();
        let mut kept = read(region, &inner);
        for class in &mut kept {
            let whole = keep(hash_class(&class.class));
            class.methods.retain(|m| whole || !m.role.is_method());
        }
        kept.retain(|class| !class.methods.is_empty());
        give_back();
        *inner = Inner::default();
        self.write(region, &mut inner, &kept);
    }

    /// Writes nothing any more, and gives what there is.
    pub(crate) fn close(&self, region: &Region) -> Vec<Class> {
        let mut inner = self.lock();
        inner.closed = true;
        read(region, &inner)
    }

    /// Undoes [`Symbols::close`].
    pub(crate) fn reopen(&self) {
        self.lock().closed = false;
    }

    fn write(&self, region: &Region, inner: &mut Inner, classes: &[Class]) {
        for class in classes {
            let mut record = Vec::new();
            class.encode(&mut record);
            let known = |m: &Method| (hash_single(&m.name, &m.descriptor, m.role), m.id);
            let known: Vec<Known> = class.methods.iter().map(known).collect();
            append(inner, region, &record, hash_class(&class.class), &known);
        }
    }

    /// The methods of a class that have ids already; none when it is new.
    pub(crate) fn known(&self, class: u64) -> Option<Arc<[Known]>> {
        self.lock().classes.get(&class).cloned()
    }

    /// A new id; `None` when they are used up.
    pub(crate) fn fresh(&self) -> Option<MethodId> {
        // Relaxed: uniqueness is all that is needed.
        let ids = std::iter::repeat_with(|| self.next.fetch_add(1, Ordering::Relaxed));
        let id = ids.into_iter().find(|id| !self.taken.contains(id))?;
        (id <= MethodId::MAX).then_some(MethodId(id))
    }

    /// Appends the record of a class. False when it does not fit: then no trace point may use its ids.
    pub(crate) fn publish(&self, region: &Region, record: &[u8], class: u64, methods: &[Known]) -> bool {
        append(&mut self.lock(), region, record, class, methods)
    }

    /// The id of a single method outside of any class file: a native, a monitor, a span.
    pub(crate) fn find(&self, class: &str, name: &str, descriptor: &str, role: Role) -> Option<MethodId> {
        let known = self.known(hash_class(class))?;
        let key = hash_single(name, descriptor, role);
        known.iter().find(|(k, _)| *k == key).map(|(_, id)| *id)
    }

    /// As [`Symbols::find`]; when it is new, its symbol is written.
    pub(crate) fn single(
        &self,
        region: &Region,
        class: &str,
        name: &str,
        descriptor: &str,
        wait: Wait,
        role: Role,
    ) -> Option<MethodId> {
        // Made only for a new one: contended monitors come here.
        let method = || Method {
            id: MethodId(0),
            name: name.into(),
            descriptor: descriptor.into(),
            line: 0,
            wait,
            role,
        };
        self.find(class, name, descriptor, role).or_else(|| self.add(region, class, "", method()))
    }

    /// The id of any method, traced or not; when it is new, its symbol is written.
    pub(crate) fn method(
        &self,
        region: &Region,
        class: &str,
        file: &str,
        name: &str,
        descriptor: &str,
        line: u16,
    ) -> Option<MethodId> {
        let found = [Role::Method, Role::Precise]
            .into_iter()
            .find_map(|role| self.find(class, name, descriptor, role));
        let (wait, role) = (Wait::None, Role::Method);
        let method =
            || Method { id: MethodId(0), name: name.into(), descriptor: descriptor.into(), line, wait, role };
        found.or_else(|| self.add(region, class, file, method()))
    }

    /// Writes the symbol of a single method, and gives it its id.
    fn add(&self, region: &Region, class: &str, file: &str, method: Method) -> Option<MethodId> {
        let id = self.fresh()?;
        let known = (hash_single(&method.name, &method.descriptor, method.role), id);
        let mut record = Vec::new();
        let methods = vec![Method { id, ..method }];
        Class { class: class.into(), file: file.into(), methods }.encode(&mut record);
        self.publish(region, &record, hash_class(class), &[known]).then_some(id)
    }

    /// The log as far as it is written.
    pub(crate) fn log<'a>(&self, region: &'a Region) -> &'a [u8] {
        // The lock orders this after the last `publish`; what is written never changes.
        let written = self.lock().written;
        region.bytes(region.symbols_at, written)
    }
}

/// See [`Symbols::publish`].
fn append(inner: &mut Inner, region: &Region, record: &[u8], class: u64, methods: &[Known]) -> bool {
    if inner.closed {
        return false;
    }
    let at = region.symbols_at + inner.written;
    // Eight zero bytes always remain: the end of the log.
    if inner.written + record.len() + 8 > region.symbols_bytes {
        region.lose(Loss::Symbols, methods.len() as u64);
        if !std::mem::replace(&mut inner.full, true) {
            log::line(
                "the memory for names is full: classes that load from now on are not traced; choose a larger ring=",
            );
        }
        return false;
    }
    region.bytes_mut(at + 4, record.len() - 4).copy_from_slice(&record[4..]);
    // ORDERING: Release; pairs with the Acquire of any reader of the file: who sees the length sees the
    // record.
    let length = u32::from_le_bytes([record[0], record[1], record[2], record[3]]);
    region.u32(at).store(length, Ordering::Release);
    inner.written += record.len();
    match inner.classes.get(&class) {
        Some(before) => {
            let all = before.iter().chain(methods).copied().collect();
            inner.classes.insert(class, all);
        }
        None => drop(inner.classes.insert(class, methods.into())),
    }
    true
}

/// The log as it is.
fn read(region: &Region, inner: &Inner) -> Vec<Class> {
    Log::new(region.bytes(region.symbols_at, inner.written)).filter_map(Result::ok).collect()
}
