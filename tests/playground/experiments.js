"use strict";
/* Ten experiments in the native mini-GPU and in the playground's engine, report for report:
 *   node experiments.js ENGINE_WASM MINIGPU SOURCE_DIR
 * Exit status: 0 all alike, 1 not. */
const { execFileSync } = require("child_process");
const fs = require("fs"), path = require("path");
const [wasmFile, minigpu, source] = process.argv.slice(2);
const page = path.join(source, "examples/playground/page");
Object.assign(globalThis, require(path.join(page, "wasi.js")));
const { Engine } = require(path.join(page, "engine.js"));
process.chdir(source);

const DEMO = "examples/minigpu/demo.yaml", KERNELS = "examples/minigpu/kernels/", LAUNCHES = "examples/minigpu/launches/";
const EXPERIMENTS = [
  [DEMO, "--preempt", "20000:drain"],
  [DEMO, "--preempt", "20000:switch"],
  [DEMO, "--preempt", "20000:flush"],
  [DEMO, "--preempt", "20000:switch", "--context", "live+compress"],
  [DEMO, "--victims", "dual", "--deadline-us", "2"],
  [LAUNCHES + "hotspot_pathfinder.yaml", "--partition", "ccbp"],
  [LAUNCHES + "lbm_saxpy.yaml", "--faults", "log16", "--fault-at", "1000"],
  [KERNELS + "hotspot/launch.yaml", "--faults", "queue", "--link", "nvlink", "--absent", "all", "--switch-on-fault", "4"],
  [KERNELS + "histogram/launch.yaml", "--gpu", "maxwell_duet", "--duet=maxwell_duet:all"],
  [LAUNCHES + "three_processes.yaml", "--schedule", "dss", "--leave", "switch"],
  [DEMO, "--regions", "sparse", "--context", "live", "--preempt", "20000:rewind"],
];
const POLICIES = ["dual", "chimera", "drain", "switch"];
const FOREVER = 2 ** 52;
const wasm = new WebAssembly.Module(fs.readFileSync(wasmFile)), files = new Map();
let wrong = 0;

function addFiles(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const name = folder + "/" + entry.name;
    if (entry.isDirectory()) addFiles(name);
    else if (/\.(ptx|yaml|bin)$/.test(name)) files.set(name, new Uint8Array(fs.readFileSync(name)));
  }
}

function check(what, right, detail = "") {
  if (!right) wrong++;
  console.log((right ? "right: " : "WRONG: ") + what + (right ? "" : " " + detail));
}

/* A report without the host's speed. */
const steady = text => text.replace(/"(seconds|thread_instructions_per_second)": [^,\n]*/g, "\"$1\": 0");
const native = args => steady(execFileSync(minigpu, ["run", ...args, "--json"], { stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 26 }).toString());

function firstDifference(a, b) {
  const left = a.split("\n"), right = b.split("\n"), at = left.findIndex((line, i) => line !== right[i]);
  return "line " + (at + 1) + ": native " + left[at] + ", engine " + right[at];
}

function compare(what, wanted, got) {
  check(what, wanted === got, wanted === got ? "" : firstDifference(wanted, got));
}

function machine(args) {
  const engine = new Engine(wasm, files);
  engine.open(args);
  return engine;
}

addFiles("examples/minigpu");
for (const args of EXPERIMENTS) {
  const engine = machine(args);
  engine.run(FOREVER);
  compare("minigpu run " + args.join(" "), native(args), steady(engine.reportText()));
}

/* A machine that goes back and on again ends like one that never did; so does one that is stopped at every step. */
{
  const args = EXPERIMENTS[1], engine = machine(args), wanted = native(args);
  engine.run(21000);
  const hash = engine.hash(), checkpoint = engine.checkpoint();
  for (let cycle = 21001; cycle < 21400; cycle++) engine.run(cycle);
  check("one cycle on changes the state", engine.hash() !== hash);
  engine.run(FOREVER);
  compare("stopped at each of 400 cycles", wanted, steady(engine.reportText()));
  engine.restore(checkpoint);
  check("a checkpoint brings the state back", engine.hash() === hash && engine.look().now === 21000, engine.look().now);
  engine.run(FOREVER);
  compare("and the run ends as before", wanted, steady(engine.reportText()));
}

/* Every policy at the same forked request decides as in a run of its own. */
{
  const engine = machine([DEMO, "--victims", "dual", "--deadline-us", "2"]);
  check("the request comes with the urgent kernel", engine.requestCycle === 20000, engine.requestCycle);
  engine.run(engine.requestCycle - 1);
  const fork = engine.checkpoint();
  const rows = text => JSON.stringify(["kernels", "preemptions", "totals"].map(name => JSON.parse(text)[name]));
  for (const policy of POLICIES) {
    engine.restore(fork);
    check("the policy " + policy + " is there", engine.policy(policy, 2000) === 0);
    engine.run(FOREVER);
    compare("forked, " + policy, rows(native([DEMO, "--victims", policy, "--deadline-us", "2"])), rows(engine.reportText()));
  }
}

/* Wrong input is refused in the program's own words. */
for (const [args, words] of [[["nothing.yaml"], "nothing.yaml"], [[DEMO, "--victims", "dua"], "dual"], [[DEMO, "--faults", "x"], "--faults"]]) {
  let said = "";
  try { machine(args); } catch (error) { said = error.message; }
  check("refused: " + args.join(" "), said.includes(words), said);
}
console.log(wrong ? wrong + " wrong" : "all right");
process.exitCode = wrong ? 1 : 0;
