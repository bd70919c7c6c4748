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
#include "lookback/tracePoints.hpp"
#include "lookback/tracePointsExtension.hpp"
#include "prims/jvmtiExport.hpp"
#include "runtime/handles.inline.hpp"
#include "runtime/handshake.hpp"
#include "runtime/interfaceSupport.inline.hpp"
#include "runtime/thread.inline.hpp"
#include "runtime/threadSMR.hpp"
#include "utilities/preserveException.hpp"

// The current thread, if it may call the VM; as the VM's own JVMTI functions find it.
static JavaThread* caller() {
  Thread* const current = Thread::current_or_null();
  return current == NULL || !current->is_Java_thread() ? NULL : current->as_Java_thread();
}

static jvmtiError JNICALL SetTraceIds(const jvmtiEnv* env, ...) {
  va_list arguments;
  va_start(arguments, env);
  const jint count = va_arg(arguments, jint);
  const jmethodID* const methods = va_arg(arguments, const jmethodID*);
  const jint* const ids = va_arg(arguments, const jint*);
  va_end(arguments);

  if (count < 0) {
    return JVMTI_ERROR_ILLEGAL_ARGUMENT;
  }
  if (count > 0 && (methods == NULL || ids == NULL)) {
    return JVMTI_ERROR_NULL_POINTER;
  }
  for (jint i = 0; i < count; i++) {
    if (ids[i] < 0 || ids[i] >= LOOKBACK_TRACE_EXIT) {
      return JVMTI_ERROR_ILLEGAL_ARGUMENT;
    }
  }
  JavaThread* const current = caller();
  if (current == NULL) {
    return JVMTI_ERROR_UNATTACHED_THREAD;
  }
  ThreadInVMfromNative in_vm(current);
  PreserveExceptionMark exception(current);
  return TracePoints::set_ids(current, count, methods, ids);
}

// Something done to the cursor of a thread that is the current one or stands still.
class CursorClosure : public HandshakeClosure {
 public:
  CursorClosure() : HandshakeClosure("LookbackCursor") {}

  void do_thread(Thread* thread) { do_cursor(thread->as_Java_thread()->tracing()); }

  virtual void do_cursor(ThreadTracing* tracing) = 0;
};

// Does it to the given thread, or the current one. Without a handshake it may be running.
static jvmtiError execute(CursorClosure* closure, jthread thread, bool by_handshake) {
  JavaThread* const current = caller();
  if (current == NULL) {
    return JVMTI_ERROR_UNATTACHED_THREAD;
  }
  if (thread == NULL) {
    closure->do_thread(current);
    return JVMTI_ERROR_NONE;
  }
  ThreadInVMfromNative in_vm(current);
  HandleMark handles(current);
  PreserveExceptionMark exception(current);
  ThreadsListHandle threads(current);
  JavaThread* found = NULL;
  const jvmtiError error = JvmtiExport::cv_external_thread_to_JavaThread(threads.list(), thread, &found, NULL);
  if (error != JVMTI_ERROR_NONE) {
    return error;
  }
  if (by_handshake && found != current) {
    Handshake::execute(closure, found);
  } else {
    closure->do_thread(found);
  }
  return JVMTI_ERROR_NONE;
}

class GetCursor : public CursorClosure {
 private:
  jlong* const _cursor;

 public:
  explicit GetCursor(jlong* cursor) : _cursor(cursor) {}

  void do_cursor(ThreadTracing* tracing) { *_cursor = tracing->cursor(); }
};

static jvmtiError JNICALL GetTraceCursor(const jvmtiEnv* env, ...) {
  va_list arguments;
  va_start(arguments, env);
  const jthread thread = va_arg(arguments, jthread);
  jlong* const cursor = va_arg(arguments, jlong*);
  va_end(arguments);

  if (cursor == NULL) {
    return JVMTI_ERROR_NULL_POINTER;
  }
  GetCursor get(cursor);
  return execute(&get, thread, false);
}

class SetCursor : public CursorClosure {
 private:
  const jlong _cursor;

 public:
  explicit SetCursor(jlong cursor) : _cursor(cursor) {}

  void do_cursor(ThreadTracing* tracing) { tracing->set_cursor(_cursor); }
};

static jvmtiError JNICALL SetTraceCursor(const jvmtiEnv* env, ...) {
  va_list arguments;
  va_start(arguments, env);
  const jthread thread = va_arg(arguments, jthread);
  const jlong cursor = va_arg(arguments, jlong);
  va_end(arguments);

  SetCursor set(cursor);
  return execute(&set, thread, true);
}

class CompareAndSetCursor : public CursorClosure {
 private:
  const jlong _expected;
  const jlong _cursor;
  jboolean* const _is_set;

 public:
  CompareAndSetCursor(jlong expected, jlong cursor, jboolean* is_set) :
      _expected(expected), _cursor(cursor), _is_set(is_set) {}

  void do_cursor(ThreadTracing* tracing) { *_is_set = tracing->compare_and_set_cursor(_expected, _cursor); }
};

static jvmtiError JNICALL CompareAndSetTraceCursor(const jvmtiEnv* env, ...) {
  va_list arguments;
  va_start(arguments, env);
  const jthread thread = va_arg(arguments, jthread);
  const jlong expected = va_arg(arguments, jlong);
  const jlong cursor = va_arg(arguments, jlong);
  jboolean* const is_set = va_arg(arguments, jboolean*);
  va_end(arguments);

  if (is_set == NULL) {
    return JVMTI_ERROR_NULL_POINTER;
  }
  CompareAndSetCursor compare_and_set(expected, cursor, is_set);
  // A trace point stores where it has found a positive cursor, so it could undo what is set here.
  return execute(&compare_and_set, thread, expected > 0);
}

static jvmtiError JNICALL SetTraceSlowPath(const jvmtiEnv* env, ...) {
  va_list arguments;
  va_start(arguments, env);
  const LookbackTraceSlowPath slow_path = va_arg(arguments, LookbackTraceSlowPath);
  va_end(arguments);

  if (slow_path == NULL) {
    return JVMTI_ERROR_NULL_POINTER;
  }
  TracePoints::set_slow_path(slow_path);
  return JVMTI_ERROR_NONE;
}

#define PARAMETERS(of) sizeof(of) / sizeof(of[0]), of

void TracePointsExtension::add_to(GrowableArray<jvmtiExtensionFunctionInfo*>* functions) {
  if (!TracePoints::are_emitted()) {
    return;
  }
  static jvmtiError ids_errors[] = { JVMTI_ERROR_INVALID_METHODID };
  static jvmtiParamInfo ids_parameters[] = {
    { (char*)"Count", JVMTI_KIND_IN, JVMTI_TYPE_JINT, JNI_FALSE },
    { (char*)"Methods", JVMTI_KIND_IN_BUF, JVMTI_TYPE_JMETHODID, JNI_FALSE },
    { (char*)"Ids", JVMTI_KIND_IN_BUF, JVMTI_TYPE_JINT, JNI_FALSE },
  };
  static jvmtiExtensionFunctionInfo ids = {
    (jvmtiExtensionFunction)SetTraceIds,
    (char*)LOOKBACK_SET_TRACE_IDS,
    (char*)"Sets the ids under which methods are recorded",
    PARAMETERS(ids_parameters),
    1,
    ids_errors
  };
  static jvmtiError thread_errors[] = { JVMTI_ERROR_INVALID_THREAD, JVMTI_ERROR_THREAD_NOT_ALIVE };
  static jvmtiParamInfo get_parameters[] = {
    { (char*)"Thread", JVMTI_KIND_IN, JVMTI_TYPE_JTHREAD, JNI_TRUE },
    { (char*)"Cursor", JVMTI_KIND_OUT, JVMTI_TYPE_JLONG, JNI_FALSE },
  };
  static jvmtiExtensionFunctionInfo get = {
    (jvmtiExtensionFunction)GetTraceCursor,
    (char*)LOOKBACK_GET_TRACE_CURSOR,
    (char*)"Reads where a thread writes its next slot",
    PARAMETERS(get_parameters),
    2,
    thread_errors
  };
  static jvmtiParamInfo set_parameters[] = {
    { (char*)"Thread", JVMTI_KIND_IN, JVMTI_TYPE_JTHREAD, JNI_TRUE },
    { (char*)"Cursor", JVMTI_KIND_IN, JVMTI_TYPE_JLONG, JNI_FALSE },
  };
  static jvmtiExtensionFunctionInfo set = {
    (jvmtiExtensionFunction)SetTraceCursor,
    (char*)LOOKBACK_SET_TRACE_CURSOR,
    (char*)"Says where a thread writes its next slot",
    PARAMETERS(set_parameters),
    2,
    thread_errors
  };
  static jvmtiParamInfo compare_parameters[] = {
    { (char*)"Thread", JVMTI_KIND_IN, JVMTI_TYPE_JTHREAD, JNI_TRUE },
    { (char*)"Expected", JVMTI_KIND_IN, JVMTI_TYPE_JLONG, JNI_FALSE },
    { (char*)"Cursor", JVMTI_KIND_IN, JVMTI_TYPE_JLONG, JNI_FALSE },
    { (char*)"Is Set", JVMTI_KIND_OUT, JVMTI_TYPE_JBOOLEAN, JNI_FALSE },
  };
  static jvmtiExtensionFunctionInfo compare = {
    (jvmtiExtensionFunction)CompareAndSetTraceCursor,
    (char*)LOOKBACK_COMPARE_AND_SET_TRACE_CURSOR,
    (char*)"Says where a thread writes its next slot, if it is where it is expected",
    PARAMETERS(compare_parameters),
    2,
    thread_errors
  };
  static jvmtiParamInfo slow_path_parameters[] = {
    { (char*)"Slow Path", JVMTI_KIND_IN_PTR, JVMTI_TYPE_CVOID, JNI_FALSE },
  };
  static jvmtiExtensionFunctionInfo slow_path = {
    (jvmtiExtensionFunction)SetTraceSlowPath,
    (char*)LOOKBACK_SET_TRACE_SLOW_PATH,
    (char*)"Says what a trace point calls that finds its thread's poll set or its page filled",
    PARAMETERS(slow_path_parameters),
    0,
    NULL
  };
  functions->append(&ids);
  functions->append(&get);
  functions->append(&set);
  functions->append(&compare);
  functions->append(&slow_path);
}
