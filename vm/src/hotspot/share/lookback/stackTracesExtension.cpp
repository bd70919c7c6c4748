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
#include "lookback/lookback_globals.hpp"
#include "lookback/recorderList.hpp"
#include "lookback/sampleRequest.hpp"
#include "lookback/stackTracesExtension.hpp"
#include "lookback/threadSampling.inline.hpp"
#include "memory/resourceArea.hpp"
#include "prims/jvmtiExport.hpp"
#include "runtime/globals.hpp"
#include "runtime/handles.inline.hpp"
#include "runtime/handshake.hpp"
#include "runtime/interfaceSupport.inline.hpp"
#include "runtime/thread.inline.hpp"
#include "runtime/threadSMR.hpp"
#include "utilities/preserveException.hpp"

typedef SampleRequest::ThreadArray JavaThreads;

// The current thread, if it may call the VM; as the VM's own JVMTI functions find it.
static JavaThread* caller() {
  Thread* const current = Thread::current_or_null();
  return current == NULL || !current->is_Java_thread() ? NULL : current->as_Java_thread();
}

static jvmtiError check_list(jint count, const jthread* list) {
  if (count < 0) {
    return JVMTI_ERROR_ILLEGAL_ARGUMENT;
  }
  return count > 0 && list == NULL ? JVMTI_ERROR_NULL_POINTER : JVMTI_ERROR_NONE;
}

// The threads that are given, or all that JVMTI shows, but for the current one, which is where the agent is.
static jvmtiError find_threads(
    ThreadsList* there, JavaThread* current, jint count, const jthread* list, JavaThreads* found) {
  if (count == 0) {
    for (uint i = 0; i < there->length(); i++) {
      JavaThread* const thread = there->thread_at(i);
      if (thread != current && !thread->is_exiting() && !thread->is_hidden_from_external_view()) {
        found->append(thread);
      }
    }
    return JVMTI_ERROR_NONE;
  }
  for (jint i = 0; i < count; i++) {
    JavaThread* thread = NULL;
    const jvmtiError error = JvmtiExport::cv_external_thread_to_JavaThread(there, list[i], &thread, NULL);
    if (error == JVMTI_ERROR_NONE) {
      found->append(thread);
    } else if (error != JVMTI_ERROR_THREAD_NOT_ALIVE) {
      return error;
    }
  }
  return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL RequestStackTraces(const jvmtiEnv* env, ...) {
  va_list arguments;
  va_start(arguments, env);
  const jlong tag = va_arg(arguments, jlong);
  const jint count = va_arg(arguments, jint);
  const jthread* const list = va_arg(arguments, const jthread*);
  const jint most = va_arg(arguments, jint);
  const jint how = va_arg(arguments, jint);
  const jlong max_delay = va_arg(arguments, jlong);
  va_end(arguments);

  const jvmtiError error = check_list(count, list);
  if (error != JVMTI_ERROR_NONE) {
    return error;
  }
  const bool at_safepoint = (how & LOOKBACK_AT_SAFEPOINT) != 0;
  if (most < 0 || max_delay < 0 || (how & ~(LOOKBACK_AT_SAFEPOINT | LOOKBACK_WHOLE | LOOKBACK_RUNNING)) != 0
      || (at_safepoint && (how & LOOKBACK_RUNNING) != 0)) {
    return JVMTI_ERROR_ILLEGAL_ARGUMENT;
  }
  JavaThread* const current = caller();
  if (current == NULL) {
    return JVMTI_ERROR_UNATTACHED_THREAD;
  }
  ThreadInVMfromNative in_vm(current);
  HandleMark handles(current);
  ResourceMark resources(current);
  PreserveExceptionMark exception(current);
  ThreadsListHandle threads(current);
  JavaThreads found;
  const jvmtiError not_found = find_threads(threads.list(), current, count, list, &found);
  if (not_found != JVMTI_ERROR_NONE) {
    return not_found;
  }
  if (at_safepoint) {
    SampleRequest::at_safepoint(found, tag, how);
  } else {
    SampleRequest::partial(current, found, tag, most, how, max_delay);
  }
  return JVMTI_ERROR_NONE;
}

// Runs in signal handlers.
static jvmtiError JNICALL RequestOwnStackTrace(const jvmtiEnv* env, ...) {
  Thread* const current = Thread::current_or_null_safe();
  if (current == NULL || !current->is_Java_thread()) {
    return JVMTI_ERROR_UNATTACHED_THREAD;
  }
  JavaThread* const thread = current->as_Java_thread();
  if (thread->is_exiting() || thread->is_hidden_from_external_view()) {
    return JVMTI_ERROR_THREAD_NOT_ALIVE;
  }
  SampleRequest::of_self(thread);
  return JVMTI_ERROR_NONE;
}

class TakeHandshake : public HandshakeClosure {
 private:
  RecorderList* const _taken;

 public:
  explicit TakeHandshake(RecorderList* taken) : HandshakeClosure("LookbackTake"), _taken(taken) {}

  void do_thread(Thread* thread) {
    JavaThread* const java_thread = thread->as_Java_thread();
    StackRecorder* const recorder = java_thread->sampling()->take();
    if (recorder != NULL) {
      _taken->put(recorder);
    }
  }
};

// Has the threads hand over what they have recorded.
static jvmtiError take(JavaThread* current, jint count, const jthread* list, RecorderList* taken, jlong* dropped) {
  ThreadInVMfromNative in_vm(current);
  HandleMark handles(current);
  ResourceMark resources(current);
  PreserveExceptionMark exception(current);
  TakeHandshake handshake(taken);
  SampleRequest::end();
  if (count == 0) {
    // One for all of them, which is faster than one for each.
    Handshake::execute(&handshake);
    *dropped = EndedThreads::move_to(taken);
    return JVMTI_ERROR_NONE;
  }
  ThreadsListHandle threads(current);
  JavaThreads found;
  const jvmtiError error = find_threads(threads.list(), current, count, list, &found);
  if (error == JVMTI_ERROR_NONE) {
    for (int i = 0; i < found.length(); i++) {
      Handshake::execute(&handshake, found.at(i));
    }
  }
  return error;
}

static void free_all(StackRecorder* first) {
  while (first != NULL) {
    StackRecorder* const next = first->next();
    delete first;
    first = next;
  }
}

// Copies all recorders into one block of the agent's.
static jvmtiError hand_over(jvmtiEnv* env, StackRecorder* first, jlong dropped, LookbackStackTraces** traces) {
  jlong trace_count = 0;
  jlong frame_count = 0;
  for (StackRecorder* recorder = first; recorder != NULL; recorder = recorder->next()) {
    trace_count += recorder->trace_count();
    frame_count += recorder->frame_count();
    dropped += recorder->dropped();
  }
  unsigned char* block = NULL;
  const jlong size = sizeof(LookbackStackTraces) + trace_count * sizeof(LookbackStackTrace)
      + frame_count * sizeof(LookbackFrame);
  const jvmtiError error = trace_count > max_jint || frame_count > max_jint
      ? JVMTI_ERROR_OUT_OF_MEMORY
      : env->Allocate(size, &block);
  if (error != JVMTI_ERROR_NONE) {
    return error;
  }
  LookbackStackTraces* const all = (LookbackStackTraces*)block;
  all->trace_count = (jint)trace_count;
  all->frame_count = (jint)frame_count;
  all->traces = (LookbackStackTrace*)(all + 1);
  all->frames = (LookbackFrame*)(all->traces + trace_count);
  all->dropped = dropped;
  all->differing = 0;
  int trace = 0;
  int frame = 0;
  for (StackRecorder* recorder = first; recorder != NULL; recorder = recorder->next()) {
    all->differing += recorder->copy(all->traces + trace, all->frames + frame, frame);
    trace += recorder->trace_count();
    frame += recorder->frame_count();
  }
  *traces = all;
  return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL RetrieveStackTraces(const jvmtiEnv* env, ...) {
  va_list arguments;
  va_start(arguments, env);
  const jint count = va_arg(arguments, jint);
  const jthread* const list = va_arg(arguments, const jthread*);
  LookbackStackTraces** const traces = va_arg(arguments, LookbackStackTraces**);
  va_end(arguments);

  const jvmtiError error = check_list(count, list);
  if (error != JVMTI_ERROR_NONE) {
    return error;
  }
  if (traces == NULL) {
    return JVMTI_ERROR_NULL_POINTER;
  }
  JavaThread* const current = caller();
  if (current == NULL) {
    return JVMTI_ERROR_UNATTACHED_THREAD;
  }
  RecorderList taken;
  jlong dropped = 0;
  const jvmtiError not_taken = take(current, count, list, &taken, &dropped);
  StackRecorder* const first = taken.take();
  // In native state, as Allocate wants it.
  const jvmtiError result = not_taken != JVMTI_ERROR_NONE
      ? not_taken
      : hand_over(const_cast<jvmtiEnv*>(env), first, dropped, traces);
  free_all(first);
  return result;
}

void StackTracesExtension::add_to(GrowableArray<jvmtiExtensionFunctionInfo*>* functions) {
  if (!LookbackSampling) {
    return;
  }
  static jvmtiError request_errors[] = { JVMTI_ERROR_INVALID_THREAD };
  static jvmtiParamInfo request_parameters[] = {
    { (char*)"Tag", JVMTI_KIND_IN, JVMTI_TYPE_JLONG, JNI_FALSE },
    { (char*)"Thread Count", JVMTI_KIND_IN, JVMTI_TYPE_JINT, JNI_FALSE },
    { (char*)"Thread List", JVMTI_KIND_IN_BUF, JVMTI_TYPE_JTHREAD, JNI_TRUE },
    { (char*)"Most", JVMTI_KIND_IN, JVMTI_TYPE_JINT, JNI_FALSE },
    { (char*)"How", JVMTI_KIND_IN, JVMTI_TYPE_JINT, JNI_FALSE },
    { (char*)"Max Delay", JVMTI_KIND_IN, JVMTI_TYPE_JLONG, JNI_FALSE },
  };
  static jvmtiExtensionFunctionInfo request = {
    (jvmtiExtensionFunction)RequestStackTraces,
    (char*)LOOKBACK_REQUEST_STACK_TRACES,
    (char*)"Has some of the given threads record where they are",
    sizeof(request_parameters) / sizeof(request_parameters[0]),
    request_parameters,
    1,
    request_errors
  };
  static jvmtiError own_errors[] = { JVMTI_ERROR_THREAD_NOT_ALIVE };
  static jvmtiExtensionFunctionInfo own = {
    (jvmtiExtensionFunction)RequestOwnStackTrace,
    (char*)LOOKBACK_REQUEST_OWN_STACK_TRACE,
    (char*)"Has the current thread record where it is at its next poll; for signal handlers",
    0,
    NULL,
    1,
    own_errors
  };
  static jvmtiError retrieve_errors[] = { JVMTI_ERROR_INVALID_THREAD, JVMTI_ERROR_OUT_OF_MEMORY };
  static jvmtiParamInfo retrieve_parameters[] = {
    { (char*)"Thread Count", JVMTI_KIND_IN, JVMTI_TYPE_JINT, JNI_FALSE },
    { (char*)"Thread List", JVMTI_KIND_IN_BUF, JVMTI_TYPE_JTHREAD, JNI_TRUE },
    { (char*)"Traces", JVMTI_KIND_ALLOC_BUF, JVMTI_TYPE_CVOID, JNI_FALSE },
  };
  static jvmtiExtensionFunctionInfo retrieve = {
    (jvmtiExtensionFunction)RetrieveStackTraces,
    (char*)LOOKBACK_RETRIEVE_STACK_TRACES,
    (char*)"Completes the stack traces of the given threads, hands them over and forgets them",
    sizeof(retrieve_parameters) / sizeof(retrieve_parameters[0]),
    retrieve_parameters,
    2,
    retrieve_errors
  };
  functions->append(&request);
  functions->append(&own);
  functions->append(&retrieve);
}
