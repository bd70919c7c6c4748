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
#include "runtime/os.hpp"
#include "runtime/semaphore.inline.hpp"
#include "runtime/thread.inline.hpp"
#include "runtime/vmOperations.hpp"
#include "runtime/vmThread.hpp"
#include "utilities/globalDefinitions.hpp"

// How long threads are given to reach a poll before it is looked whether they have, in nanoseconds: one that runs does, or returns to
// Java, or computes in native code. Threads that take long are looked at ever less often.
static const jlong GRACE = 30 * (NANOUNITS / MICROUNITS);
static const jlong PATIENCE = NANOUNITS / MILLIUNITS;

static uint64_t word_of(uint32_t request, uint32_t taken) {
  return (uint64_t)request << 32 | taken;
}

// The tickets of the current request; a request's number is never 0.
//
// Constraint: a thread that has sampled itself does not wake the requester: that would take it ten microseconds and more.
class Tickets {
 private:
  volatile uint64_t _word;      // number of the request << 32 | tickets taken
  volatile uint32_t _most;
  volatile uint32_t _finished;  // samples that were taken, or could not be
  uint32_t _awaited;            // so many samples are awaited
  Semaphore _turn;              // of requesters

  // What `taken` is when no more are given.
  static const uint32_t CLOSED = UINT32_MAX;

 public:
  Tickets() : _word(0), _most(0), _finished(0), _awaited(0), _turn(1) {}

  uint32_t open(JavaThread* current, int most) {
    _turn.wait_with_safepoint_check(current);
    uint32_t request = (uint32_t)(Atomic::load(&_word) >> 32) + 1;
    if (request == 0 || request == SampleRequest::OWN) {
      request = 1;
    }
    Atomic::store(&_most, (uint32_t)most);
    Atomic::store(&_finished, 0u);
    _awaited = (uint32_t)most;
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

  void finish() { Atomic::add(&_finished, 1u); }

  bool is_complete() const { return Atomic::load_acquire(&_finished) >= _awaited; }

  // Awaits no more samples than so many; there may be more until it is closed.
  void await_only(int most) { _awaited = MIN2(_awaited, (uint32_t)most); }

  // Whether all awaited samples have finished, at once or after so many nanoseconds.
  bool wait(JavaThread* current, jlong nanos) {
    if (!is_complete()) {
      ThreadBlockInVM blocked(current);
      os::naked_short_nanosleep(nanos);
    }
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
    _awaited = (uint32_t)word;
    while (!wait(current, GRACE)) {}
    _turn.signal();
  }
};

static Tickets _tickets;

// The request whose samples are taken; written before its tickets can be.
static jlong _tag;
static bool _whole;
static bool _only_running;
static volatile int _taken;

static void record(JavaThread* thread) {
  // One that ran when it was asked was on its way to where it is.
  const jint activity = _only_running ? LOOKBACK_RUNS : ThreadSampling::activity_of(thread);
  if (thread->sampling()->sample(thread, _tag, _whole, activity)) {
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
    self->sampling()->sample(self, 0, false, LOOKBACK_RUNS);
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

// Samples so many of the threads, which wait, at random.
static void sample_some(SampleRequest::ThreadArray* waiting, int most) {
  for (int i = 0; i < most; i++) {
    const int chosen = os::random() % waiting->length();
    JavaThread* const thread = waiting->at(chosen);
    waiting->delete_at(chosen);
    sample_waiting(thread);
  }
}

static void ask(const SampleRequest::ThreadArray& threads, uint32_t request) {
  for (int i = 0; i < threads.length(); i++) {
    threads.at(i)->sampling()->ask(threads.at(i), request);
  }
}

// Takes the sample in the thread's place, if that has not begun with it and there is a ticket left.
static void sample_instead(JavaThread* thread, uint32_t request) {
  if (thread->sampling()->claim() == request && _tickets.take(request)) {
    sample_waiting(thread);
    _tickets.finish();
  }
}

static void sample_if_it_computes(JavaThread* thread, uint32_t request) {
  if (thread->thread_state() == _thread_in_native && thread->sampling()->has_run(thread)) {
    sample_instead(thread, request);
  }
}

// Of threads that may wait, and are asked as well, awaits those that run, as their clocks tell: most are on their way to a poll,
// and those that compute in native code are sampled by the requester. So many others are awaited in any case.
static void await_those_that_run(
    JavaThread* current, const SampleRequest::ThreadArray& waiting, int others, uint32_t request) {
  SampleRequest::ThreadArray seen;
  // Another one first each time, so that no place in the list is preferred.
  const int first = waiting.length() == 0 ? 0 : os::random() % waiting.length();
  for (int i = 0; i < waiting.length() && !_tickets.is_complete(); i++) {
    JavaThread* const thread = waiting.at((first + i) % waiting.length());
    if (thread->sampling()->has_run(thread)) {
      seen.append(thread);
      // The clock of one that is on a processor goes on meanwhile.
      sample_if_it_computes(thread, request);
    }
  }
  _tickets.await_only(others + seen.length());
  if (!_tickets.wait(current, GRACE)) {
    // One whose processor the requester took has run since.
    for (int i = 0; i < seen.length(); i++) {
      sample_if_it_computes(seen.at(i), request);
    }
  }
}

// Awaits samples of threads that ran; of those that do not any longer, they are taken.
static void await_polls(
    JavaThread* current, const SampleRequest::ThreadArray& running, uint32_t request, jlong deadline) {
  for (jlong pause = GRACE; ; pause = MIN2(2 * pause, PATIENCE)) {
    bool is_any_left = false;
    for (int i = 0; i < running.length(); i++) {
      JavaThread* const thread = running.at(i);
      if (thread->sampling()->is_asked()) {
        is_any_left = true;
        // It waits since, or has ended; the latter has no Java frame.
        if (is_waiting(thread)) {
          sample_instead(thread, request);
        }
      }
    }
    if (!is_any_left || _tickets.wait(current, pause) || os::javaTimeNanos() >= deadline) {
      return;
    }
  }
}

int SampleRequest::partial(
    JavaThread* current, const ThreadArray& threads, jlong tag, int most, jint how, jlong max_wait) {
  ResourceMark mark(current);
  ThreadArray waiting, running;
  for (int i = 0; i < threads.length(); i++) {
    JavaThread* const thread = threads.at(i);
    if (!is_waiting(thread)) {
      running.append(thread);
    } else if (thread->has_last_Java_frame()) {
      waiting.append(thread);
    }
  }
  const int all = waiting.length() + running.length();
  if (all == 0) {
    return 0;
  }
  most = most == 0 ? all : MIN2(most, all);
  const bool only_running = (how & LOOKBACK_RUNNING) != 0;
  const int by_requester = only_running ? 0 : share_of(waiting.length(), all, most);
  const jlong deadline = max_wait == 0 ? max_jlong : os::javaTimeNanos() + max_wait;

  // Tickets are for those that reach a poll.
  const uint32_t request = _tickets.open(current, most - by_requester);
  _tag = tag;
  _whole = (how & LOOKBACK_WHOLE) != 0;
  _only_running = only_running;
  Atomic::release_store(&_taken, 0);
  if (by_requester < most) {
    ask(running, request);
  }
  if (only_running) {
    ask(waiting, request);
    if (running.length() < most || !_tickets.wait(current, GRACE)) {
      await_those_that_run(current, waiting, running.length(), request);
    }
  } else {
    sample_some(&waiting, by_requester);
  }
  await_polls(current, running, request, deadline);
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
        _taken += thread->sampling()->sample(thread, _tag, _whole, ThreadSampling::activity_of(thread));
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
