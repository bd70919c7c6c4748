//! What tracing costs the traced program.
//!
//! The constraint that shaped it: the running program is asked for it, and an incident keeps it, in the same words.

use crate::units::count;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What tracing costs, and may cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// What tracing may cost, percent of the program's processor time.
    pub budget_percent: f64,
    /// What it is estimated to cost: by how much is recorded, and what a record costs on this machine.
    pub cost_percent: f64,
    /// What recording was measured to cost; none until enough is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
    /// Processor time that the agent's own threads took last, percent of one core.
    #[serde(default)]
    pub own_percent_of_core: f64,
    /// How many threads begin a second, when they are so many that only those are traced which live on, and no waits for monitors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen_threads_per_second: Option<f64>,
}

impl Costs {
    /// In words, what is not traced because threads begin too often.
    #[must_use]
    pub fn unseen(&self) -> Option<String> {
        self.unseen_threads_per_second.map(|per_second| {
            format!(
                "{} threads begin a second, too many to see each: those that live for seconds are traced, and no waits for \
                 monitors",
                count(per_second as u64)
            )
        })
    }
}

/// What recording costs a program, from trials: its processor time for the same work with recording off for a moment, and
/// on. Percent of its processor time; what trace points cost that record nothing is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The estimate.
    pub percent: f64,
    /// The ends of its interval of 95 %.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// How many trials it is made of.
    pub trials: u32,
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measured { percent, low, high, trials } = self;
        write!(f, "{percent:.1} % [{low:.1}, {high:.1}] in {trials} trials")
    }
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "about {:.1} % (budget {} %)", self.cost_percent, self.budget_percent)?;
        self.measured.map_or(Ok(()), |measured| write!(f, ", measured {measured}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_told_in_words() {
        let measured = Some(Measured { percent: 0.94, low: -0.21, high: 2.0, trials: 40 });
        let costs =
            Costs { budget_percent: 3.0, cost_percent: 1.26, own_percent_of_core: 0.4, ..Costs::default() };
        assert_eq!(costs.to_string(), "about 1.3 % (budget 3 %)");
        assert_eq!(
            Costs { measured, ..costs }.to_string(),
            "about 1.3 % (budget 3 %), measured 0.9 % [-0.2, 2.0] in 40 trials"
        );
        assert_eq!(costs.unseen(), None);
        let unseen = Costs { unseen_threads_per_second: Some(4_105.2), ..costs }.unseen();
        assert!(unseen.is_some_and(|text| text.starts_with("4,105 threads begin a second, too many")));
    }

    #[test]
    fn what_an_older_agent_tells_is_read() {
        let old: Costs = serde_json::from_str(r#"{"budget_percent":3.0,"cost_percent":1.0}"#).unwrap();
        assert_eq!((old.measured, old.own_percent_of_core, old.unseen_threads_per_second), (None, 0.0, None));
    }
}
