package acme.bank;

import java.util.List;
import java.util.function.*;
import static acme.bank.Money.of;

/** An account. */
@Entity
public class Account implements Comparable<Account> {
    private final String id;

    static {
        System.setProperty("a", "b");
    }

    public Account(String id, final int... limits) {
        this.id = id;
    }

    @Override
    @SuppressWarnings("all of them")
    public int compareTo(Account other) {
        return id.compareTo(other.id);
    }

    public <T extends Number> List<T> map(Function<String, T> change, T start) throws Exception {
        throw new IllegalStateException("account " + id + " is closed");
    }

    Runnable task = new Runnable() {
        @Override
        public void run() {
        }
    };

    abstract static class Entry {
        abstract long amount();
    }

    interface Visitor<R> {
        R visit(Account account);

        default void done() {
        }
    }

    enum Level {
        LOW {
            @Override
            int limit() {
                return 1;
            }
        };

        abstract int limit();
    }

    record Range(int from, int to) {
        Range {
            if (from > to) throw new IllegalArgumentException("range is empty");
        }

        static Range all() {
            return new Range(0, 9);
        }
    }

    @interface Audited {
        String value() default "";
    }
}
