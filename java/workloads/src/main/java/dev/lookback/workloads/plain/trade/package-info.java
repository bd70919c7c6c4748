/** The tables of the workload {@code hibernate} as Hibernate sees them: entities with plain fields. */
package dev.lookback.workloads.plain.trade;
