//! Overheads: what a collector costs against an ideal one, and what a tracer costs against none.
//!
//! The constraint that shaped it: there is no program without a collector to compare with. A lower bound overhead (Cai,
//! Blackburn, Bond and Maas, "Distilling the Real Cost of Production Garbage Collectors", ISPASS 2022; paper, section
//! 2.2) is a collector's total cost by a baseline, the lowest *distilled* cost, that is the total less what can be told
//! to be the collector's, over all collectors and heaps. A distilled cost still holds what cannot be told (barriers,
//! worse locality, slower allocation), so the baseline is too high rather than too low and the overhead a lower bound.
//!
//! What is done so that the bound holds:
//!
//! - What is taken off was measured by the same clock as what it is taken off from ([`Distillation`]).
//! - The lowest of many measured values is low by luck as well. So a cell is chosen on one half of the blocks and
//!   estimated on the other ([`Baseline`]), and the choice is made anew in each bootstrap resample.
//! - A workload on another JDK is another program with a baseline of its own; so is one on another host.
//! - Means over workloads are taken over those that ran to the end at every point that is compared, and what is left
//!   out is listed.
//!
//! Must not compare two collectors: their overheads share a baseline, and `comparison` has the test for it.

mod baseline;
mod distill;
mod lower_bound;
mod over_hosts;
mod over_workloads;
mod roles;
mod tracer;

pub use baseline::{Baseline, Drawing, FEWEST};
pub use distill::{Distillation, cost};
pub use lower_bound::{CellOverhead, LowerBounds, Program, Wanted, lower_bounds};
pub use over_hosts::{OverHosts, over_hosts};
pub use over_workloads::{Exclusion, Scope, Summary};
pub use roles::Roles;
pub use tracer::{TracerCosts, TracerOverhead, TracerSummary, tracer_overheads};
