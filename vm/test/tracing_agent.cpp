// A JVMTI agent that has every method of the program and of the JDK traced, and checks what each thread has written:
//   -agentpath:libtracing.so=[changing][,quiet]
//
// What is checked: each exit is that of the method entered last and not yet left, and a thread that ends has left all. With
// `changing` some threads are braked now and then, and nothing may be written meanwhile; a class is redefined over and over, and
// keeps its ids; and the ids of some methods change, whose slots are not checked then. At the program's end one line tells what
// was checked, on standard error:
//   traced ENTRIES entries, EXITS exits of METHODS methods in THREADS threads, POLLS polls, ENDS ends of a slab, BRAKES brakes:
//   WRONG wrong
//
// With `quiet` nothing is traced but what dev.lookback.listing1.Listing1 asks for, and a filled page is begun anew.
//
// Constraint: the slow path runs wherever a method is entered or left, so it calls nothing of the VM and waits for nobody. A slab
// is never given back, but has one thread after the other: who releases braked threads may look at one that has ended.

#include <jvmti.h>
#include "lookback/tracePoints.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

// What a thread of the program writes into; and what is known of it.
struct Thread {
  std::vector<jint> entered;
  long entries = 0;
  long exits = 0;
  long polls = 0;
  long ends = 0;                      // of its slab, come to by entries alone
  long wrong = 0;
  bool has_gap = false;               // calls have begun that are not recorded
  std::atomic<bool> is_braked{false};
  jthread self = nullptr;             // a weak reference
};

// Where the slab keeps its thread, and where slots begin.
const jlong THREAD = 16;
const jlong SLOTS = 64;

jvmtiEnv* jvmti;
LookbackSetTraceIds set_ids;
LookbackGetTraceCursor get_cursor;
LookbackSetTraceCursor set_cursor;
LookbackCompareAndSetTraceCursor compare_and_set_cursor;
LookbackSetTraceSlowPath set_slow_path;

bool is_changing = false;
bool is_quiet = false;
std::atomic<bool> is_over{false};
std::atomic<int> ended{0};

std::mutex end_lock;                  // no thread ends while another one looks at its slab
std::mutex lock;                      // of what follows
std::deque<std::string> names{""};    // by id
std::vector<std::pair<jmethodID, jint>> changed;
std::vector<jlong> free_slabs;
std::vector<jlong> slabs;             // all
long threads_traced = 0;
long brakes = 0;
std::atomic<long> wrong_brakes{0};
jclass redefined = nullptr;           // the class that is
jint id_in_redefined = 0;             // of the method there that runs most often
std::atomic<jint> redefined_id{0};    // the same, once that has happened
std::atomic<long> redefined_entries{0};
// Ids that change are multiples of it; others are not.
const jint CHANGING = 1 << 20;

volatile jint& word(jlong at) { return *reinterpret_cast<volatile jint*>(at); }
Thread& thread_of(jlong slab) { return **reinterpret_cast<Thread**>(slab + THREAD); }

void fail(const char* what, int error) {
  std::fprintf(stderr, "tracing agent: %s: error %d\n", what, error);
  std::exit(3);
}

void check(const char* what, jvmtiError error) {
  if (error != JVMTI_ERROR_NONE) fail(what, error);
}

const char* name_of(jint slot) {
  const size_t id = static_cast<size_t>(slot & ~LOOKBACK_TRACE_EXIT) % CHANGING;
  std::lock_guard<std::mutex> guard(lock);
  return id < names.size() ? names[id].c_str() : "?";
}

void tell_wrong(Thread& thread, const char* what, jint slot, jint expected) {
  static std::atomic<int> told{0};
  thread.wrong++;
  if (told++ < 10) {
    std::fprintf(stderr, "tracing agent: %s: %s, and %s was entered last\n", what, name_of(slot), name_of(expected));
  }
}

// Takes note of what the slab holds, and empties it.
void take(jlong slab, jlong cursor) {
  Thread& thread = thread_of(slab);
  for (jlong at = slab + SLOTS; at < cursor; at += 4) {
    const jint slot = word(at);
    word(at) = 0;
    const jint id = slot & ~LOOKBACK_TRACE_EXIT;
    if (slot == id) {
      thread.entries++;
      if (id == redefined_id) redefined_entries++;
    } else {
      thread.exits++;
    }
    if (id == 0) {
      tell_wrong(thread, "a slot is empty", slot, 0);
    } else if (id >= CHANGING) {
      // Entered under one id and left under another, perhaps.
    } else if (slot == id) {
      thread.entered.push_back(id);
    } else if (thread.entered.empty()) {
      if (!thread.has_gap) tell_wrong(thread, "left and never entered", slot, 0);
    } else if (thread.entered.back() != id) {
      tell_wrong(thread, "left out of order", slot, thread.entered.back());
      while (!thread.entered.empty() && thread.entered.back() != id) thread.entered.pop_back();
      if (!thread.entered.empty()) thread.entered.pop_back();
    } else {
      thread.entered.pop_back();
    }
  }
  // So that an exit finds its page filled.
  for (jlong page = LOOKBACK_TRACE_PAGE; page < LOOKBACK_TRACE_SLAB; page += LOOKBACK_TRACE_PAGE) word(slab + page) = -1;
}

// What is entered and left from now on is not recorded, until somebody releases the thread.
void brake(Thread& thread) {
  thread.has_gap = true;
  thread.entered.clear();
  thread.is_braked = true;
}

// A function may change these, and the compiler of this one has no reason to.
void spoil_vectors() {
  __asm__ volatile(
      "pcmpeqb %%xmm0, %%xmm0; pcmpeqb %%xmm1, %%xmm1; pcmpeqb %%xmm2, %%xmm2; pcmpeqb %%xmm3, %%xmm3;"
      "pcmpeqb %%xmm4, %%xmm4; pcmpeqb %%xmm5, %%xmm5; pcmpeqb %%xmm6, %%xmm6; pcmpeqb %%xmm7, %%xmm7"
      ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
}

// The slot is in the slab whose end the cursor may have come to.
jlong slow_path(jlong cursor, jint slot) {
  const jlong slab = (cursor - 4) & -jlong{LOOKBACK_TRACE_SLAB};
  if (is_quiet) {
    if (cursor - slab >= LOOKBACK_TRACE_PAGE) cursor = slab + SLOTS;
    return cursor;
  }
  spoil_vectors();
  Thread& thread = thread_of(slab);
  if (word(cursor - 4) != slot) tell_wrong(thread, "another slot was written", word(cursor - 4), slot);
  if (word(slab) != 0) {
    thread.polls++;
    word(slab) = 0;
  }
  if (cursor == slab + LOOKBACK_TRACE_SLAB) thread.ends++;
  take(slab, cursor);
  if (!is_changing || thread.polls % 50 != 1) return slab + SLOTS;
  brake(thread);
  return -(slab + SLOTS);
}

jlong new_slab() {
  char* const memory = static_cast<char*>(std::aligned_alloc(LOOKBACK_TRACE_SLAB, 2 * LOOKBACK_TRACE_SLAB));
  std::memset(memory, 0, 2 * LOOKBACK_TRACE_SLAB);
  const jlong slab = reinterpret_cast<jlong>(memory);
  word(slab + LOOKBACK_TRACE_SLAB) = 3;
  *reinterpret_cast<Thread**>(slab + THREAD) = new Thread;
  take(slab, slab + SLOTS);
  return slab;
}

// Both run on the thread, which has no Java frame.
void JNICALL begin_thread(jvmtiEnv*, JNIEnv* jni, jthread self) {
  jthread weak = is_changing ? static_cast<jthread>(jni->NewWeakGlobalRef(self)) : nullptr;
  jlong slab = 0;
  {
    std::lock_guard<std::mutex> guard(lock);
    threads_traced++;
    if (!free_slabs.empty()) {
      slab = free_slabs.back();
      free_slabs.pop_back();
    } else {
      slab = new_slab();
      slabs.push_back(slab);
    }
    thread_of(slab).self = weak;
  }
  check("SetTraceCursor", set_cursor(jvmti, nullptr, slab + SLOTS));
}

void JNICALL end_thread(jvmtiEnv*, JNIEnv*, jthread) {
  jlong cursor = 0;
  check("GetTraceCursor", get_cursor(jvmti, nullptr, &cursor));
  if (cursor == 0) return;
  std::lock_guard<std::mutex> ending(end_lock);
  check("GetTraceCursor", get_cursor(jvmti, nullptr, &cursor));
  check("SetTraceCursor", set_cursor(jvmti, nullptr, 0));
  if (cursor < 0) cursor = -cursor;
  const jlong slab = (cursor - 4) & -jlong{LOOKBACK_TRACE_SLAB};
  take(slab, cursor);
  Thread& thread = thread_of(slab);
  thread.is_braked = false;
  // Who ends the VM does so within methods.
  jint frames = 0;
  check("GetFrameCount", jvmti->GetFrameCount(nullptr, &frames));
  if (frames == 0 && !thread.entered.empty() && !thread.has_gap) {
    tell_wrong(thread, "never left", thread.entered.back(), thread.entered.back());
  }
  thread.entered.clear();
  thread.has_gap = false;
  std::lock_guard<std::mutex> guard(lock);
  free_slabs.push_back(slab);
}

std::string text(char* allocated) {
  std::string copy = allocated;
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(allocated));
  return copy;
}

// Methods that are called often, and change.
bool changes(const std::string& name) {
  return is_changing && (name.find("Recursion;.leaf") != std::string::npos || name.find("Inlining;.two") != std::string::npos
      || name.find("Native;.locked") != std::string::npos || name.find("Loops$Body;.run") != std::string::npos);
}

const char REDEFINED[] = "Ldev/lookback/torture/Torture$Recursion;";

void JNICALL prepare_class(jvmtiEnv*, JNIEnv* jni, jthread, jclass type) {
  char* signature = nullptr;
  jint count = 0;
  jmethodID* methods = nullptr;
  if (jvmti->GetClassSignature(type, &signature, nullptr) != JVMTI_ERROR_NONE) return;
  const std::string holder = text(signature);
  if (jvmti->GetClassMethods(type, &count, &methods) != JVMTI_ERROR_NONE) return;
  std::vector<jint> ids;
  std::vector<std::string> found;
  for (jint i = 0; i < count; i++) {
    char* name = nullptr;
    check("GetMethodName", jvmti->GetMethodName(methods[i], &name, nullptr, nullptr));
    found.push_back(holder + "." + text(name));
  }
  jclass kept = is_changing && holder == REDEFINED ? static_cast<jclass>(jni->NewGlobalRef(type)) : nullptr;
  {
    std::lock_guard<std::mutex> guard(lock);
    if (kept != nullptr) redefined = kept;
    for (jint i = 0; i < count; i++) {
      jint id = static_cast<jint>(names.size());
      names.push_back(found[static_cast<size_t>(i)]);
      if (kept != nullptr && names.back() == std::string(REDEFINED) + ".down") id_in_redefined = id;
      if (changes(names.back())) {
        changed.emplace_back(methods[i], id);
        id += CHANGING;
      }
      ids.push_back(id);
    }
  }
  check("SetTraceIds", set_ids(jvmti, count, methods, ids.data()));
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(methods));
}

// Now and then each slab's poll is set, as a ticker does.
void JNICALL tick(jvmtiEnv*, JNIEnv*, void*) {
  for (jint turn = 0; !is_over; turn++) {
    {
      std::lock_guard<std::mutex> guard(lock);
      for (const jlong slab : slabs) word(slab) = 1 + turn % 2;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ended++;
}

// Lets the slab's thread record again if it is braked, which it has written nothing since.
void release(JNIEnv* jni, jlong slab, jthread weak) {
  Thread& data = thread_of(slab);
  if (!data.is_braked.exchange(false)) return;
  jthread thread = static_cast<jthread>(jni->NewLocalRef(weak));
  const bool has_written = word(slab + SLOTS) != 0;
  jboolean is_set = JNI_FALSE;
  if (thread != nullptr && compare_and_set_cursor(jvmti, thread, -(slab + SLOTS), slab + SLOTS, &is_set) == JVMTI_ERROR_NONE
      && is_set) {
    brakes++;
    if (has_written) wrong_brakes++;
  }
  jni->DeleteLocalRef(thread);
}

// Brakes a thread from outside, if it does not move on meanwhile; what most do that wait.
void brake_other(JNIEnv* jni, jlong slab, jthread weak) {
  jthread thread = static_cast<jthread>(jni->NewLocalRef(weak));
  jlong cursor = 0;
  jboolean is_set = JNI_FALSE;
  if (thread != nullptr && get_cursor(jvmti, thread, &cursor) == JVMTI_ERROR_NONE && cursor > slab
      && cursor <= slab + LOOKBACK_TRACE_SLAB
      && compare_and_set_cursor(jvmti, thread, cursor, -cursor, &is_set) == JVMTI_ERROR_NONE && is_set) {
    take(slab, cursor);
    compare_and_set_cursor(jvmti, thread, -cursor, -(slab + SLOTS), &is_set);
    if (is_set) brake(thread_of(slab));
  }
  jni->DeleteLocalRef(thread);
}

void JNICALL change(jvmtiEnv*, JNIEnv* jni, void*) {
  for (long turn = 0; !is_over; turn++) {
    std::vector<std::pair<jlong, jthread>> all;
    std::vector<jmethodID> methods;
    std::vector<jint> ids;
    jclass type = nullptr;
    jint id_in_type = 0;
    {
      std::lock_guard<std::mutex> guard(lock);
      if (turn % 50 == 0) {
        type = redefined;
        id_in_type = id_in_redefined;
      }
      for (const jlong slab : slabs) all.emplace_back(slab, thread_of(slab).self);
      if (turn % 100 == 0) {
        for (const auto& [method, id] : changed) {
          methods.push_back(method);
          ids.push_back(turn / 100 % 3 == 0 ? 0 : id + static_cast<jint>(1 + turn / 100 % 5) * CHANGING);
        }
      }
    }
    {
      std::lock_guard<std::mutex> nobody_ends(end_lock);
      for (const auto& [slab, thread] : all) release(jni, slab, thread);
      if (!all.empty()) {
        const auto& [slab, thread] = all[static_cast<size_t>(std::rand()) % all.size()];
        brake_other(jni, slab, thread);
      }
    }
    if (type != nullptr) {
      check("RetransformClasses", jvmti->RetransformClasses(1, &type));
      redefined_id = id_in_type;
    }
    // One at a time: a class may be gone.
    for (size_t i = 0; i < methods.size(); i++) set_ids(jvmti, 1, &methods[i], &ids[i]);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ended++;
}

void start(JNIEnv* jni, const char* name, jvmtiStartFunction function) {
  jclass type = jni->FindClass("java/lang/Thread");
  jobject thread = jni->NewObject(type, jni->GetMethodID(type, "<init>", "(Ljava/lang/String;)V"), jni->NewStringUTF(name));
  jvmti->RunAgentThread(thread, function, nullptr, JVMTI_THREAD_MAX_PRIORITY);
}

template <typename Function>
void find(const jvmtiExtensionFunctionInfo* infos, jint count, const char* id, Function* function) {
  for (jint i = 0; i < count; i++) {
    if (!std::strcmp(infos[i].id, id)) *function = reinterpret_cast<Function>(infos[i].func);
  }
  if (*function == nullptr) {
    std::fprintf(stderr, "tracing agent: this VM has no %s; -XX:+LookbackTracing?\n", id);
    std::exit(3);
  }
}

void find_functions() {
  jint count = 0;
  jvmtiExtensionFunctionInfo* infos = nullptr;
  jvmti->GetExtensionFunctions(&count, &infos);
  find(infos, count, LOOKBACK_SET_TRACE_IDS, &set_ids);
  find(infos, count, LOOKBACK_GET_TRACE_CURSOR, &get_cursor);
  find(infos, count, LOOKBACK_SET_TRACE_CURSOR, &set_cursor);
  find(infos, count, LOOKBACK_COMPARE_AND_SET_TRACE_CURSOR, &compare_and_set_cursor);
  find(infos, count, LOOKBACK_SET_TRACE_SLOW_PATH, &set_slow_path);
  check("SetTraceSlowPath", set_slow_path(jvmti, slow_path));
}

// What is loaded already has its methods traced while they run; but the threads that run them are not.
void JNICALL begin(jvmtiEnv*, JNIEnv* jni, jthread) {
  if (is_quiet) return;
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_CLASS_PREPARE, nullptr);
  jint count = 0;
  jclass* types = nullptr;
  check("GetLoadedClasses", jvmti->GetLoadedClasses(&count, &types));
  for (jint i = 0; i < count; i++) {
    prepare_class(jvmti, jni, nullptr, types[i]);
    jni->DeleteLocalRef(types[i]);
  }
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_THREAD_START, nullptr);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_THREAD_END, nullptr);
  start(jni, "ticker", tick);
  if (is_changing) start(jni, "changer", change);
}

void JNICALL end(jvmtiEnv*, JNIEnv*) {
  if (is_quiet) return;
  is_over = true;
  while (ended < (is_changing ? 2 : 1)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  long entries = 0, exits = 0, polls = 0, ends = 0, wrong = wrong_brakes;
  std::lock_guard<std::mutex> guard(lock);
  for (const jlong slab : slabs) {
    const Thread& thread = thread_of(slab);
    entries += thread.entries;
    exits += thread.exits;
    polls += thread.polls;
    ends += thread.ends;
    wrong += thread.wrong;
  }
  std::fprintf(stderr,
      "traced %ld entries, %ld exits of %zu methods in %ld threads, %ld polls, %ld ends of a slab, "
      "%ld brakes: %ld wrong\n", entries, exits, names.size() - 1, threads_traced, polls, ends, brakes, wrong);
  if (wrong > 0 || exits == 0 || polls == 0 || ends == 0 || (is_changing && (brakes == 0 || redefined_entries == 0))) {
    std::_Exit(4);
  }
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* text, void*) {
  const std::string given = text == nullptr ? "" : text;
  is_changing = given.find("changing") != std::string::npos;
  is_quiet = given.find("quiet") != std::string::npos;
  if (vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11) != JNI_OK) return JNI_ERR;
  jvmtiCapabilities capabilities{};
  capabilities.can_retransform_classes = is_changing;
  if (jvmti->AddCapabilities(&capabilities) != JVMTI_ERROR_NONE) return JNI_ERR;
  jvmtiEventCallbacks callbacks{};
  callbacks.VMInit = begin;
  callbacks.VMDeath = end;
  callbacks.ThreadStart = begin_thread;
  callbacks.ThreadEnd = end_thread;
  callbacks.ClassPrepare = prepare_class;
  find_functions();
  jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, nullptr);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, nullptr);
  return JNI_OK;
}

// Gives the method an id.
extern "C" JNIEXPORT void JNICALL Java_dev_lookback_listing1_Listing1_trace(JNIEnv* jni, jclass type, jstring name) {
  const char* const text = jni->GetStringUTFChars(name, nullptr);
  const jmethodID method = jni->GetStaticMethodID(type, text, "(IIJ)J");
  jni->ReleaseStringUTFChars(name, text);
  const jint id = 77;
  check("SetTraceIds", set_ids(jvmti, 1, &method, &id));
}

// Turns tracing of the current thread on or off.
extern "C" JNIEXPORT void JNICALL Java_dev_lookback_listing1_Listing1_turn(JNIEnv*, jclass, jboolean is_on) {
  static const jlong slab = new_slab();
  check("SetTraceCursor", set_cursor(jvmti, nullptr, is_on ? slab + SLOTS : 0));
}
