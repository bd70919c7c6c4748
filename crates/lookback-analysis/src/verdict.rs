//! The verdict: what was slow, where, why and because of whom, as facts and as sentences.
//!
//! The constraint that shaped it: somebody reads it at three in the morning. The first sentence says what
//! happened and what the largest cause is; each further one adds one fact. What is inferred is worded so, and
//! what the recording does not show is said.

use crate::chain::Chain;
use crate::holder::{Evidence, Holder};
use crate::kinds::{Kind, kinds};
use crate::methods::CARRIER;
use crate::samples::Hot;
use crate::waits::Waits;
use crate::words::{duration, percent, plural, utc};
use crate::{Flags, Recording, SliceIndex, SliceRef};
use lookback_format::incident::Trigger;
use lookback_format::sample::Activity;
use lookback_format::symbol::Wait;
use lookback_format::units::count;
use lookback_format::{MethodId, Nanos};
use std::collections::HashMap;

/// How many of the longest calls and busiest threads are named when there is no slow call.
const NAMED: usize = 10;

/// The other calls of the slow call's method, as far as both their ends were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Siblings {
    /// How many.
    pub count: u64,
    /// Half of them took no longer.
    pub median: Nanos,
    /// The longest.
    pub longest: Nanos,
}

/// The call that fired the trigger.
#[derive(Clone, Debug)]
pub struct SlowCall {
    /// Its slice, when the recording shows it.
    pub slice: Option<SliceRef>,
    /// Position of its thread, when the recording has it.
    pub thread: Option<usize>,
    /// Its method.
    pub method: MethodId,
    /// When it began: by its records when both ends were seen, otherwise as the detector measured it.
    pub start: Nanos,
    /// How long it took, by the same.
    pub duration: Nanos,
    /// Whether it still ran.
    pub running: bool,
    /// The rule that fired.
    pub rule: String,
    /// Where its time went.
    pub chain: Chain,
    /// What it waited for.
    pub waits: Waits,
    /// Who held the monitor of its longest wait.
    pub holder: Option<Holder>,
    /// Number and length of the pauses of the whole program during it.
    pub pauses: (u64, Nanos),
    /// The other calls of the same method.
    pub siblings: Siblings,
}

/// How busy a thread was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy {
    /// Position of the thread.
    pub thread: usize,
    /// Time in traced code outside waits.
    pub busy: Nanos,
    /// Time in waits.
    pub waiting: Nanos,
}

/// What a recording says, in short.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// A line that names the incident.
    pub title: String,
    /// The verdict in words; the first sentence is the most important one.
    pub sentences: Vec<String>,
    /// The slow call, when one fired the trigger.
    pub slow: Option<SlowCall>,
    /// The longest calls, one a method, when no slow call fired the trigger.
    pub longest: Vec<SliceRef>,
    /// The busiest threads, when no slow call fired the trigger.
    pub busiest: Vec<Busy>,
    /// Spans and instants by name, when native programs recorded.
    pub kinds: Vec<Kind>,
    /// The methods that threads which ran were found in, when they were sampled.
    pub hot: Vec<Hot>,
}

impl Verdict {
    /// Judges a recording.
    #[must_use]
    pub fn of(r: &Recording) -> Verdict {
        match &r.manifest.trigger {
            Trigger::Slow { rule, thread, method, start, duration, running, .. } => {
                let slow = SlowCall::of(r, r.thread(*thread), *method, *start, *duration, *running, rule);
                let mut sentences = slow.sentences(r);
                sentences.extend(virtual_threads(r).filter(|_| r.virtual_threads.0 > r.virtual_threads.1));
                Verdict {
                    title: slow.title(r),
                    sentences,
                    slow: Some(slow),
                    longest: Vec::new(),
                    busiest: Vec::new(),
                    kinds: kinds(r),
                    hot: hot(r),
                }
            }
            Trigger::Profile { .. } => profile(r),
            _ => overview(r),
        }
    }
}

impl SlowCall {
    fn of(
        r: &Recording,
        thread: Option<usize>,
        method: MethodId,
        start: Nanos,
        duration: Nanos,
        running: bool,
        rule: &str,
    ) -> SlowCall {
        let slice = r.trigger_slice();
        // The detector looks each tick or when it wakes, the records were made at both ends.
        let seen = slice.map(|s| r.slice(s)).filter(|it| !it.flags.cut());
        let (start, duration) = seen.map_or((start, duration), |it| (it.start, it.duration()));
        let end = start.plus(duration.0);
        let (chain, waits) = slice.map_or_else(Default::default, |s| {
            let it = r.slice(s);
            (Chain::below(r, s, (it.start, it.end)), Waits::within(r, s))
        });
        let holder = waits.longest.as_ref().and_then(|w| Holder::of(r, w));
        let paused = r.pauses.iter().map(|p| p.end.min(end).since(p.start.max(start))).filter(|d| d.0 > 0);
        let pauses = paused.fold((0, Nanos(0)), |(n, sum), d| (n + 1, sum.plus(d.0)));
        let siblings = Siblings::of(r, method);
        let rule = rule.to_owned();
        SlowCall {
            slice,
            thread,
            method,
            start,
            duration,
            running,
            rule,
            chain,
            waits,
            holder,
            pauses,
            siblings,
        }
    }

    fn title(&self, r: &Recording) -> String {
        let name = r.methods.short(self.method);
        // A rule ends in `:300ms`.
        let limit = self.rule.rsplit_once(':').map(|(_, l)| l).filter(|l| {
            l.starts_with(|c: char| c.is_ascii_digit()) && l.len() <= 12 && !l.contains(char::is_whitespace)
        });
        match limit {
            Some(l) => {
                let unit = l.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(l.len());
                format!("{name} slower than {} {}", &l[..unit], &l[unit..]).trim_end().to_owned()
            }
            None => format!("{name} took {}", duration(self.duration)),
        }
    }

    fn sentences(&self, r: &Recording) -> Vec<String> {
        let mut say = vec![self.headline(r)];
        say.extend(self.wait_sentence(r));
        say.extend(self.holder_sentence(r));
        say.extend(self.own_sentence(r));
        say.extend(self.chain_sentence(r));
        say.push(self.pause_sentence());
        say.push(self.sibling_sentence(r));
        say.extend(self.gap_sentence(r));
        say
    }

    fn headline(&self, r: &Recording) -> String {
        let took = if self.running { "has been running for" } else { "took" };
        let thread = self.thread.map_or("an unknown thread", |t| &r.threads[t].name);
        let what =
            format!("{} {took} {} on thread {thread}", r.methods.short(self.method), duration(self.duration));
        let seen = self.slice.map_or(Nanos(0), |s| r.slice(s).duration());
        let cause = if let Some(k) = self.waits.kinds.first().filter(|k| is_part(k.total, seen, 500)) {
            format!("{} of it waited for {}", share(k.total, self.duration), k.kind.words())
        } else if is_part(self.pauses.1, self.duration, 500) {
            format!("the program was paused for {} of it", share(self.pauses.1, self.duration))
        } else if let Some(end) = self.chain.end().filter(|e| is_part(e.own, seen, 500)) {
            let own = share(end.own, self.duration);
            match self.chain.links.len() {
                1 => format!("{own} of it was its own code"),
                _ => format!("{own} of it was spent in {} itself", r.methods.short(end.method)),
            }
        } else if let Some(end) = self.chain.end() {
            format!(
                "the largest part, {}, was {}",
                share(end.total, self.duration),
                r.methods.short(end.method)
            )
        } else {
            "its records are not in this recording".to_owned()
        };
        format!("{what}; {cause}.")
    }

    fn wait_sentence(&self, r: &Recording) -> Option<String> {
        let w = self.waits.longest.as_ref()?;
        // What is not worth a sentence: a wait of less than a twentieth.
        if !is_part(w.duration, self.duration, 50) {
            return None;
        }
        let by = w.caller.map(|c| format!("{} waited ", r.methods.placed(r.slice(c).method)));
        let by = by.unwrap_or_else(|| "It waited ".to_owned());
        let what = match (w.kind, &w.on) {
            (Wait::Monitor, Some(class)) => format!("for the monitor of {class}"),
            (Wait::ObjectWait, Some(class)) => format!("to be notified by {class}"),
            (kind, _) => format!("for {}", kind.words()),
        };
        let rest = match self.waits.kinds.iter().map(|k| k.count).sum::<u64>() {
            0 | 1 => String::new(),
            n => format!("; all its {} take {}", plural(n, "wait"), duration(self.waits.total)),
        };
        Some(format!("{by}{} {what}{rest}.", duration(w.duration)))
    }

    fn holder_sentence(&self, r: &Recording) -> Option<String> {
        let w = self.waits.longest.as_ref().filter(|w| w.kind == Wait::Monitor)?;
        let Some(h) = &self.holder else {
            return Some("Who held that monitor does not show in this recording.".to_owned());
        };
        let name = &r.threads[h.thread].name;
        let held = h.held.1.since(h.held.0);
        let mut s = match h.evidence {
            Evidence::Owner if self.running => format!("Thread {name} holds it"),
            Evidence::Owner | Evidence::SameCode => {
                let least = if h.partly { "at least " } else { "" };
                format!("Thread {name} held it for {least}{}", duration(held))
            }
            Evidence::EndedTogether => {
                format!("Thread {name} probably held it: a call of it ended when the wait did")
            }
        };
        // The deepest call that took most of the time says what the thread did; one that took a sixth does not.
        let links = &h.chain.links;
        if let Some(at) = links.iter().rposition(|l| is_part(l.total, held, 500)) {
            let (deepest, first) = (&links[at], r.methods.placed(links[0].method));
            let part = share(deepest.total, held);
            s += &match at {
                0 => format!(", in {first}"),
                _ if deepest.wait.is_wait() => {
                    let by = if at > 1 {
                        format!("its {} waited there", r.methods.placed(links[at - 1].method))
                    } else {
                        "it waited there itself".to_owned()
                    };
                    format!(", in {first}: {by} for {}, {part} of that time", deepest.wait.words())
                }
                _ => format!(", in {first}: {} took {part} of that time", r.methods.placed(deepest.method)),
            };
        } else if let Some(top) = r.threads[h.thread].live.as_ref().and_then(|l| l.stack.first()) {
            s += &format!(", now in {top}");
        }
        s.push('.');
        if h.others > 0 {
            s += &format!(
                " {} held it in turn during the {} of the wait.",
                plural(h.others as u64, "further thread"),
                duration(w.duration)
            );
        }
        if h.queue > 0 {
            s += &format!(" {} waited for it too.", plural(h.queue as u64, "further thread"));
        }
        Some(s)
    }

    /// What part was spent in a method's own code, when that is much and the headline does not say it.
    fn own_sentence(&self, r: &Recording) -> Option<String> {
        let end = self.chain.end().filter(|e| !e.wait.is_wait() && is_part(e.own, self.duration, 250))?;
        let calls = match end.calls {
            1 => String::new(),
            n => format!(" in {}", plural(n, "call")),
        };
        Some(format!(
            "{} spent {}{calls} in its own code and in what is not traced.",
            r.methods.placed(end.method),
            duration(end.own)
        ))
    }

    fn chain_sentence(&self, r: &Recording) -> Option<String> {
        if self.chain.links.len() < 2 {
            return None;
        }
        let names: Vec<_> = self.chain.links.iter().map(|l| r.methods.short(l.method)).collect();
        let path = match names.len() {
            0..=6 => names.join(" > "),
            n => format!(
                "{} > ... {} more ... > {}",
                names[..3].join(" > "),
                n - 5,
                names[n - 2..].join(" > ")
            ),
        };
        Some(format!("Its time went this way: {path}."))
    }

    fn pause_sentence(&self) -> String {
        match self.pauses {
            (0, _) => "No pause for garbage collection fell into it.".to_owned(),
            (n, total) => format!(
                "{} for garbage collection took {} of it ({}).",
                plural(n, "pause"),
                duration(total),
                percent(total, self.duration)
            ),
        }
    }

    fn sibling_sentence(&self, r: &Recording) -> String {
        let s = &self.siblings;
        let short = match r.folded() {
            (0, _) => String::new(),
            (_, below) => format!(" of at least {}", duration(below)),
        };
        match s.count {
            0 => format!("No other complete call of the same method{short} is in this recording."),
            1 => format!("One other call of it{short} in this recording took {}.", duration(s.longest)),
            n => format!(
                "The {} other calls of it{short} in this recording took {} at the median, {} at most.",
                count(n),
                duration(s.median),
                duration(s.longest)
            ),
        }
    }

    fn gap_sentence(&self, r: &Recording) -> Option<String> {
        let Some(slice) = self.slice else {
            return Some(
                "The call itself is not in this recording: its records were overwritten or lost.".to_owned(),
            );
        };
        let it = r.slice(slice);
        let unseen = it.start.since(self.start);
        (it.flags.has(Flags::CUT_START) && unseen.0 > 0).then(|| {
            let gaps = &r.threads[slice.thread].gaps;
            let gap = gaps.iter().rfind(|g| g.to > self.start && g.to <= it.start);
            let why = gap.map_or("they were overwritten".to_owned(), |g| g.kind.words());
            format!(
                "The first {} of it are not in this recording ({why}); this is about the rest.",
                duration(unseen)
            )
        })
    }
}

/// Whether `part` is something and at least so many thousandths of `whole`.
fn is_part(part: Nanos, whole: Nanos, thousandths: u128) -> bool {
    part.0 > 0 && u128::from(part.0) * 1_000 >= u128::from(whole.0) * thousandths
}

fn share(part: Nanos, whole: Nanos) -> String {
    if is_part(part, whole, 995) { "all".to_owned() } else { percent(part, whole) }
}

impl Siblings {
    fn of(r: &Recording, method: MethodId) -> Siblings {
        let mut all: Vec<Nanos> = r
            .threads
            .iter()
            .flat_map(|t| {
                let s = &t.slices;
                let same = s.indices().filter(move |i| s.method[i.at()] == method);
                same.filter(|i| !s.flags[i.at()].cut() && !s.flags[i.at()].has(Flags::TRIGGER))
                    .map(|i| s.duration(i))
            })
            .collect();
        all.sort_unstable();
        Siblings {
            count: all.len() as u64,
            median: all.get(all.len().saturating_sub(1) / 2).copied().unwrap_or_default(),
            longest: all.last().copied().unwrap_or_default(),
        }
    }
}

fn overview(r: &Recording) -> Verdict {
    let longest = longest(r);
    let mut busiest: Vec<_> = (0..r.threads.len()).map(|t| busy(r, t)).filter(|b| b.busy.0 > 0).collect();
    busiest.sort_by_key(|b| std::cmp::Reverse(b.busy));
    busiest.truncate(NAMED);
    let kinds = kinds(r);
    let m = &r.manifest;
    let reach = r.span.1.since(r.reach);
    let recovered = matches!(m.trigger, Trigger::Recovered { .. });
    let title = if recovered {
        format!("{} as it was when it ended", m.program)
    } else {
        format!("{} on request", m.program)
    };
    let native = m.ring_file.is_some();
    let how = match (recovered, native) {
        (true, false) => "The program is gone; this is what its memory file held.",
        (true, true) => "Nobody records into the ring file any more; this is what it held.",
        (false, false) => "This recording was asked for; no detector fired.",
        (false, true) => "This is a snapshot of a ring file, taken on request.",
    };
    let (span, code) = if native { ("span", "its spans") } else { ("call", "traced code") };
    let mut sentences = vec![
        how.to_owned(),
        format!(
            "It holds {} and is complete for the last {}, up to {}.",
            holds(r),
            duration(reach),
            utc(r.unix_nanos(r.span.1))
        ),
    ];
    if let Some(&s) = longest.first() {
        let it = r.slice(s);
        let name = r.thread_name(s.thread);
        sentences.push(format!(
            "The longest complete {span} is {}: {} on thread {name}.",
            r.methods.placed(it.method),
            duration(it.duration())
        ));
    }
    sentences.extend(most_time(r, &kinds));
    sentences.extend(virtual_threads(r));
    if let Some(b) = busiest.first() {
        let name = r.thread_name(b.thread);
        sentences.push(format!("The busiest thread is {name}: {} in {code}.", duration(b.busy)));
    }
    sentences.extend(open_spans(r));
    if let Some((_, method, at, _, rule)) = r.fired.iter().max_by_key(|f| f.2) {
        let when = utc(r.unix_nanos(*at));
        sentences.push(format!("The rule {rule} had fired for {} at {when}.", r.methods.short(*method)));
    }
    Verdict { title, sentences, slow: None, longest, busiest, kinds, hot: hot(r) }
}

/// So many methods are told of samples.
const HOT: usize = 20;

/// Where threads were that ran, or that may have; all samples when there are no such.
fn hot(r: &Recording) -> Vec<Hot> {
    let mut hot = Hot::of(&r.samples, &[Activity::Running, Activity::Unknown]);
    if hot.is_empty() {
        hot = Hot::of(&r.samples, &Activity::ALL);
    }
    hot.truncate(HOT);
    hot
}

/// What somebody wanted to know who had the program sampled.
fn profile(r: &Recording) -> Verdict {
    let m = &r.manifest;
    let hot = hot(r);
    let mut sentences = Vec::new();
    let mut title = format!("{} sampled", m.program);
    if let Some(s) = &m.sampling {
        let time = s.ended.since(s.begun);
        title = format!("{} sampled for {}", m.program, duration(time));
        let running = r.samples.activity.iter().filter(|a| **a != Activity::Waiting).count() as u64;
        let all = r.samples.len() as u64;
        if let Some(first) = hot.first().filter(|_| running > 0) {
            sentences.push(format!(
                "{} of the samples of running threads are in {} itself.",
                percent(Nanos(first.own), Nanos(running)),
                r.methods.placed(first.method)
            ));
        }
        let waiting = if running < all {
            format!(", {} of them of waiting threads", count(all - running))
        } else {
            String::new()
        };
        sentences.push(format!(
            "{}{waiting}, taken {}, every {}.",
            plural(all, "sample"),
            s.engine.words(),
            duration(s.interval)
        ));
        if s.late > 0 {
            sentences.push(format!(
                "{} of {} requests were not made: the one before took too long.",
                count(s.late),
                count(s.late + s.requests)
            ));
        }
        // Of JFR nothing is known of that.
        if s.requests > 0 {
            sentences.push(format!(
                "A request took {} at the median and {} at the 97.5th percentile; the sampler's thread took {} of a core.",
                duration(s.latency[1]),
                duration(s.latency[2]),
                percent(s.cpu, time)
            ));
        }
    }
    let (longest, busiest, kinds) = (Vec::new(), Vec::new(), Vec::new());
    Verdict { title, sentences, slow: None, longest, busiest, kinds, hot }
}

/// `12 calls of 3 threads`; of native programs `12 spans and 7 instants of 3 threads in 2 processes`.
pub(crate) fn holds(r: &Recording) -> String {
    let threads = r.threads.iter().filter(|t| !t.slices.is_empty()).count() as u64;
    let threads = plural(threads, "thread");
    if r.manifest.ring_file.is_none() {
        return format!("{} of {threads}", plural(r.slices() as u64, "call"));
    }
    let flags = r.threads.iter().flat_map(|t| &t.slices.flags);
    let instants = flags.filter(|f| f.has(Flags::INSTANT)).count() as u64;
    let spans = plural(r.slices() as u64 - instants, "span");
    let processes = r.processes.len() as u64;
    let processes =
        if processes == 1 { "1 process".to_owned() } else { format!("{} processes", count(processes)) };
    format!("{spans} and {} of {threads} in {processes}", plural(instants, "instant"))
}

/// How many virtual threads ran, and where they are to be found.
fn virtual_threads(r: &Recording) -> Option<String> {
    Some(match r.virtual_threads {
        (0, _) => return None,
        (all, tracks) if all == tracks => format!("Of the threads, {} virtual.", are(all)),
        (all, tracks) => format!(
            "{} ran; the {} that lasted longest have tracks of their own, what the others called is on the tracks of \
             their carriers.",
            plural(all, "virtual thread"),
            count(tracks)
        ),
    })
}

/// `1 is`, `3 are`.
fn are(n: u64) -> String {
    format!("{} {}", count(n), if n == 1 { "is" } else { "are" })
}

/// What took most time altogether, when there is anything to compare it with.
fn most_time(r: &Recording, kinds: &[Kind]) -> Option<String> {
    let most = kinds.first().filter(|k| kinds.len() > 1 && k.count > 1 && k.total.0 > 0)?;
    Some(format!(
        "Most time went into {}: {} took {} together, {} at the median, {} at most.",
        r.methods.full(most.method),
        plural(most.count, "span"),
        duration(most.total),
        duration(most.median),
        duration(most.longest)
    ))
}

/// The oldest span that was still open at the end: what hangs shows up here.
fn open_spans(r: &Recording) -> Option<String> {
    let open = |t: &crate::ThreadTrack| -> Vec<SliceIndex> {
        let native = t.is_native();
        t.slices.indices().filter(|i| native && t.slices.flags[i.at()].has(Flags::CUT_END)).collect()
    };
    let all = r.threads.iter().enumerate();
    let all: Vec<_> = all.flat_map(|(n, t)| open(t).into_iter().map(move |i| (n, i))).collect();
    let &(thread, slice) = all.iter().min_by_key(|(n, i)| r.threads[*n].slices.start[i.at()])?;
    let it = r.slice(SliceRef { thread, slice });
    let others = match all.len() - 1 {
        0 => String::new(),
        n => format!(", and {} more", count(n as u64)),
    };
    Some(format!(
        "Still open at the end: {} on thread {}, for {}{others}.",
        r.methods.full(it.method),
        r.thread_name(thread),
        duration(it.duration())
    ))
}

/// The longest complete call of each method, waits left out, the longest first.
fn longest(r: &Recording) -> Vec<SliceRef> {
    let mut best: HashMap<MethodId, (Nanos, SliceRef)> = HashMap::new();
    for (thread, t) in r.threads.iter().enumerate() {
        let s = &t.slices;
        for slice in s.indices() {
            let flags = s.flags[slice.at()];
            let took = s.duration(slice);
            let is_call = r.methods.mark(s.method[slice.at()]) & CARRIER == 0;
            if flags.cut() || flags.has(Flags::WAIT) || flags.has(Flags::INSTANT) || !is_call {
                continue;
            }
            let here = (took, SliceRef { thread, slice });
            let b = best.entry(s.method[slice.at()]).or_insert(here);
            if took > b.0 {
                *b = here;
            }
        }
    }
    let mut all: Vec<_> = best.into_values().collect();
    all.sort_by_key(|&(took, s)| (std::cmp::Reverse(took), s));
    all.into_iter().take(NAMED).map(|(_, s)| s).collect()
}

fn busy(r: &Recording, thread: usize) -> Busy {
    let s = &r.threads[thread].slices;
    let (mut busy, mut waiting) = (Nanos(0), Nanos(0));
    for (i, own) in s.self_times().into_iter().enumerate() {
        // What a virtual thread does counts where its calls are.
        if r.methods.mark(s.method[i]) & CARRIER != 0 {
            continue;
        }
        let sum = if s.flags[i].has(Flags::WAIT) { &mut waiting } else { &mut busy };
        *sum = sum.plus(own);
    }
    Busy { thread, busy, waiting }
}
