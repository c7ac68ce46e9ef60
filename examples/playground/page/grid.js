"use strict";
/* grid: the picture of the machine. An SM is a box: its block slots above, below them its registers and its shared memory
 * as bars of addresses. A kernel is a colour, what a block does is a pattern, as on the report's page. */

const LOOK = ["runs", "drains: told to leave, it runs to its end", "has stopped, and waits for its instructions or for the port",
  "is being saved", "is being restored", "waits for a page", "is switched out into a frame"];
const LOOK_SHORT = ["runs", "drains", "has stopped", "being saved", "being restored", "waits for a page", "is switched out"];
const RUNS = 0, DRAINS = 1, STOPS = 2, SAVED = 3, RESTORED = 4, FAULTS = 5, OUT = 6;
const KERNEL_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#882255", "#f0e442", "#7f7f7f"];
const GRID_THEMES = {
  light: { paper: "#ffffff", ink: "#1b1f24", soft: "#57606a", line: "#d0d7de", empty: "#eef1f4", stop: "#8b949e", save: "#111111", mark: "#c2410c", focus: "#0969da" },
  dark: { paper: "#0d1117", ink: "#e6edf3", soft: "#9aa5b1", line: "#3d444d", empty: "#1c232c", stop: "#6e7681", save: "#f0f3f6", mark: "#ff9a62", focus: "#58a6ff" },
};
const CELL_WIDTH = 178, CELL_HEIGHT = 78, GONE_CYCLES = 400; /* a block that was dropped stays as a cross for so long */

class Grid {
  constructor(canvas) {
    this.canvas = canvas;
    this.dark = window.matchMedia("(prefers-color-scheme: dark)");
    this.patterns = new Map();
    this.selected = -1;
  }

  get theme() { return this.dark.matches ? GRID_THEMES.dark : GRID_THEMES.light; }

  pattern(back, front, rises) {
    const key = back + front + rises;
    if (!this.patterns.has(key)) {
      const tile = document.createElement("canvas"), c = tile.getContext("2d");
      tile.width = tile.height = 8;
      c.fillStyle = back;
      c.fillRect(0, 0, 8, 8);
      c.strokeStyle = front;
      c.lineWidth = 1.8;
      for (const d of [-8, 0, 8]) { c.moveTo(d, rises ? 8 : 0); c.lineTo(d + 8, rises ? 0 : 8); }
      c.stroke();
      this.patterns.set(key, c.createPattern(tile, "repeat"));
    }
    return this.patterns.get(key);
  }

  fill(look, kernel) {
    const t = this.theme, colour = KERNEL_COLOURS[kernel % KERNEL_COLOURS.length];
    return look === DRAINS ? this.pattern(t.empty, colour, false) : look === STOPS ? t.stop : look === SAVED ? t.save
      : look === RESTORED ? this.pattern(t.save, t.paper, true) : look === FAULTS ? this.pattern(colour, t.paper, true) : look === OUT ? this.pattern(t.empty, colour, true) : colour;
  }

  /* Sizes the canvas for a machine. */
  layout(gpu) {
    const width = Math.max(200, this.canvas.clientWidth || this.canvas.parentNode.clientWidth), ratio = window.devicePixelRatio || 1;
    this.columns = Math.max(1, Math.min(gpu.sms, Math.floor(width / CELL_WIDTH)));
    this.width = width / this.columns;
    const height = Math.ceil(gpu.sms / this.columns) * CELL_HEIGHT;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.height = height + "px";
    }
    this.context = this.canvas.getContext("2d");
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, height);
  }

  place(sm) { return { x: sm % this.columns * this.width, y: Math.floor(sm / this.columns) * CELL_HEIGHT }; }

  /* The SM at a place of the canvas; -1: none. */
  find(x, y, gpu) {
    const sm = Math.floor(y / CELL_HEIGHT) * this.columns + Math.min(this.columns - 1, Math.floor(x / this.width));
    return x >= 0 && y >= 0 && sm < gpu.sms ? sm : -1;
  }

  draw(gpu, look) {
    this.layout(gpu);
    const blocks = Array.from({ length: gpu.sms }, () => []), slots = Math.max(gpu.slots, 1 + Math.max(-1, ...look.blocks.map(b => b[1])));
    for (const block of look.blocks) blocks[block[0]].push(block);
    const victims = new Set(look.victims.filter(v => v[6] === null).map(v => v[1] + ":" + v[2]));
    const dropped = look.victims.filter(v => v[8] === 0 && v[6] !== null && v[6] <= look.now && look.now - v[6] < GONE_CYCLES);
    for (let sm = 0; sm < gpu.sms; sm++) this.drawSm(gpu, sm, slots, blocks[sm], victims, dropped.filter(v => v[1] === sm));
  }

  drawSm(gpu, sm, slots, blocks, victims, dropped) {
    const c = this.context, t = this.theme, { x, y } = this.place(sm), left = x + 4, width = this.width - 12, slot = width / slots;
    const taken = new Set(blocks.map(b => b[1]));
    c.fillStyle = sm === this.selected ? t.focus : t.soft;
    c.font = (sm === this.selected ? "bold " : "") + "11px system-ui, sans-serif";
    c.textBaseline = "alphabetic";
    c.fillText("SM " + sm, left, y + 11);
    c.fillStyle = t.empty;
    for (let i = 0; i < slots; i++) c.fillRect(left + i * slot, y + 15, Math.max(1, slot - 1.5), 22);
    c.fillRect(left, y + 41, width, 12);
    c.fillRect(left, y + 57, width, 10);
    for (const [, at, kernel, number, state, registers, registerCount, shared, sharedBytes] of blocks) {
      c.fillStyle = this.fill(state, kernel);
      c.fillRect(left + at * slot, y + 15, Math.max(1, slot - 1.5), 22);
      const bar = (from, count, all, top, height) => {
        if (count) c.fillRect(left + from / all * width, y + top, Math.max(1, count / all * width - 0.7), height);
      };
      if (state === OUT) continue; /* its old place belongs to another block */
      bar(registers, registerCount, gpu.registers, 41, 12);
      bar(shared, sharedBytes, gpu.shared, 57, 10);
      if (slot > 24 && state === RUNS) {
        c.fillStyle = "#ffffff";
        c.fillText(number, left + at * slot + 3, y + 30);
      }
      if (victims.has(sm + ":" + at)) {
        c.strokeStyle = t.mark;
        c.lineWidth = 2;
        c.strokeRect(left + at * slot + 1, y + 16, Math.max(1, slot - 3.5), 20);
      }
    }
    c.strokeStyle = t.mark;
    c.lineWidth = 2;
    for (const victim of dropped) {
      if (taken.has(victim[2])) continue;
      const at = left + victim[2] * slot;
      c.beginPath();
      c.moveTo(at + 1, y + 16); c.lineTo(at + slot - 2.5, y + 36);
      c.moveTo(at + 1, y + 36); c.lineTo(at + slot - 2.5, y + 16);
      c.stroke();
    }
    if (sm === this.selected) {
      c.strokeStyle = t.focus;
      c.strokeRect(x + 1, y + 1, this.width - 5, CELL_HEIGHT - 5);
    }
  }

  /* What an SM holds, in words. */
  words(gpu, look, kernels, sm) {
    const blocks = look.blocks.filter(b => b[0] === sm), registers = blocks.reduce((sum, b) => sum + b[6], 0), shared = blocks.reduce((sum, b) => sum + b[8], 0);
    const list = blocks.map(b => "slot " + b[1] + ": block " + b[3] + " of " + kernels[b[2]].name + " " + LOOK[b[4]] + (b[6] ? ", registers " + b[5] + " to " + (b[5] + b[6] - 1) : "") +
      (b[8] ? ", shared memory " + b[7] + " to " + (b[7] + b[8] - 1) : "") + ", " + b[10] + " warp instructions so far");
    const taken = registers ? registers + " of " + gpu.registers + " registers and " + shared + " of " + gpu.shared + " bytes of shared memory are taken; "
      : "GPUDuet places each warp by itself, so no block has a range of registers; ";
    return "SM " + sm + ": " + (blocks.length ? taken + list.join("; ") + "." : "no block.");
  }
}
