import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The server's main class: serves data sets on request, each by a database management system of its
 * own in this one JVM, so that data sets can be queried side by side (Community has one user
 * database). They share classes, compiled code and heap: the second takes a fraction of a second.
 *
 * <p>args[0] is the slot's folder. A request is a file control/NAME.request; the answer is
 * control/NAME.answer, "ok PORT" or "failed …". Any process can ask, whoever started the server.
 *
 * <ul>
 *   <li>"open KEY": serve the data set of instances/KEY, read-only once it was sealed.
 *   <li>"load KEY FILE MODEL": make it anew from instances/FILE, seal it, serve it.
 *   <li>"close KEY": stop serving it; its files stay.
 *   <li>"lend KEY MODEL PID": serve the small data set of scratch/KEY.graph from a pooled system,
 *       until "return KEY" or the end of process PID. MODEL names schema and names: a pooled system
 *       serves one model only, since names once made are known for ever.
 * </ul>
 */
public final class Launcher {
  private static final Duration UNSTOPPABLE =
      Duration.ofMillis((long) (1000 * Double.parseDouble(System.getProperty("qeval.unstoppable_s"))));

  private static final String PROBE = "probe"; // as in embedded.py

  private final Path control;
  private final DataSets dataSets;
  private final ExecutorService workers = Executors.newCachedThreadPool(Launcher::daemon);

  private Launcher(Path slot) {
    control = slot.resolve("control");
    dataSets = new DataSets(slot);
  }

  public static void main(String[] args) throws Exception {
    new Launcher(Path.of(args[0])).run();
  }

  private void run() throws Exception {
    workers.execute(this::watch);
    for (;;) {
      boolean found = false;
      try (DirectoryStream<Path> waiting = Files.newDirectoryStream(control, "*.request")) {
        for (Path request : waiting) {
          found = true;
          // Taken by renaming, so that the next turn does not see it again.
          Path taken = request.resolveSibling(name(request) + ".taken");
          Files.move(request, taken, StandardCopyOption.ATOMIC_MOVE);
          workers.execute(() -> serve(taken));
        }
      }
      if (!found) {
        Thread.sleep(4);
      }
    }
  }

  /** Ends the process where a query can't be stopped: nothing else would free its processor. */
  private void watch() {
    try {
      while (!dataSets.holdsUnstoppable(UNSTOPPABLE)) {
        Thread.sleep(1000);
      }
    } catch (InterruptedException error) {
      return;
    }
    System.err.println("qeval: a query can't be stopped; the server ends itself");
    Runtime.getRuntime().halt(70);
  }

  private void serve(Path request) {
    String answer;
    try {
      answer = "ok " + answer(Files.readString(request).trim().split(" "));
    } catch (Throwable error) {
      answer = "failed " + causes(error);
    }
    try {
      Files.delete(request);
      Path partial = request.resolveSibling(name(request) + ".partial");
      Files.writeString(partial, answer);
      Files.move(partial, request.resolveSibling(name(request) + ".answer"));
    } catch (IOException error) {
      error.printStackTrace();
    }
  }

  private int answer(String[] words) throws Exception {
    switch (words[0]) {
      case "open":
        int opened = dataSets.open(words[1]);
        retireProbe(words[1]);
        return opened;
      case "load":
        int port = dataSets.load(words[1], words[2], words[3]);
        retireProbe(words[1]);
        workers.execute(System::gc); // gives back what the load's transaction took
        return port;
      case "close":
        dataSets.close(words[1]);
        return 0;
      case "lend":
        return dataSets.lend(words[1], words[2], Long.parseLong(words[3]));
      case "return":
        dataSets.giveBack(words[1]);
        return 0;
      default:
        throw new IllegalArgumentException("unknown request: " + words[0]);
    }
  }

  /** The empty data set that proved that the server starts is of no use beside a real one. */
  private void retireProbe(String opened) {
    if (!opened.equals(PROBE)) {
      workers.execute(() -> dataSets.close(PROBE));
    }
  }

  private static String name(Path file) {
    String name = file.getFileName().toString();
    return name.substring(0, name.lastIndexOf('.'));
  }

  private static String causes(Throwable error) {
    StringBuilder text = new StringBuilder(error.toString());
    for (Throwable cause = error.getCause(); cause != null; cause = cause.getCause()) {
      text.append(" <- ").append(cause);
    }
    return text.toString();
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "qeval");
    thread.setDaemon(true);
    return thread;
  }
}
