//! The fuzzer's corpus, as a test: each input that once found a new way through the region's reader.
#![cfg(not(loom))]

#[path = "../fuzz/region.rs"]
mod region;

#[test]
fn every_input_of_the_corpus_is_survived() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/region");
    let inputs = std::fs::read_dir(folder).expect("the corpus");
    let mut count = 0;
    for input in inputs {
        let path = input.expect("an entry").path();
        region::try_input(&std::fs::read(&path).expect("an input"));
        count += 1;
    }
    assert!(count > 20, "only {count} inputs");
}
