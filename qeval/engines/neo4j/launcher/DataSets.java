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
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** All data sets that are served: kept ones by key, and small ones on a pool of scratch systems. */
final class DataSets {
  private static final int MOST_IDLE = 2;
  private static final int MOST_PLANS = Integer.getInteger("qeval.cached_plans");
  private static final String ORIGIN = "template"; // names the template a store was copied from

  private record Loan(DataSet dataSet, String model, Path home, long borrower) {}

  private final Path instances;
  private final Path templates;
  private final Path scratch;
  private final Path writable;
  private final Path sealed;
  private final Map<String, SharedPlans> plans = new ConcurrentHashMap<>();
  private final Map<String, Object> locks = new ConcurrentHashMap<>();
  private final Map<String, DataSet> open = new ConcurrentHashMap<>();
  private final Map<String, Loan> loans = new HashMap<>();
  private final Deque<Loan> idle = new ArrayDeque<>();
  private int made;

  DataSets(Path slot) {
    instances = slot.resolve("instances");
    templates = slot.resolve("templates");
    scratch = slot.resolve("scratch");
    writable = slot.resolve("neo4j.conf");
    sealed = slot.resolve("neo4j-sealed.conf");
  }

  int open(String key) throws IOException {
    synchronized (lock(key)) {
      DataSet found = open.get(key);
      if (found == null) {
        Path home = instances.resolve(key);
        Path configuration = Files.exists(home.resolve("sealed")) ? sealed : writable;
        found = new DataSet(home, configuration, plans(home));
        open.put(key, found);
      }
      return found.port();
    }
  }

  int load(String key, String source, String model) throws Exception {
    synchronized (lock(key)) {
      close(key);
      Path home = instances.resolve(key);
      GraphFile file = new GraphFile(instances.resolve(source));
      copy(template(file, model), home);
      DataSet made = new DataSet(home, writable, plans(home));
      try {
        made.fill(file);
        made.checkPoint();
        made.setReadOnly(true);
      } catch (Throwable error) {
        made.shutdown();
        throw error;
      }
      Files.createFile(home.resolve("sealed"));
      open.put(key, made);
      return made.port();
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
      giveBack(key);
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
      idle.forEach(loan -> all.add(loan.dataSet()));
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
    copy(template(file, model), home);
    return new Loan(new DataSet(home, writable, plans(home)), model, home, borrower);
  }

  /** A store with schema and names, but no data: copying it takes less than making one. */
  private Path template(GraphFile file, String model) throws Exception {
    Path template = templates.resolve(model);
    synchronized (lock(model)) {
      if (!Files.exists(template)) {
        Path partial = templates.resolve(model + "." + ProcessHandle.current().pid());
        delete(partial);
        DataSet made = new DataSet(partial, writable, null);
        try {
          made.makeSchema(file);
          made.awaitIndexes();
        } finally {
          made.shutdown();
        }
        // Not by its model: only copies of the very same store are sure to number names alike.
        Files.writeString(partial.resolve(ORIGIN), UUID.randomUUID().toString());
        Files.move(partial, template);
      }
    }
    return template;
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

  private SharedPlans plans(Path home) throws IOException {
    Path origin = home.resolve(ORIGIN);
    return Files.exists(origin)
        ? plans.computeIfAbsent(Files.readString(origin), name -> new SharedPlans(MOST_PLANS))
        : null;
  }

  private static void discard(Loan loan) throws IOException {
    loan.dataSet().shutdown();
    delete(loan.home());
  }

  private Object lock(String key) {
    return locks.computeIfAbsent(key, name -> new Object());
  }

  private static void copy(Path from, Path to) throws IOException {
    delete(to);
    try (Stream<Path> all = Files.walk(from)) {
      for (Path each : all.toList()) {
        Files.copy(each, to.resolve(from.relativize(each).toString()));
      }
    }
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
