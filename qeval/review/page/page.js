"use strict";

const $ = (id) => document.getElementById(id);
const secret = location.hash.slice(1);
const state = { items: [], place: 0, view: null, asked: 0, seen: new Set() };

function element(tag, text, name) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
}

async function call(path, body) {
  const reply = await fetch(path, {
    method: body ? "POST" : "GET",
    headers: { "X-Review-Secret": secret, ...(body ? { "Content-Type": "application/json" } : {}) },
    body: body ? JSON.stringify(body) : undefined,
  });
  const value = await reply.json();
  if (!reply.ok) throw new Error(value.error || reply.statusText);
  return value;
}

async function attempt(work) {
  try {
    await work();
    $("trouble").hidden = true;
  } catch (error) {
    $("trouble").textContent = error instanceof TypeError
      ? "qeval review does not answer; is it still running in the terminal?" : error.message;
    $("trouble").hidden = false;
  }
}

const reviewer = () => $("reviewer").value.trim();
const asReviewer = () => `reviewer=${encodeURIComponent(reviewer())}`;

async function loadQueue() {
  const found = await call(`/api/queue?${asReviewer()}`);
  if (!reviewer()) $("reviewer").value = found.reviewer;
  state.items = found.items;
  $("empty").textContent = "Nothing to review: no prediction in these cells is disputed.";
  $("empty").hidden = state.items.length > 0;
  $("item").hidden = $("bar").hidden = state.items.length === 0;
  showQueue();
}

function showQueue() {
  const marks = { equivalent: "=", different: "≠" };
  $("queue").replaceChildren(...state.items.map((item, place) => {
    const line = element("button");
    line.type = "button";
    line.title = item.disputed ? "votes, judges or reviewers disagree" : "";
    line.setAttribute("aria-current", String(place === state.place));
    line.append(
      element("span", marks[item.mine] || (item.disputed ? "!" : "·"), `mark ${item.mine || ""}`),
      element("span", item.case),
      element("span", item.language, "language"),
    );
    line.addEventListener("click", () => attempt(() => show(place)));
    return line;
  }));
  const done = state.items.filter((item) => item.mine).length;
  const all = done > 0 && done === state.items.length ? "; Ctrl-C in the terminal ends the review" : "";
  $("progress").textContent = `${done} of ${state.items.length} decided${all}`;
}

async function show(place) {
  if (place < 0 || place >= state.items.length) return;
  state.place = place;
  state.view = null; // no key may decide on what is not shown yet
  showQueue();
  $("queue").children[place].scrollIntoView({ block: "nearest" });
  $("item").setAttribute("aria-busy", "true");
  const asked = ++state.asked;
  const view = await call(`/api/item?key=${state.items[place].key}&${asReviewer()}`);
  if (asked !== state.asked) return; // the reviewer has gone on
  render(view);
  window.scrollTo(0, 0);
}

function render(view) {
  state.view = view;
  $("item").setAttribute("aria-busy", "false");
  if (view.mine && view.mine.saw_judge) state.seen.add(sight());
  const facts = [[view.case], [view.language], [view.difficulty],
    [view.kind && view.kind !== view.verdict ? `${view.verdict}: ${view.kind}` : view.verdict, "verdict"],
    [view.models.join(", ")]];
  if (state.items[state.place].disputed) facts.push(["disputed", "split"]);
  $("facts").replaceChildren(...facts.filter(([text]) => text).map(([text, name]) => element("span", text, name)));
  $("question").textContent = view.question;
  highlight($("gold"), view.gold, view.language);
  highlight($("query"), view.query, view.language);
  const evidence = view.evidence;
  $("where").textContent = [`on ${evidence.instance}: ${evidence.message}`, evidence.note].filter(Boolean).join(" · ");
  showRows("gold", evidence.gold, "gold");
  showRows("query", evidence.predicted, "prediction");
  showCounterexample();
  showJudge();
  const reason = view.mine ? view.mine.reason : "";
  if (document.activeElement !== $("reason")) $("reason").value = reason;
  for (const choice of ["equivalent", "different"]) {
    $(choice).setAttribute("aria-pressed", String(Boolean(view.mine) && view.mine.choice === choice));
  }
  $("withdrawn").disabled = !view.mine;
  $("others").hidden = view.others.length === 0;
  $("others").replaceChildren(element("h2", "other reviewers"), ...view.others.map((other) =>
    element("p", `${other.reviewer}: ${other.choice}${other.reason ? ` — ${other.reason}` : ""}`)));
}

function showRows(side, result, what) {
  const alone = result.rows.filter(([, common]) => !common).length;
  const isCut = result.rows.length < result.total;
  const cut = isCut ? `, ${result.rows.length} shown` : "";
  const more = isCut && alone === result.rows.length ? " or more" : "";
  $(`${side}-count`).textContent = `${rowsOf(result.total)}${cut}; ${alone}${more} only here`;
  $(`${side}-rows`).replaceChildren(resultTable(side, result, what));
}

const rowsOf = (count) => (count === 1 ? "1 row" : `${count} rows`);

function resultTable(side, result, what) {
  const table = element("table");
  const head = table.createTHead().insertRow();
  result.columns.forEach((name, place) => {
    const cell = heading(name, result.rows.map(([cells]) => cells[place]));
    const matched = result.matched[place];
    const role = !matched ? "not asked for" : name ? `as ${matched}` : `no ${matched}`;
    if (side !== "gold" && matched !== name) cell.append(element("small", role));
    head.append(cell);
  });
  const body = table.createTBody();
  for (const [cells, common] of result.rows) {
    const row = body.insertRow();
    if (!common) {
      row.className = "alone";
      row.title = `only the ${what} has this row`;
    }
    row.append(...cells.map(shownCell));
  }
  if (!result.rows.length) {
    const none = element("td", "no rows", "none");
    none.colSpan = Math.max(1, result.columns.length);
    body.insertRow().append(none);
  }
  return table;
}

function heading(name, cells) {
  const isNumber = cells.some((cell) => typeof cell === "number")
    && cells.every((cell) => cell === null || typeof cell === "number");
  return element("th", name, isNumber ? "number" : "");
}

function shownCell(value) {
  const kind = value === null ? "null" : typeof value === "number" ? "number" : "";
  return element("td", value === null ? "null" : String(value), kind);
}

function showCounterexample() {
  const found = state.view.counterexample;
  $("counterexample").hidden = !found;
  if (!found) return;
  const rest = found.tables.length ? ", all else being empty" : "";
  $("few").textContent = `${found.summary}${rest}${found.message && ": "}${found.message}`;
  $("few-data").open = found.tables.reduce((sum, one) => sum + one.total, 0) <= 50; // more tell little
  $("few-tables").replaceChildren(...found.tables.map((one) => {
    const table = element("table");
    const caption = element("caption", one.name);
    if (one.rows.length < one.total) caption.append(element("small", ` ${one.rows.length} of ${rowsOf(one.total)}`));
    const head = element("tr");
    head.append(...one.columns.map((name, place) => heading(name, one.rows.map((cells) => cells[place]))));
    table.append(caption, head, ...one.rows.map((cells) => {
      const row = element("tr");
      row.append(...cells.map(shownCell));
      return row;
    }));
    const box = element("div", undefined, "scroll");
    box.append(table);
    return box;
  }));
  const results = [["gold", found.gold], ["query", found.predicted]];
  $("few-results").hidden = !found.tables.length || results.every(([, side]) => !side.total);
  for (const [side, result] of results) {
    const cut = result.rows.length < result.total ? `, ${result.rows.length} shown` : "";
    $(`few-${side}-count`).textContent = rowsOf(result.total) + cut;
    $(`few-${side}-rows`).replaceChildren(resultTable(side, result, side === "gold" ? "gold" : "prediction"));
  }
}

// Once seen it stays seen, by this reviewer of this item: their decision says so.
const sight = () => `${reviewer()} ${state.view.key}`;
const sawJudge = () => state.seen.has(sight());

function showJudge() {
  const said = state.view.judgements;
  $("judge").hidden = said.length === 0;
  unfold("judge", sawJudge(), "judge-words");
  $("judge-words").replaceChildren(...said.flatMap((one) => {
    const claim = one.claim ? `; its row set: ${one.claim.outcome}${one.claim.message ? ` (${one.claim.message})` : ""}` : "";
    const odd = [one.split && "votes disagree", one.contradicted && "contradicted by the evidence"].filter(Boolean).join(", ");
    const alike = new Map();
    for (const vote of one.votes) {
      const words = `${vote.label}: ${vote.reason}`;
      alike.set(words, (alike.get(words) || 0) + 1);
    }
    return [element("p", `${one.judge}: ${one.label}${odd ? ` (${odd})` : ""}${claim}`),
      ...[...alike].map(([words, count]) => element("p", count > 1 ? `${count} × ${words}` : words, "vote"))];
  }));
}

async function decide(choice) {
  const decided = state.view;
  if (!decided || (choice === "withdrawn" && !decided.mine)) return;
  const place = state.place;
  const body = {
    key: decided.key, choice, reviewer: reviewer(), saw_judge: sawJudge(),
    reason: choice === "withdrawn" ? "" : $("reason").value,
  };
  state.view = null; // the same key pressed twice decides once
  let view;
  try {
    view = await call("/api/decide", body);
  } catch (error) {
    if (state.place === place) state.view = decided;
    throw error;
  }
  state.items[place].mine = view.mine && view.mine.choice;
  showQueue();
  if (state.place !== place) return; // the reviewer has gone on
  $("reason").blur();
  if (choice === "withdrawn" || place + 1 >= state.items.length) render(view);
  else await show(place + 1);
}

function nextOpen() {
  const order = state.items.map((_, step) => (state.place + 1 + step) % state.items.length);
  const place = order.find((candidate) => !state.items[candidate].mine);
  return place === undefined ? Promise.resolve() : show(place);
}

function unfold(id, isOpen, folded = id) {
  $(folded).hidden = !isOpen;
  $(`${id}-button`).setAttribute("aria-expanded", String(isOpen));
}

const toggleHelp = () => unfold("help", $("help").hidden);

function toggleJudge() {
  if (!state.view || state.view.judgements.length === 0) return;
  state.seen.add(sight());
  unfold("judge", $("judge-words").hidden, "judge-words");
}

const KEYS = {
  e: () => decide("equivalent"), d: () => decide("different"), u: () => decide("withdrawn"),
  n: () => show(state.place + 1), ArrowRight: () => show(state.place + 1),
  p: () => show(state.place - 1), ArrowLeft: () => show(state.place - 1),
  o: nextOpen, j: toggleJudge, "?": toggleHelp, Escape: () => unfold("help", false),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof HTMLInputElement) {
    if (event.key === "Escape" || event.key === "Enter") event.target.blur();
    return;
  }
  if (event.key === "r") {
    event.preventDefault();
    $("reason").focus();
  } else if (Object.hasOwn(KEYS, event.key)) {
    event.preventDefault();
    attempt(async () => KEYS[event.key]());
  }
});

for (const choice of ["equivalent", "different", "withdrawn"]) {
  $(choice).addEventListener("click", () => attempt(() => decide(choice)));
}
$("help-button").addEventListener("click", toggleHelp);
$("judge-button").addEventListener("click", toggleJudge);
$("reviewer").addEventListener("change", () => attempt(begin));

async function begin() {
  await loadQueue();
  if (state.items.length) await show(Math.max(0, state.items.findIndex((item) => !item.mine)));
}

attempt(begin);
