/**
 * The messages that the window shows: made from a seed, the same on every machine. Must not know Swing.
 */
package dev.lookback.workloads.desktop.mail;
