package dev.lookback.harness;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Without the agent; what the agent does is tested on real JVMs, in {@code tests/e2e}. */
final class HarnessTest {
  @Test
  void withoutTheAgentEveryMethodSaysWhatToDo() {
    Executable[] calls = {
      () -> Harness.begin("a", 0),
      () -> Harness.end("a", 0),
      () -> Harness.value("b", 1),
      () -> Harness.requests(new long[0], new long[0]),
    };
    for (Executable call : calls) {
      String said = assertThrows(IllegalStateException.class, call).getMessage();
      assertTrue(said.contains("-agentpath:") && said.contains("liblookback_harness.so"), said);
    }
  }
}
