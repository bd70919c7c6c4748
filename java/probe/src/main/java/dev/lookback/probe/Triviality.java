package dev.lookback.probe;

import java.util.HashSet;
import java.util.Set;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;

/**
 * Which methods are trivial, by Lookback's rule: no call, no loop, no lock, and at most 36 instructions (its option
 * {@code trivial}). Bridges, class initialisers and methods without code count as trivial as well.
 */
final class Triviality {
    private static final int MOST_INSTRUCTIONS = 36;

    private Triviality() {
    }

    static boolean isTrivial(MethodNode method) {
        if (method.instructions.size() == 0 || (method.access & Opcodes.ACC_BRIDGE) != 0
                || method.name.equals("<clinit>")) {
            return true;
        }
        boolean eventful = (method.access & Opcodes.ACC_SYNCHRONIZED) != 0;
        int instructions = 0;
        Set<AbstractInsnNode> before = new HashSet<>();
        for (AbstractInsnNode node : method.instructions) {
            before.add(node);
            int opcode = node.getOpcode();
            if (opcode < 0) {
                continue;
            }
            instructions++;
            boolean call = opcode >= Opcodes.INVOKEVIRTUAL && opcode <= Opcodes.INVOKEDYNAMIC;
            boolean lock = opcode == Opcodes.MONITORENTER || opcode == Opcodes.MONITOREXIT;
            eventful |= call || lock || goesBack(node, before);
        }
        return !eventful && instructions <= MOST_INSTRUCTIONS;
    }

    private static boolean goesBack(AbstractInsnNode node, Set<AbstractInsnNode> before) {
        if (node instanceof JumpInsnNode jump) {
            return before.contains(jump.label);
        }
        if (node instanceof TableSwitchInsnNode table) {
            return before.contains(table.dflt) || table.labels.stream().anyMatch(before::contains);
        }
        return node instanceof LookupSwitchInsnNode lookup
                && (before.contains(lookup.dflt) || lookup.labels.stream().anyMatch(before::contains));
    }
}
