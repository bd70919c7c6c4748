//! Where the agent's library is.
//!
//! The constraint that shaped it: the path is handed to another process, which may have another current
//! directory, so it is absolute; and HotSpot cuts `-agentpath:PATH=OPTIONS` at the first `=`.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// File name of the agent.
pub(crate) const NAME: &str = "liblookback.so";
/// Variable that names the agent's file.
pub(crate) const VARIABLE: &str = "LOOKBACK_AGENT";

/// Finds the agent: what was given, then [`VARIABLE`], then beside this executable and in `../lib` and
/// `../lib/lookback` of it.
///
/// # Errors
/// [`Error::NoAgent`]; a file that was named but is not there is not replaced by another.
/// [`Error::AgentPath`] when it is no shared library.
pub(crate) fn locate(given: Option<&Path>) -> Result<PathBuf> {
    let named = given
        .map(Path::to_owned)
        .or_else(|| std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from));
    let tried = match named {
        Some(path) => vec![path],
        None => beside(std::env::current_exe().and_then(std::fs::canonicalize).ok().as_deref()),
    };
    let Some(path) = tried.iter().find(|path| path.is_file()) else { return Err(Error::NoAgent { tried }) };
    let failed = |error| Error::Read { file: path.clone(), error };
    // A JVM that is handed anything else prints warnings about it into the program's output, or ends.
    let mut magic = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    match read {
        Ok(()) if magic == *b"\x7fELF" => std::fs::canonicalize(path).map_err(failed),
        Err(e) if e.kind() != io::ErrorKind::UnexpectedEof => Err(failed(e)),
        _ => Err(Error::AgentPath { path: path.clone(), why: "it is no shared library" }),
    }
}

fn beside(executable: Option<&Path>) -> Vec<PathBuf> {
    let Some(dir) = executable.and_then(Path::parent) else { return Vec::new() };
    let mut tried = vec![dir.join(NAME)];
    if let Some(prefix) = dir.parent() {
        tried.push(prefix.join("lib").join(NAME));
        tried.push(prefix.join("lib/lookback").join(NAME));
    }
    tried
}

/// The argument that makes a JVM load `agent` at its start.
///
/// # Errors
/// [`Error::AgentPath`].
pub(crate) fn jvm_argument(agent: &Path, options: &str) -> Result<String> {
    let path = text(agent)?;
    if path.contains('=') {
        return Err(Error::AgentPath { path: agent.to_owned(), why: "it holds an equals sign" });
    }
    let equals = if options.is_empty() { "" } else { "=" };
    Ok(format!("-agentpath:{path}{equals}{options}"))
}

/// The path as text.
///
/// # Errors
/// [`Error::AgentPath`] when it is not UTF-8 or holds a line break.
pub(crate) fn text(agent: &Path) -> Result<&str> {
    let refused = |why| Error::AgentPath { path: agent.to_owned(), why };
    let path = agent.to_str().ok_or_else(|| refused("it is not UTF-8"))?;
    if path.contains(['\n', '\r']) { Err(refused("it holds a line break")) } else { Ok(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_looked_for_beside_the_executable_and_in_lib() {
        let tried = beside(Some(Path::new("/opt/lookback/bin/lookback")));
        let expected = ["/opt/lookback/bin", "/opt/lookback/lib", "/opt/lookback/lib/lookback"];
        assert_eq!(tried, expected.map(|d| Path::new(d).join(NAME)));
    }

    #[test]
    fn a_path_that_hotspot_would_cut_is_refused() {
        let argument = |p: &str| jvm_argument(Path::new(p), "ring=8m");
        assert_eq!(argument("/a b/l.so").unwrap(), "-agentpath:/a b/l.so=ring=8m");
        assert!(matches!(argument("/a=b/l.so"), Err(Error::AgentPath { .. })));
        assert_eq!(jvm_argument(Path::new("/l.so"), "").unwrap(), "-agentpath:/l.so");
    }
}
