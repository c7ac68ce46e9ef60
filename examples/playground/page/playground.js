"use strict";
/* playground: the page. Sections: words, controls, the worker, time, tables, lessons, files, the start. */

const $ = id => document.getElementById(id);
const MOST_ADDRESS = 8000; /* characters of a PTX file in a link */
const PICTURE_MS = 33;
const FOREVER = 2 ** 52;

const grid = new Grid($("grid"));
let state = stateOfAddress(location.hash);
let texts = {}, offered = {}, lessons = [];
let run = null; /* the open experiment: {about, look, end, request, urgent} */
let playing = 0, busy = true, waiting = null;

/* ---- words ---- */

const thousands = n => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, " ");
const micro = cycles => (cycles * 1000 / run.about.gpu.clock_khz).toFixed(2) + " µs";
const several = (n, word) => thousands(n) + " " + word + (n === 1 ? "" : "s");

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function fail(text) {
  $("error").textContent = text;
  $("error").hidden = !text;
}

/* ---- controls: one row each: [state's name, label, kind, more] ---- */

const choices = (list, none) => (none === undefined ? [] : [["", none]]).concat(list.map(name => [name, name]));

function groups() {
  const sizes = kernelChoices(texts).flatMap(([folder, names]) => names.map(name => [folder + "/" + name, folder + ", " + name.replace(/^launch$/, "middle")]));
  const urgentFiles = Object.keys(texts).filter(name => /^examples\/minigpu\/(launches\/|demo|mine)/.test(name) && /\.(yaml|traceg)$/.test(name));
  const lessonFiles = lessons.map(lesson => lesson.state.file);
  const files = Array.from(new Set([DEMO, ...lessonFiles, ...urgentFiles])).map(name => [name, name.split("/").slice(-2).join("/").replace("minigpu/", "")]);
  const hows = [["none", "nothing: it waits for free slots"], ...offered.techniques.map(name => ["technique:" + name, name + " all blocks of an SM"]),
    ...offered.policies.map(name => ["policy:" + name, "policy " + name]), ...offered.partitions.map(name => ["partition:" + name, "share SMs: " + name]),
    ...offered.schedules.map(name => ["schedule:" + name, "scheduler " + name])];
  return [
    ["Kernels", [["file", "launch", "select", [[PAIR, "two kernels of your choice"], ...files]], ["first", "first", "select", sizes],
      ["second", "urgent", "select", [["none", "none"], ...sizes]]]],
    ["Request", [["arrival", "arrives at", "range", [100, 60000, 100, n => "cycle " + thousands(n)]], ["priority", "priority", "range", [0, 3, 1, n => n ? String(n) + ", above the first kernel's 0" : "0, as the first kernel"]],
      ["deadline", "deadline", "range", [0, 20, 1, n => n ? n + " µs, for policies" : "none"]]]],
    ["How room is made", [["how", "by", "select", hows], ["context", "saves", "select", choices(offered.contexts)]]],
    ["Page faults", [["faults", "scheme", "select", choices(["stall", "wd_commit", "wd_check", "queue", "log8", "log16", "log32"], "none")],
      ["link", "link", "select", choices(["nvlink", "pcie3", "nvlink_pipelined", "pcie3_pipelined", "ideal", "uvm595"], "none")],
      ["absent", "absent", "select", choices(["all"], "none")], ["switching", "switch", "select", [["", "not on a fault"], ["1", "on a fault, 1 more"], ["4", "on a fault, 4 more"]]]]],
    ["Machine", [["gpu", "GPU", "select", choices(offered.presets, "as the launch file says")],
      ["duet", "beyond room", "select", [["", "only what fits"], ["maxwell_duet:all", "GPUDuet, all that fit in frames"], ["maxwell_duet", "GPUDuet with its monitor"], ["virtual_thread:all", "Virtual Thread"]]],
      ["more", "options", "text", "more options of minigpu run"]]],
  ];
}

function control([name, label, kind, more]) {
  const id = "c_" + name;
  if (kind === "select") {
    const select = element("select", { id }, ...more.map(([value, text]) => element("option", { value }, text)));
    if (!more.some(([value]) => value === String(state[name]))) select.append(element("option", { value: state[name] }, String(state[name])));
    select.value = state[name];
    select.addEventListener("change", () => change(name, isNumber(name) ? Number(select.value) : select.value));
    return [element("label", {}, label, select)];
  }
  if (kind === "range") {
    const [min, max, step, words] = more, output = element("output", { for: id }, words(state[name]));
    const range = element("input", { id, type: "range", min, max: Math.max(max, state[name]), step });
    range.value = state[name];
    const tell = () => { output.textContent = words(Number(range.value)); range.setAttribute("aria-valuetext", output.textContent); };
    range.addEventListener("input", tell);
    range.addEventListener("change", () => change(name, Number(range.value)));
    tell();
    return [element("label", {}, label, range, output)];
  }
  const text = element("input", { id, type: "text", placeholder: more, spellcheck: "false" });
  text.value = state[name];
  text.addEventListener("change", () => change(name, text.value));
  return [element("label", {}, label, text)];
}

function drawControls() {
  const focused = document.activeElement && document.activeElement.id;
  $("controls").replaceChildren(...groups().map(([title, rows]) => element("fieldset", {}, element("legend", {}, title), ...rows.flatMap(control))));
  const input = element("input", { id: "c_file_input", type: "file", accept: ".ptx,.traceg,.yaml,.yml", "aria-describedby": "dropNote" });
  input.addEventListener("change", () => { if (input.files[0]) take(input.files[0]); });
  $("controls").append(element("fieldset", {}, element("legend", {}, "Your own"), element("p", { class: "note", id: "dropNote" },
    "Drop a PTX file (nvcc -ptx), the trace of a kernel (.traceg) or a launch file anywhere on this page, or choose one. It stays in your browser."), input));
  if (focused && $(focused)) $(focused).focus();
  for (const name of ["first", "second"]) $("c_" + name).disabled = state.file !== PAIR;
}

/* A control has another value: the experiment begins again. */
function change(name, value) {
  state[name] = value;
  if (name === "first" || name === "second") state.file = PAIR;
  state.at = "";
  if (name !== "lesson") state.lesson = state.lesson && lessonIs(state.lesson) ? state.lesson : "";
  begin();
}

/* ---- the worker: one message at a time has an answer that counts ---- */

let worker, number = 0;
const handlers = new Map();

function ask(message, handler) {
  const id = ++number;
  if (message.kind !== "init") handlers.clear();
  handlers.set(id, handler);
  worker.postMessage({ ...message, id });
}

function startWorker() {
  worker = new Worker(URL.createObjectURL(new Blob([$("workerText").textContent], { type: "text/javascript" })));
  worker.onmessage = ({ data }) => { const handler = handlers.get(data.id); if (handler) handler(data); };
  worker.onerror = event => fail("The engine has stopped: " + (event.message || "this browser lacks WebAssembly or its SIMD instructions."));
}

/* Opens the experiment of the state. */
function begin() {
  pauseNow();
  waiting = null;
  fail("");
  drawControls();
  note();
  let launch;
  try {
    launch = launchOf(texts, state);
  } catch (error) {
    fail(error.message);
    return;
  }
  const urgent = isUrgent(launch.text), args = argumentsOf(state, launch.path, urgent);
  $("command").textContent = commandOf(args);
  $("launch").textContent = launch.text;
  $("compared").replaceChildren();
  $("stop").hidden = false;
  busy = true;
  document.body.dataset.state = "running";
  run = null;
  ask({ kind: "open", args, files: { [launch.path]: launch.text } }, data => opened(data, urgent));
}

function opened(data, urgent) {
  if (data.kind === "failed") {
    fail(data.error);
    $("stop").hidden = true;
    document.body.dataset.state = "failed";
    busy = false;
    return;
  }
  if (data.kind === "opened") {
    run = { about: data.about, request: data.request, end: null, urgent };
    if (!performance.getEntriesByName("first picture").length) performance.mark("first picture");
    fail(data.notes);
    drawLegend();
  }
  if (data.kind === "ended") {
    run.end = data.look;
    run.report = data.report;
    $("stop").hidden = true;
    busy = false;
    if (data.look.error) fail(data.look.error);
  }
  show(data.look);
  if (data.kind !== "ended") return;
  $("cycle").max = data.look.now;
  document.body.dataset.state = "ended";
  const at = state.at !== "" ? Number(state.at) : run.request >= 0 ? run.request + 200 : Math.round(data.look.now / 2);
  goTo(Math.min(at, data.look.now));
}

/* ---- time ---- */

function goTo(cycle, back) {
  if (!run || !run.end) return;
  cycle = Math.max(0, Math.min(Math.round(cycle), run.end.now));
  if (busy) { waiting = { cycle, back }; return; }
  busy = true;
  ask({ kind: "seek", cycle: cycle >= run.end.now ? FOREVER : cycle, back }, data => {
    busy = false;
    if (data.kind === "failed") { fail(data.error); return; }
    show(data.look);
    state.at = data.look.now;
    note();
    document.body.dataset.cycle = data.look.now;
    if (waiting) { const next = waiting; waiting = null; goTo(next.cycle, next.back); }
  });
}

function pauseNow() {
  clearTimeout(playing);
  playing = 0;
  $("play").textContent = "Play";
  $("play").setAttribute("aria-pressed", "false");
}

function play() {
  if (playing) { pauseNow(); return; }
  if (!run || !run.end) return;
  $("play").textContent = "Pause";
  $("play").setAttribute("aria-pressed", "true");
  if (run.look.now >= run.end.now) goTo(0);
  const next = () => {
    if (!busy && run.look.now >= run.end.now) { pauseNow(); return; }
    if (!busy) goTo(run.look.now + Number($("speed").value));
    playing = setTimeout(next, PICTURE_MS);
  };
  playing = setTimeout(next, PICTURE_MS);
}

const step = by => { pauseNow(); if (run && run.look) goTo(run.look.now + by, by < 0); };

/* ---- the picture and the words of a moment ---- */

function show(look) {
  run.look = look;
  $("cycle").value = look.now;
  $("cycle").setAttribute("aria-valuetext", "cycle " + look.now);
  grid.draw(run.about.gpu, look);
  $("happening").textContent = happening(look);
  tellSm();
  drawScore(look);
  drawDecision(look);
}

function happening(look) {
  const words = ["Cycle " + thousands(look.now) + " (" + micro(look.now) + ")."], counts = new Array(LOOK.length).fill(0);
  for (const block of look.blocks) counts[block[4]]++;
  const parts = counts.map((n, i) => n ? thousands(n) + " " + LOOK_SHORT[i].replace(/^runs$/, n === 1 ? "runs" : "run").replace(/^drains$/, n === 1 ? "drains" : "drain")
    .replace(/^has/, n === 1 ? "has" : "have").replace(/^is /, n === 1 ? "is " : "are ").replace(/^waits/, n === 1 ? "waits" : "wait").replace(/^being/, n === 1 ? "is being" : "are being") : "").filter(text => text);
  words.push(look.blocks.length ? "Of " + several(look.blocks.length, "block") + " on the SMs " + parts.join(", ") + "." : "No block is on an SM.");
  for (const [i, request] of look.requests.entries()) {
    const mine = look.victims.filter(v => v[0] === i), gone = mine.filter(v => v[6] !== null).length;
    if (i === look.requests.length - 1)
      words.push((request[3] === null ? "A request" : run.about.kernels[request[3]].name + "'s request") + " at cycle " + thousands(request[0]) + ": " + thousands(gone) + " of " +
        several(mine.length, "victim") + " gone" + (request[2] !== null ? ", all room is free after " + micro(request[2] - request[0]) : "") + ".");
  }
  if (look.faults) words.push(several(look.faults, "fault") + " so far, " + several(look.pages, "page") + " brought.");
  if (look.ended === 1) words.push("Every kernel has ended.");
  return words.join(" ");
}

function tellSm() {
  $("told").textContent = run && run.look && grid.selected >= 0 && grid.selected < run.about.gpu.sms ? grid.words(run.about.gpu, run.look, run.about.kernels, grid.selected) :
    "Point at an SM, tap it, or reach the grid with the Tab key to read what the SM holds. Upper bar: registers by address; lower bar: shared memory.";
}

function select(sm) {
  if (!run || !run.look || sm < 0 || sm >= run.about.gpu.sms) return;
  grid.selected = sm;
  state.sm = sm;
  grid.draw(run.about.gpu, run.look);
  tellSm();
  note();
}

function drawLegend() {
  const swatch = paint => {
    const made = element("canvas", { width: 22, height: 14, "aria-hidden": "true" }), c = made.getContext("2d");
    c.fillStyle = paint;
    c.fillRect(0, 0, 22, 14);
    return made;
  };
  $("legend").replaceChildren(...run.about.kernels.map((k, i) => element("li", {}, swatch(grid.fill(RUNS, i)), k.name)),
    ...[DRAINS, STOPS, SAVED, RESTORED, FAULTS, OUT].map(look => element("li", {}, swatch(grid.fill(look, 0)), LOOK[look])),
    element("li", {}, "× dropped; framed: told to leave"));
}

/* ---- tables ---- */

const row = (tag, cells) => element("tr", {}, ...cells.map(cell => cell instanceof Node ? cell : element(tag, tag === "th" ? { scope: "col" } : {}, String(cell))));
const fillTable = (table, heads, rows) => table.replaceChildren(element("thead", {}, row("th", heads)), element("tbody", {}, ...rows));

function drawScore(look) {
  const end = run.end || look, time = cycle => cycle === null ? "–" : micro(cycle);
  fillTable($("score"), ["kernel", "ready", "first block", "end", "took", "blocks done", "warp instr.", "wasted"], run.about.kernels.map((k, i) => {
    const now = look.kernels[i], last = end.kernels[i];
    return row("td", [element("td", { class: "text" }, k.name), time(last[0]), time(last[1]), time(last[2]), last[2] === null || last[0] === null ? "–" : micro(last[2] - last[0]),
      thousands(now[3]) + " of " + thousands(k.blocks), thousands(now[4]), thousands(now[5])]);
  }));
  const request = end.requests[0];
  $("sum").textContent = (request ? "Latency of the request: " + (request[2] === null ? "not served" : micro(request[2] - request[0])) +
    (request[1] === null || request[2] === null ? "" : request[2] - request[0] > request[1] ? ", deadline missed" : ", deadline met") + ". " : "") +
    thousands(end.saved) + " bytes saved, " + thousands(end.restored) + " restored, " + several(end.wasted, "warp instruction") + " wasted" +
    (end.faults ? ", " + several(end.faults, "fault") : "") + (run.end ? "; the run takes " + micro(end.now) + "." : " so far.") + (run.report ? " " + results() : "");
  $("sum").dataset.numbers = JSON.stringify({ cycles: end.now, saved: end.saved, wasted: end.wasted, ends: end.kernels.map(k => k[2]), latency: request && request[2] !== null ? request[2] - request[0] : null });
}

function results() {
  const found = run.report.kernels.map(k => k.name + " " + k.result).filter(text => !/undefined/.test(text));
  return found.length ? "Results: " + found.join(", ") + "." : "";
}

function drawDecision(look) {
  const names = run.about.techniques, final = run.end || look, shown = names.map((n, i) => i).filter(i => final.victims.some(v => v[12][i] !== null));
  const estimated = shown.length > 0;
  $("decisionNote").textContent = !final.victims.length ? "Nobody has been told to leave." : estimated ?
    "Each victim's estimates, by technique, beside what came of it. Bold: what was chosen. Cost is lost work in warp instructions." :
    "A fixed technique estimates nothing: here is what came of it. Choose a policy to see estimates.";
  fillTable($("decision"), ["SM", "block", "told to", ...shown.map(i => names[i] + ": µs, cost"), "left by", "took", "bytes", "cost"], final.victims.slice(0, 200).map(v => {
    const told = v[5] <= look.now, left = v[6] !== null && v[6] <= look.now;
    return row("td", [v[1], run.about.kernels[v[3]].name + " " + v[4], told ? names[v[7]] : "…",
      ...shown.map(i => element("td", i === v[7] ? { class: "chosen" } : {}, v[12][i] === null ? "–" : (v[12][i] * 1000 / run.about.gpu.clock_khz).toFixed(2) + ", " + (v[13][i] === null ? "–" : thousands(v[13][i])))),
      left ? names[v[8]] : "…", left ? micro(v[6] - v[5]) : "…", left ? thousands(v[9]) : "…", left ? thousands(v[11]) : "…"]);
  }));
}

/* ---- policies side by side ---- */

function drawPolicies() {
  const usual = ["dual", "chimera", "switch", "drain", "flush"];
  $("policies").replaceChildren(...offered.policies.filter(name => !["oracle", "exact", "rewind"].includes(name)).map(name => {
    const box = element("input", { type: "checkbox", value: name });
    box.checked = usual.includes(name);
    return element("label", {}, box, name);
  }));
}

function compare() {
  pauseNow();
  fail("");
  let launch;
  try { launch = launchOf(texts, state); } catch (error) { fail(error.message); return; }
  const policies = Array.from($("policies").querySelectorAll("input:checked")).map(box => box.value), rows = [];
  if (!policies.length) { fail("Choose at least one policy to compare."); return; }
  const args = argumentsOf({ ...state, how: "policy:" + policies[0] }, launch.path, isUrgent(launch.text));
  busy = true;
  $("stopCompare").hidden = false;
  document.body.dataset.compared = "no";
  const finish = () => { busy = false; $("stopCompare").hidden = true; };
  ask({ kind: "compare", args, files: { [launch.path]: launch.text }, policies, deadlineNs: state.deadline ? state.deadline * 1000 : -1 }, data => {
    if (data.kind === "failed") { fail(data.error); finish(); return; }
    if (data.kind === "allCompared") { document.body.dataset.compared = "yes"; finish(); return; }
    const look = data.look, request = look.requests[0], latency = request && request[2] !== null ? request[2] - request[0] : null;
    const late = request && request[1] !== null && (latency === null || latency > request[1]), by = new Map();
    for (const v of look.victims) if (v[8] !== null) by.set(run.about.techniques[v[8]], (by.get(run.about.techniques[v[8]]) || 0) + 1);
    rows.push(row("td", [element("td", { class: "text" }, data.policy), latency === null ? "–" : micro(latency), element("td", late ? { class: "bad" } : {}, request && request[1] !== null ? late ? "missed" : "met" : "none"),
      ...look.kernels.map(k => k[2] === null ? "–" : micro(k[2] - k[0])), thousands(look.saved), thousands(look.wasted), Array.from(by, ([name, n]) => n + " " + name).join(", ") || "nobody"]));
    fillTable($("compared"), ["policy", "room after", "deadline", ...run.about.kernels.map(k => k.name + " took"), "bytes saved", "wasted warp instr.", "victims"], rows);
  });
}

/* ---- lessons ---- */

const lessonOf = name => lessons[Number(name) - 1];

/* Is the state that of the lesson, but for the moment and the SM that are shown? */
function lessonIs(name) {
  const lesson = lessonOf(name);
  return lesson && Object.keys(DEFAULTS).every(key => ["lesson", "at", "sm"].includes(key) || String(state[key]) === String(lesson.state[key]));
}

function openLesson(name) {
  const lesson = lessonOf(name);
  state = lesson ? { ...lesson.state, lesson: String(name) } : { ...state, lesson: "" };
  drawLesson();
  if (lesson) begin(); else note();
}

function drawLesson() {
  const lesson = lessonOf(state.lesson), panel = $("lessonText");
  $("lesson").value = lesson ? state.lesson : "";
  panel.hidden = !lesson;
  $("lessonBefore").disabled = !lesson || state.lesson === "1";
  $("lessonAfter").disabled = Number(state.lesson) >= lessons.length;
  if (!lesson) return;
  panel.innerHTML = lesson.html; /* of docs/first_lesson.md, put here by assemble.py */
  panel.prepend(element("h2", {}, state.lesson + ". " + lesson.title));
}

/* ---- files of one's own ---- */

async function take(file) {
  fail("");
  const name = file.name.replace(/[^\w.-]/g, "_"), text = await file.text();
  if (/\.ya?ml$/i.test(name)) { useFile(MINE + name.replace(/\.yml$/i, ".yaml"), text); return; }
  if (/\.traceg$/i.test(name)) { useFile(MINE + name, text); return; }
  if (!/\.ptx$/i.test(name)) { fail(file.name + " is neither PTX, a trace nor a launch file: the name must end in .ptx, .traceg or .yaml. nvcc -ptx makes PTX from a .cu file."); return; }
  takePtx(name, text);
}

function useFile(path, text) {
  texts[path] = text;
  state = { ...state, file: path, lesson: "", at: "", ptx: "", mine: "" };
  drawLesson();
  begin();
}

function takePtx(name, text, then) {
  ask({ kind: "init", name: MINE + name, text }, async data => {
    if (data.kind === "failed") { fail(data.error); document.body.dataset.state = "failed"; return; }
    const stem = name.replace(/\.ptx$/i, "");
    texts[MINE + name] = text;
    texts[MINE + stem + ".yaml"] = data.launch.replace(/^( *- ptx: *).*$/m, "$1" + name);
    state = { ...state, mine: name, lesson: "" };
    if (then) { then(); return; }
    state.ptx = await packed(text);
    if (kernelLines(texts[MINE + stem + ".yaml"])) state = { ...state, file: PAIR, first: "mine/" + stem, at: "" };
    else state = { ...state, file: MINE + stem + ".yaml", at: "" };
    drawLesson();
    begin();
  });
}

/* Text as letters of an address; "" when it is too long for one. */
async function packed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const letters = btoa(Array.from(bytes, b => String.fromCharCode(b)).join("")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  return letters.length <= MOST_ADDRESS ? letters : "";
}

async function unpacked(letters) {
  const bytes = Uint8Array.from(atob(letters.replace(/-/g, "+").replace(/_/g, "/")), c => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

/* ---- the address ---- */

let noted = "";
function note() {
  noted = addressOf(state);
  try { history.replaceState(null, "", noted === "#" ? location.pathname + location.search : noted); } catch (error) { /* an address that may not change */ }
}

async function follow() {
  if (location.hash === noted || (location.hash === "" && noted === "#")) return;
  state = stateOfAddress(location.hash);
  if (Number(state.sm) >= 0 && state.sm !== "") grid.selected = Number(state.sm);
  const only = Object.keys(state).filter(key => String(state[key]) !== String(DEFAULTS[key]));
  if (lessonOf(state.lesson) && only.every(key => ["lesson", "at", "sm"].includes(key))) state = { ...lessonOf(state.lesson).state, lesson: state.lesson, at: state.at, sm: state.sm };
  drawLesson();
  if (state.mine && state.ptx) {
    try { takePtx(state.mine, await unpacked(state.ptx), begin); return; } catch (error) { fail("The PTX file in this link is damaged."); }
  }
  if (state.mine && !state.ptx && !texts[MINE + state.mine]) { fail("This link is for a PTX file, " + state.mine + ", that is too long for a link: drop the file here."); return; }
  begin();
}

/* ---- the start ---- */

function save(name, text, kind) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: kind })), download: name });
  link.click();
}

function listen() {
  $("play").addEventListener("click", play);
  $("on").addEventListener("click", () => step(1));
  $("back").addEventListener("click", () => step(-1));
  $("toRequest").addEventListener("click", () => { pauseNow(); if (run && run.end) goTo(run.request >= 0 ? run.request : 0, true); });
  $("toEnd").addEventListener("click", () => { pauseNow(); if (run && run.end) goTo(run.end.now); });
  $("cycle").addEventListener("input", () => { pauseNow(); goTo(Number($("cycle").value), true); });
  $("stop").addEventListener("click", () => ask({ kind: "stop" }, data => {
    busy = false;
    $("stop").hidden = true;
    document.body.dataset.state = "stopped";
    if (data.look && run) { run.end = data.look; $("cycle").max = data.look.now; show(data.look); }
    fail("The run was stopped at cycle " + (data.look ? data.look.now : 0) + ". The numbers are those until then.");
  }));
  $("compare").addEventListener("click", compare);
  $("stopCompare").addEventListener("click", () => ask({ kind: "stop" }, () => { busy = false; $("stopCompare").hidden = true; }));
  $("copyLink").addEventListener("click", () => {
    const said = () => { $("saved").textContent = "The link: " + location.href; };
    if (navigator.clipboard) navigator.clipboard.writeText(location.href).then(said, said); else said();
  });
  $("saveLaunch").addEventListener("click", () => save("launch.yaml", $("launch").textContent, "text/yaml"));
  $("report").addEventListener("click", () => {
    if (!run || !run.end || busy) return;
    busy = true;
    const at = run.look.now;
    ask({ kind: "seek", cycle: FOREVER }, () => ask({ kind: "page" }, data => {
      busy = false;
      if (data.kind === "failed") { fail(data.error); return; }
      save("run.html", data.html, "text/html");
      $("saved").textContent = "The timeline of the whole run was saved as run.html.";
      document.body.dataset.page = data.html.length;
      goTo(at);
    }));
  });
  const canvas = $("grid"), at = event => { const box = canvas.getBoundingClientRect(); return grid.find(event.clientX - box.left, event.clientY - box.top, run.about.gpu); };
  for (const kind of ["pointermove", "pointerdown"])
    canvas.addEventListener(kind, event => { if (run && run.look && (kind === "pointerdown" || event.pointerType === "mouse")) { const sm = at(event); if (sm >= 0 && sm !== grid.selected) select(sm); } });
  canvas.addEventListener("focus", () => { if (grid.selected < 0) select(0); });
  canvas.addEventListener("keydown", event => {
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: grid.columns, ArrowUp: -grid.columns }[event.key];
    if (!by) return;
    select(grid.selected + by);
    event.preventDefault();
  });
  document.addEventListener("keydown", event => {
    if (event.target.matches("input, select, textarea, button, summary") || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { " ": play, ".": () => step(1), ",": () => step(-1), r: () => $("toRequest").click(), e: () => $("toEnd").click() }[event.key];
    if (act) { act(); event.preventDefault(); }
  });
  $("lesson").addEventListener("change", () => openLesson($("lesson").value));
  $("lessonBefore").addEventListener("click", () => openLesson(Number(state.lesson) - 1));
  $("lessonAfter").addEventListener("click", () => openLesson(Number(state.lesson || 0) + 1));
  for (const kind of ["dragenter", "dragover"]) document.addEventListener(kind, event => { event.preventDefault(); document.body.classList.add("dropping"); });
  document.addEventListener("dragleave", event => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
  document.addEventListener("drop", event => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  });
  $("controls").addEventListener("submit", event => event.preventDefault());
  window.addEventListener("resize", () => { if (run && run.look) grid.draw(run.about.gpu, run.look); });
  grid.dark.addEventListener("change", () => { grid.patterns.clear(); if (run && run.look) { drawLegend(); grid.draw(run.about.gpu, run.look); } });
  window.addEventListener("hashchange", follow);
}

function start() {
  lessons = JSON.parse($("lessons").textContent).map(lesson => ({ ...lesson, state: stateOfCommand(lesson.command) }));
  $("lesson").replaceChildren(element("option", { value: "" }, "none: play"), ...lessons.map((lesson, i) => element("option", { value: i + 1 }, (i + 1) + ". " + lesson.title)));
  listen();
  startWorker();
  ask({ kind: "load", wasm: $("wasm").textContent.trim(), files: $("files").textContent.trim() }, data => {
    if (data.kind === "failed") { fail("This browser cannot run the engine: " + data.error); return; }
    texts = data.texts;
    offered = data.about;
    drawPolicies();
    follow();
  });
}

noted = "?";
start();
