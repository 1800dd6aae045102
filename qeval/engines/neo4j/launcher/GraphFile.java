import java.io.BufferedReader;
import java.io.IOException;
import java.lang.reflect.Array;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.neo4j.exceptions.KernelException;
import org.neo4j.graphdb.Entity;
import org.neo4j.graphdb.Label;
import org.neo4j.graphdb.Node;
import org.neo4j.graphdb.RelationshipType;
import org.neo4j.graphdb.Transaction;
import org.neo4j.internal.kernel.api.TokenWrite;
import org.neo4j.kernel.impl.coreapi.InternalTransaction;

/**
 * A data set as qeval/engines/neo4j/graph_file.py writes it: lines of fields that tabs separate.
 *
 * <pre>
 * schema STATEMENT | label NAME | type NAME | property NAME
 * nodes COUNT LABEL…            then a line NAME:KIND… of properties, then COUNT lines of values
 * relationships COUNT TYPE      the same; values begin with the numbers of both nodes, which are
 *                               counted from 0 in the order of the file
 * </pre>
 *
 * A value is empty where there is none. Backslashes escape: \\ \t \n \r, and \, inside lists, whose
 * elements commas separate; \e is the empty text.
 */
final class GraphFile {
  private record Property(String name, Function<String, Object> read) {}

  private record Block(boolean nodes, String[] head, Property[] properties, String[] lines) {}

  private final List<String> schema = new ArrayList<>();
  private final Set<String> labels = new LinkedHashSet<>();
  private final Set<String> types = new LinkedHashSet<>();
  private final Set<String> names = new LinkedHashSet<>();
  private final List<Block> blocks = new ArrayList<>();

  GraphFile(Path path) throws IOException {
    try (BufferedReader reader = Files.newBufferedReader(path)) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        String[] head = line.split("\t");
        switch (head[0]) {
          case "schema" -> schema.add(plain(head[1]));
          case "label" -> labels.add(plain(head[1]));
          case "type" -> types.add(plain(head[1]));
          case "property" -> names.add(plain(head[1]));
          default -> blocks.add(block(head, reader));
        }
      }
    }
  }

  List<String> schema() {
    return schema;
  }

  /** All names of the model exist, also where no data bears them: else they count as unknown. */
  void makeNames(Transaction transaction) throws KernelException {
    TokenWrite tokens = ((InternalTransaction) transaction).kernelTransaction().tokenWrite();
    for (String name : labels) {
      tokens.labelGetOrCreateForName(name);
    }
    for (String name : types) {
      tokens.relationshipTypeGetOrCreateForName(name);
    }
    for (String name : names) {
      tokens.propertyKeyGetOrCreateForName(name);
    }
  }

  void makeData(Transaction transaction) {
    List<Node> nodes = new ArrayList<>();
    for (Block block : blocks) {
      if (block.nodes) {
        Label[] all = Arrays.stream(block.head, 2, block.head.length)
            .map(name -> Label.label(known(labels, plain(name))))
            .toArray(Label[]::new);
        for (String line : block.lines) {
          Node node = transaction.createNode(all);
          setProperties(node, block.properties, line, 0);
          nodes.add(node);
        }
      } else {
        RelationshipType type = RelationshipType.withName(known(types, plain(block.head[2])));
        for (String line : block.lines) {
          int first = line.indexOf('\t');
          int second = line.indexOf('\t', first + 1);
          Node start = nodes.get(Integer.parseInt(line, 0, first, 10));
          Node end = nodes.get(
              Integer.parseInt(line, first + 1, second < 0 ? line.length() : second, 10));
          Entity made = start.createRelationshipTo(end, type);
          if (second >= 0) {
            setProperties(made, block.properties, line, second + 1);
          }
        }
      }
    }
  }

  private static void setProperties(Entity on, Property[] properties, String line, int from) {
    int start = from;
    for (Property property : properties) {
      int end = line.indexOf('\t', start);
      if (end < 0) {
        end = line.length();
      }
      if (end > start) {
        on.setProperty(property.name, property.read.apply(line.substring(start, end)));
      }
      start = end + 1;
    }
  }

  private Block block(String[] head, BufferedReader reader) throws IOException {
    String specifications = reader.readLine();
    Property[] properties = specifications.isEmpty()
        ? new Property[0]
        : Arrays.stream(specifications.split("\t")).map(this::property).toArray(Property[]::new);
    String[] lines = new String[Integer.parseInt(head[1])];
    for (int n = 0; n < lines.length; n++) {
      lines[n] = reader.readLine();
    }
    return new Block(head[0].equals("nodes"), head, properties, lines);
  }

  private Property property(String specification) {
    int colon = specification.lastIndexOf(':');
    String kind = specification.substring(colon + 1);
    Function<String, Object> read = kind.endsWith("[]")
        ? list(kind.substring(0, kind.length() - 2))
        : reader(kind);
    return new Property(known(names, plain(specification.substring(0, colon))), read);
  }

  /** A name made with the data would have another number in each data set, and plans be wrong. */
  private static String known(Set<String> declared, String name) {
    if (!declared.contains(name)) {
      throw new IllegalArgumentException("the file does not declare the name: " + name);
    }
    return name;
  }

  private static Function<String, Object> reader(String kind) {
    return switch (kind) {
      case "bool" -> text -> text.equals("true");
      case "int" -> Long::valueOf;
      case "float" -> Double::valueOf;
      case "string" -> GraphFile::plain;
      case "date" -> LocalDate::parse;
      case "datetime" -> text -> LocalDateTime.parse(text).atZone(ZoneOffset.UTC);
      default -> throw new IllegalArgumentException("unknown kind of value: " + kind);
    };
  }

  private static Function<String, Object> list(String kind) {
    Function<String, Object> read = reader(kind);
    Class<?> element = switch (kind) {
      case "bool" -> Boolean.class;
      case "int" -> Long.class;
      case "float" -> Double.class;
      case "string" -> String.class;
      case "date" -> LocalDate.class;
      default -> ZonedDateTime.class;
    };
    return text -> {
      List<String> parts = elements(text);
      Object values = Array.newInstance(element, parts.size());
      for (int n = 0; n < parts.size(); n++) {
        Array.set(values, n, read.apply(parts.get(n)));
      }
      return values;
    };
  }

  private static List<String> elements(String text) {
    List<String> parts = new ArrayList<>();
    int start = 0;
    for (int at = 0; at < text.length(); at++) {
      char here = text.charAt(at);
      if (here == '\\') {
        at++;
      } else if (here == ',') {
        parts.add(text.substring(start, at));
        start = at + 1;
      }
    }
    parts.add(text.substring(start));
    return parts;
  }

  private static String plain(String text) {
    int at = text.indexOf('\\');
    if (at < 0) {
      return text;
    }
    StringBuilder plain = new StringBuilder(text.length());
    int from = 0;
    for (; at >= 0; at = text.indexOf('\\', from)) {
      plain.append(text, from, at);
      char escaped = text.charAt(at + 1);
      switch (escaped) {
        case 't' -> plain.append('\t');
        case 'n' -> plain.append('\n');
        case 'r' -> plain.append('\r');
        case 'e' -> { }
        default -> plain.append(escaped);
      }
      from = at + 2;
    }
    return plain.append(text, from, text.length()).toString();
  }
}
