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
#include "code/nmethod.hpp"
#include "lookback/lookback_globals.hpp"
#include "lookback/tracePoints.hpp"
#include "oops/method.inline.hpp"
#include "prims/jvmtiExport.hpp"
#include "runtime/atomic.hpp"
#include "runtime/globals.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/safepointVerifiers.hpp"
#include "runtime/thread.inline.hpp"
#include "runtime/vframeArray.hpp"

static jlong turn_off(jlong cursor, jint slot) {
  return 0;
}

volatile LookbackTraceSlowPath TracePoints::_slow_path = turn_off;

bool TracePoints::are_emitted() {
  return AMD64_ONLY(LookbackTracing) NOT_AMD64(false);
}

void TracePoints::set_id(Method* method, jint id) {
  if (method->trace_id() == (u4)id) {
    return;
  }
  method->set_trace_id(id);
  if (method->queued_for_compilation()) {
    // A compiler may have read the old one. It drops what it has compiled, as it does after a redefinition: it looks for that
    // under the same lock as it installs its code.
    JvmtiExport::increment_redefinition_count();
  }
  CompiledMethod* const code = method->code();
  if (code != NULL && !method->is_method_handle_intrinsic()) {
    code->make_not_entrant();
  }
  nmethod* osr;
  while ((osr = method->lookup_osr_nmethod_for(InvocationEntryBci, CompLevel_none, false)) != NULL) {
    osr->make_not_entrant();
  }
}

jvmtiError TracePoints::set_ids(JavaThread* current, jint count, const jmethodID* methods, const jint* ids) {
  bool has_native = false;
  for (jint i = 0; i < count; i++) {
    const Method* const method = Method::checked_resolve_jmethod_id(methods[i]);
    if (method == NULL) {
      return JVMTI_ERROR_INVALID_METHODID;
    }
    has_native |= method->is_native();
  }
  // Each lock is the one under which such methods' code is made or installed, and while one is held there is no safepoint. A class
  // may be unloaded, though, while it is waited for.
  if (has_native) {
    MutexLocker locker(current, AdapterHandlerLibrary_lock);
    NoSafepointVerifier no_safepoint;
    for (jint i = 0; i < count; i++) {
      Method* const method = Method::checked_resolve_jmethod_id(methods[i]);
      if (method != NULL && method->is_native()) {
        set_id(method, ids[i]);
      }
    }
  }
  MutexLocker locker(current, Compile_lock);
  NoSafepointVerifier no_safepoint;
  for (jint i = 0; i < count; i++) {
    Method* const method = Method::checked_resolve_jmethod_id(methods[i]);
    if (method != NULL && !method->is_native()) {
      set_id(method, ids[i]);
    }
  }
  return JVMTI_ERROR_NONE;
}

void TracePoints::set_slow_path(LookbackTraceSlowPath slow_path) {
  Atomic::release_store(&_slow_path, slow_path);
}

void TracePoints::slow_path(JavaThread* thread) {
  const jlong cursor = thread->tracing()->cursor();
  const jint slot = ((const jint*)cursor)[-1];
  thread->tracing()->set_cursor(Atomic::load_acquire(&_slow_path)(cursor, slot));
}

// As TracePointAssembler's.
void TracePoints::enter(JavaThread* thread, jint id) {
  jlong cursor = thread->tracing()->cursor();
  if (id == 0 || cursor <= 0) {
    return;
  }
  *(jint*)cursor = id;
  cursor += sizeof(jint);
  thread->tracing()->set_cursor(cursor);
  if (*(const jint*)(cursor & -LOOKBACK_TRACE_SLAB) > 1) {
    slow_path(thread);
  }
}

void TracePoints::on_unpacked(JavaThread* thread, vframeArray* frames) {
  if (!are_emitted()) {
    return;
  }
  // The outermost is the method whose frame it was, which was entered; the innermost is number 0.
  for (int i = frames->frames() - 2; i >= 0; i--) {
    enter(thread, frames->element(i)->method()->trace_id());
  }
}
