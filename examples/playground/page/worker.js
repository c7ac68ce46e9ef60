"use strict";
/* worker: runs machines beside the page, so that the page never freezes. It follows wasi.js and engine.js in one script.
 *
 * The page sends {kind, id, ...}; each answer names the id. A newer "open" or "seek" ends the work on an older one. */

const FOREVER = 2 ** 52, CHECKPOINTS = 12, FIRST_STEP = 4096;
const SLICE_MS = 25; /* work between two looks at the messages */
const REPLAY_CYCLES = 3000; /* going back further than this from a checkpoint makes a nearer one */

class Superseded extends Error {}

let wasm, files;
let engine, checkpoints, step; /* checkpoints in the order of their cycles */
let newest = 0, turn = Promise.resolve();
const pause = new MessageChannel();
const nextTurn = () => new Promise(done => { pause.port1.onmessage = done; pause.port2.postMessage(0); });

function keep(cycle) {
  if (checkpoints.some(c => c.cycle === cycle)) return;
  checkpoints.push(engine.checkpoint());
  checkpoints.sort((a, b) => a.cycle - b.cycle);
  if (checkpoints.length <= CHECKPOINTS) return;
  step *= 2;
  checkpoints = checkpoints.filter((c, i) => i === 0 || c.cycle === engine.requestCycle - 1 || i % 2 === 0);
}

/* Runs a machine to a cycle in slices; each(): what to do between two. Returns run()'s answer. */
async function runTo(machine, cycle, id, each) {
  let ended = 0, stride = 256;
  while (!ended && machine.calls.engine_now() < cycle) {
    const began = performance.now();
    ended = machine.run(Math.min(cycle, machine.calls.engine_now() + stride));
    if (each) each(machine);
    const took = performance.now() - began;
    stride = Math.max(64, Math.min(1 << 16, Math.round(stride * Math.min(2, SLICE_MS / Math.max(took, 0.1)))));
    await nextTurn();
    if (id !== newest) throw new Superseded();
  }
  return ended;
}

/* Builds a machine and runs it to its end; checkpoints stay behind. */
async function open(message) {
  for (const [name, text] of Object.entries(message.files)) files.set(name, new TextEncoder().encode(text));
  engine = undefined;
  const made = new Engine(wasm, files);
  made.open(message.args);
  engine = made;
  checkpoints = [];
  step = FIRST_STEP;
  keep(0);
  postMessage({ id: message.id, kind: "opened", about: engine.describe(), look: engine.look(), notes: engine.notes, request: engine.requestCycle });
  let next = step, shown = performance.now();
  const request = engine.requestCycle - 1;
  const between = () => {
    const now = engine.calls.engine_now();
    if (now >= next) { keep(now); next = now + step; }
    if (performance.now() - shown > 200) { shown = performance.now(); postMessage({ id: message.id, kind: "running", look: engine.look() }); }
  };
  if (request > 0) { await runTo(engine, request, message.id, between); keep(engine.calls.engine_now()); }
  await runTo(engine, FOREVER, message.id, between);
  postMessage({ id: message.id, kind: "ended", look: engine.look(), report: engine.report() });
}

function goBack(cycle) {
  const before = checkpoints.filter(c => c.cycle <= cycle);
  engine.restore(before[before.length - 1]);
}

async function seek(message) {
  if (!engine) return;
  if (message.cycle < engine.calls.engine_now()) goBack(message.cycle);
  const from = engine.calls.engine_now();
  if (message.cycle - from > REPLAY_CYCLES && message.back) {
    await runTo(engine, message.cycle - REPLAY_CYCLES / 2, message.id);
    keep(engine.calls.engine_now());
  }
  await runTo(engine, message.cycle, message.id);
  postMessage({ id: message.id, kind: "looked", look: engine.look() });
}

/* Runs every policy at the same forked request. */
async function compare(message) {
  for (const [name, text] of Object.entries(message.files)) files.set(name, new TextEncoder().encode(text));
  const other = new Engine(wasm, files);
  other.open(message.args);
  if (other.requestCycle < 0) throw new Error("No kernel asks for room here: choose an urgent kernel that arrives later.");
  await runTo(other, Math.max(0, other.requestCycle - 1), message.id);
  const fork = other.checkpoint();
  for (const policy of message.policies) {
    other.restore(fork);
    if (other.policy(policy, message.deadlineNs)) throw new Error("no policy is named " + policy);
    await runTo(other, FOREVER, message.id);
    postMessage({ id: message.id, kind: "compared", policy, look: other.look(), request: other.requestCycle });
  }
  postMessage({ id: message.id, kind: "allCompared" });
}

async function load(message) {
  const inflate = async text => {
    const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
    return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
  };
  const [module, archive] = await Promise.all([inflate(message.wasm).then(bytes => WebAssembly.compile(bytes)), inflate(message.files)]);
  wasm = module;
  const texts = JSON.parse(new TextDecoder().decode(archive));
  files = new Map(Object.entries(texts).map(([name, text]) => [name, new TextEncoder().encode(text)]));
  postMessage({ id: message.id, kind: "loaded", texts, about: new Engine(wasm, files).describe() });
}

/* Writes a launch file for a PTX file. */
function init(message) {
  files.set(message.name, new TextEncoder().encode(message.text));
  postMessage({ id: message.id, kind: "made", name: message.name, launch: new Engine(wasm, files).init(message.name) });
}

const page = message => { postMessage({ id: message.id, kind: "page", html: engine.page(files) }); };
const stop = message => { postMessage({ id: message.id, kind: "stopped", look: engine ? engine.look() : null }); };
const KINDS = { load, open, seek, compare, init, page, stop };

onmessage = event => {
  const message = event.data;
  if (message.kind !== "init") newest = message.id;
  turn = turn.then(async () => {
    if (message.kind !== "init" && message.id !== newest) return;
    try {
      await KINDS[message.kind](message);
    } catch (error) {
      if (!(error instanceof Superseded)) postMessage({ id: message.id, kind: "failed", what: message.kind, error: error.message });
    }
  });
};
