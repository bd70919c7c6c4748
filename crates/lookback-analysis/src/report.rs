//! The report in words for a terminal: verdict, where the time went, waits, holder, losses.
//!
//! The constraint that shaped it: it is read in a terminal, in a log and in a ticket, so it is plain text of a
//! given width; colour is an addition and never carries meaning. Names come from outside and are cleaned of
//! control characters.

use crate::chain::Chain;
use crate::kinds::Kind;
use crate::samples::Hot;
use crate::verdict::{SlowCall, Verdict, holds};
use crate::words::{duration, percent, plain, plural, utc, wrap};
use crate::{Recording, SliceRef};
use lookback_format::Nanos;
use lookback_format::incident::Trigger;
use lookback_format::sample::Activity;
use lookback_format::symbol::Wait;
use lookback_format::units::count;
use std::io::{self, Write};

/// How the report is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal; below 40 is taken as 40.
    pub width: usize,
    /// Whether ANSI colours may be used.
    pub colour: bool,
}

impl Default for Style {
    /// Eighty columns without colours.
    fn default() -> Self {
        Style { width: 80, colour: false }
    }
}

struct Page<'a> {
    out: &'a mut dyn Write,
    style: Style,
}

impl Page<'_> {
    fn paint(&self, code: &str, text: &str) -> String {
        if self.style.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn heading(&mut self, text: &str) -> io::Result<()> {
        let text = self.paint("1", text);
        writeln!(self.out, "\n{text}")
    }

    fn paragraph(&mut self, indent: usize, text: &str, code: Option<&str>) -> io::Result<()> {
        for line in wrap(&plain(text), self.style.width.saturating_sub(indent)) {
            let line = code.map_or_else(|| line.clone(), |c| self.paint(c, &line));
            writeln!(self.out, "{:indent$}{line}", "")?;
        }
        Ok(())
    }

    /// A row: a prefix of fixed width, then a name that is cut from its left when it does not fit, since the
    /// method at its end tells more than the package.
    fn row(&mut self, prefix: &str, indent: usize, name: &str, rest: &str) -> io::Result<()> {
        let used = prefix.chars().count() + indent;
        let room = self.style.width.saturating_sub(used);
        let (mut name, rest) = (plain(name), plain(rest));
        if name.chars().count() > room {
            // Without its package a method is still known to those who know the program.
            name = short(&name).to_owned();
        }
        let length = name.chars().count();
        let name = if length > room.max(12) {
            let kept: String = name.chars().skip(length - room.max(12) + 1).collect();
            format!("…{kept}")
        } else {
            name
        };
        let left = room.saturating_sub(name.chars().count());
        let rest = if rest.chars().count() < left { rest } else { String::new() };
        let rest = if rest.is_empty() { rest } else { self.paint("2", &format!(" {rest}")) };
        writeln!(self.out, "{prefix}{:indent$}{name}{rest}", "")
    }
}

/// `Class.method` of `package.Class.method`; other text as it is.
fn short(name: &str) -> &str {
    let Some((class, _)) = name.rsplit_once('.') else { return name };
    class.rfind('.').map_or(name, |dot| &name[dot + 1..])
}

/// Writes the report of a recording to `out`.
///
/// # Errors
/// What `out` fails with.
pub fn report(r: &Recording, verdict: &Verdict, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut p = Page { out, style: Style { width: style.width.max(40), ..style } };
    let m = &r.manifest;
    p.paragraph(0, &verdict.title, Some("1"))?;
    let host = if m.host.is_empty() { String::new() } else { format!(" on {}", m.host) };
    let jvm = if m.jvm.is_empty() { String::new() } else { format!(", {}", m.jvm) };
    let when = utc(r.unix_nanos(m.trigger.at()));
    p.paragraph(0, &format!("{when}  {}{host}{jvm}", r.program()), Some("2"))?;
    writeln!(p.out)?;
    for (i, sentence) in verdict.sentences.iter().enumerate() {
        p.paragraph(2, sentence, (i == 0).then_some("1;31"))?;
    }
    if let Some(slow) = &verdict.slow {
        slow_call(&mut p, r, slow)?;
    }
    if !verdict.longest.is_empty() {
        let native = m.ring_file.is_some();
        let heading = if native {
            "Longest complete spans, one a name"
        } else {
            "Longest complete calls, one a method"
        };
        p.heading(heading)?;
        for &s in &verdict.longest {
            call_row(&mut p, r, s)?;
        }
    }
    if !verdict.busiest.is_empty() {
        // Of a native program it is not known what waits.
        let native = m.ring_file.is_some();
        let heading =
            if native { "Busiest threads (in spans)" } else { "Busiest threads (in traced code, waiting)" };
        p.heading(heading)?;
        for b in &verdict.busiest {
            let prefix = match native {
                true => format!("  {:>9}  ", duration(b.busy)),
                false => format!("  {:>9} {:>9}  ", duration(b.busy), duration(b.waiting)),
            };
            p.row(&prefix, 0, &r.thread_name(b.thread), "")?;
        }
    }
    if !verdict.kinds.is_empty() {
        kinds(&mut p, r, &verdict.kinds)?;
    }
    if !verdict.hot.is_empty() {
        hot(&mut p, r, &verdict.hot)?;
    }
    facts(&mut p, r)
}

fn slow_call(p: &mut Page<'_>, r: &Recording, slow: &SlowCall) -> io::Result<()> {
    if !slow.chain.links.is_empty() {
        p.heading("Where the time went (total, own)")?;
        chain(p, r, &slow.chain)?;
    }
    if !slow.waits.kinds.is_empty() {
        p.heading("What it waited for")?;
        for k in &slow.waits.kinds {
            let prefix = format!("  {:>9}  ", duration(k.total));
            let times = plural(k.count, "time");
            let longest =
                if k.count > 1 { format!(", {} at most", duration(k.longest)) } else { String::new() };
            let part = percent(k.total, slow.duration);
            p.row(&prefix, 0, k.kind.words(), &format!("{times}{longest}, {part} of the call"))?;
        }
    }
    if let Some(h) = slow.holder.as_ref().filter(|h| !h.chain.links.is_empty()) {
        let name = plain(&r.threads[h.thread].name);
        p.heading(&format!("What {name} did with the monitor (total, own)"))?;
        chain(p, r, &h.chain)?;
    }
    Ok(())
}

fn chain(p: &mut Page<'_>, r: &Recording, chain: &Chain) -> io::Result<()> {
    for (depth, link) in chain.links.iter().enumerate() {
        let prefix = format!("  {:>9} {:>9}  ", duration(link.total), duration(link.own));
        let mut rest = Vec::new();
        if link.calls > 1 {
            rest.push(plural(link.calls, "call"));
        }
        rest.extend(r.methods.get(link.method).and_then(crate::MethodInfo::source));
        if link.wait != Wait::None {
            rest.push(format!("[{}]", link.wait.words()));
        }
        // Two columns a level; a deep chain stops moving right, or its names would have no room.
        p.row(&prefix, (depth * 2).min(16), &r.methods.full(link.method), &rest.join(", "))?;
    }
    Ok(())
}

/// Methods by samples.
fn hot(p: &mut Page<'_>, r: &Recording, hot: &[Hot]) -> io::Result<()> {
    p.heading("Where running threads were (samples: itself, with what it calls)")?;
    let running = r.samples.activity.iter().filter(|a| **a != Activity::Waiting).count();
    let all = Nanos(if running > 0 { running } else { r.samples.len() } as u64);
    for h in hot {
        let prefix = format!("  {:>7} {:>7}  ", percent(Nanos(h.own), all), percent(Nanos(h.total), all));
        let source = r.methods.get(h.method).and_then(crate::MethodInfo::source);
        p.row(&prefix, 0, &r.methods.full(h.method), &source.unwrap_or_default())?;
    }
    Ok(())
}

/// How many names have a row of their own.
const KINDS: usize = 20;

fn kinds(p: &mut Page<'_>, r: &Recording, kinds: &[Kind]) -> io::Result<()> {
    p.heading("Spans and instants by name")?;
    let head = format!("  {:>10} {:>9} {:>9} {:>9} {:>9}  ", "count", "total", "median", "99 %", "longest");
    writeln!(p.out, "{}", head.trim_end())?;
    for k in kinds.iter().take(KINDS) {
        let whole = k.count - k.cut;
        let time = |d: Nanos| if k.instants || whole == 0 { "-".to_owned() } else { duration(d) };
        let total = if k.instants { "-".to_owned() } else { duration(k.total) };
        let prefix = format!(
            "  {:>10} {total:>9} {:>9} {:>9} {:>9}  ",
            count(k.count),
            time(k.median),
            time(k.p99),
            time(k.longest)
        );
        let cut = if k.cut > 0 { format!("{} cut", count(k.cut)) } else { String::new() };
        p.row(&prefix, 0, &r.methods.full(k.method), &cut)?;
    }
    match kinds.len().saturating_sub(KINDS) {
        0 => Ok(()),
        n => p.paragraph(2, &format!("and {} that took less.", plural(n as u64, "further name")), None),
    }
}

fn call_row(p: &mut Page<'_>, r: &Recording, s: SliceRef) -> io::Result<()> {
    let it = r.slice(s);
    let prefix = format!("  {:>9}  ", duration(it.duration()));
    p.row(&prefix, 0, &r.methods.full(it.method), &format!("on {}", r.thread_name(s.thread)))
}

fn facts(p: &mut Page<'_>, r: &Recording) -> io::Result<()> {
    p.heading("The recording")?;
    let reach = r.span.1.since(r.reach);
    let paused = r.pauses.iter().fold(Nanos(0), |sum, x| sum.plus(x.end.since(x.start).0));
    let pauses = match r.pauses.len() as u64 {
        0 => "no pause".to_owned(),
        1 => format!("1 pause of {}", duration(paused)),
        n => format!("{} of {} together", plural(n, "pause"), duration(paused)),
    };
    let is_profile = matches!(r.manifest.trigger, Trigger::Profile { .. });
    let what = match r.manifest.ring_file {
        None if is_profile => format!(
            "{} of {}; what page and traces show as calls is made of them: an end may be off by an interval.",
            plural(r.samples.len() as u64, "sample"),
            plural(r.threads.iter().filter(|t| !t.slices.is_empty()).count() as u64, "thread"),
        ),
        Some(_) => format!(
            "{}, complete for the last {} of {}; times are exact.",
            holds(r),
            duration(reach),
            duration(r.span.1.since(r.span.0))
        ),
        None => format!(
            "{}, complete for the last {}; {pauses} for garbage collection; times are exact to {} where no wait point or stamp makes them exact.",
            holds(r),
            duration(reach),
            duration(r.manifest.tick.plus(r.manifest.tick_late.0)),
        ),
    };
    p.paragraph(2, &what, None)?;
    if let (folded @ 1.., below) = r.folded() {
        let text = format!(
            "A further {}, each shorter than {}, count as own time of their callers: there are too many to keep.",
            plural(folded, "call"),
            duration(below)
        );
        p.paragraph(2, &text, None)?;
    }
    if r.losses.is_empty() {
        p.paragraph(2, "Nothing was lost.", None)?;
    }
    if let Some(costs) = r.manifest.costs.as_ref().filter(|_| !is_profile) {
        p.paragraph(2, &format!("Of the program's processor time, tracing cost {costs}."), None)?;
        if let Some(unseen) = costs.unseen() {
            p.paragraph(2, &format!("{unseen}."), None)?;
        }
    }
    if let Some(text) = not_traced(&r.manifest.dropped) {
        p.paragraph(2, &text, None)?;
    }
    if let Some(text) = not_traced_yet(r.manifest.waiting_classes) {
        p.paragraph(2, &text, None)?;
    }
    for (cause, n) in &r.losses {
        p.paragraph(2, &format!("Lost: {} {cause}.", count(*n)), Some("33"))?;
    }
    for d in &r.damages {
        p.paragraph(2, &format!("Damaged: {d}."), Some("33"))?;
    }
    Ok(())
}

/// What is not seen because the program was started for the first time.
fn not_traced_yet(classes: u64) -> Option<String> {
    (classes > 0).then(|| {
        let of = if classes == 1 { "class" } else { "classes" };
        format!(
            "Not traced yet at this first start of the program (their time is their callers' own): {} {of} of libraries.",
            count(classes)
        )
    })
}

/// What is not seen because it would have cost too much.
fn not_traced(dropped: &[String]) -> Option<String> {
    const SHOWN: usize = 3;
    let names = dropped.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    let of = match dropped.len() {
        0 => return None,
        n if n > SHOWN => ", first of all ",
        _ => ": ",
    };
    let n = plural(dropped.len() as u64, "method");
    Some(format!("Not traced, to keep within the budget (their time is their callers' own): {n}{of}{names}."))
}
