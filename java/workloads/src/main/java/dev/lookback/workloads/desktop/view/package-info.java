/**
 * The window: an ordinary mail program in Swing. Must not know who drives it, nor that its frames are counted.
 */
package dev.lookback.workloads.desktop.view;
