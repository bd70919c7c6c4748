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
#include "lookback/recorderList.hpp"
#include "runtime/atomic.hpp"

// 24 MiB.
static const size_t MOST_FRAMES = 1024 * 1024;

static RecorderList _kept;
static volatile size_t _frames = 0;
static volatile size_t _dropped = 0;

void EndedThreads::keep(StackRecorder* recorder) {
  const size_t frames = recorder->frame_count();
  if (Atomic::add(&_frames, frames) > MOST_FRAMES) {
    Atomic::sub(&_frames, frames);
    Atomic::add(&_dropped, (size_t)(recorder->trace_count() + recorder->dropped()));
    delete recorder;
    return;
  }
  _kept.put(recorder);
}

jlong EndedThreads::move_to(RecorderList* list) {
  StackRecorder* next;
  for (StackRecorder* recorder = _kept.take(); recorder != NULL; recorder = next) {
    next = recorder->next();
    Atomic::sub(&_frames, (size_t)recorder->frame_count());
    list->put(recorder);
  }
  return (jlong)Atomic::xchg(&_dropped, (size_t)0);
}
