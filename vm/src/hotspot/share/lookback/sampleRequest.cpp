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

// Of threads that do not run so many are looked at in a request, for a look costs a system call.
static const int MOST_IDLE = 16;

// A thread that was asked, and has run for such a part of the time when it comes to a poll, is taken to have run when it was asked. Of
// threads that wait and are woken, those are taken that were woken soon: they stand for as many that went to wait just then, and
// come to a poll too late to be told from others. With this part there are as many samples as the threads of Tomcat,
// ActiveMQ and H2 use processor time; with three quarters of the time a third fewer of the two servers, which wait so often.
static const double ENOUGH = 0.25;

static uint64_t word_of(uint32_t request, uint32_t taken) {
  return (uint64_t)request << 32 | taken;
}

// What its threads are asked for by a request.
struct Wanted {
  jlong tag;
  uint32_t most;        // tickets
  bool whole;
  bool only_running;
};

// The tickets of the current request; a request's number is never 0.
//
// Constraint: the requester does not wait for those that take them, nor do they wake it: that would take a thread ten microseconds
// and more. So what is wanted changes under the eyes of threads, and holds for one that gets a ticket: while it
// changes, none is given.
class Tickets {
 private:
  volatile uint64_t _word;      // number of the request << 32 | tickets taken
  volatile jlong _tag;
  volatile uint32_t _most;
  volatile bool _whole;
  volatile bool _only_running;

  // What `taken` is when no more are given: all its bits are set.
  static const uint32_t CLOSED = UINT32_MAX;

  // Whether `word` has a ticket of that request, which gives `most`.
  static bool has(uint64_t word, uint32_t request, uint32_t most) {
    return (uint32_t)(word >> 32) == request && (uint32_t)word < most;
  }

 public:
  Tickets() : _word(word_of(0, CLOSED)), _tag(0), _most(0), _whole(false), _only_running(false) {}

  // Ends the request before. One requester at a time.
  uint32_t open(const Wanted& wanted) {
    close();
    uint32_t request = (uint32_t)(Atomic::load(&_word) >> 32) + 1;
    if (request == 0 || request == SampleRequest::OWN) {
      request = 1;
    }
    Atomic::store(&_tag, wanted.tag);
    Atomic::store(&_most, wanted.most);
    Atomic::store(&_whole, wanted.whole);
    Atomic::store(&_only_running, wanted.only_running);
    Atomic::release_store_fence(&_word, word_of(request, 0));
    return request;
  }

  // Whether the request goes on and a ticket is left, as it looks.
  bool are_left(uint32_t request) const { return has(Atomic::load(&_word), request, Atomic::load(&_most)); }

  bool take(uint32_t request, Wanted* wanted) {
    for (;;) {
      const uint64_t word = Atomic::load_acquire(&_word);
      *wanted = {Atomic::load(&_tag), Atomic::load(&_most), Atomic::load(&_whole), Atomic::load(&_only_running)};
      if (!has(word, request, wanted->most)) {
        return false;
      }
      if (Atomic::cmpxchg(&_word, word, word + 1) == word) {
        return true;
      }
    }
  }

  // Gives no more.
  void close() {
    uint64_t word;
    do {
      word = Atomic::load(&_word);
    } while (Atomic::cmpxchg(&_word, word, word | CLOSED) != word);
  }
};

static Tickets _tickets;

// When the last thread was asked, in nanoseconds; while they are asked, when that began.
static volatile jlong _asked;
// So long after that a thread may take a sample; 0: until the next request.
static volatile jlong _max_delay;
// Of requesters.
static Semaphore _turn(1);

static void record(JavaThread* thread, const Wanted& wanted) {
  // One that ran when it was asked was on its way to where it is.
  const jint activity = wanted.only_running ? LOOKBACK_RUNS : ThreadSampling::activity_of(thread);
  thread->sampling()->sample(thread, wanted.tag, wanted.whole, activity);
}

void SampleRequest::of_self(JavaThread* self) {
  // Somebody else's request would be lost.
  if (!self->sampling()->is_asked()) {
    self->sampling()->ask(self, OWN);
  }
}

// Whether the current thread, which was asked, is not too late, and ran when it was.
static bool is_wanted(JavaThread* self) {
  const jlong asked = Atomic::load(&_asked);
  const jlong max_delay = Atomic::load(&_max_delay);
  const jlong now = os::javaTimeNanos();
  return (max_delay == 0 || now - asked <= max_delay) && self->sampling()->clock()->part_since(asked, now) >= ENOUGH;
}

void SampleRequest::at_poll(JavaThread* self, uint32_t request) {
  Wanted wanted;
  if (request == OWN) {
    self->sampling()->sample(self, 0, false, LOOKBACK_RUNS);
  } else if (_tickets.are_left(request) && is_wanted(self) && _tickets.take(request, &wanted)) {
    record(self, wanted);
  }
}

// The thread samples itself where it does not wait any longer.
class SampleHandshake : public HandshakeClosure {
 private:
  const Wanted& _wanted;

 public:
  explicit SampleHandshake(const Wanted& wanted) : HandshakeClosure("LookbackSample"), _wanted(wanted) {}
  void do_thread(Thread* thread) { record(thread->as_Java_thread(), _wanted); }
};

static void sample_waiting(JavaThread* thread, const Wanted& wanted) {
  SampleHandshake handshake(wanted);
  Handshake::execute(&handshake, thread);
}

// Whether the thread waits or is in native code, as far as the VM knows.
static bool is_waiting(JavaThread* thread) {
  const JavaThreadState state = thread->thread_state();
  return state == _thread_in_native || state == _thread_blocked;
}

static bool by_chance(double share) {
  return os::random() < share * max_jint;
}

// How many of the samples are of waiting threads: in proportion, and what is no whole number by chance.
static int share_of(int waiting, int all, int most) {
  const double share = (double)most * waiting / all;
  const int whole = (int)share;
  return whole + by_chance(share - whole);
}

// Samples so many of the threads, which wait, at random.
static void sample_some(SampleRequest::ThreadArray* waiting, int most, const Wanted& wanted) {
  for (int i = 0; i < most; i++) {
    const int chosen = os::random() % waiting->length();
    JavaThread* const thread = waiting->at(chosen);
    waiting->delete_at(chosen);
    sample_waiting(thread, wanted);
  }
}

static void ask(const SampleRequest::ThreadArray& threads, uint32_t request, jlong now) {
  for (int i = 0; i < threads.length(); i++) {
    JavaThread* const thread = threads.at(i);
    thread->sampling()->clock()->look(thread, true, now);
    thread->sampling()->ask(thread, request);
  }
}

// Asks threads that may wait, since one that is in a system call is on its way to a poll if it runs. One that was asked before and
// has come to no poll since is where it was, or waits since: for the part of the time that it has run it is sampled there.
static void ask_waiting(
    const SampleRequest::ThreadArray& threads, uint32_t request, jlong now, const Wanted& wanted) {
  int idle = 0;
  // Another one first each time, so that no place in the list is preferred.
  const int first = threads.length() == 0 ? 0 : os::random() % threads.length();
  for (int i = 0; i < threads.length(); i++) {
    JavaThread* const thread = threads.at((first + i) % threads.length());
    ThreadSampling* const sampling = thread->sampling();
    const bool was_asked = sampling->is_asked();
    if (was_asked && sampling->clock()->is_idle() && ++idle > MOST_IDLE) {
      continue;
    }
    const double share = sampling->clock()->look(thread, false, now);
    if (was_asked && by_chance(share) && sampling->claim() != 0) {
      sample_waiting(thread, wanted);
    }
    sampling->ask(thread, request);
  }
}

void SampleRequest::partial(
    JavaThread* current, const ThreadArray& threads, jlong tag, int most, jint how, jlong max_delay) {
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
    return;
  }
  most = most == 0 ? all : MIN2(most, all);
  const bool only_running = (how & LOOKBACK_RUNNING) != 0;
  const int by_requester = only_running ? 0 : share_of(waiting.length(), all, most);
  const Wanted wanted = {tag, (uint32_t)(most - by_requester), (how & LOOKBACK_WHOLE) != 0, only_running};

  _turn.wait_with_safepoint_check(current);
  const jlong now = os::javaTimeNanos();
  Atomic::store(&_asked, now);
  Atomic::store(&_max_delay, max_delay);
  const uint32_t request = _tickets.open(wanted);
  if (wanted.most > 0) {
    ask(running, request, now);
  }
  if (only_running) {
    ask_waiting(waiting, request, now, wanted);
  } else {
    sample_some(&waiting, by_requester, wanted);
  }
  Atomic::store(&_asked, os::javaTimeNanos());
  _turn.signal();
}

void SampleRequest::end() { _tickets.close(); }

class SampleOperation : public VM_Operation {
 private:
  const SampleRequest::ThreadArray& _threads;
  const jlong _tag;
  const bool _whole;

 public:
  SampleOperation(const SampleRequest::ThreadArray& threads, jlong tag, bool whole) :
      _threads(threads), _tag(tag), _whole(whole) {}

  // For logs alone.
  VMOp_Type type() const { return VMOp_GetAllStackTraces; }

  void doit() {
    for (int i = 0; i < _threads.length(); i++) {
      JavaThread* const thread = _threads.at(i);
      if (!thread->is_exiting()) {
        thread->sampling()->sample(thread, _tag, _whole, ThreadSampling::activity_of(thread));
      }
    }
  }
};

void SampleRequest::at_safepoint(const ThreadArray& threads, jlong tag, jint how) {
  SampleOperation operation(threads, tag, (how & LOOKBACK_WHOLE) != 0);
  VMThread::execute(&operation);
}
