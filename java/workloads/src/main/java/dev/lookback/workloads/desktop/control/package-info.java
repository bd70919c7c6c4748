/**
 * The controller's parts: the hand that moves mouse and keys, the script, the lines to the application and to what
 * measures it. Must not share a process with the application.
 */
package dev.lookback.workloads.desktop.control;
