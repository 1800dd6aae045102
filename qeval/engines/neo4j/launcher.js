// Runs in Rhino inside the server's JVM: one database management system per data set, each with
// its own store and port, so that data sets can be queried side by side in one process (Community
// has one user database). They share classes, compiled code and heap: the second takes 0.3 s.
//
// arguments[0]: the slot's folder. A request is a file control/NAME.request holding
// "open KEY", "seal KEY" or "close KEY"; the answer is control/NAME.answer, "ok PORT" or
// "failed …". KEY is a folder below instances/. Sealed: reopened read-only, for ever.

var Files = java.nio.file.Files, Path = java.nio.file.Path;
var ConnectorPortRegister = Packages.org.neo4j.configuration.connectors.ConnectorPortRegister;
var ConnectorType = Packages.org.neo4j.configuration.connectors.ConnectorType;
var Builder = Packages.org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

var slot = Path.of(arguments[0]);
var control = slot.resolve("control");
var open = {};

function start(key) {
  var home = slot.resolve("instances").resolve(key);
  var settings = Files.exists(home.resolve("sealed")) ? "neo4j-sealed.conf" : "neo4j.conf";
  var dbms = new Builder(home).loadPropertiesFromFile(slot.resolve(settings)).build();
  var port;
  try {
    port = dbms.database("neo4j").getDependencyResolver()
      .resolveDependency(ConnectorPortRegister).getLocalAddress(ConnectorType.BOLT).getPort();
  } catch (error) {
    dbms.shutdown();
    throw error;
  }
  open[key] = { dbms: dbms, port: port };
}

function stop(key) {
  if (open[key]) {
    open[key].dbms.shutdown();
    delete open[key];
  }
}

function answer(command, key) {
  if (command === "seal") {
    stop(key);
    Files.write(slot.resolve("instances").resolve(key).resolve("sealed"), new java.util.ArrayList());
    start(key);
  } else if (command === "close") {
    stop(key);
    return "ok";
  } else if (!open[key]) {
    start(key);
  }
  return "ok " + open[key].port;
}

function causes(error) {
  var text = String(error), cause = error.javaException || error.rhinoException;
  while (cause) {
    text += " <- " + cause;
    cause = cause.getCause();
  }
  return text;
}

function serve(request) {
  var name = String(request.getFileName()).replace(/\.request$/, "");
  var words = String(Files.readString(request)).trim().split(" ");
  var said;
  try {
    said = answer(words[0], words[1]);
  } catch (error) {
    said = "failed " + causes(error);
  }
  var partial = control.resolve(name + ".partial");
  Files.writeString(partial, said);
  Files["delete"](request);
  Files.move(partial, control.resolve(name + ".answer"));
}

for (;;) {
  var waiting = Files.newDirectoryStream(control, "*.request");
  var each = waiting.iterator(), found = false;
  while (each.hasNext()) {
    found = true;
    serve(each.next());
  }
  waiting.close();
  if (!found) java.lang.Thread.sleep(10);
}
