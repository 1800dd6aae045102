import static org.neo4j.configuration.GraphDatabaseSettings.read_only_databases;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.neo4j.configuration.Config;
import org.neo4j.configuration.connectors.ConnectorPortRegister;
import org.neo4j.configuration.connectors.ConnectorType;
import org.neo4j.common.DependencyResolver;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.graphdb.Node;
import org.neo4j.graphdb.Relationship;
import org.neo4j.graphdb.ResourceIterable;
import org.neo4j.graphdb.Transaction;
import org.neo4j.internal.kernel.api.Read;
import org.neo4j.kernel.impl.api.KernelTransactions;
import org.neo4j.kernel.impl.coreapi.InternalTransaction;
import org.neo4j.kernel.impl.transaction.log.checkpoint.CheckPointer;
import org.neo4j.kernel.impl.transaction.log.checkpoint.SimpleTriggerInfo;
import org.neo4j.kernel.internal.GraphDatabaseAPI;

/** One running database management system with the user database of one data set. */
final class DataSet {
  private static final String DATABASE = "neo4j";
  private static final long WAIT_S = 120;

  private final DatabaseManagementService system;
  private final GraphDatabaseAPI database;
  private final int port;
  private volatile long size; // nodes and relationships

  /**
   * Starts it; `configuration` is a neo4j.conf, the store is below `home` and made if missing.
   * `plans` are those that all copies of its template share, null for one that is no copy.
   */
  DataSet(Path home, Path configuration, SharedPlans plans) {
    system = new DatabaseManagementServiceBuilder(home).loadPropertiesFromFile(configuration).build();
    try {
      database = (GraphDatabaseAPI) system.database(DATABASE);
      if (plans != null) {
        plans.serve(database, () -> size);
      }
      measure();
      port = resolve(ConnectorPortRegister.class).getLocalAddress(ConnectorType.BOLT).getPort();
    } catch (RuntimeException error) {
      system.shutdown();
      throw error;
    }
  }

  int port() {
    return port;
  }

  void shutdown() {
    system.shutdown();
  }

  /** Makes the schema and names of a file in this empty database. */
  void makeSchema(GraphFile file) throws Exception {
    try (Transaction transaction = database.beginTx()) {
      file.makeNames(transaction);
      transaction.commit();
    }
    for (String statement : file.schema()) {
      try (Transaction transaction = database.beginTx()) {
        transaction.execute(statement).close();
        transaction.commit();
      }
    }
  }

  /** Makes the nodes and relationships of a file, in one transaction. */
  void fill(GraphFile file) {
    try (Transaction transaction = database.beginTx()) {
      file.makeData(transaction);
      transaction.commit();
    }
    measure();
  }

  void awaitIndexes() {
    try (Transaction transaction = database.beginTx()) {
      transaction.schema().awaitIndexesOnline(WAIT_S, TimeUnit.SECONDS);
    }
  }

  /** Removes all nodes and relationships; schema and names stay. */
  void wipe() {
    try (Transaction transaction = database.beginTx()) {
      try (ResourceIterable<Relationship> all = transaction.getAllRelationships()) {
        all.forEach(Relationship::delete);
      }
      try (ResourceIterable<Node> all = transaction.getAllNodes()) {
        all.forEach(Node::delete);
      }
      transaction.commit();
    }
  }

  /** All that was written is in the store's files: nothing is lost by a kill. */
  void checkPoint() throws IOException {
    resolve(CheckPointer.class).forceCheckPoint(new SimpleTriggerInfo("qeval"));
  }

  /** From now on nobody can write, or can again. */
  void setReadOnly(boolean readOnly) {
    resolve(Config.class)
        .setDynamic(read_only_databases, readOnly ? Set.of(DATABASE) : Set.of(), "qeval");
  }

  /** Whether a query that was told to end has not ended for longer than `patience`. */
  boolean holdsUnstoppable(Duration patience) {
    long now = System.nanoTime();
    try {
      return resolve(KernelTransactions.class).executingTransactions().stream()
          .flatMap(one -> one.terminationMark().stream())
          .anyMatch(mark -> now - mark.getTimestampNanos() > patience.toNanos());
    } catch (RuntimeException error) {
      return false; // it is being shut down, or was damaged
    }
  }

  private void measure() {
    try (Transaction transaction = database.beginTx()) {
      Read read = ((InternalTransaction) transaction).kernelTransaction().dataRead();
      size = read.nodesGetCount() + read.relationshipsGetCount();
    }
  }

  private <T> T resolve(Class<T> kind) {
    DependencyResolver resolver = database.getDependencyResolver();
    return resolver.resolveDependency(kind);
  }
}
