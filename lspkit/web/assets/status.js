"use strict";
// The page shows what /status says, and asks again when /events tells of a change. All text comes
// from servers and files, and is set as text, never as HTML.

const byId = (id) => document.getElementById(id);
const folded = new Set(); // paths of files that the reader has folded
const known = new Map(); // what each row showed last, to mark those that change
const PAUSE = 300; // milliseconds between two requests
let shown = null;
let asked = false;
let waiting = null;

// Characters that are not seen, or that reorder the text around them.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/gu;

function visible(text, lines = false) {
  const escaped = (one) => (lines && "\n\t".includes(one) ? one : `\\u{${one.codePointAt(0).toString(16)}}`);
  return String(text).replace(UNSEEN, escaped);
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.map((one) => (one instanceof Node ? one : visible(one))));
  return made;
}

function relative(path, root) {
  return path.startsWith(root + "/") ? path.slice(root.length + 1) : path;
}

function pill(state) {
  return element("span", { class: "pill", "data-state": state }, state);
}

function counts(numbers) {
  const parts = [["error", "errors"], ["warning", "warnings"], ["info", "info"], ["hint", "hints"]]
    .filter(([key]) => numbers[key])
    .map(([key, word]) => element("span", { class: key }, `${numbers[key]} ${numbers[key] === 1 ? key : word}`));
  return element("span", { class: "counts" }, ...parts);
}

function megabytes(bytes) {
  return bytes ? `${Math.round(bytes / 1e6)} MB` : "";
}

function serverRow(server, root) {
  const facts = [...server.busyWith, server.pid ? `pid ${server.pid}` : "", megabytes(server.memoryBytes)];
  const where = relative(server.root, root);
  const row = element(
    "div", { class: "row", "data-server": server.id },
    element("span", { class: "name" }, server.id), pill(server.state),
    element("span", { class: "root quiet" }, [where, ...facts].filter(Boolean).join(" · ")),
    counts(server.diagnostics),
  );
  if (server.reason) row.append(element("span", { class: "more error" }, server.reason));
  const key = `${server.id} ${server.root}`;
  const text = `${server.state} ${server.diagnostics.total}`;
  if (known.has(key) && known.get(key) !== text) row.classList.add("changed");
  known.set(key, text);
  return row;
}

function otherServers(servers) {
  const rows = servers.map((one) => element(
    "li", {}, element("span", {}, one.id), pill(one.state),
    element("span", { class: "message quiet" }, [one.reason, one.install].filter(Boolean).join(": ")),
  ));
  const title = element("summary", {}, element("span", { class: "path" }, `${servers.length} that do not run`));
  return foldable("servers that do not run", true, title, element("ul", {}, ...rows));
}

function foldable(key, closed, title, content) {
  const made = element("details", { "data-key": key }, title, content);
  // The reader's choice is kept, the default of each kind is not stored.
  made.open = folded.has(key) === closed;
  made.addEventListener("toggle", () => {
    if (made.open === closed) folded.add(key); else folded.delete(key);
  });
  return made;
}

function fileRows(file, root, wanted) {
  const name = relative(file.path, root);
  const matching = file.diagnostics.filter((one) =>
    !wanted || `${name} ${one.severity} ${one.message} ${one.code} ${one.source}`.toLowerCase().includes(wanted));
  if (!matching.length) return null;
  const numbers = {};
  for (const one of matching) numbers[one.severity] = (numbers[one.severity] || 0) + 1;
  const rows = matching.map((one) => element(
    "li", {}, element("span", { class: "at" }, `${one.line}:${one.column}`),
    element("span", { class: one.severity }, one.severity),
    element("span", { class: "message" }, document.createTextNode(visible(one.message, true)),
      element("span", { class: "quiet" }, ` ${[one.source || one.servers.join(", "), one.code].filter(Boolean).join(" ")}`)),
  ));
  const title = element("summary", {}, element("span", { class: "path" }, name), counts(numbers));
  return foldable(file.path, false, title, element("ul", {}, ...rows));
}

function totals(status) {
  const servers = status.workspaces.flatMap((one) => one.servers);
  const found = status.workspaces.flatMap((one) => one.files).flatMap((one) => one.diagnostics);
  const number = (word, many, kind) => element(
    "div", { class: "card" }, element("b", many ? { class: kind } : {}, String(many)), element("span", {}, word));
  const running = (state) => servers.filter((one) => one.state === state).length;
  const severe = (severity) => found.filter((one) => one.severity === severity).length;
  return [
    number("active", running("active"), "good"), number("starting", running("starting"), "info"),
    number("broken", running("broken"), "error"), number("errors", severe("error"), "error"),
    number("warnings", severe("warning"), "warning"),
  ];
}

function workspaceParts(workspace, many, wanted) {
  const running = workspace.servers.filter((one) => one.root !== null);
  const idle = workspace.servers.filter((one) => one.root === null);
  const title = () => (many ? [element("h3", {}, workspace.root)] : []);
  const servers = [...title(), ...running.map((one) => serverRow(one, workspace.root))];
  if (!running.length) {
    const why = workspace.unavailable || "No server runs yet. One starts when a file is checked.";
    servers.push(element("p", { class: "empty" }, why));
  }
  if (idle.length) servers.push(otherServers(idle));
  servers.push(...workspace.warnings.map((one) => element("p", { class: "notice" }, one)));
  const files = workspace.files.map((one) => fileRows(one, workspace.root, wanted)).filter(Boolean);
  const nothing = wanted && workspace.files.length ? "Nothing matches the filter." : "No diagnostics are known.";
  if (!files.length) files.push(element("p", { class: "empty" }, nothing));
  if (workspace.omitted) files.push(element("p", { class: "notice" }, `${workspace.omitted} more are not shown`));
  return { servers, files: [...title(), ...files] };
}

function show(status) {
  shown = status;
  const focused = document.activeElement?.closest?.("details")?.dataset.key;
  const wanted = byId("filter").value.trim().toLowerCase();
  const many = status.workspaces.length > 1;
  const parts = status.workspaces.map((one) => workspaceParts(one, many, wanted));
  byId("service").textContent = `${visible(status.service.root)} · version ${status.service.version} · pid ${status.service.pid}`;
  byId("totals").replaceChildren(...totals(status));
  byId("servers").replaceChildren(...parts.flatMap((one) => one.servers));
  byId("files").replaceChildren(...parts.flatMap((one) => one.files));
  if (focused !== undefined) summaries().find((one) => one.parentNode.dataset.key === focused)?.focus();
}

function setConnection(state, text) {
  const pillElement = byId("connection");
  pillElement.dataset.state = state;
  if (pillElement.textContent !== text) pillElement.textContent = text;
}

function setProblem(text) {
  byId("problem").textContent = visible(text);
  byId("problem").hidden = !text;
}

async function refresh() {
  try {
    const response = await fetch("/status", { cache: "no-store" });
    const body = await response.json();
    if (!response.ok) throw new Error(body.detail || `status ${response.status}`);
    show(body);
    setProblem("");
  } catch (problem) {
    setProblem(`The status cannot be shown: ${problem.message}`);
  }
}

// At most one request at a time, and a pause after each.
function ask() {
  asked = true;
  if (waiting !== null) return;
  asked = false;
  waiting = refresh().finally(() => setTimeout(() => {
    waiting = null;
    if (asked) ask();
  }, PAUSE));
}

function listen() {
  const events = new EventSource("/events");
  events.addEventListener("open", () => { setConnection("active", "live"); ask(); });
  events.addEventListener("error", () => {
    if (events.readyState !== EventSource.CLOSED) { setConnection("starting", "connecting"); return; }
    setConnection("broken", "not connected");
    ask(); // it tells why
    setTimeout(listen, 5000);
  });
  for (const kind of ["state", "diagnostics", "dropped"]) events.addEventListener(kind, ask);
}

function summaries() {
  return [...document.querySelectorAll("summary")];
}

function move(by) {
  const all = summaries();
  const next = Math.min(Math.max(all.indexOf(document.activeElement) + by, 0), all.length - 1);
  all[next]?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const filter = byId("filter");
  if (event.key === "Escape") {
    filter.value = "";
    filter.blur();
    if (shown) show(shown);
  } else if (document.activeElement !== filter) {
    const actions = { "/": () => filter.focus(), j: () => move(1), k: () => move(-1), r: ask };
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }
});
byId("filter").addEventListener("input", () => { if (shown) show(shown); });
ask();
listen();
