package org.renaissance;

/** As Renaissance declares it, as far as it is used; only to compile against. */
public interface Plugin {
  interface AfterOperationSetUpListener extends Plugin {
    void afterOperationSetUp(String benchmark, int opIndex, boolean isLastOp);
  }

  interface BeforeOperationTearDownListener extends Plugin {
    void beforeOperationTearDown(String benchmark, int opIndex, long durationNanos);
  }
}
