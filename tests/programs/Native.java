// A thread that computes in native code, for samplers: the VM does not see whether such a thread runs or waits.
//
// The constraint: hardly anything of its time is spent elsewhere, and what it calls comes with each JDK.

import java.util.Random;
import java.util.zip.Deflater;

/** Prints "ready" once the thread `native` compresses, which it does until the input ends. */
final class Native {
    private static volatile boolean over;

    private Native() {}

    public static void main(String[] args) throws Exception {
        byte[] data = new byte[1 << 20];
        new Random(1).nextBytes(data);
        Thread thread = new Thread(() -> compress(data), "native");
        thread.setDaemon(true);
        thread.start();
        System.out.println("ready");
        while (System.in.read() >= 0) {}
        over = true;
        System.out.println("over");
    }

    static void compress(byte[] data) {
        byte[] packed = new byte[2 * data.length];
        while (!over) {
            Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION);
            deflater.setInput(data);
            deflater.finish();
            deflater.deflate(packed);
            deflater.end();
        }
    }
}
