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

#ifndef SHARE_LOOKBACK_SAMPLEREQUEST_HPP
#define SHARE_LOOKBACK_SAMPLEREQUEST_HPP

#include "jni.h"
#include "memory/allocation.hpp"
#include "utilities/growableArray.hpp"

class JavaThread;

// Partial safepoints with self-sampling (thesis, section 4.1): of the threads that are asked, those that reach a poll first
// sample themselves, by tickets; no thread stops, and none waits for another, nor does the requester for them: the thesis' does.
// Threads that wait reach no poll: they are taken in proportion, at random, and sampled by the requester. Where
// only those that run are wanted, all are asked, and their clocks of processor time tell which ran.
//
// Constraint: one request at a time, the next ends it. No thread blocks.
class SampleRequest : public AllStatic {
 public:
  typedef GrowableArray<JavaThread*> ThreadArray;

  // The request of a thread that asked itself; no other has this number.
  static const uint32_t OWN = UINT32_MAX;

  // Asks for `most` samples (0: one of each thread), to be taken within so many nanoseconds (0: until the next request), `how` by
  // bits of stackTraces.h. `current` is in the VM, and the threads cannot go away.
  static void partial(JavaThread* current, const ThreadArray& threads, jlong tag, int most, jint how, jlong max_delay);

  // Samples all threads at a global safepoint.
  static void at_safepoint(const ThreadArray& threads, jlong tag, jint how);

  // Ends the request that goes on.
  static void end();

  // Has the thread, the current one, sample itself at its next poll. Safe in a signal handler.
  static void of_self(JavaThread* self);

  // The current thread is at a poll and has claimed the request, which may be over.
  static void at_poll(JavaThread* self, uint32_t request);
};

#endif // SHARE_LOOKBACK_SAMPLEREQUEST_HPP
