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

#ifndef SHARE_LOOKBACK_THREADSAMPLING_HPP
#define SHARE_LOOKBACK_THREADSAMPLING_HPP

#include "jni.h"
#include "lookback/threadClock.hpp"
#include "utilities/globalDefinitions.hpp"

class JavaThread;
class StackRecorder;

// What sampling keeps in each JavaThread; all that the VM's own code calls is here.
//
// Constraint: a thread that is never sampled pays for loads and compares on slow paths only.
class ThreadSampling {
 private:
  StackRecorder* _recorder;     // NULL before the first sample, and after what was recorded is taken
  volatile uint32_t _request;   // the request that asks the thread to sample itself; 0: none
  ThreadClock _clock;
  volatile bool _may_have_stopped;  // since the thread's poll was last processed by the VM, by whatever stops threads
  uint32_t _safepoints;         // LookbackVerify: the VM's counter of safepoints, as that saw it

  void check_stops() const;

 public:
  ThreadSampling() : _recorder(NULL), _request(0), _may_have_stopped(true), _safepoints(0) {}

  // What a thread has recorded outlives it.
  ~ThreadSampling();

  // A request is a reason to go to the slow path of a poll.
  inline bool is_asked() const;

  // The thread is about to be armed for a safepoint or a handshake.
  void expect_stop() { _may_have_stopped = true; }

  // The thread is at a poll's slow path. If a request alone has sent it there, it is done with what the VM would do.
  //
  // The VM ends with a fence against changed code, which on x86 is CPUID: some 4 us in a virtual machine.
  // Code is changed while threads stop, so a thread that nothing has stopped needs none.
  bool on_own_poll(JavaThread* self);

  // The same, as a part of what the VM does.
  inline void on_poll(JavaThread* self);

  // Where returns are to be trapped; 0: nowhere.
  inline uintptr_t watermark() const;

  // The frame that StackWatermarkSet is told of.
  inline void before_unwind();
  inline void after_unwind();

  // Asks the thread to sample itself at its next poll.
  void ask(JavaThread* thread, uint32_t request);

  // Whoever gets the request takes the sample, the thread or the requester: 0 when somebody has it already.
  inline uint32_t claim();

  ThreadClock* clock() { return &_clock; }

  // What the thread does, one of stackTraces.h; it is the current one or stands still.
  static jint activity_of(JavaThread* thread);

  // Records where the thread is; it is the current one or stands still.
  bool sample(JavaThread* thread, jlong tag, bool whole, jint activity);

  // Completes what was recorded and hands it over; NULL: nothing was. The thread is the current one or stands still.
  StackRecorder* take();
};

#endif // SHARE_LOOKBACK_THREADSAMPLING_HPP
