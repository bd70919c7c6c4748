package dev.lookback.probe;

import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.commons.AdviceAdapter;

/**
 * A method with the clock at both ends: {@code long t = System.nanoTime()} when it begins (a constructor: behind its super
 * constructor), {@code Counters.add(t, id)} before each return.
 *
 * <p>A call that is left by an exception is not counted: a handler would make the probe another one, with a cost of its own.
 * Without the clock, it notes at the begin that the method runs.
 */
final class Probe extends AdviceAdapter {
    private static final String COUNTERS = "dev/lookback/probe/Counters";

    private final int id;
    private final boolean clock;
    private int start;

    Probe(MethodVisitor method, int access, String name, String descriptor, int id, boolean clock) {
        super(Opcodes.ASM9, method, access, name, descriptor);
        this.id = id;
        this.clock = clock;
    }

    @Override
    protected void onMethodEnter() {
        if (!clock) {
            push(id);
            visitMethodInsn(Opcodes.INVOKESTATIC, COUNTERS, "seen", "(I)V", false);
            return;
        }
        start = newLocal(Type.LONG_TYPE);
        visitMethodInsn(Opcodes.INVOKESTATIC, "java/lang/System", "nanoTime", "()J", false);
        storeLocal(start);
    }

    @Override
    protected void onMethodExit(int opcode) {
        if (clock && opcode != Opcodes.ATHROW) {
            loadLocal(start);
            push(id);
            visitMethodInsn(Opcodes.INVOKESTATIC, COUNTERS, "add", "(JI)V", false);
        }
    }
}
