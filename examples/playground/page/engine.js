"use strict";
/* engine: one machine of the mini-GPU: an instance of engine.wasm. engine.h says what the functions do. */

const PART_WORDS = 4096;

class Engine {
  /* wasm: a WebAssembly.Module. files: Map from path to Uint8Array. */
  constructor(wasm, files) {
    const host = this.host = wasiHost(files, () => this.memory);
    this.instance = new WebAssembly.Instance(wasm, { wasi_snapshot_preview1: host.imports });
    this.calls = this.instance.exports;
    this.memory = this.calls.memory;
    this.calls._initialize();
  }

  pass(text) {
    const bytes = new TextEncoder().encode(text), at = this.calls.engine_text(bytes.length);
    new Uint8Array(this.memory.buffer).set(bytes, at);
  }

  /* Builds the machine of `minigpu run` with these arguments. Throws an Error with the program's own words. */
  open(args) {
    const words = ["run", ...args];
    this.pass(words.join("\0") + "\0");
    const status = this.calls.engine_open(words.length);
    this.notes = this.host.take(2).trim();
    if (status) throw new Error(this.notes || this.host.take(1) || "the machine could not be built");
    this.requestCycle = this.calls.engine_request_cycle();
  }

  /* Returns the launch file that `minigpu init` writes for a PTX file. */
  init(path) {
    this.pass(path);
    const status = this.calls.engine_init();
    const text = this.host.take(1), error = this.host.take(2).trim();
    if (status) throw new Error(error || "this PTX cannot be read");
    return text;
  }

  run(until) { return this.calls.engine_run(until); }
  policy(name, deadlineNs) { this.pass(name); return this.calls.engine_policy(deadlineNs); }
  technique(number) { this.calls.engine_technique(number); }

  said() { return JSON.parse(this.host.take(1)); }
  describe() { this.calls.engine_describe(); return this.said(); }
  look() { this.calls.engine_look(); return this.said(); }
  reportText() { this.calls.engine_report(); return this.host.take(1); }
  report() { return JSON.parse(this.reportText()); }
  hash() { return this.calls.engine_hash() >>> 0; }

  /* Returns the page of `minigpu run --html` up to now, and leaves the machine as it is. */
  page(files) {
    const here = this.checkpoint();
    this.pass("page.html");
    if (this.calls.engine_page()) throw new Error("the page could not be written");
    this.restore(here);
    return new TextDecoder().decode(files.get("page.html"));
  }

  /* Copies the instance's memory: all of it but the unused part of the arena. A checkpoint after the first holds only
   * the parts that differ from the first one. */
  checkpoint() {
    const all = new Uint8Array(this.memory.buffer), cycle = this.calls.engine_now();
    const used = this.calls.engine_arena() + this.calls.engine_used(), end = this.calls.engine_arena_end();
    const high = all.slice(end);
    if (!this.base) {
      this.base = all.slice(0, used);
      return { cycle, end, high, parts: new Map() };
    }
    const parts = new Map(), base = new Uint32Array(this.base.buffer, 0, used >> 2), now = new Uint32Array(this.memory.buffer, 0, used >> 2);
    for (let at = 0; at < now.length; at += PART_WORDS) {
      const to = Math.min(at + PART_WORDS, now.length);
      let i = at;
      while (i < to && base[i] === now[i]) i++;
      if (i < to) parts.set(at, now.slice(at, to));
    }
    return { cycle, end, high, parts };
  }

  /* Copies a checkpoint back. What was allocated since is free again. */
  restore(checkpoint) {
    const all = new Uint8Array(this.memory.buffer), words = new Uint32Array(this.memory.buffer, 0, this.base.length >> 2);
    all.set(this.base);
    for (const [at, part] of checkpoint.parts) words.set(part, at);
    all.set(checkpoint.high, checkpoint.end);
    all.fill(0, checkpoint.end + checkpoint.high.length);
    this.host.take(1);
    this.host.take(2);
  }
}

if (typeof module !== "undefined") module.exports = { Engine };
