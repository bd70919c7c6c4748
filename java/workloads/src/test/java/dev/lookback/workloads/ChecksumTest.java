package dev.lookback.workloads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import org.junit.jupiter.api.Test;

/** The checksum tells orders and boundaries apart. */
class ChecksumTest {
    @Test
    void orderAndBoundariesMatter() {
        assertNotEquals(new Checksum().add("ab").add("c").value(), new Checksum().add("a").add("bc").value());
        assertNotEquals(new Checksum().add(1).add(2).value(), new Checksum().add(2).add(1).value());
        assertEquals(new Checksum().add("ab").value(), new Checksum().add("ab").value());
    }

    @Test
    void hexHasSixteenDigits() {
        assertEquals("00000000000000ff", Checksum.hex(255));
        assertEquals("ffffffffffffffff", Checksum.hex(-1));
    }
}
