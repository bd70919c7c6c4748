//! The agent's options as this command sees them: defaults, then `lookback.toml`, then `LOOKBACK_OPTS`,
//! then the command line.
//!
//! The constraint that shaped it: there is one table of keys, so the command's flags are made from it and
//! a key can never be missing here. This file must not know what any key means, but for the two that are
//! paths.

use crate::error::{Error, Result};
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use lookback_options::{KEYS, Options, Source};
use std::io;
use std::path::{Path, PathBuf};

/// Name of the file of options that is read from the current directory.
pub(crate) const FILE: &str = "lookback.toml";
/// Heading of the options in `--help`.
const HEADING: &str =
    "Options of the agent (also key=value in LOOKBACK_OPTS and key = \"value\" in lookback.toml)";

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The agent's options as given on the command line, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    pairs: Vec<(String, String)>,
    file: Option<PathBuf>,
}

impl clap::Args for Given {
    fn augment_args(command: Command) -> Command {
        let mut command = command.next_help_heading(HEADING);
        let defaults = Options::default().effective();
        for key in KEYS {
            let default = defaults.iter().find(|(name, value, _)| *name == key.name && !value.is_empty());
            let example = default
                .map_or_else(|| format!("e.g. {}", key.example), |(_, value, _)| format!("default: {value}"));
            let mut arg =
                Arg::new(key.name).long(key.name).help(format!("{} [{example}]", capitalised(key.help)));
            if matches!(key.example, "on" | "off") {
                arg =
                    arg.value_name("on|off").num_args(0..=1).require_equals(true).default_missing_value("on");
            } else {
                arg = arg.value_name("VALUE");
            }
            // A flag given twice overrides itself, unless its key repeats: the last word counts.
            arg = if key.repeats { arg.action(ArgAction::Append) } else { arg.overrides_with(key.name) };
            command = command.arg(arg);
        }
        command
            .arg(
                Arg::new("option")
                    .short('O')
                    .long("option")
                    .value_name("KEY=VALUE[,...]")
                    .action(ArgAction::Append)
                    .help("Any of these, as in the agent's own string"),
            )
            .arg(
                Arg::new("config")
                    .long("config")
                    .value_name("FILE")
                    .value_parser(clap::value_parser!(PathBuf))
                    .help(
                        "Read options from FILE [default: lookback.toml if it is in the current directory]",
                    ),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let mut given = Given::default();
        given.update_from_arg_matches(matches)?;
        Ok(given)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        let mut pairs = Vec::new();
        for name in KEYS.iter().map(|k| k.name) {
            let values = matches.get_many::<String>(name).into_iter().flatten();
            pairs.extend(
                matches.indices_of(name).into_iter().flatten().zip(values).map(|(i, v)| (i, name, v)),
            );
        }
        let options = matches.get_many::<String>("option").into_iter().flatten();
        pairs
            .extend(matches.indices_of("option").into_iter().flatten().zip(options).map(|(i, v)| (i, "", v)));
        pairs.sort_by_key(|&(index, ..)| index);
        self.pairs = pairs.into_iter().map(|(_, k, v)| (k.to_owned(), v.clone())).collect();
        self.file = matches.get_one("config").cloned();
        Ok(())
    }
}

/// The options in force and what they were made from.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Checked.
    pub(crate) options: Options,
    /// The file that was read.
    pub(crate) file: Option<PathBuf>,
}

impl Settings {
    /// Joins all sources. `environment` is the value of `LOOKBACK_OPTS`.
    ///
    /// # Errors
    /// The first thing that is wrong, with its source.
    pub(crate) fn load(given: &Given, environment: Option<&str>) -> Result<Settings> {
        let mut options = Options::default();
        let file = read_file(given.file.as_deref(), &mut options)?;
        if let Some(text) = environment {
            options.apply(text, Source::Environment).map_err(|e| bad(&e, "LOOKBACK_OPTS"))?;
        }
        for (key, value) in &given.pairs {
            let done = if key.is_empty() {
                options.apply(value, Source::Given)
            } else if value.contains(',') && !KEYS.iter().any(|k| k.name == key && k.repeats) {
                options.set(key, value, Source::Given)
            } else {
                // `--slow a:1s,b:2s` is what people try; a comma ends a value in the agent's string.
                value.split(',').try_for_each(|one| options.set(key, one, Source::Given))
            };
            done.map_err(|e| bad(&e, "the command line"))?;
        }
        // What no single value shows (such as too many rules) is checked by applying nothing more.
        options.apply("", Source::Given).map_err(|e| bad(&e, "all sources together"))?;
        Ok(Settings { options, file })
    }

    /// The string for `-agentpath:...=`. With `cwd`, relative paths that the user gave are made absolute,
    /// because a running JVM has a current directory of its own.
    ///
    /// # Errors
    /// [`Error::Option`] when a value holds a comma, which that string cannot carry.
    pub(crate) fn agent_string(&self, cwd: Option<&Path>) -> Result<String> {
        let mut parts = Vec::new();
        for (key, value, source) in self.options.effective() {
            if source == Source::Default || value.is_empty() {
                continue;
            }
            let value = match cwd {
                Some(cwd) if matches!(key, "out" | "region") && is_relative(&value) => {
                    cwd.join(&value).display().to_string()
                }
                _ => value,
            };
            if value.contains([',', '\n', '\0']) {
                return Err(Error::Option {
                    key: key.to_owned(),
                    source: source_words(source),
                    why: format!("`{value}` holds a comma or a line break, which an agent's options cannot"),
                    hint: "choose a path without it".into(),
                });
            }
            parts.push(format!("{key}={value}"));
        }
        if let Some(file) = self.file.as_deref().filter(|f| *f != Path::new(FILE)) {
            let file = cwd.map_or_else(|| file.to_owned(), |cwd| cwd.join(file));
            parts.push(format!("config={}", file.display()));
        }
        Ok(parts.join(","))
    }
}

/// Whether a path is relative; one that begins with a `%` pattern may become anything, and is left alone.
fn is_relative(path: &str) -> bool {
    !path.starts_with(['/', '%'])
}

/// Where a value comes from, in words.
pub(crate) fn source_words(source: Source) -> String {
    match source {
        Source::Given => "the command line".into(),
        other => other.words().into(),
    }
}

fn bad(error: &lookback_options::Error, source: &str) -> Error {
    use lookback_options::Error as E;
    let (key, why, hint) = match error {
        E::UnknownKey { key, nearest } => (
            key.clone(),
            "there is no such option".to_owned(),
            nearest.map_or_else(|| "`lookback config` lists all".into(), |n| format!("did you mean `{n}`?")),
        ),
        E::NoValue { key } => (key.clone(), "it has no value".to_owned(), format!("write {key}=VALUE")),
        E::BadValue { key, value, why, example } => {
            (key.clone(), format!("`{value}`: {why}"), format!("for example {key}={example}"))
        }
        other => ("?".to_owned(), other.to_string(), "`lookback config` lists all".into()),
    };
    Error::Option { key, source: source.to_owned(), why, hint }
}

fn read_file(given: Option<&Path>, options: &mut Options) -> Result<Option<PathBuf>> {
    let file = given.unwrap_or(Path::new(FILE));
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound && given.is_none() => return Ok(None),
        Err(e) => return Err(Error::OptionsFile { file: file.to_owned(), why: e.to_string() }),
    };
    match options.apply_toml(&text) {
        Ok(()) => Ok(Some(file.to_owned())),
        Err(lookback_options::Error::BadFile { why }) => {
            Err(Error::OptionsFile { file: file.to_owned(), why: why.trim_end().to_owned() })
        }
        Err(e) => Err(bad(&e, &file.display().to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Args;

    fn settings(args: &[&str], environment: Option<&str>) -> Result<Settings> {
        let command = Given::augment_args(Command::new("t").no_binary_name(true));
        let matches = command.try_get_matches_from(args).unwrap();
        Settings::load(&Given::from_arg_matches(&matches).unwrap(), environment)
    }

    #[test]
    fn flags_are_made_of_the_table_and_beat_the_environment() {
        let s = settings(
            &["--slow", "a.B:1s", "--ring=8m", "--quiet", "-O", "tick=2ms,slow=a.C:2s"],
            Some("ring=16m,trivial=9"),
        );
        let string = s.unwrap().agent_string(None).unwrap();
        assert_eq!(string, "slow=a.B:1s,slow=a.C:2s,ring=8m,tick=2ms,trivial=9,quiet=on");
    }

    #[test]
    fn every_key_can_be_given_as_a_flag() {
        for key in KEYS {
            let flag = format!("--{}={}", key.name, key.example);
            let string = settings(&[&flag], None).unwrap().agent_string(None).unwrap();
            assert_eq!(string, format!("{}={}", key.name, key.example));
        }
    }

    #[test]
    fn the_last_of_flag_and_o_wins_in_their_order() {
        let string = |args: &[&str]| settings(args, None).unwrap().agent_string(None).unwrap();
        assert_eq!(string(&["--ring=8m", "-O", "ring=16m"]), "ring=16m");
        assert_eq!(string(&["-O", "ring=16m", "--ring=8m"]), "ring=8m");
        assert_eq!(string(&["--slow", "a.B:1s,a.C:2s"]), "slow=a.B:1s,slow=a.C:2s");
    }

    #[test]
    fn errors_name_their_source() {
        let text = |e: Result<Settings>| e.unwrap_err().to_string();
        assert_eq!(
            text(settings(&[], Some("rign=8m"))),
            "the option `rign` from LOOKBACK_OPTS is not valid: there is no such option"
        );
        assert!(text(settings(&["--ring", "1k"], None)).contains("`ring` from the command line"));
        assert!(matches!(settings(&["--config", "/no/such"], None), Err(Error::OptionsFile { .. })));
    }

    #[test]
    fn paths_are_made_absolute_only_for_another_process() {
        let s = settings(&["--out", "inc", "--region=%{HOME}/r"], None).unwrap();
        assert_eq!(s.agent_string(None).unwrap(), "out=inc,region=%{HOME}/r");
        assert_eq!(s.agent_string(Some(Path::new("/w"))).unwrap(), "out=/w/inc,region=%{HOME}/r");
        let file = tempfile::NamedTempFile::new().unwrap();
        let s = settings(&["--config", file.path().to_str().unwrap(), "--ring=8m"], None).unwrap();
        let string = format!("ring=8m,config={}", file.path().display());
        assert_eq!(s.agent_string(Some(Path::new("/w"))).unwrap(), string);
        let comma = settings(&["--out", "a,b"], None).unwrap();
        assert!(matches!(comma.agent_string(None), Err(Error::Option { .. })));
    }
}
