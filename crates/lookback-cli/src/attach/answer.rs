//! What a JVM's reply to `load` means.
//!
//! The constraint that shaped it: the reply differs between JDKs. Up to 8 it is the agent's return code
//! alone, later a code for the command, then `return code: N` for the agent, or a text why the library was
//! not loaded. It comes from another process, so any bytes must be taken.

use super::Attached;
use crate::error::{Error, Result};

/// Named in what HotSpot answers when the library has no entry point for attaching.
const NO_ENTRY: &str = "Agent_OnAttach";

/// Turns a reply into success or an error in words. `silent`: the JVM does not warn of the agent.
pub(crate) fn explain(pid: u32, reply: &[u8], silent: bool) -> Result<Attached> {
    let text = String::from_utf8_lossy(reply);
    let (first, rest) = text.split_once('\n').unwrap_or((text.as_ref(), ""));
    let Ok(code) = first.trim().parse::<i32>() else {
        let message =
            if text.is_empty() { "it closed the connection without a reply".into() } else { clean(&text) };
        return Err(Error::AttachRefused { pid, message });
    };
    let returned =
        rest.lines().find_map(|l| l.trim().strip_prefix("return code:")?.trim().parse::<i32>().ok());
    let rest = clean(rest);
    match (code, returned) {
        (0, Some(0)) => Ok(Attached { notes: notes(silent) }),
        (0, None) if rest.is_empty() => Ok(Attached { notes: notes(silent) }),
        (_, Some(agent)) if agent != 0 && !rest.contains(NO_ENTRY) => {
            Err(Error::AgentRefused { pid, code: agent })
        }
        _ => {
            let message =
                if rest.is_empty() { format!("it gave no reason but the code {code}") } else { rest };
            Err(Error::AttachRefused { pid, message })
        }
    }
}

/// What a JVM said to a diagnostic command.
pub(crate) fn said(pid: u32, reply: &[u8]) -> Result<String> {
    let text = String::from_utf8_lossy(reply);
    let (first, rest) = text.split_once('\n').unwrap_or((text.as_ref(), ""));
    let message = match first.trim().parse::<i32>() {
        Ok(0) => return Ok(rest.to_owned()),
        Ok(code) if rest.trim().is_empty() => format!("it gave no reason but the code {code}"),
        Ok(_) => clean(rest),
        Err(_) if text.is_empty() => "it closed the connection without a reply".to_owned(),
        Err(_) => clean(&text),
    };
    Err(Error::CommandRefused { pid, message })
}

fn notes(silent: bool) -> Vec<String> {
    if silent {
        return Vec::new();
    }
    vec![
        "the JVM has printed a warning that an agent was loaded dynamically (JEP 451); \
         -XX:+EnableDynamicAgentLoading at its start avoids that"
            .into(),
    ]
}

/// One line for a message: no control characters, not endless.
pub(crate) fn clean(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
    let joined = lines.collect::<Vec<_>>().join("; ");
    joined.chars().map(|c| if c.is_control() { ' ' } else { c }).take(500).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_of_all_jdks_are_understood() {
        assert!(explain(1, b"0\nreturn code: 0\n", true).unwrap().notes.is_empty());
        assert_eq!(explain(1, b"0\nreturn code: 0\n", false).unwrap().notes.len(), 1);
        assert!(explain(1, b"0\n", true).is_ok());
        assert!(matches!(
            explain(1, b"0\nreturn code: -3\n", true),
            Err(Error::AgentRefused { code: -3, .. })
        ));
        let missing = b"0\n/x.so was not loaded.\n/x.so: cannot open shared object file\n";
        let message = explain(1, missing, true).unwrap_err().to_string();
        assert!(
            message.ends_with("/x.so was not loaded.; /x.so: cannot open shared object file"),
            "{message}"
        );
    }

    #[test]
    fn what_a_command_answers_is_told_from_its_failure() {
        assert_eq!(said(1, b"0\nStarted recording 1.\n").unwrap(), "Started recording 1.\n");
        assert_eq!(said(1, b"0").unwrap(), "");
        let message = |reply: &[u8]| said(1, reply).unwrap_err().to_string();
        assert!(message(b"1\njava.lang.IllegalArgumentException: no\n").ends_with("Exception: no"));
        assert!(message(b"101\n").ends_with("code 101"), "{}", message(b"101\n"));
        assert!(message(b"").ends_with("without a reply"));
    }

    #[test]
    fn any_other_bytes_are_an_error() {
        for bad in [&b""[..], b"\xff\xfe", b"100\n", b"what?\n\x1b[2J"] {
            let error = explain(1, bad, true).unwrap_err();
            assert!(matches!(error, Error::AttachRefused { .. }));
            assert!(!error.to_string().contains('\x1b'));
        }
    }
}
