//! When a program died, as far as its region tells.
//!
//! The constraint that shaped it: the newest record may be old, since idle threads record nothing, but the
//! ticker's shared word goes on as long as the process runs. It holds only the low bits of the tick counter,
//! so the newest record serves to find the others.

use lookback_format::Nanos;
use lookback_format::region::{Header, header, slab};
use lookback_format::slot::{CONTROL, PAYLOAD_BITS, Record, Records, kind};

/// The newest time that is written in the slabs: of chunks begun, and exact times within.
pub(crate) fn newest_in_slabs(region: &[u8], header: &Header) -> Nanos {
    let slabs = slabs(region, header).filter_map(|bytes| lookback_format::region::read_slab(bytes, Nanos(0)));
    slabs
        .flat_map(|copy| {
            let times = Records::new(&copy.chunk.slots).filter_map(|r| match r {
                Record::Time(at) => Some(at),
                _ => None,
            });
            times.chain([copy.chunk.first]).max()
        })
        .max()
        .unwrap_or_default()
}

/// All slabs of a region.
pub(crate) fn slabs<'a>(region: &'a [u8], header: &Header) -> impl Iterator<Item = &'a [u8]> {
    let (at, count) = header.slabs;
    let end = at.saturating_add(count as usize * slab::STRIDE).min(region.len());
    region.get(at..end).unwrap_or_default().chunks_exact(slab::STRIDE)
}

/// The last moment at which the process is known to have run: its last tick, or `newest` when the region
/// has no tick. Off by up to one tick, and by whole turns of the counter's low bits (17 minutes at 1 ms)
/// after so long without any record.
pub(crate) fn estimate(region: &[u8], header: &Header, newest: Nanos) -> Nanos {
    let word =
        region.get(header::TICK_WORD..).and_then(|b| b.first_chunk().copied()).map_or(0, u32::from_le_bytes);
    if word & CONTROL == 0 || word >> 24 & 0x7f != kind::TICK {
        return newest;
    }
    let turn = 1_u64 << PAYLOAD_BITS;
    let low = u64::from(word) & (turn - 1);
    let least = newest.since(header.epoch).0 / header.tick.0;
    let mut counter = (least & !(turn - 1)) | low;
    if counter < least {
        counter = counter.saturating_add(turn);
    }
    // A tick that lies almost a whole turn ahead is one that the newest record has outrun: on a machine without
    // a free processor the ticker comes late, by tens of milliseconds, while threads write exact times. The
    // last 64th of a turn is 16 s at 1 ms and 0.8 s at 50 us.
    if counter - least > turn - turn / 64 {
        return newest;
    }
    header.epoch.plus(counter.saturating_mul(header.tick.0)).max(newest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookback_format::slot;

    fn header(epoch: u64, tick: u64) -> Header {
        Header {
            pid: 1,
            symbols: (0, 0),
            slabs: (0, 0),
            ring: (0, 0),
            epoch: Nanos(epoch),
            tick: Nanos(tick),
            tick_late: Nanos(0),
            clock_pair: (Nanos(0), 0),
            program: String::new(),
            jvm: String::new(),
            losses: [0; 8],
        }
    }

    fn estimated(counter: u64, newest: u64) -> u64 {
        let mut region = vec![0; 4096];
        region[header::TICK_WORD..][..4].copy_from_slice(&slot::tick(counter).to_le_bytes());
        estimate(&region, &self::header(1_000, 10), Nanos(newest)).0
    }

    #[test]
    fn the_last_tick_tells_when_it_ran_last() {
        assert_eq!(estimated(500, 1_000 + 4_000), 1_000 + 5_000);
        assert_eq!(estimated((1 << 20) + 3, 1_000 + 10 * ((1 << 20) - 5)), 1_000 + 10 * ((1 << 20) + 3));
    }

    #[test]
    fn a_newest_record_after_the_last_tick_counts() {
        assert_eq!(estimated(500, 1_000 + 5_007), 1_000 + 5_007);
        assert_eq!(estimated(500, 1_000 + 5_020), 1_000 + 5_020);
        assert_eq!(estimated(500, 1_000 + 10 * 1_500), 1_000 + 10 * 1_500, "the ticker is 1,000 ticks late");
        assert_eq!(estimate(&[0; 4096], &self::header(1, 1), Nanos(77)), Nanos(77), "no tick at all");
    }
}
