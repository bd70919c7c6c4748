//! The fuzzer's way into `region.rs`: `make fuzz`.
#![no_main]

#[path = "../region.rs"]
mod region;

libfuzzer_sys::fuzz_target!(|input: &[u8]| region::try_input(input));
