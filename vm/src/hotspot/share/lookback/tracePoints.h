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

#ifndef SHARE_LOOKBACK_TRACEPOINTS_H
#define SHARE_LOOKBACK_TRACEPOINTS_H

// The extension functions by which an agent has the VM record which methods are entered and left, in the manner of the JVMTI
// specification. They are found by GetExtensionFunctions under the names below, when the VM runs with -XX:+LookbackTracing
// on x86-64.
//
// A traced method writes a slot (u32) where its thread's cursor points, and moves the cursor by 4: its id when a physical frame
// of it is entered, its id | LOOKBACK_TRACE_EXIT when that is left, by return or by exception. Methods that a compiler has
// inlined have no frame, so they write nothing; their frames that a deoptimisation makes physical are entered then.
//
// Each thread writes into a slab: memory aligned to LOOKBACK_TRACE_SLAB bytes, and a word behind it. The slow path is called,
// after the slot is written and the cursor moved,
//   at an entry  if the i32 at (cursor & -LOOKBACK_TRACE_SLAB) is greater than 1, so that the word behind a slab is its guard;
//   at an exit   if the u32 at (cursor & -LOOKBACK_TRACE_PAGE) is not 0.
// So the slab's first word is a poll, and the first word of its other pages tells an exit that a page is filled.
//
// Constraint: jvmti.h comes before it; the VM has its own. Trace points read no clock and call nothing but the slow path.
//
// Source: "Hubble" (OSDI 2022), section 4; java/lang/LookbackTracePoint, which does the same by bytecode.

#ifdef __cplusplus
extern "C" {
#endif

enum {
  // Ids are 1 to this less 1; it is the bit that tells an exit's slot from an entry's.
  LOOKBACK_TRACE_EXIT = 1 << 30,
  LOOKBACK_TRACE_SLAB = 65536,
  LOOKBACK_TRACE_PAGE = 4096
};

#define LOOKBACK_SET_TRACE_IDS "dev.lookback.functions.SetTraceIds"

// SetTraceIds: sets the ids of methods. Cheapest, and without effect on anything that runs, from ClassPrepare.
//
// A method that is redefined keeps its id. Compiled code of a method whose id changes is not entered any more; calls that run
// already are left under the old id as long as they are not deoptimised, interpreted ones under the new.
//
// count    how many methods
// methods  which
// ids      of each its id, below LOOKBACK_TRACE_EXIT; 0: it is not traced
//
// Errors, at which nothing is set: JVMTI_ERROR_ILLEGAL_ARGUMENT (a count or an id), JVMTI_ERROR_INVALID_METHODID,
// JVMTI_ERROR_NULL_POINTER, JVMTI_ERROR_UNATTACHED_THREAD.
typedef jvmtiError (JNICALL *LookbackSetTraceIds)(jvmtiEnv* env, jint count, const jmethodID* methods, const jint* ids);

// A thread's cursor: the address of its next slot; 0: the thread is not traced (so it begins); negative: nor is it now. What a
// negative cursor means is the agent's affair: trace points leave it alone.

#define LOOKBACK_GET_TRACE_CURSOR "dev.lookback.functions.GetTraceCursor"

// GetTraceCursor: reads the cursor of a thread. Of the current thread it costs next to nothing; another may have moved on.
//
// thread   NULL: the current one
// cursor   the cursor
//
// Errors: JVMTI_ERROR_INVALID_THREAD, JVMTI_ERROR_NULL_POINTER, JVMTI_ERROR_THREAD_NOT_ALIVE, JVMTI_ERROR_UNATTACHED_THREAD.
typedef jvmtiError (JNICALL *LookbackGetTraceCursor)(jvmtiEnv* env, jthread thread, jlong* cursor);

#define LOOKBACK_SET_TRACE_CURSOR "dev.lookback.functions.SetTraceCursor"

// SetTraceCursor: sets the cursor of a thread, of another one by a handshake: it is in no trace point then.
//
// thread   NULL: the current one
// cursor   the cursor
//
// Errors: JVMTI_ERROR_INVALID_THREAD, JVMTI_ERROR_THREAD_NOT_ALIVE, JVMTI_ERROR_UNATTACHED_THREAD.
typedef jvmtiError (JNICALL *LookbackSetTraceCursor)(jvmtiEnv* env, jthread thread, jlong cursor);

#define LOOKBACK_COMPARE_AND_SET_TRACE_CURSOR "dev.lookback.functions.CompareAndSetTraceCursor"

// CompareAndSetTraceCursor: sets the cursor of a thread if it is the expected one. Needs no handshake if that is not positive,
// for trace points do not move such a cursor.
//
// thread   NULL: the current one
// expected the cursor that it must have
// cursor   the cursor
// is_set   whether it had it
//
// Errors: as those of GetTraceCursor.
typedef jvmtiError (JNICALL *LookbackCompareAndSetTraceCursor)(
    jvmtiEnv* env, jthread thread, jlong expected, jlong cursor, jboolean* is_set);

// The slow path: gets the cursor of the current thread and the slot that was written just before it; its result is the new
// cursor. It is called as a leaf: it must not call JNI or JVMTI, block, or run Java code, and should be done in microseconds. The
// stack has room for it as it has for a native method.
typedef jlong (*LookbackTraceSlowPath)(jlong cursor, jint slot);

#define LOOKBACK_SET_TRACE_SLOW_PATH "dev.lookback.functions.SetTraceSlowPath"

// SetTraceSlowPath: says which function that is, for all threads. Before, a thread that comes to it is not traced any more.
//
// slow_path  the function
//
// Errors: JVMTI_ERROR_NULL_POINTER.
typedef jvmtiError (JNICALL *LookbackSetTraceSlowPath)(jvmtiEnv* env, LookbackTraceSlowPath slow_path);

#ifdef __cplusplus
}
#endif

#endif // SHARE_LOOKBACK_TRACEPOINTS_H
