/*
 * Copyright (c) 2026, the Lookback authors.
 * DO NOT ALTER OR REMOVE COPYRIGHT NOTICES OR THIS FILE HEADER.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation, with the Classpath exception
 * as in the LICENSE file of OpenJDK.
 *
 * This code is distributed in the hope that it will be useful, but WITHOUT
 * ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or
 * FITNESS FOR A PARTICULAR PURPOSE. See the GNU General Public License
 * version 2 for more details.
 */

#ifndef SHARE_LOOKBACK_STACKTRACES_H
#define SHARE_LOOKBACK_STACKTRACES_H

// The extension functions by which an agent samples stacks, in the manner of the JVMTI specification. They are found by
// GetExtensionFunctions under the names below, when the VM runs with -XX:+LookbackSampling.
//
// Constraint: jvmti.h comes before it; the VM has its own.
//
// Source: "Fast Profiling in the HotSpot Java VM with Incremental Stack Tracing and Partial Safepoints" (Linz 2014),
// sections 3.3 and 4.1.

#ifdef __cplusplus
extern "C" {
#endif

// How a request takes its samples; these are added.
enum {
  // All threads of the request stop at a safepoint, and all are sampled.
  LOOKBACK_AT_SAFEPOINT = 1,
  // Each sample records its whole stack at once.
  LOOKBACK_WHOLE = 2,
  // Threads that wait are left out, and those in native code or system calls that do not run: a thread's clock tells. Not at a
  // safepoint, which tells them apart afterwards.
  LOOKBACK_RUNNING = 4
};

#define LOOKBACK_REQUEST_STACK_TRACES "dev.lookback.functions.RequestStackTraces"

// RequestStackTraces: has some of the given threads record where they are.
//
// It returns when they are asked. Those sample themselves that ran and reach a poll first, as many as `most`, until the next
// request or retrieval ends this one; the others run on. Threads that wait or are in native code are taken in proportion to
// their number, at random, and are sampled by the caller at once; at LOOKBACK_RUNNING, one that has run since the request before and has
// reached no poll is, as likely as is its part of that time, beside `most`. At `most` 0 each thread may be sampled.
// A sample records the innermost frames; the others follow when their callees return, or by RetrieveStackTraces.
//
// tag           told with each stack trace of this request
// thread_count  how many threads are given; 0 and a NULL list: all that JVMTI shows
// most          how many samples at most; 0: one of each thread
// how           LOOKBACK_AT_SAFEPOINT, LOOKBACK_WHOLE, LOOKBACK_RUNNING
// max_delay     nanoseconds after which no thread samples itself any longer; 0: until the request ends
//
// Errors: JVMTI_ERROR_ILLEGAL_ARGUMENT (a number is negative, `how` has an unknown bit, or both LOOKBACK_AT_SAFEPOINT and
// LOOKBACK_RUNNING), JVMTI_ERROR_INVALID_THREAD, JVMTI_ERROR_NULL_POINTER (thread_list with a count),
// JVMTI_ERROR_UNATTACHED_THREAD. A thread that has ended is left out.
typedef jvmtiError (JNICALL *LookbackRequestStackTraces)(
    jvmtiEnv* env, jlong tag, jint thread_count, const jthread* thread_list, jint most, jint how, jlong max_delay);

#define LOOKBACK_REQUEST_OWN_STACK_TRACE "dev.lookback.functions.RequestOwnStackTrace"

// RequestOwnStackTrace: has the current thread record where it is at its next poll, with the tag 0, its callers as they go on.
//
// It may be called from a signal handler, wherever the thread was interrupted: it reads the thread's own storage and sets two words
// of it, and calls nothing. So a timer of a thread's processor time can say when a sample is taken; where, the next poll
// says, which is at most a call or a loop's turn away, or the end of the native method. What could not be made safe is to record
// the frame that was interrupted (thesis, section 4.2): the tables of compiled code tell frames at polls and calls alone, and a
// return that is trapped from a handler may be halfway through the comparison that traps it.
//
// Errors: JVMTI_ERROR_UNATTACHED_THREAD, JVMTI_ERROR_THREAD_NOT_ALIVE (it ends).
typedef jvmtiError (JNICALL *LookbackRequestOwnStackTrace)(jvmtiEnv* env);

#define LOOKBACK_RETRIEVE_STACK_TRACES "dev.lookback.functions.RetrieveStackTraces"

// A frame of one stack trace or of several.
typedef struct {
  jmethodID method;     // may be of a class that is unloaded since; NULL: the frame went before it was recorded
  jint bci;             // -1 in a native method
  jint caller;          // index of the caller's frame; -1: the outermost
} LookbackFrame;

// What a thread did.
#define LOOKBACK_WAITS 0
#define LOOKBACK_RUNS 1
#define LOOKBACK_IS_IN_NATIVE 2   // in native code, or in the VM, which may run or wait

// Where a thread was.
typedef struct {
  jlong tag;            // of its request
  jlong thread;         // Thread.getId()
  jlong time;           // when, in nanoseconds of CLOCK_MONOTONIC
  jint top;             // index of the innermost frame
  jint activity;        // what the thread did, LOOKBACK_RUNS and its like
} LookbackStackTrace;

// All that was recorded, a forest of frames that stack traces share. One block of memory, freed by Deallocate.
typedef struct {
  jint trace_count;
  jint frame_count;
  LookbackStackTrace* traces;
  LookbackFrame* frames;
  jlong dropped;        // stack traces that found no memory, since the last retrieval
  jlong differing;      // with -XX:+LookbackVerify: incremental stack traces that are not the whole ones
} LookbackStackTraces;

// RetrieveStackTraces: completes all stack traces of the given threads, hands them over and forgets them. It ends the request that
// goes on.
//
// thread_count  how many threads are given; 0 and a NULL list: all, and those that have ended since the last retrieval
// traces        the stack traces; to be freed by Deallocate
//
// Errors: JVMTI_ERROR_ILLEGAL_ARGUMENT, JVMTI_ERROR_INVALID_THREAD, JVMTI_ERROR_NULL_POINTER,
// JVMTI_ERROR_OUT_OF_MEMORY (nothing is forgotten but counted as dropped), JVMTI_ERROR_UNATTACHED_THREAD.
typedef jvmtiError (JNICALL *LookbackRetrieveStackTraces)(
    jvmtiEnv* env, jint thread_count, const jthread* thread_list, LookbackStackTraces** traces);

#ifdef __cplusplus
}
#endif

#endif // SHARE_LOOKBACK_STACKTRACES_H
