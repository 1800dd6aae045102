import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** All data sets that are served: kept ones by key, and small ones on a pool of scratch systems. */
final class DataSets {
  private static final int MOST_IDLE = 2;

  private record Loan(DataSet dataSet, String model, Path home, long borrower) {}

  private final Path instances;
  private final Path scratch;
  private final Path writable;
  private final Path sealed;
  private final Map<String, Object> locks = new ConcurrentHashMap<>();
  private final Map<String, DataSet> open = new ConcurrentHashMap<>();
  private final Map<String, Loan> loans = new HashMap<>();
  private final Deque<Loan> idle = new ArrayDeque<>();
  private int made;

  DataSets(Path slot) {
    instances = slot.resolve("instances");
    scratch = slot.resolve("scratch");
    writable = slot.resolve("neo4j.conf");
    sealed = slot.resolve("neo4j-sealed.conf");
  }

  int open(String key) {
    synchronized (lock(key)) {
      DataSet found = open.get(key);
      if (found == null) {
        Path home = instances.resolve(key);
        found = new DataSet(home, Files.exists(home.resolve("sealed")) ? sealed : writable);
        open.put(key, found);
      }
      return found.port();
    }
  }

  int load(String key, String source) throws Exception {
    synchronized (lock(key)) {
      close(key);
      Path home = instances.resolve(key);
      delete(home);
      Files.createDirectories(home);
      long t0 = System.nanoTime();
      DataSet made = new DataSet(home, writable);
      long t1 = System.nanoTime();
      long t2, t3, t4, t5;
      try {
        GraphFile file = new GraphFile(instances.resolve(source));
        t2 = System.nanoTime();
        made.makeSchema(file);
        t3 = System.nanoTime();
        made.fill(file);
        t4 = System.nanoTime();
        made.awaitIndexes();
        t5 = System.nanoTime();
      } finally {
        made.shutdown();
      }
      Files.createFile(home.resolve("sealed"));
      long t6 = System.nanoTime();
      int p = open(key);
      long t7 = System.nanoTime();
      System.err.printf("load %s: new %d parse %d schema %d fill %d await %d shutdown %d open %d%n", key, (t1-t0)/1000000, (t2-t1)/1000000, (t3-t2)/1000000, (t4-t3)/1000000, (t5-t4)/1000000, (t6-t5)/1000000, (t7-t6)/1000000);
      return p;
    }
  }

  void close(String key) {
    synchronized (lock(key)) {
      DataSet found = open.remove(key);
      if (found != null) {
        found.shutdown();
      }
    }
  }

  int lend(String key, String model, long borrower) throws Exception {
    synchronized (lock(key)) {
      reclaim();
      GraphFile file = new GraphFile(scratch.resolve(key + ".graph"));
      Loan loan = takeIdle(model, borrower);
      if (loan == null) {
        loan = make(file, model, borrower);
      }
      try {
        loan.dataSet().setReadOnly(false);
        loan.dataSet().fill(file);
        loan.dataSet().setReadOnly(true);
      } catch (Throwable error) {
        discard(loan);
        throw error;
      }
      synchronized (this) {
        loans.put(key, loan);
      }
      return loan.dataSet().port();
    }
  }

  void giveBack(String key) throws IOException {
    synchronized (lock(key)) {
      Loan loan;
      synchronized (this) {
        loan = loans.remove(key);
      }
      if (loan == null) {
        return;
      }
      try {
        loan.dataSet().setReadOnly(false);
        loan.dataSet().wipe();
        loan.dataSet().setReadOnly(true);
      } catch (RuntimeException error) {
        discard(loan);
        throw error;
      }
      Loan surplus = null;
      synchronized (this) {
        idle.addLast(loan);
        if (idle.size() > MOST_IDLE) {
          surplus = idle.removeFirst();
        }
      }
      if (surplus != null) {
        discard(surplus);
      }
    }
  }

  boolean holdsUnstoppable(Duration patience) {
    List<DataSet> all = new ArrayList<>(open.values());
    synchronized (this) {
      loans.values().forEach(loan -> all.add(loan.dataSet()));
    }
    return all.stream().anyMatch(one -> one.holdsUnstoppable(patience));
  }

  private synchronized Loan takeIdle(String model, long borrower) {
    for (Loan loan : idle) {
      if (loan.model().equals(model)) {
        idle.remove(loan);
        return new Loan(loan.dataSet(), model, loan.home(), borrower);
      }
    }
    return null;
  }

  private Loan make(GraphFile file, String model, long borrower) throws Exception {
    Path home;
    synchronized (this) {
      home = scratch.resolve("system-" + ++made);
    }
    delete(home);
    Files.createDirectories(home);
    Loan loan = new Loan(new DataSet(home, writable), model, home, borrower);
    try {
      loan.dataSet().makeSchema(file);
      loan.dataSet().awaitIndexes();
    } catch (Throwable error) {
      discard(loan);
      throw error;
    }
    return loan;
  }

  /** Takes back what processes that have ended had borrowed. */
  private void reclaim() throws IOException {
    List<String> left;
    synchronized (this) {
      left = loans.entrySet().stream()
          .filter(one -> ProcessHandle.of(one.getValue().borrower()).isEmpty())
          .map(Map.Entry::getKey)
          .toList();
    }
    for (String key : left) {
      giveBack(key);
    }
  }

  private static void discard(Loan loan) throws IOException {
    loan.dataSet().shutdown();
    delete(loan.home());
  }

  private Object lock(String key) {
    return locks.computeIfAbsent(key, name -> new Object());
  }

  private static void delete(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }
}
