/**
 * Spans and instants that a program marks itself, for Lookback's recordings. Begin at
 * {@link dev.lookback.api.Lookback}.
 */
package dev.lookback.api;
