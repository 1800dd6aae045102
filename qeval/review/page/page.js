"use strict";

const $ = (id) => document.getElementById(id);
const secret = location.hash.slice(1);
const state = { items: [], place: 0, sawJudge: false, view: null, asked: 0 };

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
  $("progress").textContent = `${done} of ${state.items.length} decided`;
}

async function show(place) {
  if (place < 0 || place >= state.items.length) return;
  state.place = place;
  state.sawJudge = false;
  showQueue();
  $("queue").children[place].scrollIntoView({ block: "nearest" });
  $("item").setAttribute("aria-busy", "true");
  const asked = ++state.asked;
  const view = await call(`/api/item?key=${state.items[place].key}&${asReviewer()}`);
  if (asked !== state.asked) return; // the reviewer has gone on
  $("item").setAttribute("aria-busy", "false");
  render(view);
  window.scrollTo(0, 0);
}

function render(view) {
  state.view = view;
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
  $("others").replaceChildren(...view.others.map((other) =>
    element("p", `${other.reviewer}: ${other.choice}${other.reason ? ` — ${other.reason}` : ""}`)));
}

function showRows(side, result, what) {
  const alone = result.rows.filter(([, common]) => !common).length;
  const cut = result.rows.length < result.total ? `, ${result.rows.length} shown` : "";
  $(`${side}-count`).textContent = `${rowsOf(result.total)}${cut}; ${alone} only here`;
  $(`${side}-rows`).replaceChildren(resultTable(side, result, what));
}

const rowsOf = (count) => (count === 1 ? "1 row" : `${count} rows`);

function resultTable(side, result, what) {
  const table = element("table");
  const head = table.createTHead().insertRow();
  result.columns.forEach((name, place) => {
    const cell = element("th", name);
    const matched = result.matched[place];
    if (side !== "gold" && matched !== name) cell.append(element("small", matched ? `as ${matched}` : "not asked for"));
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
  return table;
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
  $("few-tables").replaceChildren(...found.tables.map((one) => {
    const table = element("table");
    const caption = element("caption", one.name);
    if (one.rows.length < one.total) caption.append(element("small", ` ${one.rows.length} of ${rowsOf(one.total)}`));
    const head = element("tr");
    head.append(...one.columns.map((name) => element("th", name)));
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

function showJudge() {
  const said = state.view.judgements;
  $("judge").hidden = said.length === 0;
  $("judge-words").hidden = !state.sawJudge;
  $("judge-button").setAttribute("aria-expanded", String(state.sawJudge));
  $("judge-words").replaceChildren(...said.flatMap((one) => {
    const claim = one.claim ? `; its row set: ${one.claim.outcome}${one.claim.message ? ` (${one.claim.message})` : ""}` : "";
    const odd = [one.split && "votes disagree", one.contradicted && "contradicted by the evidence"].filter(Boolean).join(", ");
    return [element("p", `${one.judge}: ${one.label}${odd ? ` (${odd})` : ""}${claim}`),
      ...one.votes.map((vote) => element("p", `  ${vote.label}: ${vote.reason}`))];
  }));
}

async function decide(choice) {
  if (!state.view || (choice === "withdrawn" && !state.view.mine)) return;
  const place = state.place;
  const reason = choice === "withdrawn" ? "" : $("reason").value;
  const view = await call("/api/decide", {
    key: state.view.key, choice, reason, reviewer: reviewer(), saw_judge: state.sawJudge,
  });
  state.items[place].mine = view.mine && view.mine.choice;
  $("reason").blur();
  if (choice === "withdrawn" || place + 1 >= state.items.length) {
    render(view);
    showQueue();
  } else {
    await show(place + 1);
  }
}

function nextOpen() {
  const order = state.items.map((_, step) => (state.place + 1 + step) % state.items.length);
  const place = order.find((candidate) => !state.items[candidate].mine);
  return place === undefined ? Promise.resolve() : show(place);
}

function toggle(id) {
  const hidden = ($(id).hidden = !$(id).hidden);
  $(`${id}-button`).setAttribute("aria-expanded", String(!hidden));
}

function toggleJudge() {
  if (!state.view || state.view.judgements.length === 0) return;
  // Once seen it stays seen: the decision says so.
  if (state.sawJudge) $("judge-words").hidden = !$("judge-words").hidden;
  else { state.sawJudge = true; showJudge(); }
}

const KEYS = {
  e: () => decide("equivalent"), d: () => decide("different"), u: () => decide("withdrawn"),
  n: () => show(state.place + 1), ArrowRight: () => show(state.place + 1),
  p: () => show(state.place - 1), ArrowLeft: () => show(state.place - 1),
  o: nextOpen, j: toggleJudge, "?": () => toggle("help"),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof HTMLInputElement) {
    if (event.key === "Escape" || (event.key === "Enter" && event.target.id === "reason")) event.target.blur();
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
$("help-button").addEventListener("click", () => toggle("help"));
$("judge-button").addEventListener("click", toggleJudge);
$("reviewer").addEventListener("change", () => attempt(async () => {
  await loadQueue();
  await show(state.place);
}));

attempt(async () => {
  await loadQueue();
  if (state.items.length) await show(Math.max(0, state.items.findIndex((item) => !item.mine)));
});
