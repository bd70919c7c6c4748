package org.renaissance;

/** The part of Renaissance's that a plug-in of this kind sees. */
public interface Plugin {
    interface AfterOperationSetUpListener extends Plugin {
        void afterOperationSetUp(String benchmark, int opIndex, boolean isLastOp);
    }

    interface BeforeOperationTearDownListener extends Plugin {
        void beforeOperationTearDown(String benchmark, int opIndex, long durationNanos);
    }
}
