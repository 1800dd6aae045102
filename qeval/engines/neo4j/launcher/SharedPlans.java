import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
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
 * planned ten times, at some ten times the cost of running it. Copies of one template have
 * the same names, constraints and indexes under the same numbers, so a plan made for one is right
 * for all; statistics, which differ, make it quicker or slower.
 *
 * <p>Neo4j offers no way to do this, so fields of its own are set. Where that fails (another
 * version), every data set goes on with plans of its own, and the log says so.
 */
final class SharedPlans {
  // Entries that nobody asks for go by age: by size alone, those used most would stay for ever and
  // new ones, which are what an evaluation asks next, would not get in.
  private static final Duration IDLE = Duration.ofSeconds(60);

  private final Object parsed;
  private final Object planned;

  SharedPlans(int most) {
    parsed = cache(2 * most); // EXPLAIN is parsed apart from the query itself
    planned = cache(most);
  }

  /** From now on this database, which must be such a copy, uses the shared ones. */
  void serve(GraphDatabaseAPI database) {
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
      field(LFUCache.class, "inner").set(parser, parsed);
      plans.set(planner, planned);
    } catch (ReflectiveOperationException | RuntimeException error) {
      System.err.println("qeval: plans are not shared: " + error);
    }
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

  private static Object cache(int most) {
    Cache<Object, Object> cache = Caffeine.newBuilder()
        .maximumSize(most)
        .expireAfterAccess(IDLE)
        .executor(Runnable::run)
        .build();
    return Proxy.newProxyInstance(
        Cache.class.getClassLoader(),
        new Class<?>[] {Cache.class},
        (proxy, method, arguments) -> clears(method) ? null : method.invoke(cache, arguments));
  }

  /** A database clears its plans when it starts, ends, or changes its schema, as no copy does. */
  private static boolean clears(Method method) {
    return method.getName().equals("invalidateAll") && method.getParameterCount() == 0;
  }
}
