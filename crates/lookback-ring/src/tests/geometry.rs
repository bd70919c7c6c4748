//! What is refused as a geometry or an area, and what `fitting` chooses.

use super::support::{Area, geometry};
use crate::{Error, Geometry};

#[test]
fn fitting_fills_the_area_and_is_valid() {
    for megabytes in [1usize, 2, 8, 12, 64, 450, 4096] {
        for cores in [1u32, 2, 3, 8, 12, 64] {
            let bytes = megabytes << 20;
            let Ok(g) = Geometry::fitting(bytes, cores) else {
                assert!(megabytes <= 1, "{megabytes} MiB, {cores} cores");
                continue;
            };
            assert_eq!(g.check(), Ok(()), "{g:?}");
            assert!(g.bytes() <= bytes, "{g:?}");
            assert!(g.active >= cores, "{g:?}");
            let row = (g.active * g.block_size) as usize;
            assert!(bytes - g.bytes() < row, "{g:?} leaves room for another row");
        }
    }
}

#[test]
fn fitting_follows_the_paper_where_there_is_room() {
    let g = Geometry::fitting(64 << 20, 2).unwrap();
    assert_eq!((g.active, g.block_size), (32, 64 << 10));
    let g = Geometry::fitting(64 << 20, 12).unwrap();
    assert_eq!((g.active, g.block_size), (256, 16 << 10));
    assert!(g.blocks / g.active >= 15);
}

#[test]
fn large_events_get_blocks_for_several_of_them() {
    for (megabytes, cores) in [(64, 2), (64, 16), (64, 64), (8, 4), (1, 2)] {
        let g = Geometry::for_events(megabytes << 20, cores, 4200).unwrap();
        assert_eq!(g.check(), Ok(()));
        assert!(g.block_size as usize > 4 * 4200, "{megabytes} MiB, {cores} cores: {g:?}");
        assert!(g.active >= cores && g.blocks / g.active >= 2, "{g:?}");
    }
    let small = Geometry::for_events(64 << 10, 2, 4200).unwrap();
    assert_eq!(small.block_size, 8192);
    let error = Geometry::for_events(64 << 20, 2, 1 << 20).unwrap_err();
    assert!(matches!(error, Error::Geometry { value: 1_048_576, .. }));
    assert!(matches!(Geometry::for_events(64 << 20, 2, usize::MAX), Err(Error::Geometry { .. })));
    let whole = Geometry::for_events(64 << 20, 2, (1 << 20) - 16).unwrap();
    assert_eq!(whole.block_size, 1 << 20);
}

#[test]
fn fitting_says_how_much_is_needed() {
    let error = Geometry::fitting(10_000, 8).unwrap_err();
    let Error::TooShort { needed, given: 10_000 } = error else { panic!("{error:?}") };
    assert!(Geometry::fitting(needed as usize, 8).is_ok());
}

#[test]
fn impossible_geometries_are_refused() {
    let good = geometry(8, 4, 2);
    assert_eq!(good.check(), Ok(()));
    for bad in [
        Geometry { block_size: 2048, ..good },
        Geometry { block_size: 5000, ..good },
        Geometry { block_size: 2 << 20, ..good },
        Geometry { block_size: 0, ..good },
        Geometry { active: 0, ..good },
        Geometry { active: 3, blocks: 9, ..good },
        Geometry { blocks: 0, ..good },
        Geometry { blocks: 2, ..good },
        Geometry { blocks: 9, ..good },
        Geometry { blocks: 65_536 * 4, ..good },
        Geometry { cores: 0, ..good },
        Geometry { cores: u32::MAX, ..good },
    ] {
        assert!(matches!(bad.check(), Err(Error::Geometry { .. })), "{bad:?}");
        let area = Area::new(1 << 20);
        assert!(matches!(area.format(bad).err(), Some(Error::Geometry { .. })), "{bad:?}");
    }
}

#[test]
fn areas_that_are_no_ring_are_refused() {
    let g = geometry(8, 4, 2);
    let mut area = Area::new(g.bytes());
    assert_eq!(area.open().err(), Some(Error::NotARing));
    assert_eq!(area.format(g).unwrap().geometry(), g);
    assert_eq!(area.open().unwrap().geometry(), g);
    area.bytes()[8] = 9;
    assert_eq!(area.open().err(), Some(Error::Version { found: 9, supported: 2 }));
    area.bytes()[8] = 2;
    let short = Area::of(&area.bytes()[..g.bytes() - 4096]);
    let error = Error::TooShort { needed: g.bytes() as u64, given: g.bytes() as u64 - 4096 };
    assert_eq!(short.open().err(), Some(error));
    let short = Area::new(g.bytes() - 4096);
    assert_eq!(short.format(g).err(), Some(error));
    let start = area.bytes().as_mut_ptr();
    // SAFETY: the area is valid beyond the 8 bytes skipped; nothing is accessed before the refusal.
    let error = unsafe { crate::Ring::open(start.add(8), g.bytes() - 8) }.err();
    assert_eq!(error, Some(Error::Misaligned { remainder: 8 }));
}

#[test]
fn the_layout_is_as_documented() {
    let g = geometry(8, 4, 3);
    let mut area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    ring.write_on(2, 0x1234, &[b"hello ", b"world"]).unwrap();
    let word = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let bytes = area.bytes();
    assert_eq!(&bytes[..8], b"LKBRING1");
    let header = [8, 16, 24, 32, 40, 48].map(|at| word(bytes, at));
    assert_eq!(header, [2, 4096, 8, 4, 3, 8192 + 4096 + 8 * 4096]);
    // Ratio 2; position 4 has been handed out, to core 2.
    assert_eq!(word(bytes, 128), (2 << 48) | 5);
    assert_eq!([0, 1, 2].map(|c| word(bytes, 4096 + 64 * c)), [0, 0, 4]);
    // Metadata block 0 in round 1: 8 bytes of header, 8 + 11 bytes of entry, rounded up.
    assert_eq!([word(bytes, 8192), word(bytes, 8192 + 64)], [(1 << 24) | 32; 2]);
    // Position 4 is in data block 4, in round 1; two rows have been used.
    assert_eq!(word(bytes, 8192 + 8), (1 << 36) | 4);
    assert_eq!(word(bytes, 8192 + 64 + 8), (1 << 32) | 4);
    assert_eq!([384, 392, 400, 408].map(|at| word(bytes, at)), [0, 0, 2, 0]);
    let block = &bytes[12288 + 4 * 4096..];
    assert_eq!(word(block, 0), 4);
    assert_eq!(word(block, 8), (1 << 38) | (2 << 36) | (11 << 16) | 0x1234);
    assert_eq!(&block[16..32], b"hello world\0\0\0\0\0");
}

#[test]
fn formatting_again_forgets_everything() {
    let g = geometry(8, 4, 1);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    for _ in 0..1000 {
        ring.write_on(0, 1, &[&[1; 100]]).unwrap();
    }
    let ring = area.format(g).unwrap();
    let mut blocks = 0;
    let end = ring.snapshot(crate::Position::START, &mut |_| blocks += 1);
    assert_eq!((blocks, end.lost, ring.losses()), (0, Default::default(), Default::default()));
}
