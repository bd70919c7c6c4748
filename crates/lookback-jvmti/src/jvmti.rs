//! The JVM Tool Interface: the functions, events and capabilities that the agents use, and no others.
//!
//! The constraint that shaped it: the interface is a table of C functions whose places are fixed by its
//! specification (the numbers below are its function numbers). No well-kept crate binds it, and the
//! functions needed are few. Each wrapper turns an error code into a [`JvmtiError`]; none panics.

use jni_sys::{JNIEnv, JavaVM, jboolean, jclass, jint, jlong, jmethodID, jobject};
use std::ffi::{CStr, c_char, c_uchar, c_void};
use std::fmt;
use std::ptr::null_mut;

/// An error code of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JvmtiError(
    /// The code, by the specification.
    pub jint,
);

impl fmt::Display for JvmtiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JVMTI error {}", self.0)
    }
}

/// What a call gives, or the code with which it failed.
pub type Result<T> = std::result::Result<T, JvmtiError>;

/// Version 1.2 of the interface, which every HotSpot from 6 on has.
pub const VERSION: jint = 0x3001_0200;

/// The events that an agent may ask for, by the specification's numbers.
#[allow(missing_docs, reason = "the names are the specification's")]
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub enum Event {
    VmInit = 50,
    VmDeath = 51,
    ThreadStart = 52,
    ThreadEnd = 53,
    ClassFileLoadHook = 54,
    ClassLoad = 55,
    ClassPrepare = 56,
    NativeMethodBind = 67,
    CompiledMethodLoad = 68,
    DynamicCodeGenerated = 70,
    MonitorWait = 73,
    MonitorWaited = 74,
    MonitorContendedEnter = 75,
    MonitorContendedEntered = 76,
    GarbageCollectionStart = 81,
    GarbageCollectionFinish = 82,
}

/// The capabilities that an agent may ask for, by their bit in `jvmtiCapabilities`.
#[allow(missing_docs, reason = "the names are the specification's")]
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub enum Capability {
    GetCurrentContendedMonitor = 6,
    GetMonitorInfo = 7,
    GetSourceFileName = 11,
    GetLineNumbers = 12,
    GenerateAllClassHookEvents = 26,
    GenerateCompiledMethodLoadEvents = 27,
    GenerateMonitorEvents = 28,
    GenerateNativeMethodBindEvents = 30,
    GenerateGarbageCollectionEvents = 31,
    RetransformClasses = 37,
    RetransformAnyClass = 38,
    SupportVirtualThreads = 44,
}

/// `jvmtiCapabilities`: 128 bits.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(4))]
pub struct Capabilities([u8; 16]);

impl Capabilities {
    /// These and one more.
    #[must_use]
    pub fn with(mut self, c: Capability) -> Self {
        self.0[c as usize / 8] |= 1 << (c as usize % 8);
        self
    }

    /// Whether one is among them.
    #[must_use]
    pub fn has(self, c: Capability) -> bool {
        self.0[c as usize / 8] & 1 << (c as usize % 8) != 0
    }
}

/// The VM has begun, a thread has begun or ended: the thread.
pub type ThreadEventFn = unsafe extern "C" fn(*mut c_void, *mut JNIEnv, jobject);
/// A class was loaded or prepared: the thread, the class.
pub type ClassEventFn = unsafe extern "C" fn(*mut c_void, *mut JNIEnv, jobject, jclass);
/// A thread wants or has got a monitor: the thread, the monitor's object.
pub type MonitorFn = unsafe extern "C" fn(*mut c_void, *mut JNIEnv, jobject, jobject);
/// A thread begins to wait: the thread, the object, milliseconds at the most.
pub type WaitFn = unsafe extern "C" fn(*mut c_void, *mut JNIEnv, jobject, jobject, jlong);
/// A thread has waited: the thread, the object, whether the time was up.
pub type WaitedFn = unsafe extern "C" fn(*mut c_void, *mut JNIEnv, jobject, jobject, u8);
/// A class file was read: what may be put in its place.
pub type ClassHookFn = unsafe extern "C" fn(
    *mut c_void,
    *mut JNIEnv,
    jclass,
    jobject,
    *const c_char,
    jobject,
    jint,
    *const c_uchar,
    *mut jint,
    *mut *mut c_uchar,
);

/// A native method gets its code: the thread, the method, the code, and where other code may be put in its place.
/// Before the VM has begun the environment is null.
pub type NativeMethodBindFn =
    unsafe extern "C" fn(*mut c_void, *mut JNIEnv, jobject, jmethodID, *mut c_void, *mut *mut c_void);

/// A method was compiled: the method, its code's size in bytes and address, how many places of it are told with their
/// bytecode indexes, these, and what [`inlined`] reads.
pub type CompiledFn =
    unsafe extern "C" fn(*mut c_void, jmethodID, jint, *const c_void, jint, *const c_void, *const c_void);

/// The VM has code of its own: its name, its address, its size in bytes.
pub type VmCodeFn = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_void, jint);

/// `jvmtiEventCallbacks`: one pointer an event, from number 50 on; the unused ones are null.
#[allow(missing_docs, reason = "the names are the specification's")]
#[repr(C)]
#[derive(Debug, Default)]
pub struct Callbacks {
    pub vm_init: Option<ThreadEventFn>,
    pub vm_death: Option<unsafe extern "C" fn(*mut c_void, *mut JNIEnv)>,
    pub thread_start: Option<ThreadEventFn>,
    pub thread_end: Option<ThreadEventFn>,
    pub class_file_load_hook: Option<ClassHookFn>,
    pub class_load: Option<ClassEventFn>,
    pub class_prepare: Option<ClassEventFn>,
    pub unused_57_to_66: [usize; 10],
    pub native_method_bind: Option<NativeMethodBindFn>,
    pub compiled_method_load: Option<CompiledFn>,
    pub unused_69: usize,
    pub dynamic_code_generated: Option<VmCodeFn>,
    pub unused_71_to_72: [usize; 2],
    pub monitor_wait: Option<WaitFn>,
    pub monitor_waited: Option<WaitedFn>,
    pub monitor_contended_enter: Option<MonitorFn>,
    pub monitor_contended_entered: Option<MonitorFn>,
    pub unused_77_to_80: [usize; 4],
    pub garbage_collection_start: Option<unsafe extern "C" fn(*mut c_void)>,
    pub garbage_collection_finish: Option<unsafe extern "C" fn(*mut c_void)>,
    pub unused_83_to_88: [usize; 6],
}

/// `jvmtiThreadInfo`.
#[repr(C)]
struct ThreadInfo {
    name: *mut c_char,
    priority: jint,
    is_daemon: u8,
    thread_group: jobject,
    context_class_loader: jobject,
}

/// `jvmtiMonitorUsage`.
#[repr(C)]
struct MonitorUsage {
    owner: jobject,
    entry_count: jint,
    waiter_count: jint,
    waiters: *mut jobject,
    notify_waiter_count: jint,
    notify_waiters: *mut jobject,
}

/// `jvmtiLineNumberEntry`.
#[repr(C)]
#[derive(Clone, Copy)]
struct LineNumberEntry {
    start_location: jlong,
    line_number: jint,
}

/// `jvmtiFrameInfo`: a method and a place in it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The method.
    pub method: jmethodID,
    /// The bytecode's index in it.
    pub location: jlong,
}

/// `jvmtiStackInfo`.
#[repr(C)]
struct StackInfo {
    thread: jobject,
    state: jint,
    frames: *const Frame,
    len: jint,
}

/// `jvmtiExtensionFunctionInfo`; its parameters and errors are not looked at.
#[repr(C)]
struct ExtensionFunction {
    function: *const c_void,
    id: *mut c_char,
    description: *mut c_char,
    param_count: jint,
    params: *mut ParamInfo,
    error_count: jint,
    errors: *mut jint,
}

/// `jvmtiParamInfo`.
#[repr(C)]
#[derive(Clone, Copy)]
struct ParamInfo {
    name: *mut c_char,
    kind: jint,
    base_type: jint,
    null_ok: jboolean,
}

/// `jvmtiCompiledMethodLoadRecordHeader`.
#[repr(C)]
struct CompiledRecord {
    kind: jint,
    major: jint,
    minor: jint,
    next: *const CompiledRecord,
}

/// `jvmtiCompiledMethodLoadInlineRecord`.
#[repr(C)]
struct InlineRecord {
    header: CompiledRecord,
    len: jint,
    places: *const PlaceInfo,
}

/// `PCStackInfo`: the methods that stand at a place of compiled code, innermost first.
#[repr(C)]
struct PlaceInfo {
    address: *const c_void,
    len: jint,
    methods: *const jmethodID,
    indexes: *const jint,
}

/// `JVMTI_CMLR_INLINE_INFO`.
const INLINE_RECORD: jint = 2;

/// Calls `f` with the methods of each place in compiled code, innermost first, the compiled method last: what was inlined there.
///
/// # Safety
/// `info` is what the event of compiled methods has just been given as its last argument, or null.
pub unsafe fn inlined(info: *const c_void, mut f: impl FnMut(&[jmethodID])) {
    let mut record = info.cast::<CompiledRecord>();
    // SAFETY: by the specification a list of records, each of which begins with its kind.
    while let Some(header) = unsafe { record.as_ref() } {
        if header.kind == INLINE_RECORD {
            // SAFETY: a record of that kind is an `InlineRecord` with as many places as it says, each with as many methods.
            unsafe {
                let inline = &*record.cast::<InlineRecord>();
                for i in 0..inline.len.max(0) as usize {
                    let place = &*inline.places.add(i);
                    if !place.methods.is_null() {
                        f(std::slice::from_raw_parts(place.methods, place.len.max(0) as usize));
                    }
                }
            }
        }
        record = header.next;
    }
}

/// Bits of a thread's state, by the specification.
#[allow(missing_docs, reason = "the names are the specification's")]
pub mod thread_state {
    pub const ALIVE: i32 = 0x1;
    pub const RUNNABLE: i32 = 0x4;
    pub const IN_NATIVE: i32 = 0x40_0000;
}

/// An environment of the interface. It lives until the VM is gone; no agent disposes of it.
///
/// Each method gives the code with which the VM refused as its error.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Jvmti(*mut c_void);

// SAFETY: the specification lets any attached thread use an environment.
unsafe impl Send for Jvmti {}
// SAFETY: as above.
unsafe impl Sync for Jvmti {}

/// Calls function `$number` with the environment and `$arg`s, and makes a Result of its code.
macro_rules! call {
    ($env:expr, $number:literal $(, $arg:expr => $t:ty)*) => {{
        // SAFETY: `Jvmti::new` vouches for the environment; its first word points at the function table,
        // whose entry `$number - 1` has this signature by the specification.
        let code = unsafe {
            let table = *($env.0 as *const *const *const c_void);
            let f = std::mem::transmute::<*const c_void, unsafe extern "C" fn(*mut c_void $(, $t)*) -> jint>(
                *table.add($number - 1));
            f($env.0 $(, $arg)*)
        };
        if code == 0 { Ok(()) } else { Err(JvmtiError(code)) }
    }};
}

impl Jvmti {
    /// The environment of a VM for one agent; none when the VM has no such interface.
    ///
    /// # Safety
    /// `vm` is the VM that has loaded the agent.
    #[must_use]
    pub unsafe fn of(vm: *mut JavaVM) -> Option<Jvmti> {
        let mut env = null_mut();
        // SAFETY: the VM's own pointer, by the caller's word; the out parameter is valid.
        let code = unsafe { (**vm).GetEnv.map(|f| f(vm, &raw mut env, VERSION)) };
        (code == Some(0) && !env.is_null()).then_some(Jvmti(env))
    }

    /// # Safety
    /// `env` is an environment of version [`VERSION`] that `GetEnv` gave.
    #[must_use]
    pub const unsafe fn new(env: *mut c_void) -> Self {
        Jvmti(env)
    }

    /// Gives the environment back, with its capabilities; it may not be used any more.
    pub fn dispose(self) {
        let _ = call!(self, 127);
    }

    /// What this VM can do at this time.
    pub fn potential_capabilities(self) -> Result<Capabilities> {
        let mut c = Capabilities::default();
        call!(self, 140, &raw mut c => *mut Capabilities)?;
        Ok(c)
    }

    /// Asks for capabilities; all or none are given.
    pub fn add_capabilities(self, c: Capabilities) -> Result<()> {
        call!(self, 142, &raw const c => *const Capabilities)
    }

    /// Names the functions that the events call.
    pub fn set_callbacks(self, c: &'static Callbacks) -> Result<()> {
        call!(self, 122, c => *const Callbacks, size_of::<Callbacks>() as jint => jint)
    }

    /// Turns an event on or off, for all threads.
    pub fn enable(self, event: Event, on: bool) -> Result<()> {
        call!(self, 2, jint::from(on) => jint, event as jint => jint, null_mut() => jobject)
    }

    /// Has the VM send an event of this kind for each of what there is already, on this thread.
    pub fn generate_events(self, event: Event) -> Result<()> {
        call!(self, 123, event as jint => jint)
    }

    /// Memory that the VM will free, filled with `bytes`.
    pub fn allocate(self, bytes: &[u8]) -> Result<*mut u8> {
        let mut p = null_mut::<u8>();
        call!(self, 46, bytes.len() as jlong => jlong, &raw mut p => *mut *mut u8)?;
        // SAFETY: the VM has given `bytes.len()` fresh bytes at `p`.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), p, bytes.len()) };
        Ok(p)
    }

    fn free<T>(self, p: *mut T) {
        if !p.is_null() {
            // The only error is a null environment.
            let _ = call!(self, 47, p.cast() => *mut c_uchar);
        }
    }

    /// Copies a C string that the VM allocated, and frees it.
    fn take_string(self, p: *mut c_char) -> String {
        if p.is_null() {
            return String::new();
        }
        // SAFETY: the VM gives zero-terminated strings.
        let text = unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned();
        self.free(p);
        text
    }

    /// Copies an array that the VM allocated, and frees it.
    fn take_array<T: Copy>(self, p: *mut T, n: jint) -> Vec<T> {
        if p.is_null() {
            return Vec::new();
        }
        // SAFETY: the VM gives `n` elements at `p`.
        let copy = unsafe { std::slice::from_raw_parts(p, n.max(0) as usize) }.to_vec();
        self.free(p);
        copy
    }

    /// All live platform threads; local references.
    pub fn all_threads(self) -> Result<Vec<jobject>> {
        let (mut n, mut p) = (0, null_mut::<jobject>());
        call!(self, 4, &raw mut n => *mut jint, &raw mut p => *mut *mut jobject)?;
        Ok(self.take_array(p, n))
    }

    /// The top thread groups, the system group first.
    pub fn top_thread_groups(self) -> Result<Vec<jobject>> {
        let (mut n, mut p) = (0, null_mut::<jobject>());
        call!(self, 13, &raw mut n => *mut jint, &raw mut p => *mut *mut jobject)?;
        Ok(self.take_array(p, n))
    }

    /// A thread's name, and local references to its group and loader.
    pub fn thread_name(self, thread: jobject) -> Result<(String, [jobject; 2])> {
        let mut info = ThreadInfo {
            name: null_mut(),
            priority: 0,
            is_daemon: 0,
            thread_group: null_mut(),
            context_class_loader: null_mut(),
        };
        call!(self, 9, thread => jobject, &raw mut info => *mut ThreadInfo)?;
        Ok((self.take_string(info.name), [info.thread_group, info.context_class_loader]))
    }

    /// The bits of `GetThreadState`.
    pub fn thread_state(self, thread: jobject) -> Result<jint> {
        let mut state = 0;
        call!(self, 17, thread => jobject, &raw mut state => *mut jint)?;
        Ok(state)
    }

    /// Up to `most` innermost frames of a thread, innermost first.
    pub fn stack_trace(self, thread: jobject, most: usize) -> Result<Vec<Frame>> {
        let mut frames = vec![Frame { method: null_mut(), location: 0 }; most];
        let mut n = 0;
        call!(self, 104, thread => jobject, 0 => jint, most as jint => jint,
            frames.as_mut_ptr() => *mut Frame, &raw mut n => *mut jint)?;
        frames.truncate(n.max(0) as usize);
        Ok(frames)
    }

    /// The current thread, a virtual one where it runs such; a local reference.
    pub fn current_thread(self) -> Result<jobject> {
        let mut thread = null_mut();
        call!(self, 18, &raw mut thread => *mut jobject)?;
        Ok(thread)
    }

    /// As many innermost frames of a thread as there is room for; tells how many. Allocates nothing.
    pub fn stack_trace_in(self, thread: jobject, frames: &mut [Frame]) -> Result<usize> {
        let mut n = 0;
        call!(self, 104, thread => jobject, 0 => jint, frames.len() as jint => jint,
            frames.as_mut_ptr() => *mut Frame, &raw mut n => *mut jint)?;
        Ok(n.max(0) as usize)
    }

    /// As [`Jvmti::stack_trace`], into a buffer that is used again.
    pub fn stack_trace_into(self, thread: jobject, most: usize, frames: &mut Vec<Frame>) -> Result<()> {
        frames.resize(most, Frame { method: null_mut(), location: 0 });
        let n = self.stack_trace_in(thread, frames);
        frames.truncate(n.unwrap_or(0));
        n.map(drop)
    }

    /// Up to `most` innermost frames of all threads at one safepoint; `f` gets each thread, a local reference, its state and its
    /// frames, innermost first.
    pub fn all_stack_traces(self, most: usize, mut f: impl FnMut(jobject, jint, &[Frame])) -> Result<()> {
        let (mut n, mut p) = (0, null_mut::<StackInfo>());
        call!(self, 100, most as jint => jint, &raw mut p => *mut *mut StackInfo, &raw mut n => *mut jint)?;
        for i in 0..n.max(0) as usize {
            // SAFETY: the VM gives `n` elements at `p`, with the frames of all in the same block.
            let (info, frames) = unsafe {
                let info = &*p.add(i);
                let none = info.frames.is_null() || info.len <= 0;
                (info, if none { &[] } else { std::slice::from_raw_parts(info.frames, info.len as usize) })
            };
            f(info.thread, info.state, frames);
        }
        self.free(p);
        Ok(())
    }

    /// The monitor that a thread waits to enter; null when none. A local reference.
    pub fn contended_monitor(self, thread: jobject) -> Result<jobject> {
        let mut monitor = null_mut();
        call!(self, 11, thread => jobject, &raw mut monitor => *mut jobject)?;
        Ok(monitor)
    }

    /// The thread that holds a monitor; null when none. A local reference.
    pub fn monitor_owner(self, monitor: jobject) -> Result<jobject> {
        let mut usage = MonitorUsage {
            owner: null_mut(),
            entry_count: 0,
            waiter_count: 0,
            waiters: null_mut(),
            notify_waiter_count: 0,
            notify_waiters: null_mut(),
        };
        call!(self, 59, monitor => jobject, &raw mut usage => *mut MonitorUsage)?;
        self.free(usage.waiters);
        self.free(usage.notify_waiters);
        Ok(usage.owner)
    }

    /// A class's name as in `com.acme.Foo`; arrays keep their signature's form.
    pub fn class_name(self, class: jclass) -> Result<String> {
        let mut signature = null_mut();
        call!(self, 48, class => jclass, &raw mut signature => *mut *mut c_char,
            null_mut() => *mut *mut c_char)?;
        let signature = self.take_string(signature);
        let name = signature.strip_prefix('L').and_then(|s| s.strip_suffix(';')).unwrap_or(&signature);
        Ok(name.replace('/', "."))
    }

    /// The identity hash code of an object.
    pub fn hash_code(self, object: jobject) -> Result<jint> {
        let mut hash = 0;
        call!(self, 58, object => jobject, &raw mut hash => *mut jint)?;
        Ok(hash)
    }

    /// The loader of a class, null for the boot loader; a local reference.
    pub fn class_loader(self, class: jclass) -> jobject {
        let mut loader = null_mut();
        // An error leaves the boot loader's null: such a class is left alone.
        let _ = call!(self, 57, class => jclass, &raw mut loader => *mut jobject);
        loader
    }

    /// The name of the file that a class was compiled from.
    pub fn source_file(self, class: jclass) -> Result<String> {
        let mut name = null_mut();
        call!(self, 50, class => jclass, &raw mut name => *mut *mut c_char)?;
        Ok(self.take_string(name))
    }

    /// A method's name, without its class.
    pub fn method_name(self, method: jmethodID) -> Result<String> {
        let mut name = null_mut();
        call!(self, 64, method => jmethodID, &raw mut name => *mut *mut c_char,
            null_mut() => *mut *mut c_char, null_mut() => *mut *mut c_char)?;
        Ok(self.take_string(name))
    }

    /// A method's name and its descriptor.
    pub fn method_signature(self, method: jmethodID) -> Result<(String, String)> {
        let (mut name, mut descriptor) = (null_mut(), null_mut());
        call!(self, 64, method => jmethodID, &raw mut name => *mut *mut c_char,
            &raw mut descriptor => *mut *mut c_char, null_mut() => *mut *mut c_char)?;
        Ok((self.take_string(name), self.take_string(descriptor)))
    }

    /// The class that declares a method; a local reference.
    pub fn declaring_class(self, method: jmethodID) -> Result<jclass> {
        let mut class = null_mut();
        call!(self, 65, method => jmethodID, &raw mut class => *mut jclass)?;
        Ok(class)
    }

    /// Bytes of a method's bytecode, as it is now.
    pub fn code_size(self, method: jmethodID) -> Result<jlong> {
        let (mut start, mut end) = (0, 0);
        call!(self, 71, method => jmethodID, &raw mut start => *mut jlong, &raw mut end => *mut jlong)?;
        Ok(end - start + 1)
    }

    fn line_table(self, method: jmethodID) -> Result<Vec<LineNumberEntry>> {
        let (mut n, mut p) = (0, null_mut::<LineNumberEntry>());
        call!(self, 70, method => jmethodID, &raw mut n => *mut jint,
            &raw mut p => *mut *mut LineNumberEntry)?;
        Ok(self.take_array(p, n))
    }

    /// The source line of a place in a method; 0 when unknown.
    pub fn line(self, method: jmethodID, location: jlong) -> jint {
        let entries = self.line_table(method).unwrap_or_default();
        let before = entries.iter().filter(|e| e.start_location <= location);
        before.max_by_key(|e| e.start_location).map_or(0, |e| e.line_number)
    }

    /// Where the lines of a method begin: bytecode index and line, in any order.
    pub fn lines(self, method: jmethodID) -> Result<Vec<(u16, u16)>> {
        // A class file has room for 16 bits of each.
        let entries = self.line_table(method)?.into_iter();
        Ok(entries.map(|e| (e.start_location as u16, e.line_number as u16)).collect())
    }

    /// The methods that a class declares; an error when it is not prepared.
    pub fn class_methods(self, class: jclass) -> Result<Vec<jmethodID>> {
        let (mut n, mut p) = (0, null_mut::<jmethodID>());
        call!(self, 52, class => jclass, &raw mut n => *mut jint, &raw mut p => *mut *mut jmethodID)?;
        Ok(self.take_array(p, n))
    }

    /// Has the VM make identifiers for all methods of a class.
    pub fn make_method_ids(self, class: jclass) -> Result<()> {
        self.class_methods(class).map(drop)
    }

    /// The function that a VM offers beyond the specification under this name.
    pub fn extension(self, name: &CStr) -> Option<*const c_void> {
        let (mut n, mut p) = (0, null_mut::<ExtensionFunction>());
        call!(self, 124, &raw mut n => *mut jint, &raw mut p => *mut *mut ExtensionFunction).ok()?;
        let mut found = None;
        for i in 0..n.max(0) as usize {
            // SAFETY: the VM gives `n` elements at `p`, and in each of these as many parameters as it says.
            let (info, params) = unsafe {
                let info = &*p.add(i);
                let none = info.params.is_null() || info.param_count <= 0;
                let params = if none {
                    &[]
                } else {
                    std::slice::from_raw_parts(info.params, info.param_count as usize)
                };
                (info, params)
            };
            // SAFETY: the VM gives a zero-terminated name.
            if !info.id.is_null() && unsafe { CStr::from_ptr(info.id) } == name {
                found = Some(info.function);
            }
            params.iter().for_each(|param| self.free(param.name));
            self.free(info.id);
            self.free(info.description);
            self.free(info.params);
            self.free(info.errors);
        }
        self.free(p);
        found.filter(|function| !function.is_null())
    }

    /// Frees a block that a function of the VM's has handed over.
    pub fn deallocate(self, block: *mut c_void) {
        self.free(block);
    }

    /// All loaded classes; local references.
    pub fn loaded_classes(self) -> Result<Vec<jclass>> {
        let (mut n, mut p) = (0, null_mut::<jclass>());
        call!(self, 78, &raw mut n => *mut jint, &raw mut p => *mut *mut jclass)?;
        Ok(self.take_array(p, n))
    }

    /// Whether a class may be rewritten: no array, no primitive type, no hidden class.
    pub fn is_modifiable(self, class: jclass) -> bool {
        let mut modifiable: jboolean = 0;
        call!(self, 45, class => jclass, &raw mut modifiable => *mut jboolean).is_ok() && modifiable != 0
    }

    /// Has the VM send the class file hook for classes that are loaded already.
    pub fn retransform(self, classes: &[jclass]) -> Result<()> {
        call!(self, 152, classes.len() as jint => jint, classes.as_ptr() => *const jclass)
    }

    /// A system property; empty when it is not there.
    pub fn system_property(self, name: &CStr) -> String {
        let mut value = null_mut();
        match call!(self, 131, name.as_ptr() => *const c_char, &raw mut value => *mut *mut c_char) {
            Ok(()) => self.take_string(value),
            Err(_) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn callbacks_stand_at_their_events_numbers() {
        let number = |offset: usize| 50 + offset / size_of::<usize>();
        assert_eq!(number(offset_of!(Callbacks, class_file_load_hook)), Event::ClassFileLoadHook as usize);
        assert_eq!(number(offset_of!(Callbacks, class_prepare)), Event::ClassPrepare as usize);
        assert_eq!(number(offset_of!(Callbacks, native_method_bind)), Event::NativeMethodBind as usize);
        assert_eq!(number(offset_of!(Callbacks, compiled_method_load)), Event::CompiledMethodLoad as usize);
        assert_eq!(
            number(offset_of!(Callbacks, dynamic_code_generated)),
            Event::DynamicCodeGenerated as usize
        );
        assert_eq!(number(offset_of!(Callbacks, monitor_wait)), Event::MonitorWait as usize);
        assert_eq!(
            number(offset_of!(Callbacks, monitor_contended_entered)),
            Event::MonitorContendedEntered as usize
        );
        assert_eq!(
            number(offset_of!(Callbacks, garbage_collection_start)),
            Event::GarbageCollectionStart as usize
        );
        let c = Capabilities::default().with(Capability::RetransformClasses);
        assert!(c.has(Capability::RetransformClasses) && !c.has(Capability::RetransformAnyClass));
        assert_eq!(c.0[4], 1 << 5);
    }
}
