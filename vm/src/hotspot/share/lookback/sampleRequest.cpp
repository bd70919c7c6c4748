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
#include "lookback/sampleRequest.hpp"
#include "lookback/stackTraces.h"
#include "lookback/threadSampling.inline.hpp"
#include "memory/resourceArea.hpp"
#include "runtime/atomic.hpp"
#include "runtime/handshake.hpp"
#include "runtime/interfaceSupport.inline.hpp"
#include "runtime/orderAccess.hpp"
#include "runtime/os.hpp"
#include "runtime/semaphore.inline.hpp"
#include "runtime/thread.inline.hpp"
#include "runtime/vmOperations.hpp"
#include "runtime/vmThread.hpp"
#include "utilities/globalDefinitions.hpp"

// How long to wait before it is looked whether threads that were asked have gone where no poll is.
static const int64_t PATIENCE_MS = 1;

static uint64_t word_of(uint32_t request, uint32_t taken) {
  return (uint64_t)request << 32 | taken;
}

// The tickets of the current request; a request's number is never 0.
class Tickets {
 private:
  volatile uint64_t _word;      // number of the request << 32 | tickets taken
  volatile uint32_t _most;
  volatile uint32_t _finished;  // samples that were taken, or could not be
  volatile uint32_t _awaited;   // the requester is woken when so many have finished
  Semaphore _turn;              // of requesters
  PosixSemaphore _all;

  // What `taken` is when no more are given.
  static const uint32_t CLOSED = UINT32_MAX;

 public:
  Tickets() : _word(0), _most(0), _finished(0), _awaited(0), _turn(1), _all() {}

  uint32_t open(JavaThread* current, int most) {
    _turn.wait_with_safepoint_check(current);
    while (_all.trywait()) {}
    uint32_t request = (uint32_t)(Atomic::load(&_word) >> 32) + 1;
    if (request == 0 || request == SampleRequest::OWN) {
      request = 1;
    }
    Atomic::store(&_most, (uint32_t)most);
    Atomic::store(&_finished, 0u);
    Atomic::store(&_awaited, (uint32_t)most);
    Atomic::release_store_fence(&_word, word_of(request, 0));
    return request;
  }

  bool take(uint32_t request) {
    for (;;) {
      const uint64_t word = Atomic::load_acquire(&_word);
      if ((uint32_t)(word >> 32) != request || (uint32_t)word >= Atomic::load(&_most)) {
        return false;
      }
      if (Atomic::cmpxchg(&_word, word, word + 1) == word) {
        return true;
      }
    }
  }

  void finish() {
    if (Atomic::add(&_finished, 1u) == Atomic::load(&_awaited)) {
      _all.signal();
    }
  }

  bool is_complete() const { return Atomic::load_acquire(&_finished) >= Atomic::load(&_awaited); }

  // True once all awaited samples have finished; false after so many milliseconds.
  bool wait(JavaThread* current, int64_t millis) {
    if (is_complete()) {
      return true;
    }
    ThreadBlockInVM blocked(current);
    _all.timedwait(millis);
    return is_complete();
  }

  // Gives no more tickets, and awaits what was begun, which is being recorded.
  void close(JavaThread* current) {
    uint64_t word = Atomic::load(&_word);
    const uint32_t request = (uint32_t)(word >> 32);
    for (;;) {
      const uint64_t seen = Atomic::cmpxchg(&_word, word, word_of(request, CLOSED));
      if (seen == word) {
        break;
      }
      word = seen;
    }
    Atomic::store(&_awaited, (uint32_t)word);
    OrderAccess::fence();
    while (!wait(current, PATIENCE_MS)) {}
    _turn.signal();
  }
};

static Tickets _tickets;

// The request whose samples are taken; written before its tickets can be.
static jlong _tag;
static bool _whole;
static volatile int _taken;

static void record(JavaThread* thread) {
  if (thread->sampling()->sample(thread, _tag, _whole)) {
    Atomic::inc(&_taken);
  }
}

void SampleRequest::of_self(JavaThread* self) {
  // Somebody else's request would be lost, and that one waits for it.
  if (!self->sampling()->is_asked()) {
    self->sampling()->ask(self, OWN);
  }
}

void SampleRequest::at_poll(JavaThread* self, uint32_t request) {
  if (request == OWN) {
    self->sampling()->sample(self, 0, false);
    return;
  }
  if (request != 0 && _tickets.take(request)) {
    record(self);
    _tickets.finish();
  }
}

// The thread samples itself where it does not wait any longer.
class SampleHandshake : public HandshakeClosure {
 public:
  SampleHandshake() : HandshakeClosure("LookbackSample") {}
  void do_thread(Thread* thread) { record(thread->as_Java_thread()); }
};

static void sample_waiting(JavaThread* thread) {
  SampleHandshake handshake;
  Handshake::execute(&handshake, thread);
}

static bool is_waiting(JavaThread* thread) {
  const JavaThreadState state = thread->thread_state();
  return state == _thread_in_native || state == _thread_blocked;
}

// How many of the samples are of waiting threads: in proportion, and what is no whole number by chance.
static int share_of(int waiting, int all, int most) {
  const int64_t product = (int64_t)most * waiting;
  const int share = (int)(product / all);
  return share + (os::random() % all < product % all);
}

int SampleRequest::partial(
    JavaThread* current, const ThreadArray& threads, jlong tag, int most, jint how, jlong max_wait) {
  ResourceMark mark(current);
  ThreadArray waiting, running;
  for (int i = 0; i < threads.length(); i++) {
    JavaThread* const thread = threads.at(i);
    if (!is_waiting(thread)) {
      running.append(thread);
    } else if ((how & LOOKBACK_RUNNING) == 0 && thread->has_last_Java_frame()) {
      waiting.append(thread);
    }
  }
  const int all = waiting.length() + running.length();
  if (all == 0) {
    return 0;
  }
  most = most == 0 ? all : MIN2(most, all);
  const int by_requester = share_of(waiting.length(), all, most);
  const jlong deadline = max_wait == 0 ? max_jlong : os::javaTimeNanos() + max_wait;

  // Tickets are for those that run.
  const uint32_t request = _tickets.open(current, most - by_requester);
  _tag = tag;
  _whole = (how & LOOKBACK_WHOLE) != 0;
  Atomic::release_store(&_taken, 0);
  if (by_requester < most) {
    for (int i = 0; i < running.length(); i++) {
      running.at(i)->sampling()->ask(running.at(i), request);
    }
  }
  for (int i = 0; i < by_requester; i++) {
    const int chosen = i + os::random() % (waiting.length() - i);
    JavaThread* const thread = waiting.at(chosen);
    waiting.at_put(chosen, waiting.at(i));
    sample_waiting(thread);
  }
  while (!_tickets.wait(current, PATIENCE_MS) && os::javaTimeNanos() < deadline) {
    bool is_any_left = false;
    for (int i = 0; i < running.length(); i++) {
      ThreadSampling* const sampling = running.at(i)->sampling();
      if (!sampling->is_asked()) {
        continue;
      }
      is_any_left = true;
      // It waits since, or has ended; the latter has no Java frame.
      if (is_waiting(running.at(i)) && sampling->claim() == request && _tickets.take(request)) {
        sample_waiting(running.at(i));
        _tickets.finish();
      }
    }
    if (!is_any_left) {
      break;
    }
  }
  _tickets.close(current);
  return Atomic::load_acquire(&_taken);
}

class SampleOperation : public VM_Operation {
 private:
  const SampleRequest::ThreadArray& _threads;
  const jlong _tag;
  const bool _whole;
  int _taken;

 public:
  SampleOperation(const SampleRequest::ThreadArray& threads, jlong tag, bool whole) :
      _threads(threads), _tag(tag), _whole(whole), _taken(0) {}

  // For logs alone.
  VMOp_Type type() const { return VMOp_GetAllStackTraces; }

  void doit() {
    for (int i = 0; i < _threads.length(); i++) {
      JavaThread* const thread = _threads.at(i);
      if (!thread->is_exiting()) {
        _taken += thread->sampling()->sample(thread, _tag, _whole);
      }
    }
  }

  int taken() const { return _taken; }
};

int SampleRequest::at_safepoint(const ThreadArray& threads, jlong tag, jint how) {
  SampleOperation operation(threads, tag, (how & LOOKBACK_WHOLE) != 0);
  VMThread::execute(&operation);
  return operation.taken();
}
