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

#include "precompiled.hpp"
#include "jvmtifiles/jvmti.h"
#include "lookback/endedThreads.hpp"
#include "lookback/lookback_globals.hpp"
#include "lookback/stackTraces.h"
#include "lookback/threadSampling.inline.hpp"
#include "runtime/handshake.hpp"
#include "runtime/orderAccess.hpp"
#include "runtime/os.hpp"
#include "runtime/osThread.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/safepointMechanism.inline.hpp"
#include "runtime/thread.hpp"

ThreadSampling::~ThreadSampling() {
  if (_recorder != NULL) {
    EndedThreads::keep(_recorder);
  }
}

void ThreadSampling::ask(JavaThread* thread, uint32_t request) {
  Atomic::release_store(&_request, request);
  // After the request, which update_poll_values looks for again when it has disarmed.
  SafepointMechanism::arm_local_poll_release(thread);
}

// The VM's counter of safepoints, which is odd during one.
static uint32_t count_safepoints() {
  return Atomic::load((volatile uint32_t*)SafepointSynchronize::safepoint_counter_addr());
}

bool ThreadSampling::on_own_poll(JavaThread* self) {
  if (_may_have_stopped) {
    // Before it is looked what stops threads now, so that what begins meanwhile is not forgotten.
    Atomic::store(&_may_have_stopped, false);
    OrderAccess::fence();
    // In a safepoint this thread is about to stop.
    _safepoints = (count_safepoints() + 1) & ~1u;
    return false;
  }
  const bool is_stopping = SafepointSynchronize::is_synchronizing() || SafepointSynchronize::is_at_safepoint();
  if (!is_asked() || is_stopping || self->handshake_state()->has_operation()) {
    return false;
  }
  if (LookbackVerify) {
    check_stops();
  }
  on_poll(self);
  return true;
}

// Whether there was no safepoint since the thread has passed the VM's fence; one that begins just now has not come to anything.
void ThreadSampling::check_stops() const {
  const uint32_t safepoints = count_safepoints();
  guarantee(safepoints - _safepoints <= 1, "a fence is skipped that is needed: %u is not %u", safepoints, _safepoints);
}

// The VM notes what its threads wait for in the state of their OSThread: monitors, parking, sleep, its own locks.
jint ThreadSampling::activity_of(JavaThread* thread) {
  if (thread == Thread::current()) {
    return LOOKBACK_RUNS;
  }
  if (thread->osthread()->get_state() != RUNNABLE) {
    return LOOKBACK_WAITS;
  }
  // A safepoint stops those that run, and leaves native code alone.
  const bool is_stopped = SafepointSynchronize::is_at_safepoint() && thread->thread_state() != _thread_in_native;
  return is_stopped ? LOOKBACK_RUNS : LOOKBACK_IS_IN_NATIVE;
}

bool ThreadSampling::sample(JavaThread* thread, jlong tag, bool whole, jint activity) {
  if (!thread->has_last_Java_frame()) {
    return false;
  }
  if (_recorder == NULL) {
    _recorder = new StackRecorder(thread);
  }
  return _recorder->sample(tag, whole, activity);
}

StackRecorder* ThreadSampling::take() {
  StackRecorder* const recorder = _recorder;
  if (recorder == NULL || recorder->is_empty()) {
    return NULL;
  }
  recorder->complete();
  _recorder = NULL;
  return recorder;
}
