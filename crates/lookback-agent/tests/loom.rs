//! Models of what a thread of the program and the sampler share without a lock, for the loom checker, run on the code that ships:
//! `RUSTFLAGS="--cfg loom" cargo test -p lookback-agent --release --test loom`.
//!
//! The constraint: the files are taken up from `src`, because the rest of the crate lives in a JVM and cannot run under the checker.
#![cfg(loom)]

#[path = "../src/sampler/checked.rs"]
mod checked;
#[path = "../src/sampler/mailboxes.rs"]
mod mailboxes;

use checked::{BUILT_IN, Mutant};
use loom::sync::Arc;
use loom::thread;
use mailboxes::Mailboxes;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Two threads leave a sample each, of which the second of one thread has nothing to tell; the sampler looks meanwhile
/// and in the end. One box, so that they take it from each other.
fn model() {
    let mailboxes = Arc::new(Mailboxes::new(1, || [0_u32; 2]));
    let threads = [1, 2].map(|n| {
        let mailboxes = mailboxes.clone();
        thread::spawn(move || {
            let mut told = 0;
            for has_more in [true, n == 1] {
                if let Some(claimed) = mailboxes.claim() {
                    claimed.put(|content| {
                        *content = [n; 2];
                        has_more
                    });
                    told += u64::from(has_more);
                }
            }
            told
        })
    });
    let mut found = 0;
    let look = |found: &mut u64| {
        mailboxes.drain(|content| {
            assert!(content[0] == content[1] && content[0] != 0, "torn: {content:?}");
            *found += 1;
        });
    };
    look(&mut found);
    let told: u64 = threads.into_iter().map(|t| t.join().unwrap()).sum();
    look(&mut found);
    assert_eq!(found, told, "each sample is found once");
    assert!(told + mailboxes.lost() <= 4);
}

fn run(mutant: Option<Mutant>) -> std::thread::Result<()> {
    *BUILT_IN.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = mutant;
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    catch_unwind(AssertUnwindSafe(|| builder.check(model)))
}

#[test]
fn what_is_in_a_box_is_whole_and_found_once() {
    if let Err(failure) = run(None) {
        std::panic::resume_unwind(failure);
    }
    for mutant in [Mutant::Claim, Mutant::Put, Mutant::Drain, Mutant::Free] {
        assert!(run(Some(mutant)).is_err(), "it does not reject {mutant:?}");
    }
}
