//! A recording read back record by record, without the analysis' inferences.
//!
//! The constraint that shaped it: a test that compares with what is known must see what was recorded, gaps
//! and all, and nothing that a decoder concluded.

use lookback_analysis::Recording;
use lookback_format::event::{Chunk, Event, ThreadEvent};
use lookback_format::incident::{Manifest, Reader, Thread};
use lookback_format::slot::{PAYLOAD_BITS, Record, Records};
use lookback_format::symbol::{Role, Wait};
use lookback_format::{MethodId, Nanos, ThreadKey};
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};

/// An incident's events, by thread.
pub(crate) struct Recorded {
    pub(crate) manifest: Manifest,
    pub(crate) threads: Vec<Track>,
    /// Threads as the incident lists them.
    pub(crate) listed: Vec<Thread>,
    pub(crate) pauses: Vec<(Nanos, Nanos)>,
    pub(crate) methods: HashMap<MethodId, Method>,
    file: PathBuf,
    analysed: OnceCell<Recording>,
}

/// A method's symbol.
#[derive(Clone, Debug)]
pub(crate) struct Method {
    pub(crate) class: String,
    pub(crate) name: String,
    pub(crate) wait: Wait,
    pub(crate) role: Role,
}

/// What one thread recorded.
#[derive(Debug, Default)]
pub(crate) struct Track {
    pub(crate) key: ThreadKey,
    pub(crate) started: Option<ThreadEvent>,
    pub(crate) ended: Option<ThreadEvent>,
    /// By sequence.
    pub(crate) chunks: Vec<Chunk>,
}

/// An entry or exit, with the least and the most that its time can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) entry: bool,
    pub(crate) method: MethodId,
    /// The latest time that was told before it.
    pub(crate) since: Nanos,
}

impl Recorded {
    /// Reads a whole incident; damage of any kind fails the test.
    #[track_caller]
    pub(crate) fn read(file: &Path) -> Recorded {
        let opened = File::open(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let mut reader = Reader::open(opened).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let mut tracks: BTreeMap<ThreadKey, Track> = BTreeMap::new();
        let mut pauses = Vec::new();
        let damages = reader.events(&mut |event| match event {
            Event::Chunk(c) => tracks.entry(c.thread).or_default().chunks.push(c),
            Event::ThreadStart(t) => {
                let track = tracks.entry(t.thread).or_default();
                track.started = Some(t);
            }
            Event::ThreadEnd(t, _) => {
                let track = tracks.entry(t.thread).or_default();
                track.ended = Some(t);
            }
            Event::Pause(from, to, _) => pauses.push((from, to)),
            _ => {}
        });
        assert!(damages.is_empty(), "{damages:?}");
        let (classes, damages) = reader.symbols();
        assert!(damages.is_empty(), "{damages:?}");
        let mut methods = HashMap::new();
        for c in classes {
            for m in c.methods {
                let method = Method { class: c.class.clone(), name: m.name, wait: m.wait, role: m.role };
                let before = methods.insert(m.id, method);
                assert!(before.is_none(), "two methods have the id {:?}: {before:?}", m.id);
            }
        }
        let listed = reader.threads().expect("the threads' part");
        let mut threads: Vec<Track> = tracks.into_iter().map(|(key, track)| Track { key, ..track }).collect();
        for t in &mut threads {
            // A chunk may be there twice: copied from the slab, and from the ring a moment later.
            t.chunks.sort_by_key(|c| (c.seq, std::cmp::Reverse(c.slots.len())));
            t.chunks.dedup_by_key(|c| c.seq);
        }
        let (manifest, analysed) = (reader.manifest.clone(), OnceCell::new());
        Recorded { manifest, threads, listed, pauses, methods, file: file.to_owned(), analysed }
    }

    /// The same file, decoded by the analysis.
    pub(crate) fn analysed(&self) -> &Recording {
        self.analysed.get_or_init(|| {
            let file = File::open(&self.file).expect("it was read before");
            let recording = Recording::load(&mut Reader::open(file).expect("it was read before"));
            assert_eq!(recording.damages, Vec::<String>::new());
            recording
        })
    }

    /// The only thread of this name.
    #[track_caller]
    pub(crate) fn thread(&self, name: &str) -> &Track {
        let named: Vec<&Track> = self.threads.iter().filter(|t| self.name(t) == name).collect();
        let all = || self.threads.iter().map(|t| self.name(t)).collect::<Vec<_>>();
        assert_eq!(named.len(), 1, "threads called {name} among {:?}", all());
        named[0]
    }

    /// The newest name of a thread.
    pub(crate) fn name<'a>(&'a self, track: &'a Track) -> &'a str {
        let listed = self.listed.iter().find(|t| t.key == track.key).map(|t| t.name.as_str());
        let event = || track.ended.as_ref().or(track.started.as_ref()).map(|t| t.name.as_str());
        listed.or_else(event).unwrap_or_default()
    }

    /// A method as `com.acme.Foo.bar`.
    pub(crate) fn full_name(&self, id: MethodId) -> String {
        match self.methods.get(&id) {
            Some(m) => format!("{}.{}", m.class, m.name),
            None => format!("method {} without a name", id.0),
        }
    }

    /// A thread's entries and exits of methods whose class begins with `prefix`, as `E Class.method` and
    /// `X Class.method` with the prefix cut off.
    #[track_caller]
    pub(crate) fn lines(&self, track: &Track, prefix: &str) -> Vec<String> {
        self.lines_of(track.steps(self), prefix)
    }

    /// As [`Recorded::lines`], of given steps.
    #[track_caller]
    pub(crate) fn lines_of(&self, steps: impl IntoIterator<Item = Step>, prefix: &str) -> Vec<String> {
        let mut names: HashMap<MethodId, Option<String>> = HashMap::new();
        let lines = steps.into_iter().filter_map(|s| {
            let name = names.entry(s.method).or_insert_with(|| {
                let m = self.methods.get(&s.method);
                let m = m.unwrap_or_else(|| panic!("method {} has no name", s.method.0));
                m.class.strip_prefix(prefix).map(|class| format!("{class}.{}", m.name))
            });
            name.as_ref().map(|name| format!("{} {name}", if s.entry { 'E' } else { 'X' }))
        });
        lines.collect()
    }

    /// All gaps within threads, in words.
    pub(crate) fn gaps(&self) -> Vec<String> {
        let of = |t: &lookback_analysis::ThreadTrack| {
            t.gaps.iter().map(|g| format!("{}: {} ({})", t.name, g.kind.words(), g.lost)).collect::<Vec<_>>()
        };
        self.analysed().threads.iter().flat_map(of).collect()
    }
}

impl Track {
    /// Its entries and exits, all of them; asserts that time never runs backwards.
    #[track_caller]
    pub(crate) fn steps(&self, of: &Recorded) -> Vec<Step> {
        self.chunks_steps(of, 0)
    }

    /// Where its newest unbroken run of chunks begins: after it, no sequence number is missing.
    pub(crate) fn unbroken(&self) -> usize {
        let breaks = |i: &usize| self.chunks[*i].seq.0 != self.chunks[*i - 1].seq.0 + 1;
        (1..self.chunks.len()).rev().find(breaks).unwrap_or(0)
    }

    /// How many chunks are missing between its first and its last.
    pub(crate) fn missing(&self) -> u32 {
        let (Some(first), Some(last)) = (self.chunks.first(), self.chunks.last()) else { return 0 };
        last.seq.0 + 1 - first.seq.0 - self.chunks.len() as u32
    }

    /// As [`Track::steps`], from chunk `begin` on.
    #[track_caller]
    pub(crate) fn chunks_steps(&self, of: &Recorded, begin: usize) -> Vec<Step> {
        let epoch = of.manifest.clock_pair.0.0;
        let tick = of.manifest.tick.0;
        let mut now = Nanos(0);
        let mut steps = Vec::new();
        for c in &self.chunks[begin..] {
            assert!(c.first <= c.last, "a chunk ends before it begins: {:?} {:?}", c.first, c.last);
            assert!(now <= c.last, "chunk {:?} ends at {:?}, before {now:?}", c.seq, c.last);
            now = now.max(c.first);
            let mut records = Records::new(&c.slots);
            for record in records.by_ref() {
                match record {
                    Record::Time(at) => {
                        assert!(at >= now, "chunk {:?}: time runs back from {now:?} to {at:?}", c.seq);
                        assert!(at <= c.last, "chunk {:?}: {at:?} is after its end {:?}", c.seq, c.last);
                        now = at;
                    }
                    Record::Tick(low) => {
                        // The tick's low bits, next to what is known: it may not lie after the chunk.
                        let last = (c.last.0 - epoch) / tick;
                        let back = (last as u32).wrapping_sub(low) & ((1 << PAYLOAD_BITS) - 1);
                        let at = epoch + (last - u64::from(back)) * tick;
                        // The ticker may have been preempted between telling the tick and arming the poll.
                        now = now.max(Nanos(at));
                    }
                    Record::Entry(method) => steps.push(Step { entry: true, method, since: now }),
                    Record::Exit(method) => steps.push(Step { entry: false, method, since: now }),
                    Record::Gap(..) | Record::Mount(..) | Record::Ready(..) => {}
                }
            }
            assert_eq!(records.rest(), 0, "chunk {:?} has words that are no records", c.seq);
            now = now.max(c.first);
        }
        steps
    }
}
