"use strict";
/* experiment: the state of the page as a command line of `minigpu run`, as launch files, and as the page's address. No
 * document is touched here, so that tests run it in node, too. */

const KERNELS = "examples/minigpu/kernels/", LAUNCHES = "examples/minigpu/launches/", DEMO = "examples/minigpu/demo.yaml";
const PAIR = "examples/minigpu/pair.yaml", MINE = "examples/minigpu/mine/";

/* Every control, with its default. A link has only what differs. */
const DEFAULTS = {
  lesson: "", file: DEMO, first: "hotspot/launch", second: "pathfinder/launch", arrival: 20000, priority: 1, how: "technique:switch",
  deadline: 0, context: "naive", faults: "", link: "", absent: "", switching: "", gpu: "", duet: "", more: "", at: "", sm: "", mine: "", ptx: "",
};
const TOLD = ["preempt", "victims", "partition", "schedule", "deadline-us", "context", "faults", "link", "absent", "switch-on-fault", "gpu", "duet"];

const isNumber = name => typeof DEFAULTS[name] === "number";

function stateOfAddress(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, "")), state = { ...DEFAULTS };
  for (const [name, value] of given)
    if (name in DEFAULTS) state[name] = isNumber(name) ? Math.max(0, Number(value) || 0) : value;
  return state;
}

function addressOf(state) {
  const words = new URLSearchParams();
  for (const name in DEFAULTS) if (String(state[name]) !== String(DEFAULTS[name])) words.set(name, state[name]);
  return "#" + words;
}

/* ---- launch files ---- */

/* The kernels of a launch file as lines, two columns in; null: it has more than one kernel, or what one may not move. */
function kernelLines(text) {
  const lines = text.split("\n"), start = lines.findIndex(line => /^kernels:/.test(line));
  if (start < 0 || /\bfile:|^ *- loop:/m.test(text)) return null;
  const body = [];
  for (let i = start + 1; i < lines.length && !/^\S/.test(lines[i]); i++) if (lines[i].trim()) body.push(lines[i]);
  return body.filter(line => /^ *- ptx:/.test(line)).length === 1 && body.length === lines.slice(start + 1).filter(line => line.trim()).length ? body : null;
}

/* The kernels that can be chosen: [folder, [names of launch files]]. */
function kernelChoices(texts) {
  const found = new Map();
  for (const name of Object.keys(texts).sort()) {
    const match = /^examples\/minigpu\/(kernels|mine)\/(?:([^/]+)\/)?([^/]+)\.yaml$/.exec(name);
    if (!match || !kernelLines(texts[name])) continue;
    const folder = match[1] === "mine" ? "mine" : match[2];
    if (!found.has(folder)) found.set(folder, []);
    found.get(folder).push(match[3]);
  }
  return Array.from(found);
}

/* The lines of one kernel for a process of a launch file in examples/minigpu. */
function entryOf(texts, choice, arrival) {
  const [folder, size] = choice.split("/"), base = folder === "mine" ? "mine/" : "kernels/" + folder + "/";
  const lines = kernelLines(texts["examples/minigpu/" + base + size + ".yaml"] || "");
  if (!lines) throw new Error("There is no kernel " + choice + " here.");
  const out = [];
  for (const line of lines) {
    out.push("    " + line.replace(/^( *- ptx: *)/, "$1" + base));
    if (/^ *- ptx:/.test(line) && arrival !== null) out.push("        arrival_cycle: " + arrival);
  }
  return out.join("\n");
}

function pairOf(texts, state) {
  let text = "# Two kernels, as the playground has put them together.\nprocesses:\n  - name: first\n    priority: 0\n    kernels:\n" +
    entryOf(texts, state.first, null) + "\n";
  if (state.second !== "none")
    text += "  - name: second\n    priority: " + state.priority + "\n    kernels:\n" + entryOf(texts, state.second, state.arrival) + "\n";
  return text;
}

/* The launch file of a state: its path, and its text with the arrival and the priority that the controls say. */
function launchOf(texts, state) {
  if (state.file === PAIR) return { path: PAIR, text: pairOf(texts, state) };
  const text = texts[state.file];
  if (text === undefined) throw new Error("There is no launch file " + state.file + " here.");
  if (!isUrgent(text)) return { path: state.file, text };
  let processes = 0;
  return { path: state.file, text: text.replace(/arrival_cycle: *\d+/, "arrival_cycle: " + state.arrival)
    .replace(/^( +priority: *)\d+/gm, (all, head) => processes++ === 1 ? head + state.priority : all) };
}

/* Does a launch file have one kernel that arrives later, and more urgent than the first? */
function isUrgent(text) {
  return (text.match(/arrival_cycle:/g) || []).length === 1 && (text.match(/^ +priority:/gm) || []).length === 2;
}

/* ---- the command line ---- */

/* Splits words at blanks outside of quotes. */
const wordsOf = text => (text.match(/"[^"]*"|\S+/g) || []).map(word => word.replace(/^"|"$/g, ""));

function argumentsOf(state, path, urgent) {
  const [kind, name] = state.how.split(":"), args = [path], add = (option, value) => { if (value) args.push("--" + option, String(value)); };
  if (kind === "technique" && (urgent || state.file !== PAIR || state.second !== "none")) add("preempt", state.arrival + ":" + name);
  if (kind === "policy") add("victims", name);
  if (kind === "partition") add("partition", name);
  if (kind === "schedule") add("schedule", name);
  if (kind === "policy" && state.deadline) add("deadline-us", state.deadline);
  if (state.context !== "naive") add("context", state.context);
  add("faults", state.faults);
  add("link", state.link);
  add("absent", state.absent);
  add("switch-on-fault", state.switching);
  add("gpu", state.gpu);
  if (state.duet) args.push("--duet=" + state.duet);
  return args.concat(wordsOf(state.more));
}

/* The state of a command line, "minigpu run FILE ...". */
function stateOfCommand(command) {
  const words = wordsOf(command).slice(2), state = { ...DEFAULTS, how: "none" }, more = [];
  state.file = words.shift();
  while (words.length) {
    const word = words.shift(), equals = /^--([a-z-]+)=(.*)$/.exec(word), name = equals ? equals[1] : word.slice(2);
    if (name === "html") { if (!equals) words.shift(); continue; }
    if (!word.startsWith("--") || !TOLD.includes(name)) { more.push(word); continue; }
    const value = equals ? equals[2] : words.shift();
    if (name === "preempt") { state.arrival = Number(value.split(":")[0]); state.how = "technique:" + (value.split(":")[1] || "switch"); }
    else if (name === "victims") state.how = "policy:" + value;
    else if (name === "partition" || name === "schedule") state.how = name + ":" + value;
    else state[{ "deadline-us": "deadline", "switch-on-fault": "switching" }[name] || name] = name === "deadline-us" ? Number(value) : value;
  }
  state.more = more.join(" ");
  return state;
}

/* The command line that a reader types. */
const commandOf = args => "minigpu run " + args.map(word => /[\s"';&|<>()*?$]/.test(word) ? '"' + word + '"' : word).join(" ");

if (typeof module !== "undefined")
  module.exports = { DEFAULTS, PAIR, MINE, DEMO, stateOfAddress, addressOf, kernelLines, kernelChoices, launchOf, isUrgent, argumentsOf, stateOfCommand, commandOf };
