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
#include "lookback/endedThreads.hpp"
#include "lookback/threadSampling.inline.hpp"
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

bool ThreadSampling::sample(JavaThread* thread, jlong tag, bool whole) {
  if (!thread->has_last_Java_frame()) {
    return false;
  }
  if (_recorder == NULL) {
    _recorder = new StackRecorder(thread);
  }
  return _recorder->sample(tag, whole, thread == Thread::current());
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
