/** The naive probe: the clock at both ends of every method that is not trivial, a counter a method. */
package dev.lookback.probe;
