// A JVMTI agent that samples the program through Lookback's extension functions, as often as it is told, and checks every
// stack trace by means that know nothing of how stacks are walked:
//   -agentpath:libchecking.so=[interval=US][,retrieve=MS][,most=N][,safepoint][,whole][,signals]
//
// What is checked: of two frames in a row whose methods are both the program's own, the bytecode at the caller's index calls a
// method of the callee's name; the outermost frame is where threads begin; a trace begins in no loop. With -XX:+LookbackVerify
// the VM compares each with a whole walk beside that. At the program's end one line tells what was checked, on standard error:
//   checked TRACES traces, FRAMES frames, CALLS calls: WRONG wrong, DIFFERING differing, DROPPED dropped
//
// Constraint: finds what is wrong and tells it, and never changes what the program does.

#include <jvmti.h>
#include "lookback/stackTraces.h"

#include <dirent.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

// The package whose calls are checked.
const char PROGRAM[] = "Ldev/lookback/torture/";

struct Options {
  long interval_us = 1000;
  long retrieve_ms = 50;
  jint most = 2;
  jint how = 0;
  bool by_signals = false;
};

struct Method {
  std::string holder;
  std::string name;
  bool is_of_program = false;
  std::vector<unsigned char> code;
};

struct Found {
  long traces = 0;
  long frames = 0;
  long calls = 0;
  long wrong = 0;
  long differing = 0;
  long dropped = 0;
};

jvmtiEnv* jvmti;
Options options;
LookbackRequestStackTraces request_traces;
LookbackRequestOwnStackTrace request_own_trace;
LookbackRetrieveStackTraces retrieve_traces;
std::atomic<bool> is_over{false};
std::atomic<bool> has_ended{false};
Found found;
std::map<jmethodID, Method> methods;
// Of each class its constant pool's names of called methods, by index.
std::map<std::string, std::map<int, std::string>> pools;

void fail(const char* what, int error) {
  std::fprintf(stderr, "checking agent: %s: error %d\n", what, error);
  std::exit(3);
}

int u2(const unsigned char* at) { return at[0] << 8 | at[1]; }

// The names of the methods that a class refers to, by the index of the reference.
std::map<int, std::string> called_by(jclass holder) {
  jint count = 0, bytes = 0;
  unsigned char* pool = nullptr;
  if (jvmti->GetConstantPool(holder, &count, &bytes, &pool) != JVMTI_ERROR_NONE) return {};
  std::map<int, std::string> texts, called;
  std::map<int, int> name_of, pair_of;
  const unsigned char* at = pool;
  for (int i = 1; i < count; i++) {
    switch (*at) {
      case 1: texts[i] = std::string(reinterpret_cast<const char*>(at + 3), u2(at + 1)); at += 3 + u2(at + 1); break;
      case 3: case 4: case 9: case 17: at += 5; break;
      case 5: case 6: at += 9; i++; break;
      case 7: case 8: case 16: case 19: case 20: at += 3; break;
      case 10: case 11: case 18: pair_of[i] = u2(at + 3); at += 5; break;
      case 12: name_of[i] = u2(at + 1); at += 5; break;
      case 15: at += 4; break;
      default: fail("constant pool", *at);
    }
  }
  for (const auto& [reference, pair] : pair_of) called[reference] = texts[name_of[pair]];
  jvmti->Deallocate(pool);
  return called;
}

const Method& method_of(JNIEnv* jni, jmethodID id) {
  auto known = methods.find(id);
  if (known != methods.end()) return known->second;
  Method method;
  char *name = nullptr, *signature = nullptr;
  jclass holder = nullptr;
  if (jvmti->GetMethodName(id, &name, nullptr, nullptr) == JVMTI_ERROR_NONE
      && jvmti->GetMethodDeclaringClass(id, &holder) == JVMTI_ERROR_NONE
      && jvmti->GetClassSignature(holder, &signature, nullptr) == JVMTI_ERROR_NONE) {
    method.name = name;
    method.holder = signature;
    method.is_of_program = method.holder.rfind(PROGRAM, 0) == 0;
    jint length = 0;
    unsigned char* code = nullptr;
    if (method.is_of_program && jvmti->GetBytecodes(id, &length, &code) == JVMTI_ERROR_NONE) {
      method.code.assign(code, code + length);
      jvmti->Deallocate(code);
      if (!pools.count(method.holder)) pools[method.holder] = called_by(holder);
    }
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(name));
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(signature));
    jni->DeleteLocalRef(holder);
  }
  return methods.emplace(id, method).first->second;
}

// Whether the caller's bytecode at the index calls a method of the callee's name. A class's initialiser may run anywhere, and
// native code may call what it likes.
bool calls(const Method& caller, jint bci, const Method& callee) {
  if (callee.name == "<clinit>" || (bci == -1 && caller.code.empty())) return true;
  if (bci < 0 || static_cast<size_t>(bci) + 2 >= caller.code.size()) return false;
  const int instruction = caller.code[bci];
  const bool is_call = instruction >= 0xb6 && instruction <= 0xba;
  return is_call && pools[caller.holder][u2(&caller.code[bci + 1])] == callee.name;
}

void tell_wrong(JNIEnv* jni, const LookbackStackTraces& all, const LookbackStackTrace& trace, const char* why) {
  if (++found.wrong > 10) return;
  std::fprintf(stderr, "checking agent: wrong stack trace of thread %lld: %s\n", static_cast<long long>(trace.thread), why);
  int shown = 0;
  for (jint i = trace.top; i >= 0 && shown < 40; i = all.frames[i].caller, shown++) {
    const Method& method = method_of(jni, all.frames[i].method);
    std::fprintf(stderr, "  %s%s @ %d\n", method.holder.c_str(), method.name.c_str(), all.frames[i].bci);
  }
}

void check(JNIEnv* jni, const LookbackStackTraces& all, const LookbackStackTrace& trace) {
  const Method* callee = nullptr;
  long length = 0;
  for (jint i = trace.top; i >= 0; i = all.frames[i].caller) {
    if (i >= all.frame_count || ++length > all.frame_count) return tell_wrong(jni, all, trace, "frames in a circle");
    const LookbackFrame& frame = all.frames[i];
    if (frame.method == nullptr) return tell_wrong(jni, all, trace, "a frame was never recorded");
    const Method& method = method_of(jni, frame.method);
    if (callee != nullptr && method.is_of_program && callee->is_of_program) {
      found.calls++;
      if (!calls(method, frame.bci, *callee)) return tell_wrong(jni, all, trace, "a call that is not in the caller");
    }
    callee = &method;
    found.frames++;
  }
  // Of the last three the launcher calls two, and the VM one while it starts (StatSampler).
  static const std::set<std::string> begins = {
      "main", "run", "exit", "<clinit>", "shutdown", "<init>", "checkAndLoadMain", "makePlatformString", "getProperty"};
  if (callee != nullptr && !callee->name.empty() && !begins.count(callee->name)) {
    tell_wrong(jni, all, trace, "it does not begin where threads begin");
  }
}

void retrieve(JNIEnv* jni) {
  LookbackStackTraces* all = nullptr;
  const jvmtiError error = retrieve_traces(jvmti, 0, nullptr, &all);
  if (error != JVMTI_ERROR_NONE) fail("RetrieveStackTraces", error);
  for (jint i = 0; i < all->trace_count; i++) check(jni, *all, all->traces[i]);
  found.traces += all->trace_count;
  found.differing += all->differing;
  found.dropped += all->dropped;
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(all));
}

void handle_signal(int) { request_own_trace(jvmti); }

// Interrupts the threads of this process, one after the other, wherever they are.
void interrupt_next() {
  static std::vector<long> threads;
  if (threads.empty()) {
    DIR* const directory = opendir("/proc/self/task");
    for (dirent* entry; directory != nullptr && (entry = readdir(directory)) != nullptr;) {
      if (std::atol(entry->d_name) > 0) threads.push_back(std::atol(entry->d_name));
    }
    if (directory != nullptr) closedir(directory);
  }
  if (threads.empty()) return;
  // Of one that has ended it is an error.
  syscall(SYS_tgkill, getpid(), threads.back(), SIGPROF);
  threads.pop_back();
}

void JNICALL sample(jvmtiEnv*, JNIEnv* jni, void*) {
  using clock = std::chrono::steady_clock;
  auto next = clock::now();
  auto retrieval = next;
  for (jlong tag = 1; !is_over; tag++) {
    if (options.by_signals) {
      interrupt_next();
    } else {
      const jvmtiError error = request_traces(jvmti, tag, 0, nullptr, options.most, options.how, 10'000'000);
      if (error != JVMTI_ERROR_NONE) fail("RequestStackTraces", error);
    }
    next += std::chrono::microseconds(options.interval_us);
    if (clock::now() >= retrieval) {
      retrieve(jni);
      retrieval = clock::now() + std::chrono::milliseconds(options.retrieve_ms);
    }
    std::this_thread::sleep_until(next);
    if (clock::now() > next) next = clock::now();
  }
  retrieve(jni);
  has_ended = true;
}

void find_functions() {
  jint count = 0;
  jvmtiExtensionFunctionInfo* infos = nullptr;
  jvmti->GetExtensionFunctions(&count, &infos);
  for (jint i = 0; i < count; i++) {
    if (!std::strcmp(infos[i].id, LOOKBACK_REQUEST_STACK_TRACES)) {
      request_traces = reinterpret_cast<LookbackRequestStackTraces>(infos[i].func);
    } else if (!std::strcmp(infos[i].id, LOOKBACK_REQUEST_OWN_STACK_TRACE)) {
      request_own_trace = reinterpret_cast<LookbackRequestOwnStackTrace>(infos[i].func);
    } else if (!std::strcmp(infos[i].id, LOOKBACK_RETRIEVE_STACK_TRACES)) {
      retrieve_traces = reinterpret_cast<LookbackRetrieveStackTraces>(infos[i].func);
    }
  }
  if (request_traces == nullptr || request_own_trace == nullptr || retrieve_traces == nullptr) {
    std::fprintf(stderr, "checking agent: this VM has no extension functions of Lookback's; -XX:+LookbackSampling?\n");
    std::exit(3);
  }
}

void JNICALL begin(jvmtiEnv*, JNIEnv* jni, jthread) {
  find_functions();
  if (options.by_signals) {
    struct sigaction action{};
    action.sa_handler = handle_signal;
    action.sa_flags = SA_RESTART;
    sigaction(SIGPROF, &action, nullptr);
  }
  jclass type = jni->FindClass("java/lang/Thread");
  jobject thread = jni->NewObject(type, jni->GetMethodID(type, "<init>", "(Ljava/lang/String;)V"), jni->NewStringUTF("sampler"));
  jvmti->RunAgentThread(thread, sample, nullptr, JVMTI_THREAD_MAX_PRIORITY);
}

void JNICALL end(jvmtiEnv*, JNIEnv*) {
  is_over = true;
  while (!has_ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::fprintf(stderr, "checked %ld traces, %ld frames, %ld calls: %ld wrong, %ld differing, %ld dropped\n",
      found.traces, found.frames, found.calls, found.wrong, found.differing, found.dropped);
  if (found.wrong + found.differing > 0 || found.calls == 0) std::_Exit(4);
}

void read(const char* text) {
  for (const char* at = text; at != nullptr && *at != 0;) {
    const char* comma = std::strchr(at, ',');
    const std::string word(at, comma == nullptr ? std::strlen(at) : comma - at);
    at = comma == nullptr ? nullptr : comma + 1;
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const long value = equals == std::string::npos ? 0 : std::atol(word.c_str() + equals + 1);
    if (key == "interval") options.interval_us = value;
    else if (key == "retrieve") options.retrieve_ms = value;
    else if (key == "most") options.most = static_cast<jint>(value);
    else if (key == "safepoint") options.how |= LOOKBACK_AT_SAFEPOINT;
    else if (key == "whole") options.how |= LOOKBACK_WHOLE;
    else if (key == "running") options.how |= LOOKBACK_RUNNING;
    else if (key == "signals") options.by_signals = true;
    else fail(("option " + word).c_str(), 0);
  }
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* text, void*) {
  read(text);
  if (vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11) != JNI_OK) return JNI_ERR;
  jvmtiCapabilities capabilities{};
  capabilities.can_get_bytecodes = 1;
  capabilities.can_get_constant_pool = 1;
  if (jvmti->AddCapabilities(&capabilities) != JVMTI_ERROR_NONE) return JNI_ERR;
  jvmtiEventCallbacks callbacks{};
  callbacks.VMInit = begin;
  callbacks.VMDeath = end;
  jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, nullptr);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, nullptr);
  return JNI_OK;
}
