//! An aligned memory area for a test's ring, and events that prove their own integrity.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

use crate::produce::Reservation;
use crate::{Block, Delivery, Follower, Geometry, LostBlock, Position, Ring, SnapshotEnd};

/// A zeroed area of whole pages.
pub(super) struct Area {
    mem: *mut u8,
    layout: Layout,
}

impl Area {
    pub(super) fn new(len: usize) -> Area {
        let layout = Layout::from_size_align(len.max(4096), 4096).unwrap();
        // SAFETY: the size is not zero.
        let mem = unsafe { alloc_zeroed(layout) };
        if mem.is_null() {
            handle_alloc_error(layout);
        }
        Area { mem, layout }
    }

    pub(super) fn of(bytes: &[u8]) -> Area {
        let mut area = Area::new(bytes.len());
        area.bytes()[..bytes.len()].copy_from_slice(bytes);
        area
    }

    /// The raw bytes, while no ring is in use.
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the area is ours and has this size; `&mut self` excludes rings, which borrow it.
        unsafe { std::slice::from_raw_parts_mut(self.mem, self.layout.size()) }
    }

    pub(super) fn format(&self, g: Geometry) -> Result<Held<'_>, crate::Error> {
        // SAFETY: the area is valid, aligned, and outlives the result.
        unsafe { Ring::format(self.mem, self.layout.size(), g) }
            .map(|ring| Held(ring, std::marker::PhantomData))
    }

    pub(super) fn open(&self) -> Result<Held<'_>, crate::Error> {
        // SAFETY: as in `format`.
        unsafe { Ring::open(self.mem, self.layout.size()) }.map(|ring| Held(ring, std::marker::PhantomData))
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout in `new`.
        unsafe { dealloc(self.mem, self.layout) }
    }
}

/// A ring that cannot outlive its area.
pub(super) struct Held<'a>(Ring, std::marker::PhantomData<&'a Area>);

impl std::ops::Deref for Held<'_> {
    type Target = Ring;

    fn deref(&self) -> &Ring {
        &self.0
    }
}

/// N blocks of 4 KiB.
pub(super) fn geometry(blocks: u32, active: u32, cores: u32) -> Geometry {
    Geometry { block_size: 4096, blocks, active, cores }
}

/// The payload of event `seq` of `thread`, `length` bytes, at least [`LEAST`]: who, which, a
/// checksum, and bytes that follow from them.
pub(super) fn payload(thread: u64, seq: u64, length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length);
    bytes.extend(thread.to_le_bytes());
    bytes.extend(seq.to_le_bytes());
    bytes.extend((length as u64).to_le_bytes());
    bytes.extend((LEAST..length).map(|i| mix(thread, seq, i)));
    bytes
}

pub(super) const LEAST: usize = 24;

fn mix(thread: u64, seq: u64, i: usize) -> u8 {
    let word = (seq ^ (thread << 40)).wrapping_add(i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (word >> 56) as u8
}

/// Thread and sequence number of an intact event; panics on any other.
pub(super) fn check(bytes: &[u8]) -> (u64, u64) {
    let word = |i: usize| u64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().unwrap());
    let (thread, seq) = (word(0), word(1));
    assert_eq!(bytes, payload(thread, seq, bytes.len()), "torn entry of thread {thread}, seq {seq}");
    (thread, seq)
}

/// A delivered block, kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) position: Position,
    pub(super) complete: bool,
    /// Thread and sequence number of each entry.
    pub(super) events: Vec<(u64, u64)>,
}

/// Checks every entry of a block.
pub(super) fn keep(block: &Block<'_>) -> Kept {
    let events = block.entries().map(|entry| check(entry.payload)).collect();
    Kept { position: block.position, complete: block.complete, events }
}

pub(super) fn snapshot(ring: &Ring, from: Position) -> (Vec<Kept>, SnapshotEnd) {
    let mut kept = Vec::new();
    let end = ring.snapshot(from, &mut |block| kept.push(keep(&block)));
    assert!(kept.windows(2).all(|w| w[0].position < w[1].position), "blocks out of order");
    (kept, end)
}

pub(super) fn salvage(ring: &Ring, from: Position) -> (Vec<Kept>, SnapshotEnd) {
    let mut kept = Vec::new();
    let end = ring.salvage(from, &mut |block| kept.push(keep(&block)));
    (kept, end)
}

pub(super) fn position(ring: &Ring, reservation: &Reservation) -> Position {
    Position(reservation.round.0 * u64::from(ring.geometry().active) + reservation.metadata.0)
}

/// A follower and what it has got.
pub(super) struct Tail {
    follower: Follower,
    /// Thread and sequence number of each entry, in the order of delivery.
    pub(super) events: Vec<(u64, u64)>,
    pub(super) lost: Vec<LostBlock>,
    /// Blocks that were delivered to their end.
    pub(super) complete: u64,
}

impl Tail {
    pub(super) fn new(from: Position) -> Tail {
        Tail { follower: Follower::new(from), events: Vec::new(), lost: Vec::new(), complete: 0 }
    }

    pub(super) fn look(&mut self, ring: &Ring) -> usize {
        let mut follower = std::mem::take(&mut self.follower);
        let deliveries = follower.look(ring, &mut |delivery| self.keep(delivery));
        self.follower = follower;
        deliveries
    }

    pub(super) fn last_look(&mut self, ring: &Ring) -> usize {
        std::mem::take(&mut self.follower).last_look(ring, &mut |delivery| self.keep(delivery))
    }

    fn keep(&mut self, delivery: Delivery<'_>) {
        match delivery {
            Delivery::Events { events, complete, .. } => {
                self.events.extend(events.map(|entry| check(entry.payload)));
                self.complete += u64::from(complete);
            }
            Delivery::Lost(lost) => self.lost.push(lost),
        }
    }
}

/// Small, seeded, good enough to vary sizes (splitmix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}
