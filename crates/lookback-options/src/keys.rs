//! The table of keys, and the options that they set.
//!
//! Adding an option means adding a row to [`KEYS`], a field to [`Options`] and a line to `set` and `get`;
//! a test fails when one of them is forgotten.

use crate::Error;
use crate::nearest::nearest;
use crate::pattern::{Pattern, Patterns};
use crate::units::{format_bytes, format_duration, format_share, parse_bytes, parse_duration, parse_share};
use lookback_format::sample::Engine;
use std::path::PathBuf;

/// A key that users may set.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name in the agent's string and in `lookback.toml`.
    pub name: &'static str,
    /// What it does, one line.
    pub help: &'static str,
    /// A good value.
    pub example: &'static str,
    /// Whether it may be given several times.
    pub repeats: bool,
}

const fn key(name: &'static str, example: &'static str, help: &'static str) -> Key {
    Key { name, help, example, repeats: false }
}

const fn list(name: &'static str, example: &'static str, help: &'static str) -> Key {
    Key { name, help, example, repeats: true }
}

/// All keys, in the order in which people read them.
pub const KEYS: &[Key] = &[
    list(
        "slow",
        "com.acme.Api.*:500ms",
        "write an incident when a matching call takes longer, also while it still runs",
    ),
    list(
        "trace",
        "com.acme.**",
        "trace only what matches, at a first start, too; ! takes away, @Name asks for an annotation (default: all of the application)",
    ),
    list(
        "precise",
        "com.acme.Api.*",
        "read the clock at both ends of matching calls: their times are exact, and a record costs some 50 ns (default: none)",
    ),
    key("ring", "64m", "memory for everything: ring, symbols, threads (4m to 4g)"),
    key(
        "budget",
        "3%",
        "of the program's processor time, for tracing: methods that cost most are left out until it is kept (0.1% to 100%, or off)",
    ),
    key(
        "learned",
        "/var/cache/app.learned",
        "the file that keeps which methods cost too much for the next start; off: none, and libraries do not wait at a first start (default: in ~/.cache/lookback)",
    ),
    key("tick", "1ms", "how exact times are, and how often threads look for requests (50us to 10ms)"),
    key(
        "trivial",
        "36",
        "leave methods without call, loop and lock alone up to this many instructions (0: trace them too)",
    ),
    key(
        "waits",
        "on",
        "time the JDK's wait points: park, sleep, monitors, sockets, files, processes, class initialisers",
    ),
    key(
        "sample",
        "10ms",
        "beside tracing, sample the stacks of threads that run, so often (100us to 10s): methods that are not traced show as well (default: off)",
    ),
    key(
        "engine",
        "handshake",
        "who samples: handshake, safepoint, signal, poll, or on the extended VM partial, incremental, partial-incremental or incremental-signal (default: the best that the VM offers)",
    ),
    key("tracing", "on", "begin with tracing on or off; `lookback start PID` turns it on"),
    key("tail", "200ms", "how much to record after the slow call has ended, before the incident is written"),
    key(
        "hold",
        "10s",
        "how long to wait for a slow call to end before the incident is written without its end",
    ),
    key("cooldown", "30s", "after an incident, for this long only a call twice as slow makes another"),
    key("incidents", "20", "write no more incidents than this in one run"),
    key(
        "out",
        "lookback-%p-%n.lkb",
        "file or directory for incidents; %p process, %t time, %n number, %{VAR} environment",
    ),
    key(
        "region",
        "/dev/shm/app.region",
        "the file that holds the memory (default: in the runtime directory)",
    ),
    key("keep", "off", "keep the region file when the program ends well"),
    key("threads", "2048", "how many threads may be traced at once"),
    key("control", "on", "listen on the control socket"),
    key("quiet", "off", "print nothing, not even the line at the start"),
    key("stats", "off", "print at the end what was rewritten, and how long that took"),
];

/// A detector's rule: calls that match and take longer than the threshold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowRule {
    /// Which calls.
    pub pattern: Pattern,
    /// Nanoseconds.
    pub threshold: u64,
}

impl SlowRule {
    fn parse(text: &str) -> Result<SlowRule, String> {
        let at = text.rfind(':').filter(|&i| !text[..i].ends_with(':'));
        let Some((pattern, threshold)) = at.map(|i| (&text[..i], &text[i + 1..])) else {
            return Err("a threshold is missing".into());
        };
        let threshold = parse_duration(threshold)?;
        if threshold == 0 {
            return Err("the threshold is zero".into());
        }
        let pattern = Pattern::parse(pattern)?;
        if pattern.is_negative() {
            return Err("a rule cannot be negative".into());
        }
        Ok(SlowRule { pattern, threshold })
    }

    /// The rule as its user wrote it.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}:{}", self.pattern, format_duration(self.threshold))
    }
}

/// Where what was learned of a program is kept for its next start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LearnedPlace {
    /// In the user's cache directory, a file a program.
    #[default]
    Cache,
    /// In this file.
    File(PathBuf),
    /// Nowhere.
    Off,
}

/// Where a value comes from; later ones win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Nobody set it.
    Default,
    /// `lookback.toml`.
    File,
    /// `LOOKBACK_OPTS`.
    Environment,
    /// The agent's string or the command line.
    Given,
}

impl Source {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Source::Default => "default",
            Source::File => "lookback.toml",
            Source::Environment => "LOOKBACK_OPTS",
            Source::Given => "given",
        }
    }
}

/// The least and the most memory that can be asked for, bytes.
pub const RING_BYTES: (u64, u64) = (4 << 20, 4 << 30);

/// The shortest and the longest time from one sample to the next, nanoseconds.
pub const SAMPLE: (u64, u64) = (100_000, 10_000_000_000);

/// All options, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Detectors.
    pub slow: Vec<SlowRule>,
    /// What is traced.
    pub trace: Patterns,
    /// What has exact times; nothing when it is empty.
    pub precise: Patterns,
    /// Bytes for everything.
    pub ring: u64,
    /// Hundredths of a percent of the program's processor time that tracing may take; none for no bound.
    pub budget: Option<u32>,
    /// Where what was learned is kept.
    pub learned: LearnedPlace,
    /// Nanoseconds of a tick.
    pub tick: u64,
    /// Most instructions of a trivial method.
    pub trivial: u32,
    /// Whether wait points are timed.
    pub waits: bool,
    /// Nanoseconds from one sample to the next beside tracing; none for no samples.
    pub sample: Option<u64>,
    /// Who samples; none: the best that the VM offers.
    pub engine: Option<Engine>,
    /// Whether tracing begins at once.
    pub tracing: bool,
    /// Nanoseconds recorded after a slow call's end.
    pub tail: u64,
    /// Nanoseconds to wait for a slow call's end.
    pub hold: u64,
    /// Nanoseconds between incidents.
    pub cooldown: u64,
    /// Most incidents.
    pub incidents: u32,
    /// Pattern of incident files.
    pub out: String,
    /// The region file.
    pub region: Option<PathBuf>,
    /// Whether the region file stays after a good end.
    pub keep: bool,
    /// Most threads.
    pub threads: u32,
    /// Whether there is a control socket.
    pub control: bool,
    /// Whether nothing is printed.
    pub quiet: bool,
    /// Whether figures are printed at the end.
    pub stats: bool,
    sources: Vec<Source>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            slow: Vec::new(),
            trace: Patterns::default(),
            precise: Patterns::default(),
            ring: 64 << 20,
            budget: Some(300),
            learned: LearnedPlace::Cache,
            tick: 1_000_000,
            trivial: 36,
            waits: true,
            sample: None,
            engine: None,
            tracing: true,
            tail: 200_000_000,
            hold: 10_000_000_000,
            cooldown: 30_000_000_000,
            incidents: 20,
            out: "lookback-%p-%n.lkb".into(),
            region: None,
            keep: false,
            threads: 2_048,
            control: true,
            quiet: false,
            stats: false,
            sources: vec![Source::Default; KEYS.len()],
        }
    }
}

/// Takes `config=FILE` out of an agent's string: the file that is read in place of `lookback.toml`. It is no key,
/// because a file of options cannot name another.
#[must_use]
pub fn split_config(text: &str) -> (Option<&str>, String) {
    let is_config = |p: &&str| p.trim().starts_with("config=");
    let file = text.split(',').rfind(is_config).and_then(|p| p.split_once('=')).map(|(_, file)| file.trim());
    let rest: Vec<&str> = text.split(',').filter(|p| !is_config(p)).collect();
    (file, rest.join(","))
}

impl Options {
    /// Reads an agent string (`key=value,key=value`) on top of these options. Nothing changes when it is
    /// bad.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn apply(&mut self, text: &str, source: Source) -> Result<(), Error> {
        let pairs = text.split(',').map(str::trim).filter(|p| !p.is_empty()).map(|p| {
            p.split_once('=').ok_or_else(|| match find(p) {
                Ok(_) => Error::NoValue { key: p.to_owned() },
                Err(e) => e,
            })
        });
        let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
        self.apply_pairs(pairs.iter().map(|(k, v)| (k.trim(), v.trim().to_owned())), source)
    }

    /// Reads the text of a `lookback.toml` on top of these options: `key = value`, lists for keys that may
    /// repeat. Nothing changes when it is bad.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn apply_toml(&mut self, text: &str) -> Result<(), Error> {
        let table: toml::Table =
            text.parse().map_err(|e: toml::de::Error| Error::BadFile { why: e.to_string() })?;
        let mut pairs = Vec::new();
        for (k, v) in &table {
            match v {
                toml::Value::Array(values) => pairs.extend(values.iter().map(|v| (k.as_str(), scalar(v)))),
                v => pairs.push((k.as_str(), scalar(v))),
            }
        }
        self.apply_pairs(pairs.into_iter(), Source::File)
    }

    fn apply_pairs<'a>(
        &mut self,
        pairs: impl Iterator<Item = (&'a str, String)>,
        source: Source,
    ) -> Result<(), Error> {
        let mut changed = self.clone();
        for (key, value) in pairs {
            changed.set(key, &value, source)?;
        }
        changed.check()?;
        *self = changed;
        Ok(())
    }

    /// Sets one option. A key that repeats adds to what the same source has given and replaces what a
    /// weaker one has.
    ///
    /// # Errors
    /// When the key is unknown or cannot take the value.
    pub fn set(&mut self, name: &str, value: &str, source: Source) -> Result<(), Error> {
        let index = find(name)?;
        let key = &KEYS[index];
        let bad = |why: String| Error::BadValue {
            key: name.to_owned(),
            value: value.to_owned(),
            why,
            example: key.example,
        };
        if key.repeats && self.sources[index] != source {
            match key.name {
                "slow" => self.slow.clear(),
                "precise" => self.precise.0.clear(),
                "trace" => self.trace.0.clear(),
                other => unreachable!("the list {other} of the table is not handled"),
            }
        }
        let duration = || parse_duration(value).map_err(bad);
        let switch = || match value {
            "on" | "true" | "yes" | "1" => Ok(true),
            "off" | "false" | "no" | "0" => Ok(false),
            _ => Err(bad("neither on nor off".into())),
        };
        let number = |low: u32, high: u32| match value.parse::<u32>() {
            Ok(n) if (low..=high).contains(&n) => Ok(n),
            _ => Err(bad(format!("not a whole number from {low} to {high}"))),
        };
        match key.name {
            "slow" => {
                for rule in value.split(';') {
                    self.slow.push(SlowRule::parse(rule).map_err(bad)?);
                }
            }
            "trace" => {
                for pattern in value.split(';') {
                    self.trace.0.push(Pattern::parse(pattern).map_err(bad)?);
                }
            }
            "precise" => {
                for pattern in value.split(';') {
                    self.precise.0.push(Pattern::parse(pattern).map_err(bad)?);
                }
            }
            "ring" => {
                self.ring = parse_bytes(value).map_err(bad)?;
                if !(RING_BYTES.0..=RING_BYTES.1).contains(&self.ring) {
                    return Err(bad("not from 4m to 4g".into()));
                }
            }
            "budget" if value == "off" => self.budget = None,
            "budget" => {
                let share = parse_share(value).map_err(bad)?;
                if !(10..=10_000).contains(&share) {
                    return Err(bad("not from 0.1% to 100%".into()));
                }
                self.budget = Some(share);
            }
            "tick" => {
                self.tick = duration()?;
                if !(50_000..=10_000_000).contains(&self.tick) {
                    return Err(bad("not from 50us to 10ms".into()));
                }
            }
            "trivial" => self.trivial = number(0, 65_535)?,
            "waits" => self.waits = switch()?,
            "sample" if value == "off" => self.sample = None,
            "sample" => {
                let interval = duration()?;
                if !(SAMPLE.0..=SAMPLE.1).contains(&interval) {
                    return Err(bad("not from 100us to 10s".into()));
                }
                self.sample = Some(interval);
            }
            "engine" if value == "auto" => self.engine = None,
            "engine" => {
                let engine = Engine::parse(value);
                if engine.is_some_and(Engine::is_jfr) {
                    let why = "the VM's own recorder samples then, and not the agent";
                    return Err(bad(format!(
                        "{why}: take a profile, `lookback profile PID --engine {value}`"
                    )));
                }
                let known: Vec<_> =
                    Engine::ALL.into_iter().filter(|e| !e.is_jfr()).map(Engine::word).collect();
                let why = || bad(format!("none of auto, {}", known.join(", ")));
                self.engine = Some(engine.ok_or_else(why)?);
            }
            "tracing" => self.tracing = switch()?,
            "tail" => self.tail = duration()?,
            "hold" => self.hold = duration()?,
            "cooldown" => self.cooldown = duration()?,
            "incidents" => self.incidents = number(0, 1_000_000)?,
            "learned" if value == "off" => self.learned = LearnedPlace::Off,
            "out" | "region" | "learned" if value.is_empty() => return Err(bad("empty".into())),
            "out" => self.out = value.to_owned(),
            "region" => self.region = Some(value.into()),
            "learned" => self.learned = LearnedPlace::File(value.into()),
            "keep" => self.keep = switch()?,
            "threads" => self.threads = number(1, 32_768)?,
            "control" => self.control = switch()?,
            "quiet" => self.quiet = switch()?,
            "stats" => self.stats = switch()?,
            other => unreachable!("the key {other} of the table is not handled"),
        }
        self.sources[index] = source;
        Ok(())
    }

    /// Whether somebody chose the value of this key.
    #[must_use]
    pub fn is_chosen(&self, key: &str) -> bool {
        KEYS.iter().zip(&self.sources).any(|(k, s)| k.name == key && *s != Source::Default)
    }

    /// Whether the calls of a method are to have exact times.
    #[must_use]
    pub fn is_precise(&self, class: &str, method: &str, annotations: &[&str]) -> bool {
        !self.precise.0.is_empty() && self.precise.select(class, method, annotations)
    }

    /// The share of the program's processor time that tracing may take; none without a budget.
    #[must_use]
    pub fn budget_share(&self) -> Option<f64> {
        self.budget.map(|hundredths| f64::from(hundredths) / 10_000.0)
    }

    /// The share of a core that telling time may take: a sixth of the budget; none without one, and when somebody chose
    /// the tick.
    #[must_use]
    pub fn ticker_share(&self) -> Option<f64> {
        self.budget_share().filter(|_| !self.is_chosen("tick")).map(|share| share / 6.0)
    }

    /// What no single value shows.
    fn check(&self) -> Result<(), Error> {
        if self.slow.len() > 64 {
            return Err(Error::BadValue {
                key: "slow".into(),
                value: format!("({} rules)", self.slow.len()),
                why: "more than 64 rules".into(),
                example: "com.acme.Api.*:500ms",
            });
        }
        Ok(())
    }

    /// Every option in force: key, value, where it comes from. A key that repeats has a row a value, one
    /// with an empty value when there is none.
    #[must_use]
    pub fn effective(&self) -> Vec<(&'static str, String, Source)> {
        let switch = |on: bool| vec![if on { "on" } else { "off" }.to_owned()];
        let mut rows = Vec::new();
        for (key, source) in KEYS.iter().zip(&self.sources) {
            let mut values = match key.name {
                "slow" => self.slow.iter().map(SlowRule::text).collect(),
                "trace" => self.trace.0.iter().map(ToString::to_string).collect(),
                "precise" => self.precise.0.iter().map(ToString::to_string).collect(),
                "ring" => vec![format_bytes(self.ring)],
                "budget" => vec![self.budget.map_or_else(|| "off".to_owned(), format_share)],
                "learned" => match &self.learned {
                    LearnedPlace::Cache => Vec::new(),
                    LearnedPlace::File(path) => vec![path.display().to_string()],
                    LearnedPlace::Off => switch(false),
                },
                "tick" => vec![format_duration(self.tick)],
                "trivial" => vec![self.trivial.to_string()],
                "waits" => switch(self.waits),
                "sample" => vec![self.sample.map_or_else(|| "off".to_owned(), format_duration)],
                "engine" => vec![self.engine.map_or("auto", Engine::word).to_owned()],
                "tracing" => switch(self.tracing),
                "tail" => vec![format_duration(self.tail)],
                "hold" => vec![format_duration(self.hold)],
                "cooldown" => vec![format_duration(self.cooldown)],
                "incidents" => vec![self.incidents.to_string()],
                "out" => vec![self.out.clone()],
                "region" => self.region.iter().map(|p| p.display().to_string()).collect(),
                "keep" => switch(self.keep),
                "threads" => vec![self.threads.to_string()],
                "control" => switch(self.control),
                "quiet" => switch(self.quiet),
                "stats" => switch(self.stats),
                other => unreachable!("the key {other} of the table is not handled"),
            };
            if values.is_empty() {
                values.push(String::new());
            }
            rows.extend(values.into_iter().map(|v| (key.name, v, *source)));
        }
        rows
    }

    /// The agent string that gives these options, defaults left out.
    #[must_use]
    pub fn to_agent_string(&self) -> String {
        let given = self.effective().into_iter().filter(|(_, v, s)| *s != Source::Default && !v.is_empty());
        given.map(|(k, v, _)| format!("{k}={v}")).collect::<Vec<_>>().join(",")
    }
}

fn scalar(value: &toml::Value) -> String {
    match value {
        toml::Value::String(s) => s.clone(),
        toml::Value::Integer(n) => n.to_string(),
        toml::Value::Boolean(b) => b.to_string(),
        // No key takes anything else; the key's own message says what it takes.
        other => format!("({})", other.type_str()),
    }
}

fn find(name: &str) -> Result<usize, Error> {
    if let Some(i) = KEYS.iter().position(|k| k.name == name) {
        return Ok(i);
    }
    let nearest = nearest(name, KEYS.iter().map(|k| k.name));
    Err(Error::UnknownKey { key: name.to_owned(), nearest })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: &str) -> Result<Options, Error> {
        let mut o = Options::default();
        o.apply(text, Source::Given).map(|()| o)
    }

    #[test]
    fn the_file_of_options_is_told_apart_from_the_keys() {
        assert_eq!(
            split_config("ring=8m, config=/x/y.toml ,tick=2ms"),
            (Some("/x/y.toml"), "ring=8m,tick=2ms".into())
        );
        assert_eq!(split_config("ring=8m"), (None, "ring=8m".into()));
        assert_eq!(split_config("config=a,config=b"), (Some("b"), String::new()));
    }

    #[test]
    fn every_key_takes_its_example_and_gives_it_back() {
        for key in KEYS {
            let text = format!("{}={}", key.name, key.example);
            let o = given(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(o.to_agent_string(), text);
        }
    }

    #[test]
    fn an_agent_string_is_read() {
        let o =
            given("ring=128m, tick=500us,slow=com.acme.Api.*:500ms,slow=a.B::c:1s,trace=com.**;!com.gen.**")
                .unwrap();
        assert_eq!((o.ring, o.tick, o.slow.len(), o.trace.0.len()), (128 << 20, 500_000, 2, 2));
        assert_eq!(o.slow[1].text(), "a.B::c:1s");
        assert_eq!(given(&o.to_agent_string()).unwrap(), o);
    }

    #[test]
    fn one_list_does_not_replace_another() {
        let o = given("trace=com.**,precise=com.acme.Api.*;a.B.*,slow=a.B:1s").unwrap();
        assert_eq!((o.trace.0.len(), o.precise.0.len(), o.slow.len()), (1, 2, 1));
    }

    #[test]
    fn bad_options_say_what_is_wrong_and_change_nothing() {
        let message = |t: &str| given(t).unwrap_err().to_string();
        assert_eq!(message("rign=64m"), "unknown option 'rign'; did you mean 'ring'?");
        assert!(message("xyzzy=1").contains("lists all"));
        assert!(message("ring").contains("no value"));
        assert!(message("ring=1k").contains("not from 4m to 4g"));
        assert!(message("slow=a.B.c").contains("threshold is missing"));
        assert!(message("slow=a.B::c").contains("threshold is missing"));
        assert!(message("slow=!a.B:1s").contains("negative"));
        assert!(message("tick=1h").contains("50us"));
        assert!(message("budget=3").contains("not a share"));
        assert!(message("budget=0%").contains("not from 0.1% to 100%"));
        assert!(message("sample=1us").contains("100us"));
        assert!(message("engine=jfr-cpu").contains("lookback profile PID --engine jfr-cpu"));
        assert!(!message("engine=magic").contains("jfr"));
        assert!(message("engine=magic").contains("safepoint, handshake, signal, poll, partial"));
        assert!(message("quiet=maybe").contains("neither on nor off"));
        let mut o = Options::default();
        assert!(o.apply("ring=8m,tick=bad", Source::Given).is_err());
        assert_eq!(o, Options::default());
    }

    #[test]
    fn telling_time_keeps_within_the_budget_unless_the_tick_was_chosen() {
        let share = |text| given(text).unwrap().ticker_share();
        assert_eq!(share(""), Some(0.005));
        assert_eq!(share("budget=6%"), Some(0.01));
        assert_eq!((share("tick=1ms"), share("budget=off")), (None, None));
    }

    #[test]
    fn stronger_sources_win_and_lists_are_replaced_not_mixed() {
        let mut o = Options::default();
        o.apply_toml(
            "ring = \"8m\"\ntick = \"2ms\"\nslow = [\"a.B:1s\", \"a.C:1s\"]\ntrivial = 9\nquiet = true\n",
        )
        .unwrap();
        o.apply("tick=3ms,slow=x.Y:2s", Source::Given).unwrap();
        assert_eq!((o.ring, o.tick, o.slow.len(), o.trivial, o.quiet), (8 << 20, 3_000_000, 1, 9, true));
        let source = |k| o.effective().iter().find(|(n, ..)| *n == k).unwrap().2;
        assert_eq!(
            (source("ring"), source("tick"), source("out")),
            (Source::File, Source::Given, Source::Default)
        );
        assert!(matches!(o.apply_toml("= 3"), Err(Error::BadFile { .. })));
    }
}
