//! Broken class files are answered, never panicked on.
//!
//! Constraint: seeded, so that a failure repeats; overflow checks are on in
//! test builds, so arithmetic that wraps counts as a panic too. Starts from
//! real classes, because random bytes do not get past the header.

mod support;

use lookback_classfile::{Error, Scratch, rewrite};
use support::assembler::ClassBuilder;
use support::{POINTS, TraceAll, any_jdk, dump_classes};

const CASES: u64 = 50_000;

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let interesting = [0u8, 1, 2, 0x7f, 0x80, 0xff, 0xc4, 0xaa, 0xab, 0xb1];
    for _ in 0..1 + random.below(4) {
        // Rather behind the constant pool, where the code is.
        let at = if random.below(4) == 0 { 0 } else { bytes.len() / 2 };
        let at = at + random.below(bytes.len() - at);
        match random.below(24) {
            0 => bytes.truncate(at.max(1)),
            1 => bytes.insert(at, random.next() as u8),
            2 => drop(bytes.remove(at)),
            3 => {
                let from = random.below(bytes.len());
                let piece = bytes[from..(from + 1 + random.below(16)).min(bytes.len())].to_vec();
                let room = piece.len().min(bytes.len() - at);
                bytes[at..at + room].copy_from_slice(&piece[..room]);
            }
            4..=12 => bytes[at] = interesting[random.below(interesting.len())],
            _ => bytes[at] = random.next() as u8,
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
}

#[test]
fn mutated_classes_never_panic() {
    let classes = dump_classes(&any_jdk(), &["java.base"]);
    // Small enough that a mutation often hits code, large enough to have all kinds of attributes.
    let seeds: Vec<_> = classes.iter().filter(|c| (600..6000).contains(&c.bytes.len())).collect();
    let mut random = Random(0x1005_bac4);
    let mut scratch = Scratch::new();
    let (mut rewritten, mut refused, mut errors) = (0u32, 0u32, 0u32);
    for _ in 0..CASES {
        let mut bytes = seeds[random.below(seeds.len())].bytes.clone();
        mutate(&mut bytes, &mut random);
        match rewrite(&bytes, &POINTS, &mut TraceAll::mixed(32_760), &mut scratch) {
            Ok(outcome) => {
                refused += outcome.refused.len() as u32;
                if let Some(again) = outcome.bytes {
                    rewritten += 1;
                    // What comes out is read like anything else.
                    let second = rewrite(&again, &POINTS, &mut TraceAll::plain(), &mut scratch);
                    assert!(second.is_ok(), "own output not readable: {second:?}");
                }
            }
            Err(error) => {
                errors += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    println!("{CASES} mutated classes: {rewritten} rewritten, {errors} errors, {refused} methods refused");
    assert!(rewritten > 1000 && errors > 1000 && refused > 100, "the mutations test too little");
}

#[test]
fn every_truncation_is_an_error_or_harmless() {
    let classes = dump_classes(&any_jdk(), &["java.base"]);
    let class = classes.iter().find(|c| c.name == "java/util/Optional").expect("java.util.Optional");
    let mut scratch = Scratch::new();
    for length in 0..class.bytes.len() {
        let result = rewrite(&class.bytes[..length], &POINTS, &mut TraceAll::plain(), &mut scratch);
        assert!(matches!(result, Err(Error::Truncated { .. })), "{length} bytes: {result:?}");
    }
}

#[test]
fn random_bytes_and_empty_input_are_errors() {
    let mut scratch = Scratch::new();
    let mut random = Random(1);
    for length in 0..2000 {
        let mut bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        if length >= 10 && length % 2 == 0 {
            bytes[..8].copy_from_slice(&[0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61]);
            bytes[8] &= 3;
        }
        assert!(rewrite(&bytes, &POINTS, &mut TraceAll::plain(), &mut scratch).is_err());
    }
}

#[test]
fn versions_before_java_1_1_are_not_touched() {
    for (major, minor) in [(45, 0), (45, 2), (44, 65535), (0, 0)] {
        let mut builder = ClassBuilder::new("Old", major, minor);
        builder.default_constructor();
        let result = rewrite(&builder.build(), &POINTS, &mut TraceAll::plain(), &mut Scratch::new());
        assert_eq!(result.map(|o| o.bytes), Err(Error::UnsupportedVersion { major, minor }));
    }
}
