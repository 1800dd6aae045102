"use strict";

// Colours for three query languages. It only splits text into pieces: every piece ends as text.
const WORDS = {
  sql: "SELECT FROM WHERE AND OR NOT NULL IS IN EXISTS BETWEEN LIKE ILIKE AS ON USING JOIN LEFT RIGHT FULL INNER OUTER CROSS LATERAL GROUP BY HAVING ORDER ASC DESC NULLS FIRST LAST LIMIT OFFSET FETCH ONLY TIES DISTINCT UNION INTERSECT EXCEPT ALL ANY WITH RECURSIVE CASE WHEN THEN ELSE END OVER PARTITION ROWS RANGE FILTER WITHIN INTERVAL DATE CAST TRUE FALSE VALUES WINDOW",
  cypher: "MATCH OPTIONAL WHERE RETURN WITH UNWIND CALL UNION ALL ORDER BY ASC DESC SKIP LIMIT DISTINCT AND OR XOR NOT NULL IS IN STARTS ENDS CONTAINS EXISTS COUNT COLLECT CASE WHEN THEN ELSE END AS TRUE FALSE ANY NONE SINGLE",
  typeql: "match fetch select sort limit offset reduce distinct require groupby with fun return let in not or try isa isa! has links plays owns relates sub is like contains asc desc first last count sum max min mean median std within true false",
};

function pieces(text, language) {
  const known = new Set((WORDS[language] || "").split(" "));
  const folded = language !== "typeql";
  const comment = language === "sql" ? "--[^\\r\\n]*|/\\*[\\s\\S]*?(?:\\*/|$)"
    : language === "typeql" ? "#[^\\r\\n]*" : "//[^\\r\\n]*|/\\*[\\s\\S]*?(?:\\*/|$)";
  const string = language === "sql" ? "'(?:[^']|'')*'?" : "'(?:[^'\\\\]|\\\\.)*'?|\"(?:[^\"\\\\]|\\\\.)*\"?";
  const variable = language === "sql" ? "\"(?:[^\"]|\"\")*\"?" : language === "cypher" ? "`[^`]*`?" : "\\$[\\w-]+";
  const word = language === "typeql" ? "[A-Za-z_][\\w-]*!?" : "[A-Za-z_]\\w*";
  const all = new RegExp(`(${comment})|(${string})|(${variable})|(${word})|(\\d[\\d.]*(?:[eE][+-]?\\d+)?)`, "g");
  const found = [];
  let end = 0;
  for (const hit of text.matchAll(all)) {
    if (hit.index > end) found.push(["", text.slice(end, hit.index)]);
    const [whole, isComment, isString, isVariable, isWord] = hit;
    const isName = /[.:]/.test(text[hit.index - 1] || ""); // of a column, a label: u.name, (:Order)
    const kind = isComment ? "comment" : isString ? "string" : isVariable ? "variable"
      : isWord ? (!isName && known.has(folded ? whole.toUpperCase() : whole) ? "keyword" : "") : "number";
    found.push([kind, whole]);
    end = hit.index + whole.length;
  }
  if (end < text.length) found.push(["", text.slice(end)]);
  return found;
}

function highlight(element, text, language) {
  element.replaceChildren(...pieces(text, language).map(([kind, part]) => {
    if (!kind) return document.createTextNode(part);
    const span = document.createElement("span");
    span.className = kind;
    span.textContent = part;
    return span;
  }));
}
