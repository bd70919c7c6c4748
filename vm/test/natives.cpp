// The native methods of the torture program: Java code calls native code that calls Java code, throws, or holds a lock.
//
// Constraint: part of an agent's library, where the VM looks for native methods; what they do is known, so that a wrong result
// is found by the program.

#include <jni.h>

extern "C" JNIEXPORT void JNICALL Java_dev_lookback_torture_Native_upcall(JNIEnv* jni, jclass, jobject task) {
  jclass type = jni->GetObjectClass(task);
  jni->CallVoidMethod(task, jni->GetMethodID(type, "run", "()V"));
  jni->DeleteLocalRef(type);
}

extern "C" JNIEXPORT jdouble JNICALL Java_dev_lookback_torture_Native_mixed(
    JNIEnv*, jclass, jint a, jlong b, jfloat c, jdouble d, jint e, jlong f, jfloat g, jdouble h, jint i, jlong j) {
  return a + 2.0 * b + 3.0 * c + 4.0 * d + 5.0 * e + 6.0 * f + 7.0 * g + 8.0 * h + 9.0 * i + 10.0 * j;
}

extern "C" JNIEXPORT jlong JNICALL Java_dev_lookback_torture_Native_locked(JNIEnv*, jclass, jlong value) {
  return value * 3;
}

extern "C" JNIEXPORT jobject JNICALL Java_dev_lookback_torture_Native_thrown(JNIEnv* jni, jclass, jthrowable what) {
  jni->Throw(what);
  return nullptr;
}
