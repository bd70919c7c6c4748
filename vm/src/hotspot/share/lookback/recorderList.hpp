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

#ifndef SHARE_LOOKBACK_RECORDERLIST_HPP
#define SHARE_LOOKBACK_RECORDERLIST_HPP

#include "lookback/stackRecorder.hpp"
#include "memory/allocation.hpp"
#include "runtime/atomic.hpp"

// Recorders on their way from threads to whoever retrieves them.
//
// Constraint: any number of threads put recorders in while one takes all out; nobody takes a single one, so that there is
// no ABA.
class RecorderList {
 private:
  StackRecorder* volatile _head;

 public:
  RecorderList() : _head(NULL) {}

  void put(StackRecorder* recorder) {
    StackRecorder* head = Atomic::load(&_head);
    for (;;) {
      recorder->set_next(head);
      StackRecorder* const seen = Atomic::cmpxchg(&_head, head, recorder);
      if (seen == head) {
        return;
      }
      head = seen;
    }
  }

  // The first of all, linked by `next`.
  StackRecorder* take() { return Atomic::xchg(&_head, (StackRecorder*)NULL); }
};

#endif // SHARE_LOOKBACK_RECORDERLIST_HPP
