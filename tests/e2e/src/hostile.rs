//! Whatever is sent to the control socket, the program does not notice and the next honest client is answered;
//! and nobody else can reach it.

use crate::support::{Java, Place, Running, jdks};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

fn traced(place: &Place) -> Running {
    let mut running = Java::new(&jdks()[0], place, &["Commands"]).agent("trivial=0").start();
    running.until("ready");
    running.error_line("[lookback] pid");
    running
}

fn socket(place: &Place, running: &Running) -> PathBuf {
    place.runtime().join(format!("{}.sock", running.pid))
}

/// What comes back for these bytes.
fn ask(socket: &PathBuf, bytes: &[u8]) -> String {
    let mut stream = UnixStream::connect(socket).expect("the agent listens");
    // The agent may have closed before all is sent: that is its right.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn bad_requests_are_refused_and_the_next_good_one_is_answered() {
    let place = Place::new();
    let mut running = traced(&place);
    let socket = socket(&place, &running);
    let huge = vec![b'x'; 3 << 20];
    let deep = "[".repeat(100_000);
    let requests: [&[u8]; 12] = [
        b"",
        b"\n",
        b"hello\n",
        b"{\"cmd\":\"status\"",
        b"{\"cmd\":\"format-disk\"}\n",
        b"{\"cmd\":\"dump\",\"file\":\"relative.lkb\"}\n",
        b"{\"cmd\":\"dump\",\"file\":\"/nowhere/at/all.lkb\"}\n",
        b"{\"cmd\":\"dump\",\"other\":1}\n",
        b"\x00\xff\xfe\x00\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        &huge,
        deep.as_bytes(),
    ];
    for request in requests {
        let answer = ask(&socket, request);
        let shown = String::from_utf8_lossy(&request[..request.len().min(40)]).into_owned();
        assert!(answer.is_empty() || answer.contains("\"answer\":\"error\""), "{shown}: {answer}");
        let status = ask(&socket, b"{\"cmd\":\"status\"}\n");
        assert!(status.contains("\"answer\":\"status\""), "after {shown}: {status}");
    }
    running.ask("work 1000", "did work 1000");
    let ran = running.end().ok();
    assert_eq!(ran.out, "ready\ndid work 1000\nsum 499500\n");
}

#[test]
fn clients_that_say_nothing_hold_nobody_up_for_long() {
    let place = Place::new();
    let mut running = traced(&place);
    let socket = socket(&place, &running);
    let mut silent = UnixStream::connect(&socket).expect("the agent listens");
    let mut slow = UnixStream::connect(&socket).expect("the agent listens");
    slow.write_all(b"{\"cmd\":").expect("it takes what comes");
    let gone: Vec<UnixStream> = (0..50).map(|_| UnixStream::connect(&socket).expect("it listens")).collect();
    drop(gone);
    place.lookback(&["status", &running.pid.to_string()]).ok();
    running.ask("work 1000", "did work 1000");
    let mut answer = String::new();
    silent.read_to_string(&mut answer).expect("it is told why");
    assert!(answer.contains("2 seconds"), "{answer}");
    drop(slow);
    let ran = running.end().ok();
    assert_eq!(ran.out, "ready\ndid work 1000\nsum 499500\n");
}

#[test]
fn a_hundred_clients_at_once_are_all_answered() {
    let place = Place::new();
    let mut running = traced(&place);
    let socket = socket(&place, &running);
    let answered = std::thread::scope(|scope| {
        let clients: Vec<_> =
            (0..100).map(|_| scope.spawn(|| ask(&socket, b"{\"cmd\":\"status\"}\n"))).collect();
        running.ask("work 100000", "did work 100000");
        let answers = clients.into_iter().map(|c| c.join().expect("it was answered"));
        answers.filter(|a| a.contains("\"answer\":\"status\"")).count()
    });
    assert_eq!(answered, 100);
    running.end().ok();
}

#[test]
fn the_socket_and_the_region_are_their_owners_only() {
    let place = Place::new();
    let running = traced(&place);
    let mode = |path: &PathBuf| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    let socket = socket(&place, &running);
    assert_eq!((mode(&place.runtime()), mode(&socket), mode(&place.region())), (0o700, 0o600, 0o600));
    running.end().ok();
    assert!(!socket.exists(), "it is gone with the program");
}

#[test]
fn a_runtime_directory_that_others_may_write_is_refused() {
    let place = Place::new();
    std::fs::create_dir(place.runtime()).expect("a directory");
    std::fs::set_permissions(place.runtime(), std::fs::Permissions::from_mode(0o777)).expect("its mode");
    let java = Java::new(&jdks()[0], &place, &["Hello"]).agent("trivial=0");
    let ran = java.run().ok().says(&["with mode 0700", "mode 777"]);
    assert_eq!(ran.out, "hello world\n");
    assert_eq!(std::fs::read_dir(place.runtime()).expect("it is there").count(), 0, "nothing is put there");
}

#[test]
fn a_runtime_directory_of_somebody_else_is_refused() {
    let place = Place::new();
    std::fs::create_dir(place.runtime()).expect("a directory");
    std::fs::set_permissions(place.runtime(), std::fs::Permissions::from_mode(0o700)).expect("its mode");
    let owner = std::fs::metadata(place.runtime()).expect("it is there").uid();
    if std::os::unix::fs::chown(place.runtime(), Some(owner + 1), None).is_err() {
        // Only root can give a directory away; a link to another's is refused for the same reason.
        std::fs::remove_dir(place.runtime()).expect("it is empty");
        std::os::unix::fs::symlink("/", place.runtime()).expect("a link");
    }
    let ran = Java::new(&jdks()[0], &place, &["Hello"]).agent("trivial=0").run().ok();
    assert_eq!(ran.out, "hello world\n");
    ran.says(&["must be a directory of user"]);
}
