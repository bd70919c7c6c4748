//! What the governor learned of a program, kept for its next start: methods that cost too much or were found to be hot or warm
//! by the compilers, and methods that are recorded so seldom that their times may be exact.
//!
//! The constraint that shaped it: the file may be of another version of the program, damaged, or written by two processes
//! at once, and none of this may matter. So it is text, a method a line, by name; what is not understood or not found in the
//! program is passed over; and it appears whole, by a rename. Its loss costs a few seconds of learning.

use crate::symbols::{hash_class, hash_method};
use lookback_options::LearnedPlace;
use rustc_hash::FxHashMap;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::hash::BuildHasher;
use std::io::{self, Read, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What the first line begins with in all versions.
const MARK: &str = "lookback learned ";
/// The first line.
const HEAD: &str = "lookback learned 2: methods that cost too much to trace (dropped), that compilers found hot (compiled) or \
                    warm (warm), or that cost nothing to trace exactly (exact): kind, records a second, class, method, descriptor";
/// The second line of a file that knows libraries, too, and the part of what is warm that the next start tries, which is counted on.
const LIBRARIES: &str = "libraries are known; the next start tries part";
/// At each later start another part of what was warm is traced, of so many, so that records tell whether it costs too much. The
/// first 30 s of PMD, javac, Xalan and Hibernate pay 2 % more with a quarter, 4 % with a half, 9 % with all, and 23 % with an eighth of
/// what was hot (docs/BUDGET.md, "The first start").
const PARTS: u64 = 4;
/// No more of a file is read, and no more is written.
const MOST_BYTES: u64 = 4 << 20;
const MOST_ROWS: usize = 20_000;

/// Records a second of a method that is hot or warm and was never recorded: more than any that was.
pub(crate) const UNKNOWN: f64 = f64::INFINITY;

/// What was learned of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It costs too much.
    Dropped,
    /// It was never recorded, and the compilers have found it to be hot: it would cost too much.
    Compiled,
    /// It was never recorded, and is compiled, but not for good, when the compilers had too much to do to say more, or late.
    Warm,
    /// Its times may be exact.
    Exact,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Kind::Dropped => "dropped",
            Kind::Compiled => "compiled",
            Kind::Warm => "warm",
            Kind::Exact => "exact",
        }
    }
}

/// A method that something was learned of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) kind: Kind,
    /// Records a second, before it was dropped if it was.
    pub(crate) per_second: f64,
    pub(crate) class: String,
    pub(crate) method: String,
    pub(crate) descriptor: String,
}

impl Row {
    pub(crate) fn key(&self) -> Key {
        (hash_class(&self.class), hash_method(&self.method, &self.descriptor))
    }

    /// As people write it: `com.acme.Api.find`.
    pub(crate) fn name(&self) -> String {
        format!("{}.{}", self.class, self.method)
    }
}

/// The hashes of a class and of a method of it.
pub(crate) type Key = (u64, u64);

/// What earlier runs have learned.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    rows: FxHashMap<Key, Row>,
    /// Whether there was an earlier run that has kept something.
    is_there: bool,
    /// The part of what is warm that this start tries, modulo their number, once libraries are known: so many starts have tried one.
    part: Option<u64>,
}

impl Learned {
    /// What the file says; nothing when it is not there or cannot be read.
    pub(crate) fn read(path: &Path) -> Learned {
        let mut bytes = Vec::new();
        // Whoever opens a pipe to read may wait for ever.
        let read =
            may_replace(path).and_then(|()| File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes));
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines();
        if read.is_err() || lines.next() != Some(HEAD) {
            return Learned::default();
        }
        let part = lines.clone().next().and_then(|line| line.strip_prefix(LIBRARIES));
        let part = part.map(|part| part.trim().parse::<u64>().unwrap_or_default());
        let rows = lines.filter_map(parse).map(|row| (row.key(), row));
        Learned { rows: rows.collect(), is_there: true, part }
    }

    /// Whether there was an earlier run to learn from, were it that nothing is dropped.
    pub(crate) fn is_there(&self) -> bool {
        self.is_there
    }

    /// Whether it is known which methods of libraries are hot.
    pub(crate) fn knows_libraries(&self) -> bool {
        self.part.is_some()
    }

    /// Whether all that was warm has been tried.
    pub(super) fn has_tried_all(&self) -> bool {
        self.part.is_some_and(|part| part >= PARTS)
    }

    /// The part that the next start tries.
    pub(super) fn next_part(&self) -> u64 {
        self.part.map_or(0, |part| part.saturating_add(1))
    }

    /// How fast a method was recorded before it was dropped, [`UNKNOWN`] when it never was; `None` when it is not dropped.
    pub(crate) fn rate(&self, class: u64, method: u64) -> Option<f64> {
        self.rows.get(&(class, method)).and_then(|row| match row.kind {
            Kind::Dropped => Some(row.per_second),
            Kind::Compiled => Some(UNKNOWN),
            Kind::Warm => (!self.tries(class, method)).then_some(UNKNOWN),
            Kind::Exact => None,
        })
    }

    /// What was learned of a method.
    pub(super) fn kind(&self, key: Key) -> Option<Kind> {
        self.rows.get(&key).map(|row| row.kind)
    }

    /// Whether this start tries whether a method that was warm costs too much.
    pub(super) fn tries(&self, class: u64, method: u64) -> bool {
        let key = (class, method);
        self.part.is_some_and(|part| part % PARTS == part_of(key)) && self.kind(key) == Some(Kind::Warm)
    }

    /// Whether a method was recorded so seldom that its times may be exact.
    pub(crate) fn is_exact(&self, class: u64, method: u64) -> bool {
        self.kind((class, method)) == Some(Kind::Exact)
    }

    /// What the next start should know: what this run has `learned`, and what it has not come to.
    pub(crate) fn with(&self, learned: Vec<Row>, has_come_to: impl Fn(&Key) -> bool) -> Vec<Row> {
        let mut rows = learned;
        let mut older: Vec<Row> =
            self.rows.iter().filter(|(key, _)| !has_come_to(key)).map(|(_, row)| row.clone()).collect();
        older.sort_by(|a, b| b.per_second.total_cmp(&a.per_second));
        rows.extend(older);
        rows.truncate(MOST_ROWS);
        rows
    }
}

/// The part that a method is tried in.
fn part_of((class, method): Key) -> u64 {
    rustc_hash::FxBuildHasher.hash_one((class, method)) % PARTS
}

fn parse(line: &str) -> Option<Row> {
    let mut fields = line.split('\t');
    let kind = fields.next()?;
    let kinds = [Kind::Dropped, Kind::Compiled, Kind::Warm, Kind::Exact];
    let kind = kinds.into_iter().find(|k| k.name() == kind)?;
    let per_second = fields.next()?.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate >= 0.0)?;
    let mut text = || fields.next().filter(|text| !text.is_empty()).map(str::to_owned);
    let row = Row { kind, per_second, class: text()?, method: text()?, descriptor: text()? };
    fields.next().is_none().then_some(row)
}

/// Writes the file, whole or not at all; with the part that the next start tries, when libraries are known.
pub(crate) fn write(path: &Path, rows: &[Row], next_part: Option<u64>) -> io::Result<()> {
    let mut text = format!("{HEAD}\n");
    if let Some(part) = next_part {
        let _ = writeln!(text, "{LIBRARIES} {part}");
    }
    for row in rows {
        let Row { kind, per_second, class, method, descriptor } = row;
        let _ = writeln!(text, "{}\t{per_second:.0}\t{class}\t{method}\t{descriptor}", kind.name());
    }
    if let Some(dir) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    let temporary = path.with_extension(format!("{}.part", std::process::id()));
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&temporary)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// An error when what is there was not written by Lookback: somebody has named a wrong file, which is not to be replaced.
pub(crate) fn may_replace(path: &Path) -> io::Result<()> {
    let mut begin = Vec::new();
    match fs::metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(e),
        Ok(found) if !found.is_file() => {
            return Err(io::Error::other("it is no regular file, and is left as it is"));
        }
        Ok(_) => File::open(path)?.take(MARK.len() as u64).read_to_end(&mut begin)?,
    };
    match begin.is_empty() || begin == MARK.as_bytes() {
        true => Ok(()),
        false => Err(io::Error::other("it holds something else, and is left as it is")),
    }
}

/// The file of a program (main class or jar); `None` when there is to be none, or no place for it.
pub(crate) fn place(place: &LearnedPlace, program: &str) -> Option<PathBuf> {
    let cache = match place {
        LearnedPlace::Off => return None,
        LearnedPlace::File(path) => return Some(path.clone()),
        LearnedPlace::Cache => cache_dir()?,
    };
    let short: String = program
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '_' })
        .take(80)
        .collect();
    // Two jars of one name in two places are two programs.
    let hash = rustc_hash::FxBuildHasher.hash_one(program) as u32;
    Some(cache.join("lookback").join(format!("{short}-{hash:08x}.learned")))
}

fn cache_dir() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(per_second: f64, method: &str) -> Row {
        let (class, descriptor) = ("com.acme.Api".into(), "(I)V".into());
        Row { kind: Kind::Dropped, per_second, class, method: method.into(), descriptor }
    }

    fn rate(learned: &Learned, method: &str) -> Option<f64> {
        learned.rate(hash_class("com.acme.Api"), hash_method(method, "(I)V"))
    }

    #[test]
    fn what_is_written_is_known_to_the_next_start() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new").join("app.learned");
        assert_eq!(rate(&Learned::read(&path), "find"), None);
        assert!(!Learned::read(&path).is_there());
        write(&path, &[row(5e6, "find"), row(1e3, "put")], Some(1)).unwrap();
        assert!(Learned::read(&path).knows_libraries());
        write(&path, &[row(7e6, "find")], None).unwrap();
        let learned = Learned::read(&path);
        assert!(learned.is_there() && !learned.knows_libraries());
        assert_eq!((rate(&learned, "find"), rate(&learned, "put")), (Some(7e6), None));
        let exact = Row { kind: Kind::Exact, ..row(2.0, "find") };
        write(&path, &[exact.clone(), row(7e6, "put")], None).unwrap();
        let learned = Learned::read(&path);
        assert_eq!((rate(&learned, "find"), rate(&learned, "put")), (None, Some(7e6)));
        let is_exact = |row: &Row| learned.is_exact(row.key().0, row.key().1);
        assert_eq!((is_exact(&exact), is_exact(&row(0.0, "put"))), (true, false));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing else is left there");
    }

    #[test]
    fn each_start_tries_another_part_of_what_was_warm_and_none_of_what_was_hot() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("app.learned");
        let names: Vec<String> = (0..200).map(|i| format!("m{i}")).collect();
        let of = |kind, name| Row { kind, ..row(0.0, name) };
        let rows: Vec<Row> = names.iter().map(|name| of(Kind::Warm, name)).collect();
        let mut tried: Vec<usize> = Vec::new();
        let mut next = 0;
        for _ in 0..PARTS {
            let hot = of(Kind::Compiled, "find");
            write(&path, &[&rows[..], &[hot]].concat(), Some(next)).unwrap();
            let learned = Learned::read(&path);
            assert!(!learned.has_tried_all());
            assert_eq!(rate(&learned, "find"), Some(UNKNOWN));
            let (is_tried, waits): (Vec<_>, Vec<_>) =
                (0..200).partition(|&i| learned.tries(rows[i].key().0, rows[i].key().1));
            assert!((30..70).contains(&is_tried.len()), "{is_tried:?}");
            assert!(is_tried.iter().all(|&i| rate(&learned, &names[i]).is_none()));
            assert!(waits.iter().all(|&i| rate(&learned, &names[i]) == Some(UNKNOWN)));
            tried.extend(is_tried);
            next = learned.next_part();
        }
        tried.sort_unstable();
        assert_eq!((next, tried), (PARTS, (0..200).collect()));
        write(&path, &rows, Some(next)).unwrap();
        let learned = Learned::read(&path);
        assert!(learned.has_tried_all());
        assert!(names.iter().any(|name| rate(&learned, name).is_none()), "then the first part comes again");
    }

    #[test]
    fn what_this_run_has_not_come_to_is_kept() {
        let known = [row(1.0, "a"), row(2.0, "b")].map(|row| (row.key(), row));
        let learned = Learned { rows: known.into_iter().collect(), ..Learned::default() };
        let a = row(1.0, "a").key();
        assert_eq!(learned.with(vec![row(9.0, "c")], |key| *key == a), [row(9.0, "c"), row(2.0, "b")]);
    }

    #[test]
    fn a_damaged_file_gives_what_can_be_read_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("app.learned");
        write(&path, &[row(5e6, "find"), row(6e6, "put")], Some(1)).unwrap();
        let whole = fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let found = rate(&Learned::read(&path), "find");
            assert!(found.is_none() || found == Some(5e6), "{cut}");
        }
        let text = format!(
            "{HEAD}\ndropped\tNaN\tcom.acme.Api\tfind\t(I)V\ndropped\t-1\tx\ty\tz\n\u{fffd}\n\
             dropped\t3\tcom.acme.Api\tfind\nodd\t3\tcom.acme.Api\tfind\t(I)V\ndropped\t9\tcom.acme.Api\tput\t(I)V\n"
        );
        fs::write(&path, text).unwrap();
        let learned = Learned::read(&path);
        assert_eq!((rate(&learned, "find"), rate(&learned, "put")), (None, Some(9.0)));
        fs::write(&path, "lookback learned 99\ndropped\t9\tcom.acme.Api\tput\t(I)V\n").unwrap();
        assert_eq!(rate(&Learned::read(&path), "put"), None, "of a version to come");
    }

    #[test]
    fn a_file_that_holds_something_else_is_told_from_what_was_learned() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("app.learned");
        let why = |path: &Path| may_replace(path).err().map(|e| e.to_string());
        assert_eq!(why(&path), None, "not there");
        for (text, may) in
            [("", true), ("lookback learned 99\n", true), ("look", false), ("a list of mine", false)]
        {
            fs::write(&path, text).unwrap();
            assert_eq!(why(&path).is_none(), may, "{text}");
        }
        write(&path, &[row(5e6, "find")], None).unwrap();
        assert_eq!(why(&path), None);
        for path in [Path::new("/dev/null"), dir.path()] {
            assert_eq!(why(path).as_deref(), Some("it is no regular file, and is left as it is"));
        }
    }

    #[test]
    fn each_program_has_a_file_of_its_own() {
        let file = |program: &str| {
            let path = place(&LearnedPlace::Cache, program).expect("a home");
            path.file_name().unwrap().to_str().unwrap().to_owned()
        };
        assert!(file("/opt/a/app.jar").starts_with("app.jar-"));
        assert_ne!(file("/opt/a/app.jar"), file("/opt/b/app.jar"));
        assert!(file("com.acme.Main").starts_with("com.acme.Main-"));
        assert!(!file("../../../etc/pass wd").contains(['/', ' ']));
        assert_eq!(place(&LearnedPlace::Off, "x"), None);
        assert_eq!(place(&LearnedPlace::File("/x/y".into()), "x"), Some("/x/y".into()));
    }
}
