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

#ifndef SHARE_LOOKBACK_THREADSAMPLING_INLINE_HPP
#define SHARE_LOOKBACK_THREADSAMPLING_INLINE_HPP

#include "lookback/threadSampling.hpp"

#include "lookback/sampleRequest.hpp"
#include "lookback/stackRecorder.hpp"
#include "runtime/atomic.hpp"

inline bool ThreadSampling::is_asked() const {
  return Atomic::load(&_request) != 0;
}

inline uint32_t ThreadSampling::claim() {
  return Atomic::xchg(&_request, 0u);
}

inline uintptr_t ThreadSampling::watermark() const {
  return _recorder == NULL ? 0 : _recorder->watermark();
}

inline void ThreadSampling::before_unwind() {
  if (_recorder != NULL) {
    _recorder->before_unwind();
  }
}

inline void ThreadSampling::after_unwind() {
  if (_recorder != NULL) {
    _recorder->after_unwind();
  }
}

inline void ThreadSampling::on_poll(JavaThread* self) {
  if (is_asked()) {
    SampleRequest::at_poll(self, claim());
  }
}

#endif // SHARE_LOOKBACK_THREADSAMPLING_INLINE_HPP
