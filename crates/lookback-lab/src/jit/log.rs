//! The compilers' log of HotSpot (`-XX:+UnlockDiagnosticVMOptions -XX:+LogCompilation`), compilation by compilation.
//!
//! ```text
//! <task compile_id='54' method='java.lang.String charAt (I)C' bytes='25' iicount='5376' level='4' stamp='0.085'>
//!   <klass id='9' name='java.lang.String'/> <method id='7' holder='9' name='isLatin1' return='1' bytes='19'/>
//!   <parse method='6'>                               the method itself, and within it each that was inlined
//!     <bc code='182' bci='1'/>                       the call's place
//!     <call method='7' count='5119' inline='1'/>     whom it calls, and how often it had until now
//!     <inline_success reason='inline (hot)'/>        or <inline_fail reason='too big'/>
//!     <parse method='7'> ... </parse>
//!   </parse>
//!   <late_inline method='7'> <jvms bci='1' method='6'/> </late_inline> <parse method='7'> ... </parse>
//!   <task_done success='1' nmsize='792'/>
//! </task>
//! ```
//!
//! The constraint that shaped it: logs are some 15 MB of XML that the VM puts together as it ends, torn where it was
//! killed, so the reader streams, holds one task at a time, and keeps what was whole. It knows the few elements that say
//! what was compiled and inlined, of JDK 17 to 25, and passes over the others. It must not judge a decision.

use super::method::Method;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashMap;
use std::io::BufRead;

/// What the log tells.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Told {
    /// The VM's release.
    Release(String),
    /// A method was compiled.
    Compilation(Box<Compilation>),
    /// Code of a compilation was given up. `level` is that of the code.
    Invalidated {
        /// The compilation.
        compile_id: u64,
        /// Its level.
        level: u8,
    },
    /// Compiled code met what it was not compiled for, and went on in the interpreter.
    Trap {
        /// The compilation.
        compile_id: u64,
        /// Why: `unstable_if`, `class_check`.
        reason: String,
    },
}

/// A method was compiled.
#[derive(Debug, Clone, PartialEq)]
pub struct Compilation {
    /// Its number in the run, ascending.
    pub id: u64,
    /// 1 to 3 of C1, 4 of C2.
    pub level: u8,
    /// Whether it replaces a loop that runs.
    pub osr: bool,
    /// What was compiled.
    pub method: Method,
    /// Bytes of its bytecode.
    pub bytes: u32,
    /// Bytes of the code with all that belongs to it.
    pub code_bytes: u64,
    /// How often it had been called when the compilation was asked for.
    pub invocations: u64,
    /// What became of the calls in it and in what was inlined into it.
    pub decisions: Vec<Decision>,
    /// Bytes of bytecode of all methods that the compilation saw.
    pub lengths: Vec<(Method, u32)>,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// From the compiled method to the caller: methods, and in each the bytecode index of the call.
    pub chain: Vec<(Method, u32)>,
    /// Whom it calls.
    pub callee: Method,
    /// How often it had called until then by way of this chain, where that was profiled: the profile knows a method's
    /// calls by all its callers, and the compiler takes a share of them.
    pub calls: Option<u64>,
    /// Whether the callee was inlined, or replaced by instructions that the compiler knows for it.
    pub inlined: bool,
    /// Why, in the compiler's words.
    pub reason: String,
}

/// Reads a log and tells what it says.
///
/// # Errors
/// Words about where the log stops being one; what stood before was told.
pub fn read(log: impl BufRead, mut each: impl FnMut(Told)) -> Result<(), String> {
    let mut reader = Reader::from_reader(log);
    let config = reader.config_mut();
    // Fragments of tasks that were under way as the VM ended are torn.
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    let mut bytes = Vec::new();
    let mut task: Option<Task> = None;
    let mut release = false;
    loop {
        let at = reader.buffer_position();
        bytes.clear();
        let event = reader.read_event_into(&mut bytes);
        match event.map_err(|error| format!("the compilers' log is damaged at byte {at}: {error}"))? {
            Event::Start(element) => match (element.name().as_ref(), &mut task) {
                ("task", _) => task = Task::of(&element),
                ("release", None) => release = true,
                (_, Some(task)) => task.begin(&element),
                (_, None) => outside(&element, &mut each),
            },
            Event::Empty(element) => match &mut task {
                Some(task) => {
                    task.begin(&element);
                    task.end(element.name().as_ref());
                }
                None => outside(&element, &mut each),
            },
            Event::End(element) => match (element.name().as_ref(), &mut task) {
                ("task", _) => {
                    if let Some(compilation) = task.take().and_then(Task::done) {
                        each(Told::Compilation(Box::new(compilation)));
                    }
                }
                (name, Some(task)) => task.end(name),
                (_, None) => {}
            },
            Event::Text(text) if release => {
                release = false;
                each(Told::Release(text.trim().to_owned()));
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// What is told outside of a task: of code that exists already.
fn outside(element: &BytesStart<'_>, each: &mut impl FnMut(Told)) {
    let number = |name| attribute(element, name).and_then(|value| value.parse().ok());
    match (element.name().as_ref(), number("compile_id")) {
        ("make_not_entrant", Some(compile_id)) => {
            let level = number("level").map_or(0, |level: u64| level.min(4) as u8);
            each(Told::Invalidated { compile_id, level });
        }
        ("uncommon_trap", Some(compile_id)) => {
            let reason = attribute(element, "reason").unwrap_or_default();
            each(Told::Trap { compile_id, reason });
        }
        _ => {}
    }
}

/// The value of an attribute; none when it is missing or torn.
fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = element.try_get_attribute(name).ok()??;
    Some(match quick_xml::escape::unescape(&attribute.value) {
        Ok(plain) => plain.into_owned(),
        Err(_) => attribute.value.into_owned(),
    })
}

/// A compilation as it is read.
struct Task {
    compilation: Compilation,
    succeeded: bool,
    /// Names of types and classes, and callees with their bytes, by the numbers that the task gives them.
    types: HashMap<u32, String>,
    methods: HashMap<u32, Method>,
    /// From the compiled method to the one that is being parsed.
    scopes: Vec<Scope>,
    /// The callers of what is inlined after the parse, from the compiled method on; told before its `parse`.
    late: Vec<(u32, u32)>,
    in_late: bool,
}

/// A method that is being parsed.
struct Scope {
    method: u32,
    bci: u32,
    /// Whom the last call calls, and how often it had.
    call: Option<(u32, Option<u64>)>,
}

impl Task {
    fn of(element: &BytesStart<'_>) -> Option<Task> {
        let number = |name| attribute(element, name).and_then(|value| value.parse::<u64>().ok());
        let compilation = Compilation {
            id: number("compile_id")?,
            // The highest level is not written.
            level: number("level").map_or(4, |level| level.min(4) as u8),
            osr: attribute(element, "compile_kind").as_deref() == Some("osr"),
            method: Method::of_task(&attribute(element, "method")?)?,
            bytes: number("bytes").map_or(0, |bytes| bytes.min(u64::from(u32::MAX)) as u32),
            code_bytes: 0,
            invocations: number("iicount").or(number("count")).unwrap_or(0),
            decisions: Vec::new(),
            lengths: Vec::new(),
        };
        let (types, methods) = (HashMap::new(), HashMap::new());
        let (scopes, late) = (Vec::new(), Vec::new());
        Some(Task { compilation, succeeded: false, types, methods, scopes, late, in_late: false })
    }

    fn begin(&mut self, element: &BytesStart<'_>) {
        let text = |name| attribute(element, name);
        let number = |name| text(name).and_then(|value| value.parse::<u32>().ok());
        match element.name().as_ref() {
            "type" | "klass" => {
                if let (Some(id), Some(name)) = (number("id"), text("name")) {
                    self.types.insert(id, name);
                }
            }
            "method" => self.method(element),
            "parse" => {
                let Some(method) = number("method") else { return };
                self.scopes.push(Scope { method, bci: 0, call: None });
            }
            "bc" => {
                if let (Some(scope), Some(bci)) = (self.scopes.last_mut(), number("bci")) {
                    (scope.bci, scope.call) = (bci, None);
                }
            }
            "call" => {
                if let (Some(scope), Some(method)) = (self.scopes.last_mut(), number("method")) {
                    let profiled = text("count")
                        .and_then(|count| count.parse::<f64>().ok())
                        .filter(|count| *count >= 0.0);
                    // The count is of all callers of the method; the factor is the share of this copy.
                    let share =
                        text("prof_factor").and_then(|factor| factor.parse::<f64>().ok()).unwrap_or(1.0);
                    scope.call = Some((method, profiled.map(|count| (count * share).round() as u64)));
                }
            }
            "inline_success" => self.decide(true, text("reason").unwrap_or_default()),
            "inline_fail" => self.decide(false, text("reason").unwrap_or_default()),
            "intrinsic" => self.decide(true, "intrinsic".into()),
            "late_inline" => {
                self.in_late = true;
                self.late.clear();
            }
            "jvms" if self.in_late => {
                if let (Some(bci), Some(method)) = (number("bci"), number("method")) {
                    // Told from the innermost on.
                    self.late.insert(0, (method, bci));
                }
            }
            // The compiler begins again: what it decided counts no more.
            "failure" => {
                self.compilation.decisions.clear();
                self.scopes.clear();
            }
            "task_done" => {
                self.succeeded = text("success").as_deref() == Some("1");
                self.compilation.code_bytes = text("nmsize").and_then(|size| size.parse().ok()).unwrap_or(0);
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "parse" => {
                self.scopes.pop();
                if self.scopes.is_empty() {
                    self.late.clear();
                }
            }
            "late_inline" => self.in_late = false,
            _ => {}
        }
    }

    fn method(&mut self, element: &BytesStart<'_>) {
        let text = |name| attribute(element, name);
        let named = |id: &str| id.parse().ok().and_then(|id: u32| self.types.get(&id)).map(String::as_str);
        let (Some(id), Some(holder), Some(name), Some(result)) =
            (text("id"), text("holder"), text("name"), text("return"))
        else {
            return;
        };
        let arguments = text("arguments").unwrap_or_default();
        let arguments: Option<Vec<&str>> = arguments.split_whitespace().map(named).collect();
        if let (Ok(id), Some(holder), Some(arguments), Some(result)) =
            (id.parse(), named(&holder), arguments, named(&result))
        {
            let method = Method::of_types(holder, &name, &arguments, result);
            if let Some(bytes) = text("bytes").and_then(|bytes| bytes.parse().ok()) {
                self.compilation.lengths.push((method.clone(), bytes));
            }
            self.methods.insert(id, method);
        }
    }

    fn decide(&mut self, inlined: bool, reason: String) {
        let Some((callee, calls)) = self.scopes.last().and_then(|scope| scope.call) else { return };
        let Some(callee) = self.methods.get(&callee).cloned() else { return };
        let late = self.late.iter().map(|&(method, bci)| (method, bci));
        let scopes = self.scopes.iter().map(|scope| (scope.method, scope.bci));
        let chain: Option<Vec<_>> =
            late.chain(scopes).map(|(method, bci)| Some((self.methods.get(&method)?.clone(), bci))).collect();
        let Some(chain) = chain else { return };
        let same = |d: &Decision| d.callee == callee && d.chain == chain;
        // A call that is tried again: the last word counts.
        self.compilation.decisions.retain(|decision| !same(decision));
        self.compilation.decisions.push(Decision { chain, callee, calls, inlined, reason });
    }

    fn done(self) -> Option<Compilation> {
        self.succeeded.then_some(self.compilation)
    }
}
