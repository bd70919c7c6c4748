//! The harness's socket: another process marks begin and end, and whatever it sends is answered.

use crate::support::harness::{iterations, measured};
use crate::support::{Place, jdks};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;

struct Controller(BufReader<UnixStream>);

impl Controller {
    fn connect(path: &Path) -> Controller {
        Controller(BufReader::new(UnixStream::connect(path).expect("the harness listens")))
    }

    fn send(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).expect("it is taken");
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("an answer");
        line
    }

    fn ask(&mut self, line: &str) -> String {
        self.send(format!("{line}\n").as_bytes());
        self.answer()
    }
}

#[test]
fn a_controller_brackets_what_a_program_does() {
    for jdk in jdks() {
        let place = Place::new();
        let path = place.file("harness.sock");
        let options = format!(",socket={}", path.display());
        // One that a dead process left behind.
        drop(std::os::unix::net::UnixListener::bind(&path).expect("a socket"));
        let mut running = measured(jdk, &place, &["wait", "exit"], &options).start();
        running.until("waits");
        let meta = std::fs::metadata(&path).expect("the socket");
        assert!(meta.file_type().is_socket());
        assert_eq!(meta.permissions().mode() & 0o777, 0o600);

        let mut controller = Controller::connect(&path);
        assert_eq!(controller.ask("begin scroll 0"), "ok\n");
        assert_eq!(controller.ask("value jank 0.25"), "ok\n");
        assert!(controller.ask("begin scroll 1").starts_with("error iteration 0 of scroll has not ended"));
        assert_eq!(controller.ask("end scroll 0"), "ok\n");
        assert!(controller.ask("end scroll 0").starts_with("error iteration 0 of scroll has not begun"));
        // Several lines at once, a line in pieces.
        controller.send(b"begin scroll 1\nend scroll 1\nbeg");
        assert_eq!((controller.answer(), controller.answer()), ("ok\n".to_owned(), "ok\n".to_owned()));
        controller.send(b"in scroll 2\n");
        assert_eq!(controller.answer(), "ok\n");
        assert_eq!(controller.ask("end scroll 2"), "ok\n");

        running.say("");
        assert_eq!(running.end().code, Some(7));
        assert!(!path.exists(), "it is tidied up");
        let iterations = iterations(&place);
        let seen: Vec<_> = iterations.iter().map(|i| (i.name.as_str(), i.iteration)).collect();
        assert_eq!(seen, [("scroll", 0), ("scroll", 1), ("scroll", 2)]);
        assert_eq!(iterations[0].values["jank"], 0.25);
        assert!(iterations.iter().all(|i| i.allocated_bytes.is_some()));
        let serving =
            |i: &lookback_harness::report::Iteration| i.threads.iter().any(|t| t.name == "lookback-harnes");
        assert!(iterations.iter().all(serving));
    }
}

#[test]
fn hostile_clients_are_answered_or_cut_off_and_keep_nobody_waiting() {
    let place = Place::new();
    let path = place.file("harness.sock");
    let options = format!(",socket={}", path.display());
    let mut running = measured(&jdks()[0], &place, &["wait"], &options).start();
    running.until("waits");
    let mut honest = Controller::connect(&path);
    // Silent ones, more than there is room for: the one that speaks keeps its place.
    let mut silent = Vec::new();
    for _ in 0..30 {
        silent.push(Controller::connect(&path));
        assert!(honest.ask("hello").starts_with("error "));
    }
    let mut gone = Vec::new();
    assert_eq!(silent[0].0.read_to_end(&mut gone).expect("it was cut off"), 0);
    let hostile: [&[u8]; 5] =
        [b"\0\0\0\n", b"begin \xff\xfe 1\n", b"\n", b"begin a 1 1 1 1\n", b"value x nan\n"];
    for bytes in hostile {
        let mut client = Controller::connect(&path);
        client.send(bytes);
        let answer = client.answer();
        assert!(answer.starts_with("error ") && answer.ends_with('\n'), "{answer}");
    }
    let mut endless = Controller::connect(&path);
    let sent = endless.0.get_mut().write_all(&[b'x'; 100_000]);
    let mut said = String::new();
    let read = endless.0.read_to_string(&mut said);
    assert!(sent.is_err() || read.is_err() || said.starts_with("error "), "{sent:?} {read:?} {said}");
    // One that says something and is gone.
    Controller::connect(&path).send(b"begin gone 0\n");
    let mut last = Controller::connect(&path);
    assert_eq!(last.ask("end gone 0"), "ok\n");
    assert_eq!(honest.ask("begin honest 0"), "ok\n");
    assert_eq!(honest.ask("end honest 0"), "ok\n");
    running.say("");
    let ran = running.end().ok();
    assert_eq!(ran.err, "");
    assert_eq!(iterations(&place).len(), 2);
}

#[test]
fn a_file_in_the_sockets_place_is_left_alone() {
    let place = Place::new();
    let path = place.file("precious");
    std::fs::write(&path, "mine").expect("a file");
    let options = format!(",socket={}", path.display());
    let ran = measured(&jdks()[0], &place, &["exit"], &options).run();
    assert_eq!(ran.code, Some(7));
    ran.says(&["nothing is measured: cannot listen on ", "precious: Address already in use"]);
    assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "mine");
}
