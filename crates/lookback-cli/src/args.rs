//! The command line: verbs, their options, and their help, which opens with examples.
//!
//! The constraint that shaped it: `--help` is the documentation of the command, so all words stand here, in
//! one place. This file must not do anything.

use crate::settings::Given;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueHint};
use lookback_format::ring_file::Level;
use lookback_format::sample::Engine;
use lookback_options::{SAMPLE, parse_bytes, parse_duration};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The end of each verb's help: what is particular to it, then what holds for all.
macro_rules! after_help {
    ($($particular:literal)?) => {
        concat!(
            $($particular, "\n\n",)?
            "Exit codes:\n",
            "  0  all went well\n",
            "  1  something failed; standard error says what, why, and what to try\n",
            "  2  the command line or an option is wrong, or nothing was recorded\n",
            "NO_COLOR switches colours off. `-o -` writes to standard output."
        )
    };
}

/// Lookback remembers the last seconds of every Java method call and shows what happened just before a slow
/// moment.
#[derive(Debug, Parser)]
#[command(
    name = "lookback",
    version,
    before_help = "\
Examples:
  lookback run --slow 'com.acme.Api.*:500ms' -- java -jar app.jar
  lookback attach 4711                  trace a JVM that already runs
  lookback status 4711                  how far back it reaches, what was lost
  lookback dump 4711 -o now.lkb         write what it remembers, now
  lookback report now.lkb               read it as text and as a page
  lookback profile 4711                 sample where its threads are, traced or not
  lookback recover /run/user/1000/lookback/4711.region    after a crash or kill -9
  lookback record -- ./shop             a program without a JVM that uses the API",
    after_help = after_help!(),
    max_term_width = 110,
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    /// Print the agent's options in force and where each comes from, and exit (like `lookback config`)
    #[arg(long)]
    pub(crate) print_config: bool,
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Start a Java program with the agent
    #[command(
        before_help = "\
Examples:
  lookback run -- java -jar app.jar
  lookback run --slow 'com.acme.Api.*:500ms' --out /var/lib/lookback -- java -cp lib com.acme.Main
  lookback run --ring 256m -- ./gradlew bootRun
  lookback run --dry-run -- java -jar app.jar      show the command instead",
        after_help = after_help!(
            "This command becomes the program: output, signals and exit code are the program's own. If the program is a script (mvn, gradle, catalina.sh), every JVM it starts gets the agent by JAVA_TOOL_OPTIONS."
        )
    )]
    Run(RunArgs),
    /// Trace a JVM that already runs
    #[command(
        before_help = "\
Examples:
  lookback attach 4711
  lookback attach com.acme.Main --slow 'com.acme.Api.*:500ms' --out /var/lib/lookback
  sudo -u tomcat lookback attach 4711",
        after_help = after_help!(
            "Loads the agent by HotSpot's attach protocol; no JDK is needed. Run it as the user whom the JVM belongs to. Methods are rewritten in batches while the program goes on."
        )
    )]
    Attach(AttachArgs),
    /// Show how tracing goes in a program
    #[command(
        before_help = "\
Examples:
  lookback status 4711
  lookback status com.acme.Main
  lookback status 4711 --json | jq .reach_seconds",
        after_help = after_help!()
    )]
    Status(StatusArgs),
    /// Have a program write an incident now
    #[command(
        before_help = "\
Examples:
  lookback dump 4711
  lookback dump com.acme.Main -o now.lkb
  lookback dump 4711 -o - | ssh desk 'cat > now.lkb'",
        after_help = after_help!()
    )]
    Dump(DumpArgs),
    /// Sample where the threads of a JVM are, for a while, traced or not
    #[command(
        before_help = "\
Examples:
  lookback profile 4711                             30 s, every 10 ms: lookback-4711-profile.html
  lookback profile com.acme.Main -d 10s -i 1ms -o hot.collapsed
  lookback profile 4711 -o cpu.pb.gz                for pprof; .jfr for JDK Mission Control
  lookback profile 4711 --all                       threads that wait as well
  lookback profile 4711 --engine signal             wherever a thread is, not only at the VM's polls
  lookback profile 4711 --engine jfr-cpu            by the VM's own recorder, JDK 25; without the agent
  lookback profile 4711 -o - --format collapsed | flamegraph.pl > flame.svg",
        after_help = after_help!(
            "A JVM without the agent gets it for that time and is left as it was; no class is rewritten for it. The engines jfr and jfr-cpu need no agent: a recording of JDK Flight Recorder is begun for that time, beside those that there are. Ctrl-C ends the sampling and keeps what was sampled."
        )
    )]
    Profile(ProfileArgs),
    /// Stop tracing in a program; what it remembers is kept
    #[command(before_help = "Example:\n  lookback stop 4711", after_help = after_help!())]
    Stop(TargetArgs),
    /// Go on tracing in a program
    #[command(before_help = "Example:\n  lookback start 4711", after_help = after_help!())]
    Start(TargetArgs),
    /// Leave a program: classes as they were, memory, socket and threads given back
    #[command(
        before_help = "Example:\n  lookback detach 4711",
        after_help = after_help!(
            "What was recorded and not dumped is gone. A JVM never unloads an agent's library, so it stays, asleep; `lookback attach` wakes it up, with other options if you like. `lookback stop` only pauses, and keeps what was recorded."
        )
    )]
    Detach(TargetArgs),
    /// List the traced programs of this user, and what dead ones left
    #[command(
        before_help = "\
Examples:
  lookback ls
  lookback ls --all                     also JVMs that are not traced
  lookback ls --json | jq '.[].pid'",
        after_help = after_help!()
    )]
    Ls(LsArgs),
    /// Make an incident of the region file that a dead program left
    #[command(
        before_help = "\
Examples:
  lookback recover /run/user/1000/lookback/4711.region
  lookback recover /tmp/lookback-1000/4711.region -o crash.lkb",
        after_help = after_help!(
            "The region file is only read. What is damaged is named, and the rest is kept."
        )
    )]
    Recover(RecoverArgs),
    /// Make a ring file ready, and run a program that records into it
    #[command(
        before_help = "\
Examples:
  lookback record -- ./shop --port 8080             in shared memory, 64 MB
  lookback record --ring shop.ring --size 16m --level net=debug -- ./shop
  lookback record --ring shop.ring --level trace    change the levels while programs run
  lookback record --ring shop.ring --follow         print events as they come, until Ctrl-C
  lookback record --ring shop.ring --follow --json | jq .name",
        after_help = after_help!(
            "For programs without a JVM that use Lookback's API (Rust, C, C++). They find the ring file in the variable LOOKBACK_RING. Any number of programs may share one. With a program, the exit code is the program's; 128 and the signal if it was killed."
        )
    )]
    Record(RecordArgs),
    /// Make an incident of what a ring file holds; programs go on recording
    #[command(
        before_help = "\
Examples:
  lookback snapshot shop.ring
  lookback snapshot /dev/shm/lookback-1000/shop.ring -o now.lkb",
        after_help = after_help!(
            "It also reads what killed programs left, and files that are damaged or cut: what is wrong is named, and the rest is kept."
        )
    )]
    Snapshot(SnapshotArgs),
    /// Change the memory of a ring file while programs record into it
    #[command(
        before_help = "\
Examples:
  lookback resize shop.ring 16m         give memory back
  lookback resize shop.ring 256m        up to what was reserved at the creation (record --reserve)",
        after_help = after_help!(
            "Shrinking gives up what is in the blocks given back, which can be some of the newest: take a snapshot before."
        )
    )]
    Resize(ResizeArgs),
    /// Report an incident in words, and as a page for a browser
    #[command(
        before_help = "\
Examples:
  lookback report incident.lkb
  lookback report incident.lkb -o /tmp/page.html --open
  lookback report incident.lkb --text-only | less
  lookback report shop.ring             what a ring file holds now
  lookback report incident.lkb -o - > page.html",
        after_help = after_help!(
            "The page is one file that needs no network. It holds names and times only, as the incident does."
        )
    )]
    Report(ReportArgs),
    /// Convert an incident for another viewer
    #[command(
        before_help = "\
Examples:
  lookback convert incident.lkb -o incident.pftrace     for ui.perfetto.dev
  lookback convert incident.lkb -o incident.json        Chrome's trace events, read by many viewers
  lookback convert incident.lkb -o incident.collapsed   for flame graph tools
  lookback convert profile.lkb -o profile.pb.gz         samples, for pprof; .jfr for JDK Mission Control
  lookback convert shop.ring -o shop.pftrace            what a ring file holds now
  lookback convert incident.lkb --format collapsed -o - | flamegraph.pl > flame.svg",
        after_help = after_help!()
    )]
    Convert(ConvertArgs),
    /// Show what an incident holds, without analysing it
    #[command(
        before_help = "\
Examples:
  lookback info incident.lkb
  lookback info incident.lkb --json | jq .manifest.trigger",
        after_help = after_help!()
    )]
    Info(InfoArgs),
    /// Show the agent's options in force, where each comes from, and what it means
    #[command(
        before_help = "\
Examples:
  lookback config
  lookback config --ring 128m --slow 'com.acme.**:1s' > lookback.toml",
        after_help = after_help!(
            "The output is a valid lookback.toml."
        )
    )]
    Config(ConfigArgs),
    /// Measure what a collector, a tracer or another configuration costs, so that the figure holds
    #[command(
        before_help = "\
Examples:
  lookback lab metrics                  what is measured
  lookback lab report lab-results/gc    what came out, as a page",
        after_help = after_help!(),
        arg_required_else_help = true,
        disable_help_subcommand = true
    )]
    Lab {
        #[command(subcommand)]
        verb: crate::lab::LabVerb,
    },
    /// Print a completion script for a shell
    #[command(
        before_help = "\
Examples:
  source <(lookback completion bash)
  lookback completion zsh > ~/.zfunc/_lookback
  lookback completion fish > ~/.config/fish/completions/lookback.fish",
        after_help = after_help!()
    )]
    Completion(CompletionArgs),
}

/// Of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM", value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
    /// The agent's library [default: LOOKBACK_AGENT, or liblookback.so beside this command or in ../lib]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) agent: Option<PathBuf>,
    /// Print the command that would be run, for a shell, and do not run it
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) options: Given,
}

/// Of `attach`.
#[derive(Debug, Args)]
pub(crate) struct AttachArgs {
    /// Process id, or a part of the main class or jar that only one JVM of this user has
    #[arg(value_name = "PID|MAIN")]
    pub(crate) target: String,
    /// The agent's library [default: LOOKBACK_AGENT, or liblookback.so beside this command or in ../lib]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) agent: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) options: Given,
}

/// Of `stop`, `start` and `detach`.
#[derive(Debug, Args)]
pub(crate) struct TargetArgs {
    /// Process id, or a part of the main class or jar that only one traced program has
    #[arg(value_name = "PID|MAIN")]
    pub(crate) target: String,
}

/// Of `status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Process id, or a part of the main class or jar that only one traced program has
    #[arg(value_name = "PID|MAIN")]
    pub(crate) target: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Of `dump`.
#[derive(Debug, Args)]
pub(crate) struct DumpArgs {
    /// Process id, or a part of the main class or jar that only one traced program has
    #[arg(value_name = "PID|MAIN")]
    pub(crate) target: String,
    /// Where to write [default: as the program's option `out` says]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long)]
    pub(crate) force: bool,
}

/// Of `profile`.
#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    /// Process id, or a part of the main class or jar that only one JVM of this user has
    #[arg(value_name = "PID|MAIN")]
    pub(crate) target: String,
    /// For how long
    #[arg(short, long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    pub(crate) duration: u64,
    /// From one sample to the next, 100us to 10s; with jfr whole milliseconds
    #[arg(short, long, value_name = "TIME", default_value = "10ms", value_parser = parse_interval)]
    pub(crate) interval: u64,
    /// How samples are taken [default: partial-incremental where the VM has it, else handshake]
    #[arg(long, value_name = "ENGINE", value_parser = engines())]
    pub(crate) engine: Option<Engine>,
    /// Sample threads that wait as well
    #[arg(short, long)]
    pub(crate) all: bool,
    /// Where to write; its ending says in which format: html, collapsed, pb.gz, jfr, pftrace, json, or lkb for a recording
    /// to convert later [default: lookback-PID-profile.html in the current directory]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// The format, whatever the name
    #[arg(long)]
    pub(crate) format: Option<Format>,
    /// Open the page in $BROWSER, or with xdg-open
    #[arg(long)]
    pub(crate) open: bool,
    /// Replace the output if it is there
    #[arg(long)]
    pub(crate) force: bool,
    /// The agent's library [default: LOOKBACK_AGENT, or liblookback.so beside this command or in ../lib]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) agent: Option<PathBuf>,
}

/// The engines by name.
fn engines() -> impl TypedValueParser<Value = Engine> {
    let known = Engine::ALL.map(|engine| PossibleValue::new(engine.word()).help(engine.words()));
    PossibleValuesParser::new(known).try_map(|word| Engine::parse(&word).ok_or("no engine"))
}

fn parse_interval(text: &str) -> Result<u64, String> {
    let nanos = parse_duration(text)?;
    if (SAMPLE.0..=SAMPLE.1).contains(&nanos) { Ok(nanos) } else { Err("not from 100us to 10s".into()) }
}

/// Of `ls`.
#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    /// Also list JVMs that are not traced
    #[arg(short, long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Of `recover`.
#[derive(Debug, Args)]
pub(crate) struct RecoverArgs {
    /// The region file; `lookback ls` shows those of dead programs
    #[arg(value_name = "REGION", value_hint = ValueHint::FilePath)]
    pub(crate) region: PathBuf,
    /// Where to write [default: lookback-PID-recovered.lkb in the current directory]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Replace the output if it is there, and read the region even if its program still runs
    #[arg(long)]
    pub(crate) force: bool,
}

/// Of `record`.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// A program that records, and its arguments
    #[arg(trailing_var_arg = true, value_name = "PROGRAM", value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
    /// The ring file; made if it is not there [default: in shared memory, named for the program:
    /// /dev/shm/lookback-UID/PROGRAM.ring]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) ring: Option<PathBuf>,
    /// Memory of a new ring: it decides how far back it reaches [default: 64m]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) size: Option<u64>,
    /// How large `lookback resize` may make it: addresses, no memory [default: four times its size]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) reserve: Option<u64>,
    /// Size of a new ring's larger events; larger than a block is dropped [default: 1000]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) largest_event: Option<u64>,
    /// Who may use a new ring, as for chmod [default: 0600]
    #[arg(long, value_name = "MODE", value_parser = crate::verbs::record::mode)]
    pub(crate) mode: Option<u32>,
    /// What a new ring's recordings are called
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,
    /// What is recorded: off, error, warn, info, debug or trace, of one category or of all; may repeat, and takes
    /// effect at once in all programs [default of a new ring: info]
    #[arg(short, long, value_name = "[CATEGORY=]LEVEL", value_parser = crate::verbs::record::level)]
    pub(crate) level: Vec<(Option<String>, Option<Level>)>,
    /// Print events as they come, until Ctrl-C or the program's end
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Follow from the oldest event that is there
    #[arg(long, requires = "follow")]
    pub(crate) all: bool,
    /// Follow with a JSON object a line
    #[arg(long, requires = "follow")]
    pub(crate) json: bool,
}

/// Of `snapshot`.
#[derive(Debug, Args)]
pub(crate) struct SnapshotArgs {
    /// The ring file
    #[arg(value_name = "RING", value_hint = ValueHint::FilePath)]
    pub(crate) ring: PathBuf,
    /// Where to write [default: named as the ring file, with the ending .lkb, in the current directory]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Replace the output if it is there
    #[arg(long)]
    pub(crate) force: bool,
}

/// Of `resize`.
#[derive(Debug, Args)]
pub(crate) struct ResizeArgs {
    /// The ring file
    #[arg(value_name = "RING", value_hint = ValueHint::FilePath)]
    pub(crate) ring: PathBuf,
    /// The memory that the ring is to have, such as 16m
    #[arg(value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) size: u64,
}

/// Of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The incident, or a ring file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Where the page goes [default: beside the incident, with the ending .html; of a ring file in the
    /// current directory]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Write no page
    #[arg(long, conflicts_with_all = ["output", "open"])]
    pub(crate) text_only: bool,
    /// Open the page in $BROWSER, or with xdg-open
    #[arg(long)]
    pub(crate) open: bool,
    /// Columns of the text [default: the terminal's, or 80]
    #[arg(long, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(40..=1000))]
    pub(crate) width: Option<usize>,
    /// The most calls that the page shows; the shortest ones far from the trigger are left out
    #[arg(long, value_name = "N", default_value_t = lookback_analysis::DEFAULT_SLICES)]
    pub(crate) slices: usize,
    /// Replace the page if it is there
    #[arg(long)]
    pub(crate) force: bool,
}

/// Of `convert`.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The incident, or a ring file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Where to write; its ending says in which format
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,
    /// The format, whatever the name
    #[arg(long)]
    pub(crate) format: Option<Format>,
    /// The most calls that are shown (0: all); the shortest ones far from the trigger are left out [default: what
    /// the viewer takes smoothly, 400000 for html, 1000000 for pftrace and json]
    #[arg(long, value_name = "N")]
    pub(crate) slices: Option<usize>,
    /// Collapsed stacks of samples instead of calls, where the incident has both
    #[arg(long)]
    pub(crate) samples: bool,
    /// Collapsed stacks of samples of threads that ran, without those that waited
    #[arg(long)]
    pub(crate) running: bool,
    /// Replace the output if it is there
    #[arg(long)]
    pub(crate) force: bool,
}

/// A format to convert to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Perfetto's own trace
    #[value(alias = "perfetto")]
    Pftrace,
    /// Chrome's trace events
    #[value(alias = "chrome")]
    Json,
    /// One line a stack, for flame graphs
    #[value(alias = "folded")]
    Collapsed,
    /// Samples for pprof, packed with gzip
    Pprof,
    /// Samples for JDK Mission Control and other readers of JFR
    Jfr,
    /// Lookback's own recording
    Lkb,
    /// The report page
    Html,
}

impl Format {
    /// The format that a file's ending stands for.
    pub(crate) fn of(file: &Path) -> Option<Format> {
        if file.to_str().is_some_and(|name| name.to_ascii_lowercase().ends_with(".pb.gz")) {
            return Some(Format::Pprof);
        }
        match file.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "pftrace" | "perfetto-trace" => Some(Format::Pftrace),
            "json" => Some(Format::Json),
            "collapsed" | "folded" => Some(Format::Collapsed),
            "html" | "htm" => Some(Format::Html),
            "pprof" => Some(Format::Pprof),
            "jfr" => Some(Format::Jfr),
            "lkb" => Some(Format::Lkb),
            _ => None,
        }
    }
}

/// Of `info`.
#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// The incident, or a ring file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Of `config`.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(flatten)]
    pub(crate) options: Given,
}

/// Of `completion`.
#[derive(Debug, Args)]
pub(crate) struct CompletionArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent_and_every_verbs_help_opens_with_examples() {
        let mut command = Cli::command();
        command.clone().debug_assert();
        for verb in command.get_subcommands_mut() {
            let help = verb.render_long_help().to_string();
            assert!(help.starts_with("Example"), "{help}");
            assert!(help.contains("Exit codes:"), "{help}");
        }
    }
}
