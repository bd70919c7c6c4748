// Threads that spell numbers by calls, and tell in a mapped file how far they have come.
//
// The constraint: what it has done must be known although it is killed at any moment. So each thread stores
// the number and the time in memory that outlives the process before it spells the number.

import java.io.RandomAccessFile;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;

/**
 * Usage: Heartbeat FILE THREADS. Thread i keeps two longs at 16 * i of the file: the number that it is about
 * to spell, and System.nanoTime(). Prints "beat" about every two milliseconds until it is killed, or until it
 * cannot print any more.
 */
final class Heartbeat {
    private Heartbeat() {}

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[1]);
        try (RandomAccessFile file = new RandomAccessFile(args[0], "rw")) {
            MappedByteBuffer map = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 16L * threads);
            map.order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < threads; i++) {
                int at = 16 * i;
                Thread thread = new Thread(() -> beat(map, at), "beat-" + i);
                thread.setDaemon(true);
                thread.start();
            }
            while (!System.out.checkError()) {
                Thread.sleep(2);
                System.out.println("beat");
            }
        }
    }

    private static void beat(MappedByteBuffer map, int at) {
        for (int n = 1; ; n++) {
            map.putLong(at + 8, System.nanoTime());
            map.putLong(at, n);
            Speller.spell(n);
        }
    }

    /** Spells a number by one call a digit. */
    static final class Speller {
        private static int spelt;

        private Speller() {}

        static void spell(int n) {
            for (int shift = 28; shift >= 0; shift -= 4) {
                switch (n >>> shift & 15) {
                    case 0 -> d0();
                    case 1 -> d1();
                    case 2 -> d2();
                    case 3 -> d3();
                    case 4 -> d4();
                    case 5 -> d5();
                    case 6 -> d6();
                    case 7 -> d7();
                    case 8 -> d8();
                    case 9 -> d9();
                    case 10 -> d10();
                    case 11 -> d11();
                    case 12 -> d12();
                    case 13 -> d13();
                    case 14 -> d14();
                    default -> d15();
                }
            }
        }

        private static void d0() {
            spelt++;
        }

        private static void d1() {
            spelt++;
        }

        private static void d2() {
            spelt++;
        }

        private static void d3() {
            spelt++;
        }

        private static void d4() {
            spelt++;
        }

        private static void d5() {
            spelt++;
        }

        private static void d6() {
            spelt++;
        }

        private static void d7() {
            spelt++;
        }

        private static void d8() {
            spelt++;
        }

        private static void d9() {
            spelt++;
        }

        private static void d10() {
            spelt++;
        }

        private static void d11() {
            spelt++;
        }

        private static void d12() {
            spelt++;
        }

        private static void d13() {
            spelt++;
        }

        private static void d14() {
            spelt++;
        }

        private static void d15() {
            spelt++;
        }
    }
}
