//! The JDK's wait points: the methods in which a thread stands still, and what it waits for.
//!
//! The constraint that shaped it: JDK classes are not traced, but a stall is only explained by what the
//! thread waited for. So these few methods are timed, exactly at both ends. Monitors have no method; the VM
//! tells of them by events (see `monitors`). A row with an empty descriptor means every overload.

use lookback_format::symbol::Wait;

/// One row: class (with slashes), method, descriptor, what it waits for.
pub(crate) type Row = (&'static str, &'static str, &'static str, Wait);

/// Virtual threads: the class, and its method in which a carrier runs one.
pub(crate) const VIRTUAL_THREAD: &str = "java/lang/VirtualThread";
pub(crate) const RUNS: &str = "runContinuation";
pub(crate) const RUNS_DESCRIPTOR: &str = "()V";
/// What a carrier runs when a virtual thread has yielded: after its last frame is left, and before any other carrier can
/// run it. The method above is only left when that may have happened.
pub(crate) const YIELDED: &str = "afterYield";

/// Its methods that hand it to its scheduler. Some call others of them: then it is told twice.
pub(crate) const SUBMITS: [&str; 4] = [
    "submitRunContinuation",
    "lazySubmitRunContinuation",
    "externalSubmitRunContinuation",
    "externalSubmitRunContinuationOrThrow",
];

/// All wait points, over all supported JDKs; what a JDK does not have is not found.
pub(crate) const WAITS: &[Row] = &[
    ("java/util/concurrent/locks/LockSupport", "park", "", Wait::Park),
    ("java/util/concurrent/locks/LockSupport", "parkNanos", "", Wait::Park),
    ("java/util/concurrent/locks/LockSupport", "parkUntil", "", Wait::Park),
    ("java/lang/Thread", "sleep", "", Wait::Sleep),
    (VIRTUAL_THREAD, RUNS, RUNS_DESCRIPTOR, Wait::Carrier),
    (VIRTUAL_THREAD, "parkOnCarrierThread", "", Wait::Pinned),
    ("java/lang/ProcessImpl", "waitFor", "", Wait::Process),
    ("java/net/InetAddress", "getAllByName", "(Ljava/lang/String;)[Ljava/net/InetAddress;", Wait::Socket),
    ("sun/nio/ch/NioSocketImpl", "connect", "", Wait::Socket),
    ("sun/nio/ch/NioSocketImpl", "accept", "", Wait::Socket),
    ("sun/nio/ch/NioSocketImpl", "implRead", "", Wait::Socket),
    ("sun/nio/ch/NioSocketImpl", "implWrite", "", Wait::Socket),
    ("sun/nio/ch/SocketChannelImpl", "read", "", Wait::Socket),
    ("sun/nio/ch/SocketChannelImpl", "write", "", Wait::Socket),
    ("sun/nio/ch/SocketChannelImpl", "connect", "", Wait::Socket),
    ("sun/nio/ch/SocketChannelImpl", "finishConnect", "", Wait::Socket),
    ("sun/nio/ch/ServerSocketChannelImpl", "accept", "", Wait::Socket),
    ("sun/nio/ch/DatagramChannelImpl", "receive", "", Wait::Socket),
    ("sun/nio/ch/DatagramChannelImpl", "send", "", Wait::Socket),
    ("sun/nio/ch/SelectorImpl", "lockAndDoSelect", "", Wait::Select),
    ("java/io/FileInputStream", "read", "", Wait::File),
    ("java/io/FileOutputStream", "write", "", Wait::File),
    ("java/io/RandomAccessFile", "read", "", Wait::File),
    ("java/io/RandomAccessFile", "write", "", Wait::File),
    ("java/io/FileDescriptor", "sync", "", Wait::Sync),
    ("sun/nio/ch/FileChannelImpl", "read", "", Wait::File),
    ("sun/nio/ch/FileChannelImpl", "write", "", Wait::File),
    ("sun/nio/ch/FileChannelImpl", "transferTo", "", Wait::File),
    ("sun/nio/ch/FileChannelImpl", "transferFrom", "", Wait::File),
    ("sun/nio/ch/FileChannelImpl", "lock", "", Wait::File),
    ("sun/nio/ch/FileChannelImpl", "force", "", Wait::Sync),
];

/// Whether a class (with slashes) has wait points.
pub(crate) fn has_waits(class: &str) -> bool {
    WAITS.iter().any(|(c, ..)| *c == class)
}

/// What a method waits for, when it is a wait point.
pub(crate) fn wait_of(class: &str, method: &str, descriptor: &str) -> Option<Wait> {
    let same = |r: &&Row| r.0 == class && r.1 == method && (r.2.is_empty() || r.2 == descriptor);
    WAITS.iter().find(same).map(|r| r.3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overloads_are_told_apart_only_where_a_row_says_so() {
        assert_eq!(wait_of("java/lang/Thread", "sleep", "(JI)V"), Some(Wait::Sleep));
        assert_eq!(
            wait_of(
                "java/net/InetAddress",
                "getAllByName",
                "(Ljava/lang/String;Ljava/net/InetAddress;)[Ljava/net/InetAddress;"
            ),
            None
        );
        assert!(has_waits("java/lang/Thread") && !has_waits("java/lang/String"));
    }
}
