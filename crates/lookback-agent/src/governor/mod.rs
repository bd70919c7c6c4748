//! The governor: keeps tracing within its share of the program's processor time, by dropping the methods that cost most
//! and tell least.
//!
//! The constraint that shaped it: what tracing costs is decided by few hot, small methods, and which they are is known
//! only once the program runs. So the control thread looks at what was just recorded, at a few blocks of the ring a second,
//! and has the VM take trace points out of classes again, seldom and many at a time: each time the VM stops the program.
//! Watched methods and wait points are never dropped.

mod averages;
mod choice;
mod churn;
mod compiled;
mod compilers;
mod cost;
mod heat;
mod learned;
mod measured;
mod overrun;
mod pace;
mod sample;
mod spending;
mod trial;
mod waiting;

use crate::agent::Agent;
use crate::clock;
use crate::held;
use crate::log;
use crate::retransform;
use crate::threads;
use averages::Averages;
use choice::{Chooser, Decision};
use churn::Churn;
use compiled::Compiled;
use compilers::Compilers;
pub(crate) use cost::Cost;
use heat::Heat;
use jni_sys::JNIEnv;
use learned::{Key, Kind, Learned, Row, UNKNOWN};
use lookback_format::control::{Dropped, Governing};
use lookback_format::costs::{Costs, Measured};
use lookback_format::symbol::Log;
use lookback_format::{MethodId, Nanos};
use lookback_options::{LearnedPlace, Options};
use measured::Trials;
use overrun::Overrun;
use pace::Pace;
use rustc_hash::{FxHashMap, FxHashSet};
use sample::{Looks, Sample};
use spending::Spending;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use trial::Trial;
use waiting::Waiting;

/// How often it looks at what was recorded, and how often it decides.
const LOOK: Nanos = Nanos(100_000_000);
const DECIDE: Nanos = Nanos(250_000_000);
/// A method that is recorded so often, times a second, does not run for long.
const OFTEN: f64 = 100.0;
/// A class that could not be changed is tried again after so long.
const HELD: Nanos = Nanos(10_000_000_000);
/// Nobody ends tracing on fewer trials.
const ENOUGH: u32 = 40;
/// What costs less of one core than this harms nobody, whatever share it is of an idle program.
const HARMLESS: f64 = 0.005;

/// What others ask: which methods are dropped, and what tracing costs.
pub(crate) struct Governor {
    /// What earlier runs have learned, and the file for the next one.
    learned: Learned,
    place: Option<PathBuf>,
    /// What records cost; none without a budget.
    cost: Option<Cost>,
    decided: RwLock<Decided>,
    /// By a method's id.
    traced_as: Mutex<Vec<TracedAs>>,
    recalled: Mutex<Recalled>,
    pub(crate) waiting: Waiting,
    pub(crate) compiled: Compiled,
    told: Mutex<Told>,
}

/// Why a method is traced.
#[derive(Clone, Copy, Default)]
enum TracedAs {
    /// Watched: it is never dropped.
    #[default]
    Watched,
    /// A wait point, which is never dropped.
    Wait,
    /// A wait that the VM tells of by events.
    Event,
    /// It may be dropped. Told by the hash of its class's name.
    Droppable(u64),
}

/// What classes are rewritten by.
#[derive(Default)]
struct Decided {
    /// Methods that get no trace points.
    dropped: FxHashSet<MethodId>,
    /// Methods with exact times, a record of which costs more.
    precise: FxHashSet<MethodId>,
    /// Methods that had exact times and were recorded too often for that.
    imprecise: FxHashSet<MethodId>,
}

/// Methods that earlier runs knew.
#[derive(Default)]
struct Recalled {
    all: FxHashSet<Key>,
    /// Classes with methods that were never recorded, by the hashes of their names.
    compiled: FxHashSet<u64>,
    /// Methods that were warm and are traced in this run, to see what they cost.
    tried: FxHashSet<MethodId>,
    /// Those that the control thread has not heard of.
    new: Vec<(MethodId, f64)>,
}

/// For `status`, and for incidents.
#[derive(Clone, Default)]
struct Told {
    cost: f64,
    measured: Option<Measured>,
    own: f64,
    passing: Option<f64>,
    methods: Vec<(MethodId, f64)>,
}

impl Governor {
    /// Begins with what earlier runs of the program have learned.
    pub(crate) fn new(options: &Options, program: &str, cost: Option<Cost>, by_vm: bool) -> Governor {
        let place = options.budget.and_then(|_| learned::place(&options.learned, program));
        let learned = place.as_deref().map(Learned::read).unwrap_or_default();
        // What somebody has named, and what is the same at each start, does not wait; nor does what VMs do after all compiling.
        let is_free = options.trace.names_some() || options.learned == LearnedPlace::Off || by_vm;
        Governor {
            waiting: Waiting::new(options.budget.is_some() && !is_free && !learned.knows_libraries()),
            compiled: Compiled::default(),
            learned,
            place,
            cost,
            decided: RwLock::default(),
            traced_as: Mutex::default(),
            recalled: Mutex::default(),
            told: Mutex::default(),
        }
    }

    /// A method has got its id: it is dropped at once when it was too costly in an earlier run.
    pub(crate) fn recall(&self, id: MethodId, class: u64, method: u64) {
        if let Some(rate) = self.learned.rate(class, method) {
            let mut recalled = self.recalled.lock().unwrap_or_else(|e| e.into_inner());
            recalled.all.insert((class, method));
            if rate == UNKNOWN {
                recalled.compiled.insert(class);
            }
            recalled.new.push((id, rate));
            self.decided_mut().dropped.insert(id);
        } else if self.learned.tries(class, method) {
            self.recalled.lock().unwrap_or_else(|e| e.into_inner()).tried.insert(id);
        }
    }

    /// Whether a method was recorded so seldom in an earlier run that its times may be exact.
    pub(crate) fn is_seldom(&self, class: u64, method: u64) -> bool {
        self.learned.is_exact(class, method)
    }

    /// Whether this method, which is to have exact times, gets them now.
    pub(crate) fn gives_times(&self, id: MethodId) -> bool {
        let mut decided = self.decided_mut();
        let gives = !decided.imprecise.contains(&id);
        if gives {
            decided.precise.insert(id);
        }
        gives
    }

    /// Whether a method gets no trace points now.
    pub(crate) fn drops(&self, id: MethodId) -> bool {
        self.decided().dropped.contains(&id)
    }

    /// Whether a method may be dropped and is not, and has no exact times.
    pub(crate) fn is_plain(&self, id: MethodId) -> bool {
        let decided = self.decided();
        self.class_of(id).is_some() && !decided.dropped.contains(&id) && !decided.precise.contains(&id)
    }

    fn decided(&self) -> RwLockReadGuard<'_, Decided> {
        self.decided.read().unwrap_or_else(|e| e.into_inner())
    }

    fn decided_mut(&self) -> RwLockWriteGuard<'_, Decided> {
        self.decided.write().unwrap_or_else(|e| e.into_inner())
    }

    /// These methods of a class, told by the hash of its name, may be dropped.
    pub(crate) fn may_drop(&self, methods: &[MethodId], class: u64) {
        self.are(methods, TracedAs::Droppable(class));
    }

    /// These methods are wait points.
    pub(crate) fn are_waits(&self, methods: &[MethodId]) {
        self.are(methods, TracedAs::Wait);
    }

    /// The VM tells of this wait by events. Never waits: it may count as if it were watched.
    pub(crate) fn told_by_event(&self, id: MethodId) {
        if let Ok(mut all) = self.traced_as.try_lock() {
            set(&mut all, id, TracedAs::Event);
        }
    }

    fn are(&self, methods: &[MethodId], traced_as: TracedAs) {
        let mut all = self.traced_as.lock().unwrap_or_else(|e| e.into_inner());
        methods.iter().for_each(|id| set(&mut all, *id, traced_as));
    }

    fn traced_as(&self, id: MethodId) -> TracedAs {
        let all = self.traced_as.lock().unwrap_or_else(|e| e.into_inner());
        all.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// The class of a method, if that may be dropped.
    fn class_of(&self, id: MethodId) -> Option<u64> {
        match self.traced_as(id) {
            TracedAs::Droppable(class) => Some(class),
            _ => None,
        }
    }

    /// Lets go of what is known of methods: nothing is governed any more.
    pub(crate) fn forget(&self) {
        *self.traced_as.lock().unwrap_or_else(|e| e.into_inner()) = Vec::new();
        self.decided_mut().precise = FxHashSet::default();
        *self.recalled.lock().unwrap_or_else(|e| e.into_inner()) = Recalled::default();
        self.waiting.forget();
        *self.told.lock().unwrap_or_else(|e| e.into_inner()) = Told::default();
    }

    /// How it stands; `None` without a budget.
    pub(crate) fn status(&self, agent: &Agent) -> Option<Governing> {
        let told = self.told.lock().unwrap_or_else(|e| e.into_inner()).clone();
        let dropped = names(agent, &told.methods)
            .into_iter()
            .map(|(method, rate)| Dropped { method, records_per_second: (rate < UNKNOWN).then_some(rate) });
        Some(Governing {
            costs: self.costs(agent)?,
            braked_threads: agent.brake.now_braked() as u32,
            dropped: dropped.collect(),
            waiting_classes: self.waiting.len() as u64,
        })
    }

    /// What tracing costs; `None` without a budget.
    pub(crate) fn costs(&self, agent: &Agent) -> Option<Costs> {
        let budget = agent.options.budget?;
        let told = self.told.lock().unwrap_or_else(|e| e.into_inner());
        Some(Costs {
            budget_percent: f64::from(budget) / 100.0,
            cost_percent: told.cost * 100.0,
            measured: told.measured,
            own_percent_of_core: told.own * 100.0,
            unseen_threads_per_second: told.passing,
        })
    }

    /// The methods that are dropped now, the costliest first.
    pub(crate) fn dropped(&self, agent: &Agent) -> Vec<String> {
        let told = self.told.lock().unwrap_or_else(|e| e.into_inner()).clone();
        names(agent, &told.methods).into_iter().map(|(name, _)| name).collect()
    }

    /// Keeps for the next start what this run has learned: what is dropped now, what the compilers have told, and what `seen`
    /// methods should be.
    fn keep(
        &self,
        agent: &Agent,
        heat: &Heat,
        seen: &[(MethodId, f64)],
        lesson: impl Fn(MethodId) -> Option<Kind>,
    ) -> io::Result<()> {
        let Some(place) = &self.place else { return Ok(()) };
        // What is in its own cache is its own, damaged or not.
        if matches!(agent.options.learned, LearnedPlace::File(_)) {
            learned::may_replace(place)?;
        }
        let told = self.told.lock().unwrap_or_else(|e| e.into_inner()).clone();
        // What was never recorded is dropped for as long as it is hot, or not tried.
        let dropped = rows(agent, Kind::Dropped, &told.methods).into_iter().filter_map(|(_, row)| {
            if row.per_second < UNKNOWN {
                return Some(row);
            }
            let kind = heat.of(row.key(), self.learned.kind(row.key()))?;
            Some(Row { kind, per_second: 0.0, ..row })
        });
        let mut come_to = self.recalled.lock().unwrap_or_else(|e| e.into_inner()).all.clone();
        let waiting = heat.found().filter(|row| self.waiting.has(row.key().0)).cloned();
        let mut learned: Vec<Row> = dropped.chain(waiting).collect();
        come_to.extend(learned.iter().map(Row::key));
        for (id, row) in rows(agent, Kind::Exact, seen) {
            // What is dropped has its row.
            if come_to.insert(row.key())
                && let Some(kind) = lesson(id)
            {
                learned.push(Row { kind, ..row });
            }
        }
        let knows_libraries = self.learned.knows_libraries() || heat.were_asked();
        let next_part = knows_libraries.then(|| self.learned.next_part());
        learned::write(place, &self.learned.with(learned, |key| come_to.contains(key)), next_part)
    }
}

fn set(all: &mut Vec<TracedAs>, id: MethodId, traced_as: TracedAs) {
    let at = id.0 as usize;
    if at >= all.len() {
        all.resize(at + 1, TracedAs::default());
    }
    all[at] = traced_as;
}

/// What is to be kept of methods that have names, in the same order, with how fast they were recorded.
fn rows(agent: &Agent, kind: Kind, methods: &[(MethodId, f64)]) -> Vec<(MethodId, Row)> {
    let mut found = FxHashMap::default();
    if !methods.is_empty() {
        let wanted: FxHashSet<MethodId> = methods.iter().map(|(id, _)| *id).collect();
        for class in Log::new(agent.symbols.log(&agent.region)).filter_map(Result::ok) {
            for m in class.methods.into_iter().filter(|m| wanted.contains(&m.id)) {
                let (class, method, descriptor) = (class.class.clone(), m.name, m.descriptor);
                found.insert(m.id, Row { kind, per_second: 0.0, class, method, descriptor });
            }
        }
    }
    let row = |(id, per_second): &(MethodId, f64)| {
        Some((*id, Row { per_second: *per_second, ..found.remove(id)? }))
    };
    methods.iter().filter_map(row).collect()
}

/// The names of methods as people write them, in the same order, with how fast they were recorded.
fn names(agent: &Agent, methods: &[(MethodId, f64)]) -> Vec<(String, f64)> {
    rows(agent, Kind::Dropped, methods).into_iter().map(|(_, row)| (row.name(), row.per_second)).collect()
}

/// The governor's work, in the hands of the control thread.
pub(crate) struct Rounds {
    looks: Looks,
    chooser: Chooser,
    cost: Cost,
    looked: Nanos,
    decided: Nanos,
    busy: Nanos,
    spending: Spending,
    /// What all own threads have taken until the last decision, nanoseconds, and the share of a core since the one before.
    own: (u64, f64),
    /// The program's processor time, a share of one core.
    cpu: f64,
    churn: Churn,
    trial: Trial,
    trials: Trials,
    overrun: Option<Overrun>,
    averages: Averages,
    compilers: Compilers,
    heat: Heat,
    /// When more classes may come in, and the compilers as they are watched for that.
    pace: Pace,
    watched: Compilers,
    kept_fails: bool,
    /// Classes that could not be changed, by the hashes of their names, and since when.
    held: FxHashMap<u64, Nanos>,
}

impl Rounds {
    /// Begins to govern; `None` without a budget.
    pub(crate) fn begin(agent: &Agent) -> Option<Rounds> {
        let (share, cost) = (agent.options.budget_share()?, agent.governor.cost?);
        let (now, busy) = (clock::now(), clock::process_cpu());
        Some(Rounds {
            looks: Looks::begin(&agent.region, now),
            chooser: Chooser::new(share, now),
            cost,
            looked: now,
            decided: now,
            busy,
            spending: Spending::begin(),
            own: (0, 0.0),
            cpu: 0.0,
            churn: Churn::new(agent.begun.load(Ordering::Relaxed)),
            trial: Trial::new(now),
            trials: Trials::default(),
            overrun: None,
            averages: Averages::begin(now),
            compilers: Compilers::default(),
            heat: Heat::default(),
            pace: Pace::begin(now),
            watched: Compilers::default(),
            kept_fails: false,
            held: FxHashMap::default(),
        })
    }

    /// Looks at what was recorded, and acts when it costs too much, or so little that there is room. Says why, when tracing
    /// must end.
    pub(crate) fn round(&mut self, agent: &Agent, env: *mut JNIEnv) -> Option<String> {
        let now = clock::now();
        if now.since(self.looked) >= LOOK {
            self.looked = now;
            self.looks.look(&agent.region, &agent.slabs, &agent.brake);
        }
        let span = now.since(self.decided);
        if span < DECIDE {
            return None;
        }
        let busy = clock::process_cpu();
        let mut sample = self.looks.take(&agent.region, now);
        self.averages.add(&sample.methods, span.0 as f64 / 1e9, busy.since(self.busy).0 as f64 / 1e9);
        {
            let precise = &agent.governor.decided().precise;
            let cost = |id| match agent.governor.traced_as(id) {
                TracedAs::Droppable(_) if !precise.contains(&id) => self.cost.plain,
                TracedAs::Droppable(_) | TracedAs::Watched => self.cost.timed,
                TracedAs::Wait => self.cost.wait,
                TracedAs::Event => self.cost.event,
            };
            sample.weigh(|id| cost(id) / self.cost.plain);
        }
        let called = sample.methods.iter().filter(|r| r.per_second >= OFTEN).map(|r| r.id).collect();
        self.held.retain(|_, since| now.since(*since) < HELD);
        // What is dropped may still be recorded, where its old form runs.
        sample.methods.retain(|rate| {
            let class = agent.governor.class_of(rate.id);
            class.is_some_and(|class| !self.held.contains_key(&class)) && !agent.governor.drops(rate.id)
        });
        let cpu = busy.since(self.busy).0 as f64 / span.0 as f64;
        (self.decided, self.busy, self.cpu) = (now, busy, cpu);
        // Relaxed: a counter.
        let begun = agent.begun.load(Ordering::Relaxed);
        let (budget, records) = (self.chooser.budget(), self.spending.cost());
        // Where the VM has trace points of its own, threads cost something else.
        if agent.vm_points.is_none()
            && let Some(passes) = self.churn.look(begun, span.0 as f64 / 1e9, cpu, budget, records, now)
        {
            threads::let_pass(agent, env, passes);
            self.trials.forget();
            self.trial.put_off(now);
        }
        let recalled =
            std::mem::take(&mut agent.governor.recalled.lock().unwrap_or_else(|e| e.into_inner()).new);
        recalled.iter().for_each(|&(id, rate)| self.chooser.recall(id, rate, now));
        let decision = self.chooser.decide(&sample, self.cost.plain, cpu, now);
        let own = agent.helpers.cpu();
        self.own = (own, own.saturating_sub(self.own.0) as f64 / span.0 as f64);
        self.spend(agent, &sample);
        self.tell(agent, !recalled.is_empty());
        match decision {
            Some(decision) => {
                if self.apply(agent, env, decision, &called, now) {
                    self.trials.forget();
                    self.trial.put_off(now);
                }
                self.tell(agent, true);
                self.keep(agent, &self.averages.seen(now), now);
            }
            None if self.averages.is_due(now) => {
                let (age, taken) = (self.averages.age(now), self.averages.taken());
                if Heat::is_worth_asking(age, taken, agent.governor.learned.has_tried_all()) {
                    self.ask_compilers(agent, env, now);
                }
                self.keep(agent, &self.averages.seen(now), now);
                self.averages.halve();
            }
            None => {
                let made = self.trial.make(agent, env, now);
                made.inspect(|&(off, on)| {
                    self.trials.add(off, on);
                });
            }
        }
        self.let_in(agent, env, cpu, now);
        self.exceeds(agent, cpu, now)
    }

    /// Has the compilers tell which of the methods that were never recorded are hot: those that wait, and those that an earlier
    /// run knew.
    fn ask_compilers(&mut self, agent: &Agent, env: *mut JNIEnv, now: Nanos) {
        let governor = &agent.governor;
        let known = governor.recalled.lock().unwrap_or_else(|e| e.into_inner()).compiled.clone();
        if governor.waiting.len() == 0 && known.is_empty() {
            return;
        }
        let wanted = |class| governor.waiting.has(class) || known.contains(&class);
        let Some(found) = governor.compiled.ask(agent, env, wanted) else { return };
        let at_work = self.compilers.at_work(now);
        if let Some(waiting) = self.heat.hear(found, self.averages.active(), at_work) {
            governor.waiting.sort(|class| waiting.contains(&class));
        }
    }

    /// Gives some of the classes that have waited, and need not any more, their trace points. `cpu` is the program's processor time, a
    /// share of one core.
    fn let_in(&mut self, agent: &Agent, env: *mut JNIEnv, cpu: f64, now: Nanos) {
        let is_wanted = agent.governor.waiting.has_ready() && self.chooser.cost() < self.chooser.budget();
        if !is_wanted && !self.pace.is_watching() {
            return;
        }
        let come = |most| {
            // A call that goes on stays interpreted when its class is rewritten, and may be a loop.
            let on_stacks = held::on_stacks(agent, env);
            let classes = agent.governor.waiting.take(most, |class| on_stacks.contains(&class));
            retransform::named(agent, env, &classes);
            classes.len()
        };
        if self.pace.look(cpu, clock::now, |now| self.watched.at_work(now), come) {
            self.trial.put_off(now);
        }
    }

    /// Why tracing must end: it costs more than the budget in spite of all, by what is recorded and what that costs on this
    /// machine, or by what was measured. `cpu` is the program's processor time, a share of one core.
    fn exceeds(&mut self, agent: &Agent, cpu: f64, now: Nanos) -> Option<String> {
        let budget = agent.options.budget_share()?;
        let (cost, percent) = (self.cost(), budget * 100.0);
        let budgets = if cost * cpu > HARMLESS { cost / budget } else { 0.0 };
        self.overrun = Overrun::next(self.overrun, budgets, now);
        let harms = |m: &Measured| {
            // It is looked at again and again, and may not be wrong once: twice the interval, 1 in 20,000.
            let surely = m.percent - (m.high - m.low);
            m.trials >= ENOUGH && surely > percent && surely / 100.0 * cpu > HARMLESS
        };
        let measured = self.trials.estimate().filter(harms);
        let why = match (measured, self.overrun.and_then(Overrun::too_long)) {
            (Some(measured), _) => format!("it was measured to cost {measured}"),
            (None, Some(took)) => {
                let (cost, seconds) = (cost * 100.0, took.0 / 1_000_000_000);
                format!("it has cost about {cost:.1} % for {seconds} s")
            }
            (None, None) => return None,
        };
        Some(format!(
            "{why}, of a budget of {percent} %, although {} methods are dropped; what cannot be, waits above all, costs {:.1} %",
            self.chooser.dropped().count(),
            self.chooser.fixed() * 100.0
        ))
    }

    /// Tracing is on again: what was found before it was off is of then.
    pub(crate) fn resume(&mut self, now: Nanos) {
        self.overrun = None;
        self.trials.forget();
        self.trial.put_off(now);
        (self.decided, self.busy) = (now, clock::process_cpu());
    }

    /// Nothing is governed any more, since the program ends, for one: keeps what the whole run has taught. Of a run that was too
    /// short to have been asked about, the compilers tell now: else a program that is always short would always be at its first start.
    pub(crate) fn end(&mut self, agent: &Agent, env: *mut JNIEnv) {
        let now = clock::now();
        if !self.heat.were_asked() && agent.governor.waiting.len() > 0 {
            self.ask_compilers(agent, env, now);
        }
        let mut seen = self.averages.seen(now);
        let knew = {
            let recalled = agent.governor.recalled.lock().unwrap_or_else(|e| e.into_inner());
            if seen.is_empty() {
                // What was tried is judged by the run that there was.
                seen = self.averages.counted();
                seen.retain(|(id, _)| recalled.tried.contains(id));
            }
            !recalled.all.is_empty() || !recalled.tried.is_empty()
        };
        // Nothing is learned of a program that was never traced. One that was tries another part of what it knows at the next start,
        // even if nothing of this one's was called.
        if !seen.is_empty() || self.heat.were_asked() || knew {
            self.keep(agent, &seen, now);
        }
    }

    /// What tracing costs now, a share of the program's processor time.
    fn cost(&self) -> f64 {
        self.spending.cost() + self.churn.cost(self.cpu)
    }

    /// Has all threads record as much as there is room for: what Lookback's own threads, those of the program that begin and end, and
    /// records that the brake does not hold back leave of the budget.
    fn spend(&mut self, agent: &Agent, sample: &Sample) {
        let cpu = self.cpu.max(1e-3);
        // What the brake held back did not cost anything.
        let made = 1.0 - sample.held_back;
        let cost = |per_second: f64| per_second * made * self.cost.plain / 1e9 / cpu;
        let plain = cost(sample.plain);
        let exact = cost(sample.per_second) - plain;
        let budget = self.chooser.budget();
        let room = budget - exact - self.churn.cost(cpu) - self.own.1 / cpu;
        let harms = plain * cpu > HARMLESS;
        self.spending.look(plain, exact, harms.then_some(room.max(choice::LOW * budget)));
        agent.brake.allow(self.spending.allowed());
    }

    /// Has the classes of these methods rewritten anew, but those that must be left as they are for now. Whether there were
    /// others.
    fn apply(
        &mut self,
        agent: &Agent,
        env: *mut JNIEnv,
        mut decision: Decision,
        called: &FxHashSet<MethodId>,
        now: Nanos,
    ) -> bool {
        let held = held::classes(agent, env, |id| called.contains(&id));
        self.held.extend(held.iter().map(|class| (*class, now)));
        let can_change =
            |id: &MethodId| agent.governor.class_of(*id).is_some_and(|class| !held.contains(&class));
        decision.drop.iter().filter(|id| !can_change(id)).for_each(|id| self.chooser.not_dropped(*id));
        decision
            .restore
            .iter()
            .filter(|id| !can_change(id))
            .for_each(|id| self.chooser.not_restored(*id, now));
        decision.drop.retain(can_change);
        decision.restore.retain(can_change);
        let mut without_times = FxHashSet::default();
        {
            let decided = &mut *agent.governor.decided_mut();
            for &id in &decision.drop {
                // Without its exact times it may be cheap enough.
                if decided.precise.remove(&id) {
                    decided.imprecise.insert(id);
                    self.chooser.not_dropped(id);
                    without_times.extend(agent.governor.class_of(id));
                } else {
                    decided.dropped.insert(id);
                }
            }
            decision.restore.iter().for_each(|id| {
                decided.dropped.remove(id);
            });
        }
        let changed = decision.drop.iter().chain(&decision.restore);
        let classes: FxHashSet<u64> = changed.filter_map(|&id| agent.governor.class_of(id)).collect();
        match &agent.vm_points {
            // What has exact times has them by its bytecode.
            Some(points) => {
                retransform::named(agent, env, &without_times);
                points.set_ids_of(agent, env, &classes);
            }
            None => retransform::named(agent, env, &classes),
        }
        !classes.is_empty()
    }

    /// Tells the others what it costs and, when that has changed, what is dropped.
    fn tell(&self, agent: &Agent, methods_too: bool) {
        let mut told = agent.governor.told.lock().unwrap_or_else(|e| e.into_inner());
        (told.cost, told.own, told.measured) = (self.cost(), self.own.1, self.trials.estimate());
        told.passing = self.churn.passing();
        if methods_too {
            told.methods = self.chooser.dropped().collect();
            // What was never recorded comes last.
            let recorded = |rate: f64| if rate < UNKNOWN { rate } else { -1.0 };
            told.methods.sort_by(|a, b| recorded(b.1).total_cmp(&recorded(a.1)));
        }
    }

    /// Keeps it for the next start, with what was `seen` of the run. Where that cannot be, it is said once, unless there is
    /// something for the next start already: then the file is one that came with the program, and is not meant to be written.
    fn keep(&mut self, agent: &Agent, seen: &[(MethodId, f64)], now: Nanos) {
        let budget = agent.options.budget_share().unwrap_or_default();
        // Of what is always recorded, waits above all, there is nothing to keep.
        let seen: Vec<_> =
            seen.iter().copied().filter(|(id, _)| agent.governor.class_of(*id).is_some()).collect();
        let exact = match self.averages.says_something(now) {
            true => self.averages.exact(&seen, budget, self.cost.timed),
            false => 0,
        };
        let dear = seen.len() - self.averages.too_dear(&seen, budget, self.cost.plain);
        let places: FxHashMap<MethodId, usize> = (0..).zip(&seen).map(|(i, (id, _))| (*id, i)).collect();
        let lesson = |id| {
            let place = *places.get(&id)?;
            match self.chooser.never_dropped(id) {
                _ if place >= dear => Some(Kind::Dropped),
                true if place < exact => Some(Kind::Exact),
                _ => None,
            }
        };
        let kept = agent.governor.keep(agent, &self.heat, &seen, lesson);
        if let (Err(e), Some(place), false) = (kept, &agent.governor.place, self.kept_fails) {
            self.kept_fails = true;
            if agent.governor.learned.is_there() {
                return;
            }
            log::line(&format!(
                "what it learned cannot be kept in {}: {e}; the next start learns anew (name another place with learned=FILE)",
                place.display()
            ));
        }
    }
}
