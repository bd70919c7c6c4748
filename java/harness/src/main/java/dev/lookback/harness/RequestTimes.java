package dev.lookback.harness;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * When requests began and ended, by their number.
 *
 * <p>The constraint that shaped it: it is filled within what is measured, by many threads. A time is one store; memory
 * comes in pieces of 65,536 requests when the first of them begins, and is not the Java heap's, which is what is varied.
 * The pieces are kept for the next iteration.
 */
final class RequestTimes {
  private static final int PIECE_BITS = 16;
  private static final int PIECE = 1 << PIECE_BITS;
  /** 67 million requests; those beyond are not told. */
  private static final int MOST_PIECES = 1024;

  private final AtomicReferenceArray<LongBuffer> pieces = new AtomicReferenceArray<>(MOST_PIECES);

  /** A request begins. */
  void start(int id) {
    LongBuffer piece = piece(id);
    if (piece != null) {
      piece.put(2 * (id % PIECE), System.nanoTime());
    }
  }

  /** It has ended. */
  void end(int id) {
    long now = System.nanoTime();
    LongBuffer piece = piece(id);
    if (piece != null) {
      piece.put(2 * (id % PIECE) + 1, now);
    }
  }

  /** Tells those that began and ended, if any, and forgets all. */
  void tell() {
    int count = 0;
    for (int id = 0; isKept(id); id++) {
      count += isWhole(id) ? 1 : 0;
    }
    long[] starts = new long[count];
    long[] ends = new long[count];
    for (int id = 0, n = 0; isKept(id); id++) {
      LongBuffer piece = pieces.get(id >> PIECE_BITS);
      int at = 2 * (id % PIECE);
      if (isWhole(id)) {
        starts[n] = piece.get(at);
        ends[n++] = piece.get(at + 1);
      }
      piece.put(at, 0).put(at + 1, 0);
    }
    if (count > 0) {
      Harness.requests(starts, ends);
    }
  }

  /** Numbers begin at 0, so that pieces come in order. */
  private boolean isKept(int id) {
    return id >> PIECE_BITS < MOST_PIECES && pieces.get(id >> PIECE_BITS) != null;
  }

  private boolean isWhole(int id) {
    LongBuffer piece = pieces.get(id >> PIECE_BITS);
    int at = 2 * (id % PIECE);
    return piece.get(at) != 0 && piece.get(at + 1) != 0;
  }

  private LongBuffer piece(int id) {
    int index = id >> PIECE_BITS;
    if (index < 0 || index >= MOST_PIECES) {
      return null;
    }
    LongBuffer piece = pieces.get(index);
    if (piece == null) {
      ByteBuffer memory = ByteBuffer.allocateDirect(2 * PIECE * Long.BYTES);
      pieces.compareAndSet(index, null, memory.order(ByteOrder.nativeOrder()).asLongBuffer());
      piece = pieces.get(index);
    }
    return piece;
  }
}
