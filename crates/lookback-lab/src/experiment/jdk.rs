//! Finding the JDKs that an experiment names, and what they are.
//!
//! The constraint that shaped it: a figure of another JDK than was meant is worse than none. So a JDK is taken only if
//! its own `release` file says the version asked for, and what was looked at is told when there is none.

use super::document::{Entry, Value};
use super::fields::Fields;
use super::problem::{Place, Placed, Problems};
use super::surroundings::Surroundings;
use std::fs;
use std::path::{Path, PathBuf};

/// A JDK as the file asks for it.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) name: Placed<String>,
    pub(crate) by: By,
    pub(crate) options: Vec<Placed<String>>,
    /// Configurations on it are left out when it is not there.
    pub(crate) optional: bool,
}

/// How it is found.
#[derive(Debug, Clone)]
pub(crate) enum By {
    /// By the begin of its version: `17`, `25.0.3`.
    Version(String),
    /// By its directory.
    Home(PathBuf),
}

/// A JDK that was found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) home: PathBuf,
    /// `JAVA_RUNTIME_VERSION` of its `release` file.
    pub(crate) version: String,
    /// The feature release: 17, 25.
    pub(crate) feature: u32,
}

impl Found {
    pub(crate) fn java(&self) -> PathBuf {
        self.home.join("bin/java")
    }

    /// The file that holds the VM itself.
    pub(crate) fn vm(&self) -> PathBuf {
        self.home.join("lib/server/libjvm.so")
    }
}

/// Reads an entry of `[jdks]`. `here` is the directory of the file it stands in.
pub(crate) fn read(entry: &Entry, here: &Path, problems: &Problems) -> Option<Wanted> {
    let name = entry.key.clone();
    if name.value.is_empty() || name.value.contains(['|', '{', '}', ',']) {
        problems.say(&name.place, "a JDK's name cannot be empty or have any of `|{},`");
        return None;
    }
    let fields = Fields::of(&entry.node, "a JDK", problems)?;
    let version = fields.node("version").and_then(|node| match &node.value {
        Value::Integer(number) => Some(number.to_string()),
        Value::Text(text) if text.starts_with(|c: char| c.is_ascii_digit()) => Some(text.clone()),
        _ => {
            problems.say(
                &node.place,
                "`version` is a feature release, 17, or the begin of a version, \"17.0.15\"",
            );
            None
        }
    });
    let home = fields.text("home").map(|home| here.join(home.value));
    let options = fields.texts("options").unwrap_or_default();
    let optional = fields.boolean("optional").unwrap_or(false);
    let place = fields.place_of("home").clone();
    let by = match (version, home) {
        (Some(_), Some(_)) => {
            problems.say(&place, "`home` and `version` exclude each other; leave one of them out");
            None
        }
        (None, Some(home)) => Some(By::Home(home)),
        (Some(version), None) => Some(By::Version(version)),
        (None, None) => {
            let implied = name.value.parse::<u32>().is_ok() && fields.node("version").is_none();
            if !implied && fields.node("version").is_none() {
                problems.say(&name.place, format!("JDK `{}` needs `version` or `home`", name.value));
            }
            implied.then(|| By::Version(name.value.clone()))
        }
    };
    fields.finish("a JDK", &[]);
    Some(Wanted { name, by: by?, options, optional })
}

/// A JDK that is named in a configuration only: by its version.
pub(crate) fn implied(name: &str, place: &Place) -> Wanted {
    Wanted {
        name: Placed { value: name.to_owned(), place: place.clone() },
        by: By::Version(name.to_owned()),
        options: Vec::new(),
        optional: false,
    }
}

/// Finds a JDK: by its directory, or by its version in `JAVA_HOME_<release>`, in `JAVA_HOME`, and among the machine's.
///
/// # Errors
/// In words, with all that was looked at.
pub(crate) fn find(by: &By, around: &Surroundings) -> Result<Found, String> {
    let version = match by {
        By::Home(home) => return at(home),
        By::Version(version) => version,
    };
    let feature = version.split('.').next().unwrap_or(version);
    let mut looked = Vec::new();
    for variable in [format!("JAVA_HOME_{feature}"), "JAVA_HOME".into()] {
        match around.java_homes.get(&variable) {
            Some(home) => match suits(home, version) {
                Ok(found) => return Ok(found),
                Err(why) => looked.push(format!("{variable}={} ({why})", home.display())),
            },
            None => looked.push(format!("{variable} (not set)")),
        }
    }
    for root in &around.jdk_roots {
        let mut homes: Vec<_> =
            fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        homes.sort();
        match homes.iter().find_map(|home| suits(home, version).ok()) {
            Some(found) => return Ok(found),
            None => looked.push(format!("{} ({})", root.display(), directories(homes.len()))),
        }
    }
    Err(format!("no JDK {version} is there; looked at {}", looked.join(", ")))
}

fn directories(count: usize) -> String {
    match count {
        1 => "1 entry, not it".into(),
        count => format!("{count} entries, none of them it"),
    }
}

fn suits(home: &Path, version: &str) -> Result<Found, String> {
    let found = at(home)?;
    let rest = found.version.strip_prefix(version);
    let whole = rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
    if whole { Ok(found) } else { Err(format!("it is {}", found.version)) }
}

/// The JDK in this directory.
fn at(home: &Path) -> Result<Found, String> {
    let home = fs::canonicalize(home).map_err(|error| format!("{}: {error}", home.display()))?;
    let release = home.join("release");
    let text = fs::read_to_string(&release).map_err(|error| format!("{}: {error}", release.display()))?;
    let fact = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        line.map(|value| value.trim().trim_matches('"').to_owned())
    };
    let version = fact("JAVA_RUNTIME_VERSION").or_else(|| fact("JAVA_VERSION"));
    let version = version.ok_or_else(|| format!("{} tells no JAVA_VERSION", release.display()))?;
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    let feature = digits.parse().map_err(|_| format!("{} is no version", version))?;
    let found = Found { home, version, feature };
    match [found.java(), found.vm()].iter().find(|file| !file.is_file()) {
        Some(missing) => {
            Err(format!("{} is not there: it is no whole JDK with a server VM", missing.display()))
        }
        None => Ok(found),
    }
}
