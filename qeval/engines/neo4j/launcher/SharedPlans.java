import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.neo4j.common.DependencyResolver;
import org.neo4j.cypher.internal.QueryCache;
import org.neo4j.cypher.internal.cache.LFUCache;
import org.neo4j.cypher.internal.javacompat.ExecutionEngine;
import org.neo4j.kernel.impl.query.QueryExecutionEngine;
import org.neo4j.kernel.internal.GraphDatabaseAPI;
import org.neo4j.router.QueryRouter;
import org.neo4j.router.impl.QueryRouterImpl;
import org.neo4j.router.impl.query.ProcessedQueryInfoCache;
import org.neo4j.router.impl.query.QueryProcessorImpl;

/**
 * Parsed and planned queries, shared by all data sets whose stores are copies of one template.
 *
 * <p>Neo4j keeps them for each database alone: a query asked of ten data sets would be parsed and
 * planned ten times, at some ten times the cost of running it. Copies of one template have the same
 * names, constraints and indexes under the same numbers, so a plan made for one is right for all.
 * How quick it is depends on the data it was made for: one for much data does on little, not the
 * other way round.
 *
 * <p>Neo4j offers no way to do this, so fields of its own are set. Where that fails (another
 * version), every data set goes on with plans of its own, and the log says so.
 */
final class SharedPlans {
  // Entries that nobody asks for go by age: by size alone, those used most would stay for ever and
  // new ones, which are what an evaluation asks next, would not get in.
  private static final Duration IDLE = Duration.ofSeconds(60);
  private static final int FAR_LESS = 3;

  private final Cache<Object, Object> parsed;
  private final Cache<Object, Object> planned;
  private final Cache<Object, Long> sizes; // of the data sets that plans were made for

  SharedPlans(int most) {
    parsed = cache(2 * most); // EXPLAIN is parsed apart from the query itself
    planned = cache(most);
    sizes = cache(2 * most);
  }

  /** From now on this database, such a copy of the size given, uses the shared ones. */
  void serve(GraphDatabaseAPI database, LongSupplier size) {
    DependencyResolver resolver = database.getDependencyResolver();
    try {
      Object processor = read(
          QueryRouterImpl.class, "queryProcessor", resolver.resolveDependency(QueryRouter.class));
      Object information = read(QueryProcessorImpl.class, "cache", processor);
      Object parser = read(ProcessedQueryInfoCache.class, "cache", information);
      ExecutionEngine engine =
          (ExecutionEngine) resolver.resolveDependency(QueryExecutionEngine.class);
      Object planner = engine.getCypherExecutionEngine().queryCaches().executableQueryCache();
      Field plans = field(QueryCache.class, "inner");
      field(LFUCache.class, "inner").set(parser, lasting(parsed, (method, arguments) -> {}));
      plans.set(planner, lasting(planned, (method, arguments) -> mind(size, method, arguments)));
    } catch (ReflectiveOperationException | RuntimeException error) {
      System.err.println("qeval: plans are not shared: " + error);
    }
  }

  /** Has a query planned anew whose plan was made for far less data: it could take for ever. */
  private void mind(LongSupplier size, Method method, Object[] arguments) {
    switch (method.getName()) {
      case "get":
        Long made = sizes.getIfPresent(arguments[0]);
        if (made == null || made < size.getAsLong() / FAR_LESS) {
          planned.invalidate(arguments[0]);
          sizes.put(arguments[0], size.getAsLong());
        }
        break;
      case "put":
        sizes.put(arguments[0], size.getAsLong());
        break;
      default:
    }
  }

  /**
   * The cache as one database sees it, without the right to clear it: a database clears its plans
   * when it starts, ends, or changes its schema, which no copy does.
   */
  private static Object lasting(
      Cache<Object, Object> cache, BiConsumer<Method, Object[]> before) {
    return Proxy.newProxyInstance(
        Cache.class.getClassLoader(),
        new Class<?>[] {Cache.class},
        (proxy, method, arguments) -> {
          if (method.getName().equals("invalidateAll") && method.getParameterCount() == 0) {
            return null;
          }
          before.accept(method, arguments);
          try {
            return method.invoke(cache, arguments);
          } catch (InvocationTargetException error) {
            throw error.getCause();
          }
        });
  }

  private static Object read(Class<?> owner, String name, Object from)
      throws ReflectiveOperationException {
    return field(owner, name).get(from);
  }

  private static Field field(Class<?> owner, String name) throws ReflectiveOperationException {
    Field field = owner.getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }

  private static <V> Cache<Object, V> cache(int most) {
    return Caffeine.newBuilder()
        .maximumSize(most)
        .expireAfterAccess(IDLE)
        .executor(Runnable::run)
        .build();
  }
}
