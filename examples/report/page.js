/* page.js: draws the timelines of a page. No library, no request to any server.
 *
 * gpumpPage(data, root) builds the page from `data` (page.c writes it) inside `root`, and returns an object through
 * which others, a test or a playground, can look at it and steer it. Sections: data, styles, layout, drawing, facts,
 * pointer and keyboard, tables, the page. */
'use strict';

function gpumpPage(data, root) {
  const PHASE = { run: 1, stop: 2, save: 3, restore: 4, drain: 5, kernel: 6, cpu: 7, transfer: 8 };
  const PHASE_WORDS = ['', 'runs', 'stopped', 'being saved', 'being restored', 'drains', 'on the GPU', 'computes on the CPU',
    'copies over PCIe'];
  const PHASE_LEGEND = ['', '', 'stopped: waits for its loads or for the port', 'saving its context', 'restoring its context',
    'draining: told to leave, runs to its end', 'kernel on the GPU', 'process computes on the CPU', 'process copies over PCIe'];
  const TECHNIQUES = data.about.techniques || ['flush', 'switch', 'drain', 'rewind'];
  const HEAD = 24, CHART = 32, CHART_GAP = 6, NARROW = 640;
  let GUTTER = 128; /* to the left of the rows: their names */

  /* What is drawn on a canvas takes its colours from here; page.css has the same two themes for everything else. Paper
   * is always light. */
  const THEMES = {
    light: { paper: '#ffffff', ink: '#1b1f24', soft: '#57606a', wash: '#f3f5f7', line: '#e3e7eb', mark: '#c2410c', shade: 'rgba(194, 65, 12, 0.10)',
      cross: '#a40000', save: '#111111', stop: '#8b949e', busy: '#6e7781', curve: '#0b4f6c', block: '#d63384', focus: '#0969da' },
    dark: { paper: '#0d1117', ink: '#e6edf3', soft: '#9aa5b1', wash: '#161b22', line: '#2b323b', mark: '#ff9a62', shade: 'rgba(255, 154, 98, 0.16)',
      cross: '#ff6b6b', save: '#f0f3f6', stop: '#6e7681', busy: '#9aa5b1', curve: '#79c0ff', block: '#ff7bbf', focus: '#58a6ff' },
  };
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  let theme = THEMES.light;

  /* ---- data: rows of spans as arrays of numbers ---- */

  function decode(run) {
    let count = 0;
    for (const row of run.rows) count += row.spans.length / 6;
    const r = {
      name: run.name, work: run.work || 'warp instructions', facts: run.facts, kernels: run.kernels, groups: run.groups, requests: run.requests, marks: run.marks,
      series: run.series, begin: run.begin, end: run.end, us: 1000 / run.clock_khz, count: count, rows: [],
      start: new Float64Array(count), stop: new Float64Array(count), block: new Float64Array(count),
      phase: new Uint8Array(count), kernel: new Uint16Array(count), victimOf: new Int32Array(count), rowOf: new Uint32Array(count),
    };
    const place = new Map();
    let n = 0;
    run.rows.forEach((row, index) => {
      const s = row.spans;
      let at = 0;
      place.set(row.row, index);
      r.rows.push({ name: row.name, group: row.group, first: n, last: n + s.length / 6 });
      for (let i = 0; i < s.length; i += 6, n++) {
        r.start[n] = at += s[i];
        r.stop[n] = at += s[i + 1];
        r.phase[n] = s[i + 2];
        r.kernel[n] = s[i + 3];
        r.block[n] = s[i + 4];
        r.victimOf[n] = s[i + 5] - 1;
        r.rowOf[n] = index;
      }
    });
    r.marks = run.marks.map(m => ({ cycle: m[0], row: m[1] === null ? -1 : place.get(m[1]), what: m[2], kernel: m[3], block: m[4] }));
    r.victims = run.victims.map(v => ({
      request: v[0], row: place.get(v[1]), kernel: v[2], block: v[3], told: v[4], end: v[5], technique: v[6], left: v[7], bytes: v[8],
      dropped: v[9], cost: v[10], cycles: v[11], overhead: v[12],
    }));
    /* The span that shows a victim leaving; a block that left at once shows the one that ended there. */
    r.spanOf = r.victims.map(() => -1);
    for (let i = 0; i < count; i++) if (r.victimOf[i] >= 0 && r.spanOf[r.victimOf[i]] < 0) r.spanOf[r.victimOf[i]] = i;
    r.victimAfter = new Map();
    r.victims.forEach((v, index) => {
      if (r.spanOf[index] >= 0 || v.row === undefined) return;
      const row = r.rows[v.row];
      for (let i = row.first; i < row.last && r.spanOf[index] < 0; i++) if (r.stop[i] === v.told && r.block[i] === v.block) r.spanOf[index] = i;
      if (r.spanOf[index] >= 0) r.victimAfter.set(r.spanOf[index], index);
    });
    let t = 0;
    r.times = run.sample_cycles.map(d => (t += d));
    r.values = run.samples.map(list => { let v = 0; return list.map(d => (v += d)); });
    r.charts = [];
    run.series.forEach((s, i) => {
      let chart = r.charts.find(c => c.name === s.chart);
      if (!chart) r.charts.push(chart = { name: s.chart, unit: s.unit, limit: s.limit, series: [] });
      chart.series.push(i);
    });
    r.levels = r.series.map((s, i) => levels(r, s, r.values[i]));
    return r;
  }

  /* What a series shows between two samples. */
  function levels(r, series, values) {
    const out = new Float64Array(Math.max(0, values.length - 1));
    for (let i = 0; i < out.length; i++)
      out[i] = series.scale * (series.counter ? (values[i + 1] - values[i]) / Math.max(1, r.times[i + 1] - r.times[i]) : values[i]);
    return out;
  }

  const runs = data.runs.map(decode);
  const whole = { from: Infinity, to: -Infinity };
  for (const r of runs) {
    whole.from = Math.min(whole.from, r.begin * r.us);
    whole.to = Math.max(whole.to, r.end * r.us);
  }
  if (!(whole.to > whole.from)) { whole.from = 0; whole.to = 1; }
  const margin = (whole.to - whole.from) * 0.01;
  whole.to += margin;
  const view = { from: whole.from, to: whole.to, rowHeight: 0, curves: true };
  const state = { hover: null, focus: null, drawn: {}, paper: false };

  /* ---- styles: a kernel is a colour, a phase is a pattern or a shade of grey. Colours after Okabe and Ito, and Tol:
   * told apart with any colour vision. ---- */

  const COLOURS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#882255', '#f0e442', '#7f7f7f'];

  /* A colour, thinned by the colour of the paper. */
  function mix(colour, thin) {
    const part = i => Math.round(parseInt(colour.slice(i, i + 2), 16) * (1 - thin) + parseInt(theme.paper.slice(i, i + 2), 16) * thin);
    return 'rgb(' + part(1) + ',' + part(3) + ',' + part(5) + ')';
  }
  function colourOf(r, kernel) {
    const k = r.kernels[kernel];
    return COLOURS[(k ? k.colour : 0) % COLOURS.length];
  }

  const patterns = new Map();
  function hatch(back, front, kind) {
    const key = back + front + kind;
    if (patterns.has(key)) return patterns.get(key);
    const tile = document.createElement('canvas');
    tile.width = tile.height = 8;
    const c = tile.getContext('2d');
    c.fillStyle = back;
    c.fillRect(0, 0, 8, 8);
    c.fillStyle = c.strokeStyle = front;
    c.lineWidth = 1.8;
    c.beginPath();
    if (kind === 'rise') for (const d of [-8, 0, 8]) { c.moveTo(d, 8); c.lineTo(d + 8, 0); }
    if (kind === 'fall') for (const d of [-8, 0, 8]) { c.moveTo(d, 0); c.lineTo(d + 8, 8); }
    c.stroke();
    if (kind === 'dots') { c.fillRect(1, 1, 2, 2); c.fillRect(5, 5, 2, 2); }
    const made = c.createPattern(tile, 'repeat');
    patterns.set(key, made);
    return made;
  }
  const styles = [];
  /* Takes the theme that is due; what was made for the other one is forgotten. */
  function takeTheme() {
    const due = dark.matches && !state.paper ? THEMES.dark : THEMES.light;
    if (due === theme) return;
    theme = due;
    styles.length = 0;
    patterns.clear();
    list.replaceWith(list = legend());
  }
  /* How a phase of a kernel is filled: the chart and the legend both ask here. */
  function fillOf(r, phase, kernel) {
    const k = r.kernels[kernel], number = k ? k.colour : 0, key = phase << 12 | number;
    let fill = styles[key];
    if (fill) return fill;
    const colour = COLOURS[number % COLOURS.length];
    switch (phase) {
      case PHASE.stop: fill = theme.stop; break;
      case PHASE.save: fill = theme.save; break;
      case PHASE.restore: fill = hatch(theme.save, theme.paper, 'rise'); break;
      case PHASE.drain: fill = hatch(mix(colour, 0.72), colour, 'fall'); break;
      case PHASE.kernel: fill = mix(colour, 0.45); break;
      case PHASE.cpu: fill = theme.line; break;
      case PHASE.transfer: fill = hatch(theme.line, theme.busy, 'dots'); break;
      default: fill = number < COLOURS.length ? colour : hatch(colour, '#ffffff', 'dots');
    }
    styles[key] = fill;
    return fill;
  }

  /* ---- words ---- */

  const thousands = n => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ' ');
  function micro(us, digits) { return us.toFixed(digits === undefined ? 2 : digits) + ' µs'; }
  function kernelName(r, kernel) { return kernel === null || !r.kernels[kernel] ? 'nobody' : r.kernels[kernel].name; }
  function element(tag, attributes, ...children) {
    const e = document.createElement(tag);
    for (const name in attributes || {}) e.setAttribute(name, attributes[name]);
    for (const child of children) e.append(child);
    return e;
  }

  /* ---- layout: where rows and charts of a run are ---- */

  function layout(r) {
    const h = view.rowHeight;
    let y = HEAD, group = -1;
    r.labels = [];
    for (const row of r.rows) {
      const inSm = row.group > 0 || !r.kernelsFirst;
      if (row.group !== group) {
        if (group >= 0) y += row.group > 0 && group > 0 ? Math.max(2, Math.round(h / 3)) : 7;
        group = row.group;
        if (row.group > 0) r.labels.push({ text: r.groups[group], y: y, top: y });
      }
      row.y = y;
      row.h = inSm && row.group > 0 ? h : Math.max(12, h);
      if (row.group === 0) r.labels.push({ text: row.name, y: y, top: y, soft: true });
      y += row.h;
      if (row.group > 0) r.labels[r.labels.length - 1].bottom = y;
      else r.labels[r.labels.length - 1].bottom = y, y += 1;
    }
    r.rowsEnd = y;
    y += 6;
    for (const chart of view.curves ? r.charts : []) {
      chart.y = y + CHART_GAP;
      y = chart.y + CHART;
    }
    r.height = y + 4;
  }

  function fitRows() {
    let rows = 0, groups = 0;
    for (const r of runs) {
      rows = Math.max(rows, r.rows.length);
      groups = Math.max(groups, r.groups.length);
    }
    const fixed = HEAD + 40 + (runs.length ? runs[0].charts.length : 0) * (CHART + CHART_GAP) + groups * 3;
    const room = (window.innerHeight - 190) / Math.min(runs.length, 3) - fixed;
    return Math.max(3, Math.min(16, Math.floor(room / Math.max(1, rows))));
  }

  /* ---- drawing ---- */

  function size(canvas, height) {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.style.height = height + 'px';
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const c = canvas.getContext('2d');
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.font = '12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
    c.textBaseline = 'middle';
    return c;
  }

  const plotWidth = canvas => Math.max(50, canvas.clientWidth - GUTTER - 6);
  const xOf = (canvas, us) => GUTTER + (us - view.from) / (view.to - view.from) * plotWidth(canvas);
  const usAt = (canvas, x) => view.from + (x - GUTTER) / plotWidth(canvas) * (view.to - view.from);

  function ticks() {
    const rough = (view.to - view.from) / 10, power = Math.pow(10, Math.floor(Math.log10(rough)));
    const step = power * (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1), list = [];
    for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) list.push(t);
    return { list: list, digits: Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)) };
  }

  function drawAxis() {
    const c = size(axis, 24), marks = ticks();
    c.clearRect(0, 0, axis.clientWidth, 24);
    c.fillStyle = theme.soft;
    c.textAlign = 'left';
    c.fillText('time, µs', 0, 10);
    c.textAlign = 'center';
    for (const t of marks.list) { /* the first and the last word stay inside */
      const x = xOf(axis, t), text = t.toFixed(marks.digits), half = c.measureText(text).width / 2;
      c.fillText(text, Math.min(Math.max(x, GUTTER - 4 + half), axis.clientWidth - half), 10);
      c.fillRect(x, 18, 1, 6);
    }
  }

  /* The first span of a row that ends after a cycle. */
  function firstAfter(r, row, cycle) {
    let low = row.first, high = row.last;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (r.stop[middle] > cycle) high = middle; else low = middle + 1;
    }
    return low;
  }

  /* One row. Spans of at least a pixel are drawn each; narrower neighbours that begin in the same pixel become one column in
   * the style that covers most of it. */
  function drawRow(c, r, row, from, to, perCycle, counts) {
    let column = -1, merged = 0, best = 0, bestTime = 0;
    const times = new Map();
    const flush = () => {
      if (!merged) return;
      c.fillStyle = fillOf(r, best & 15, best >> 4);
      c.fillRect(column, row.y, 1, row.h);
      if (merged > 1) { counts.merged += merged; counts.columns++; } else counts.single++;
      merged = 0;
      if (times.size) times.clear();
    };
    const first = firstAfter(r, row, from);
    let i = first;
    for (; i < row.last && r.start[i] < to; i++) {
      const x = GUTTER + (r.start[i] - from) * perCycle, w = (r.stop[i] - r.start[i]) * perCycle, phase = r.phase[i];
      if (w < 1) {
        const at = Math.floor(x), style = phase | r.kernel[i] << 4;
        if (at !== column || !merged) { flush(); column = at; }
        merged++;
        if (merged === 1) { best = style; bestTime = w; } else if (style === best) bestTime += w; else {
          const time = (times.get(style) || 0) + w;
          times.set(style, time);
          if (time > bestTime) { times.set(best, bestTime); bestTime = time; best = style; }
        }
        continue;
      }
      flush();
      const left = Math.max(x, GUTTER), right = Math.min(x + w, GUTTER + (to - from) * perCycle), gap = w > 5 ? 1 : w > 2.5 ? 0.5 : 0;
      c.fillStyle = fillOf(r, phase, r.kernel[i]);
      c.fillRect(left, row.y, Math.max(0.75, right - left - gap), row.h);
      counts.single++;
      if (phase >= PHASE.stop && phase <= PHASE.restore && row.h >= 7) { /* whose block it is */
        c.fillStyle = colourOf(r, r.kernel[i]);
        c.fillRect(left, row.y + row.h - 3, Math.max(0.75, right - left - gap), 3);
      }
      if (row.h >= 11 && right - left > 26) {
        const text = phase === PHASE.kernel ? kernelName(r, r.kernel[i]) : phase > PHASE.kernel ? PHASE_WORDS[phase] : String(r.block[i]);
        if (c.measureText(text).width < right - left - 6) {
          c.textAlign = 'left';
          c.fillStyle = phase === PHASE.run ? '#ffffff' : phase === PHASE.save ? theme.paper : theme.ink;
          if (phase === PHASE.run && ['#f0e442', '#e69f00', '#56b4e9'].includes(colourOf(r, r.kernel[i]))) c.fillStyle = THEMES.light.ink;
          if (phase !== PHASE.restore && phase !== PHASE.drain) c.fillText(text, left + 4, row.y + row.h / 2 + 0.5);
        }
      }
    }
    flush();
    counts.outside += row.last - row.first - (i - first);
  }

  /* The rows that lie in the visible part of a run's canvas, and half a screen above and below: only these are painted.
   * On paper every row is visible. */
  function visibleRows(r, box) {
    const beyond = state.paper ? Infinity : window.innerHeight / 2, top = -box.top - beyond, bottom = window.innerHeight - box.top + beyond;
    return { top: top, bottom: bottom, rows: r.rows.filter(row => row.y + row.h >= top && row.y <= bottom) };
  }

  function drawMarks(c, r, canvas) {
    for (const m of r.marks) {
      const x = xOf(canvas, m.cycle * r.us);
      if (m.row < 0 || m.row === undefined || x < GUTTER - 4 || x > canvas.clientWidth) continue;
      const row = r.rows[m.row], s = Math.max(2.5, Math.min(5, row.h / 2 - 1)), y = row.y + row.h / 2;
      c.lineWidth = 3.5;
      c.strokeStyle = theme.paper;
      for (let pass = 0; pass < 2; pass++) {
        c.beginPath();
        c.moveTo(x - s, y - s); c.lineTo(x + s, y + s); c.moveTo(x - s, y + s); c.lineTo(x + s, y - s);
        c.stroke();
        c.lineWidth = 1.6;
        c.strokeStyle = theme.cross;
      }
    }
  }

  function drawRequests(c, r, canvas) {
    let free = GUTTER;
    c.textAlign = 'left';
    r.requests.forEach((q, n) => {
      const x = xOf(canvas, q.cycle * r.us), end = q.served === null ? canvas.clientWidth : xOf(canvas, q.served * r.us);
      if (end < GUTTER || x > canvas.clientWidth) return;
      const left = Math.max(GUTTER, x), right = Math.min(canvas.clientWidth, Math.max(end, x + 1));
      c.fillStyle = theme.shade;
      c.fillRect(left, HEAD, right - left, r.rowsEnd - HEAD);
      c.fillStyle = theme.mark;
      if (x >= GUTTER) c.fillRect(x - 0.75, 4, 1.5, r.rowsEnd - 4);
      c.fillRect(left, HEAD - 4, right - left, 2.5);
      if (end > x + 3 && end <= canvas.clientWidth) c.fillRect(right - 1, HEAD - 7, 1.5, 9);
      const took = q.served === null ? 'not served' : micro((q.served - q.cycle) * r.us);
      const text = (q.kernel === null ? 'room asked for' : kernelName(r, q.kernel) + ' asks for room') + ': ' + (q.served === null ? took : 'free after ' + took);
      const short = took, at = Math.max(left + 5, free + 8), width = c.measureText(text).width;
      if (at > left + 40) return;
      const later = r.requests[n + 1], room = (later ? Math.min(canvas.clientWidth, xOf(canvas, later.cycle * r.us)) : canvas.clientWidth) - at - 4;
      const shown = width < room ? text : c.measureText(short).width < room ? short : '';
      c.fillText(shown, at, 10);
      free = at + c.measureText(shown).width;
    });
  }

  /* As much of a text as a width holds. */
  function fitted(c, text, width) {
    if (c.measureText(text).width <= width) return text;
    while (text.length > 1 && c.measureText(text + '…').width > width) text = text.slice(0, -1);
    return text + '…';
  }
  /* The axis of a chart: its range and the unit, as in "0–100 %"; the unit's other words are in the tip. */
  function scaleWords(chart) {
    const unit = chart.unit.replace(/^bytes per cycle$/, 'B/cycle').replace(/^% .*/, '%').replace(/^warps .*/, 'warps').replace(/^granules of | on SMs$/, '');
    return '0–' + (chart.top >= 10 || chart.top % 1 === 0 ? thousands(chart.top) : chart.top.toPrecision(2)) + (unit ? ' ' + unit : '');
  }

  function drawCharts(c, r, canvas, from, to, perCycle) {
    for (const chart of view.curves ? r.charts : []) {
      const base = chart.y + CHART, own = chart.series.map(i => r.levels[i]), stacked = r.series[chart.series[0]].kernel !== null;
      let top = chart.limit;
      if (!top) for (const l of own) for (const v of l) top = Math.max(top, v);
      top = top || 1;
      chart.top = top;
      c.fillStyle = theme.wash;
      c.fillRect(GUTTER, chart.y, plotWidth(canvas), CHART);
      c.fillStyle = theme.soft;
      c.textAlign = 'right';
      c.fillText(fitted(c, chart.name, GUTTER - 8), GUTTER - 8, chart.y + 9);
      c.fillText(fitted(c, scaleWords(chart), GUTTER - 8), GUTTER - 8, chart.y + 23);
      c.save();
      c.beginPath();
      c.rect(GUTTER, chart.y, plotWidth(canvas), CHART);
      c.clip();
      const sum = new Float64Array(Math.max(0, r.times.length - 1));
      chart.series.forEach((index, place) => {
        const s = r.series[index], list = r.levels[index];
        if (stacked) {
          c.fillStyle = colourOf(r, s.kernel);
          for (let i = 0; i < list.length; i++) {
            const x = GUTTER + (r.times[i] - from) * perCycle, w = (r.times[i + 1] - r.times[i]) * perCycle;
            const h = list[i] / top * CHART;
            if (x + w >= GUTTER && x < canvas.clientWidth && h > 0) c.fillRect(Math.floor(x), base - (sum[i] / top * CHART) - h, Math.ceil(x + w) - Math.floor(x), h);
            sum[i] += list[i];
          }
          return;
        }
        c.strokeStyle = place ? theme.ink : theme.curve;
        c.lineWidth = 1.5;
        c.setLineDash(place ? [4, 3] : []);
        c.beginPath();
        for (let i = 0; i < list.length; i++) {
          const x = GUTTER + (r.times[i] - from) * perCycle, x1 = GUTTER + (r.times[i + 1] - from) * perCycle;
          const y = base - Math.min(1, list[i] / top) * (CHART - 2) - 1;
          if (i) c.lineTo(x, y); else c.moveTo(x, y);
          c.lineTo(x1, y);
        }
        c.stroke();
        c.setLineDash([]);
      });
      c.restore();
    }
  }

  /* Everything of the block under the pointer or the focus, and the way it took from SM to SM. */
  function drawChosen(c, r, canvas, from, perCycle) {
    for (const chosen of [state.hover, state.focus]) {
      if (!chosen || chosen.run !== r || chosen.span === undefined) continue;
      const i = chosen.span, block = r.block[i], kernel = r.kernel[i];
      let last = null;
      c.save();
      c.beginPath();
      c.rect(GUTTER, 0, plotWidth(canvas), r.rowsEnd);
      c.clip();
      const parts = [];
      if (r.phase[i] < PHASE.kernel)
        for (let n = 0; n < r.count; n++) if (r.block[n] === block && r.kernel[n] === kernel && r.phase[n] < PHASE.kernel) parts.push(n);
      parts.sort((a, b) => r.start[a] - r.start[b]);
      for (const n of parts) {
        const row = r.rows[r.rowOf[n]], x = GUTTER + (r.start[n] - from) * perCycle, w = (r.stop[n] - r.start[n]) * perCycle;
        c.strokeStyle = theme.block;
        c.lineWidth = 2;
        c.strokeRect(x - 0.5, row.y - 0.5, Math.max(2, w), row.h + 1);
        if (last && (last.row !== row || x - last.x > 3)) {
          c.setLineDash([3, 2]);
          c.beginPath();
          c.moveTo(last.x, last.row.y + last.row.h / 2);
          c.lineTo(x, row.y + row.h / 2);
          c.stroke();
          c.setLineDash([]);
        }
        last = { x: x + w, row: row };
      }
      const row = r.rows[r.rowOf[i]], x = GUTTER + (r.start[i] - from) * perCycle, w = (r.stop[i] - r.start[i]) * perCycle;
      c.strokeStyle = chosen === state.focus ? theme.focus : theme.ink;
      c.lineWidth = chosen === state.focus ? 3 : 2;
      c.strokeRect(x - 1, row.y - 1, Math.max(3, w + 1), row.h + 2);
      c.restore();
    }
  }

  function drawRun(r) {
    const canvas = r.canvas, box = canvas.getBoundingClientRect();
    const c = size(canvas, r.height), width = canvas.clientWidth;
    const counts = { single: 0, merged: 0, columns: 0, outside: 0, unseen: 0 };
    const from = view.from / r.us, to = view.to / r.us, perCycle = plotWidth(canvas) / (to - from);
    const seen = visibleRows(r, box);
    r.painted = { top: seen.top, bottom: seen.bottom };
    r.counts = counts;
    counts.unseen = r.count - seen.rows.reduce((sum, row) => sum + row.last - row.first, 0);
    c.clearRect(0, 0, width, r.height);
    c.textAlign = 'right';
    let free = -100;
    for (const label of r.labels) {
      const y = (label.top + label.bottom) / 2;
      if (y - free < 11) continue;
      c.fillStyle = label.soft ? theme.ink : theme.soft;
      c.fillText(fitted(c, label.text, GUTTER - 8), GUTTER - 8, y);
      free = y;
    }
    c.fillStyle = theme.wash;
    for (const label of r.labels) c.fillRect(GUTTER, label.top, plotWidth(canvas), label.bottom - label.top);
    c.save();
    c.beginPath();
    c.rect(GUTTER, 0, plotWidth(canvas) + 6, r.height);
    c.clip();
    c.fillStyle = theme.line;
    for (const t of ticks().list) c.fillRect(xOf(canvas, t), HEAD, 1, r.rowsEnd - HEAD);
    for (const row of seen.rows) drawRow(c, r, row, from, to, perCycle, counts);
    drawRequests(c, r, canvas);
    drawMarks(c, r, canvas);
    c.restore();
    drawCharts(c, r, canvas, from, to, perCycle);
    drawChosen(c, r, canvas, from, perCycle);
  }

  function counted() {
    const sum = { slices: 0, single: 0, merged: 0, columns: 0, outside: 0, unseen: 0 };
    for (const r of runs) {
      sum.slices += r.count;
      for (const name of ['single', 'merged', 'columns', 'outside', 'unseen']) sum[name] += r.counts ? r.counts[name] : 0;
    }
    return sum;
  }

  let pending = false;
  function draw() {
    const began = performance.now();
    pending = false;
    takeTheme();
    GUTTER = root.clientWidth < NARROW ? 92 : 128;
    drawAxis();
    for (const r of runs) drawRun(r);
    const sum = counted();
    status.textContent = thousands(sum.slices) + ' slices: ' + thousands(sum.single) + ' drawn one by one' +
      (sum.merged ? ', ' + thousands(sum.merged) + ' narrower than a pixel and merged into ' + thousands(sum.columns) +
        ' columns (zoom in to see each)' : '') +
      (sum.outside ? ', ' + thousands(sum.outside) + ' outside the shown time' : '') +
      (sum.unseen ? ', ' + thousands(sum.unseen) + ' on rows to scroll to' : '') + (sum.outside || sum.unseen ? '' : ', none left out') + '.';
    state.drawMs = performance.now() - began;
  }
  /* Whether the screen shows a part of the run that has not been painted. */
  function scrolledOut(r) {
    const box = r.canvas.getBoundingClientRect(), top = Math.max(0, -box.top), bottom = Math.min(r.height, window.innerHeight - box.top);
    return top < bottom && (top < r.painted.top || bottom > r.painted.bottom);
  }
  function redraw() {
    if (pending) return;
    pending = true;
    requestAnimationFrame(draw);
  }
  function relayout() {
    for (const r of runs) layout(r);
    redraw();
  }

  /* ---- the address: page.html#from=13&to=25&rows=6&curves=0&slice=1.20 shows that part, in microseconds, with slice 20 of
   * run 1 in focus. It follows what is shown, so that a copied address is a link to it. With &plain only the timelines
   * are shown. ---- */

  let noted = 0;
  function note() {
    clearTimeout(noted);
    noted = setTimeout(() => {
      const words = [], all = view.from <= whole.from && view.to >= whole.to;
      if (!all) words.push('from=' + view.from.toFixed(3), 'to=' + view.to.toFixed(3));
      if (view.rowHeight !== fitRows()) words.push('rows=' + view.rowHeight);
      if (!view.curves) words.push('curves=0');
      if (state.focus) words.push('slice=' + runs.indexOf(state.focus.run) + '.' + state.focus.span);
      if (document.body.classList.contains('plain')) words.push('plain');
      const hash = words.length ? '#' + words.join('&') : '';
      if (hash === location.hash) return;
      try { history.replaceState(null, '', location.pathname + location.search + hash); } catch (error) { /* an address that may not change */ }
    }, 200);
  }
  function goTo(hash) {
    const wanted = new URLSearchParams(hash.slice(1)), [run, span] = (wanted.get('slice') || '').split('.').map(Number);
    slider.value = view.rowHeight = wanted.has('rows') ? Math.max(2, Math.min(30, Number(wanted.get('rows')) || 4)) : fitRows();
    curves.checked = view.curves = wanted.get('curves') !== '0';
    document.body.classList.toggle('plain', wanted.has('plain'));
    for (const r of runs) layout(r);
    if (Number(wanted.get('to')) > Number(wanted.get('from'))) show(Number(wanted.get('from')), Number(wanted.get('to')));
    else fit();
    draw();
    if (runs[run] && span < runs[run].count) {
      runs[run].canvas.focus({ preventScroll: true });
      focusOn(runs[run], span);
    }
  }

  /* ---- zoom and pan ---- */

  function show(from, to) {
    const length = Math.min(whole.to - whole.from, Math.max((to - from), 0.002)), middle = (from + to) / 2;
    from = Math.max(whole.from, Math.min(middle - length / 2, whole.to - length));
    view.from = from;
    view.to = from + length;
    redraw();
    note();
  }
  function zoom(factor, around) {
    const at = around === undefined ? (view.from + view.to) / 2 : around;
    show(at - (at - view.from) * factor, at + (view.to - at) * factor);
  }
  function pan(part) {
    const d = (view.to - view.from) * part;
    show(view.from + d, view.to + d);
  }
  function fit() { show(whole.from, whole.to); }
  /* Request times of all runs, without repetitions. */
  function requestTimes() {
    const set = new Set();
    for (const r of runs) for (const q of r.requests) set.add(q.cycle * r.us);
    return Array.from(set).sort((a, b) => a - b);
  }
  function nextRequest() {
    const times = requestTimes();
    if (!times.length) return;
    const at = state.request === undefined ? times[0] : times[(times.indexOf(state.request) + 1) % times.length];
    let length = 0;
    state.request = at;
    for (const r of runs) for (const q of r.requests)
      if (q.cycle * r.us === at && q.served !== null) length = Math.max(length, (q.served - q.cycle) * r.us);
    length = length || (whole.to - whole.from) / 20;
    show(at - length * 0.25, at + length * 1.5);
  }

  /* ---- facts ---- */

  function escape(text) { return String(text).replace(/&/g, '&amp;').replace(/</g, '&lt;'); }
  const cycleWords = (r, cycles) => cycles === null ? 'unknown' : micro(cycles * r.us) + ' <span class="quiet">(' + thousands(cycles) + ' cycles)</span>';

  function victimFacts(r, index) {
    const v = r.victims[index], q = r.requests[v.request];
    let text = '<br><b>Victim</b> of the request ' + (q.kernel === null ? '' : 'of ' + escape(kernelName(r, q.kernel)) + ' ') + 'at ' +
      micro(q.cycle * r.us) + (v.told !== q.cycle ? ', told at ' + micro(v.told * r.us) : '') + ': ' + TECHNIQUES[v.technique];
    if (v.left !== null && v.left !== v.technique) text += ', but left by ' + TECHNIQUES[v.left];
    text += '.<table><tr class="quiet"><td></td><td>leaves after</td><td>loses ' + escape(r.work) + '</td></tr>';
    TECHNIQUES.forEach((name, t) => {
      if (v.cycles[t] === null && t !== v.technique) return;
      text += '<tr' + (t === v.technique ? ' class="chosen"' : '') + '><td>estimate, ' + name + '</td><td>' +
        (v.cycles[t] === null ? 'unknown' : micro(v.cycles[t] * r.us)) + '</td><td>' +
        (v.overhead[t] === null ? 'unknown' : thousands(v.overhead[t])) + '</td></tr>';
    });
    text += '<tr><td>what came of it</td><td>' + (v.end === null ? 'still there' : micro((v.end - v.told) * r.us)) + '</td><td>' +
      (v.end === null ? '' : thousands(v.cost)) + '</td></tr></table>';
    if (v.bytes) text += thousands(v.bytes) + ' bytes saved. ';
    if (v.dropped) text += thousands(v.dropped) + ' ' + escape(r.work) + ' must be done again.';
    return text;
  }

  function spanFacts(r, i) {
    const row = r.rows[r.rowOf[i]], k = r.kernels[r.kernel[i]], phase = r.phase[i];
    const where = row.group > 0 ? r.groups[row.group] + ', ' + row.name : row.name;
    let text = phase >= PHASE.cpu ? '<b>' + escape(row.name) + ' ' + PHASE_WORDS[phase] + '</b>'
      : '<b>' + escape(k.name) + (phase === PHASE.kernel ? '' : ', block ' + r.block[i]) + '</b> ' + PHASE_WORDS[phase];
    text += '<br><span class="quiet">' + escape(where) + (k && k.process && phase < PHASE.cpu ? ', process ' + escape(k.process) : '') +
      '</span><br>' + micro(r.start[i] * r.us) + ' to ' + micro(r.stop[i] * r.us) + ': ' + cycleWords(r, r.stop[i] - r.start[i]);
    if (phase < PHASE.kernel) for (const m of r.marks)
      if (m.row === r.rowOf[i] && m.block === r.block[i] && m.kernel === r.kernel[i] && m.cycle === r.stop[i])
        text += '<br>Then a ' + m.what + ': everything it has done is dropped.';
    if (r.victimOf[i] >= 0) text += victimFacts(r, r.victimOf[i]);
    else if (r.victimAfter.has(i)) text += victimFacts(r, r.victimAfter.get(i));
    return text;
  }

  function chartFacts(r, chart, us) {
    let i = 0;
    while (i + 2 < r.times.length && r.times[i + 1] * r.us <= us) i++;
    let text = '<b>' + escape(chart.name) + '</b> at ' + micro(us) + '<table>';
    for (const s of chart.series)
      text += '<tr><td>' + escape(r.series[s].name) + '</td><td>' + (r.levels[s].length ? r.levels[s][i].toFixed(1) : '0') + ' ' +
        escape(r.series[s].unit) + '</td></tr>';
    return text + '</table>';
  }

  function requestFacts(r, q) {
    const mine = r.victims.filter(v => r.requests[v.request] === q);
    return '<b>' + escape(kernelName(r, q.kernel)) + ' asks for room</b> at ' + micro(q.cycle * r.us) + '<br>' + mine.length +
      ' blocks must leave; the last is gone after ' + cycleWords(r, q.served === null ? null : q.served - q.cycle) +
      (q.limit === null ? '' : '<br>limit ' + micro(q.limit * r.us));
  }

  function tell(html, x, y) {
    tip.hidden = false;
    tip.innerHTML = html;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, window.innerWidth - box.width - 6)) + 'px';
    tip.style.top = (y + 18 + box.height > window.innerHeight ? Math.max(4, y - box.height - 12) : y + 18) + 'px';
    return tip.textContent;
  }

  /* What is at a place of a run's canvas: a span (within two pixels), a request, a chart, or nothing. */
  function find(r, x, y) {
    const canvas = r.canvas, us = usAt(canvas, x), cycle = us / r.us, reach = 2.5 / plotWidth(canvas) * (view.to - view.from) / r.us;
    if (x < GUTTER) return null;
    for (const chart of view.curves ? r.charts : []) if (y >= chart.y && y < chart.y + CHART) return { run: r, chart: chart, us: us };
    if (y < HEAD) {
      let near = null, distance = 8 * reach;
      for (const q of r.requests) {
        const d = cycle < q.cycle ? q.cycle - cycle : q.served !== null && cycle > q.served ? cycle - q.served : 0;
        if (d < distance) { distance = d; near = q; }
      }
      return near && { run: r, request: near };
    }
    for (let n = 0; n < r.rows.length; n++) {
      const row = r.rows[n];
      if (y < row.y || y >= row.y + row.h) continue;
      let best = -1, distance = reach;
      for (let i = firstAfter(r, row, cycle - reach); i < row.last && r.start[i] < cycle + reach; i++) {
        const d = cycle < r.start[i] ? r.start[i] - cycle : cycle >= r.stop[i] ? cycle - r.stop[i] : -1;
        if (d < distance) { distance = d; best = i; }
        if (d < 0) break;
      }
      return best < 0 ? null : { run: r, span: best };
    }
    return null;
  }

  function same(a, b) {
    return a === b || !!a && !!b && a.run === b.run && a.span === b.span && a.chart === b.chart && a.request === b.request;
  }
  function factsOf(thing) {
    return thing.span !== undefined ? spanFacts(thing.run, thing.span) : thing.chart ? chartFacts(thing.run, thing.chart, thing.us)
      : requestFacts(thing.run, thing.request);
  }

  function hover(r, event) {
    const box = r.canvas.getBoundingClientRect(), thing = find(r, event.clientX - box.left, event.clientY - box.top);
    const changed = !same(thing, state.hover);
    state.hover = thing;
    if (thing) tell(factsOf(thing), event.clientX, event.clientY); else tip.hidden = true;
    if (changed) redraw();
  }

  /* Focus on a span: it is brought into view, outlined, and told. */
  function focusOn(r, i) {
    const start = r.start[i] * r.us, stop = r.stop[i] * r.us;
    state.focus = { run: r, span: i };
    if (stop < view.from || start > view.to) show(start - (view.to - view.from) / 2, start + (view.to - view.from) / 2);
    const box = r.canvas.getBoundingClientRect(), row = r.rows[r.rowOf[i]];
    let top = box.top + row.y;
    if (top < 150 || top > window.innerHeight - 60) {
      window.scrollBy(0, top - window.innerHeight / 2);
      top = r.canvas.getBoundingClientRect().top + row.y;
    }
    note();
    heard.textContent = tell(spanFacts(r, i), box.left + Math.max(GUTTER, xOf(r.canvas, Math.max(start, view.from))), top + row.h);
    redraw();
  }

  /* ---- pointer and keyboard ---- */

  function listen(r) {
    const canvas = r.canvas, fingers = new Map();
    let moved = false, range = null;
    canvas.addEventListener('pointerdown', e => {
      fingers.set(e.pointerId, { x: e.clientX, us: usAt(canvas, e.clientX - canvas.getBoundingClientRect().left) });
      moved = false;
      range = e.shiftKey ? fingers.get(e.pointerId).us : null;
      try { canvas.setPointerCapture(e.pointerId); } catch (error) { /* the pointer has gone already */ }
    });
    canvas.addEventListener('pointermove', e => {
      const finger = fingers.get(e.pointerId), left = canvas.getBoundingClientRect().left;
      if (!finger) { hover(r, e); return; }
      if (Math.abs(e.clientX - finger.x) > 3) moved = true;
      if (!moved || range !== null) return;
      tip.hidden = true;
      finger.x = e.clientX;
      canvas.classList.add('dragging');
      if (fingers.size === 1) { /* what was under the finger stays under it */
        const d = finger.us - usAt(canvas, e.clientX - left);
        show(view.from + d, view.to + d);
      } else {
        const [a, b] = Array.from(fingers.values()), dx = b.x - a.x, du = b.us - a.us;
        if (Math.abs(dx) < 8 || du / dx <= 0) return;
        const perPixel = du / dx, from = a.us - (a.x - left - GUTTER) * perPixel;
        show(from, from + perPixel * plotWidth(canvas));
      }
    });
    const up = e => {
      const left = canvas.getBoundingClientRect().left;
      if (range !== null && moved) {
        const to = usAt(canvas, e.clientX - left);
        show(Math.min(range, to), Math.max(range, to));
      }
      if (fingers.has(e.pointerId) && !moved) {
        const thing = find(r, e.clientX - left, e.clientY - canvas.getBoundingClientRect().top);
        canvas.focus({ preventScroll: true });
        if (thing && thing.span !== undefined) focusOn(r, thing.span);
        else if (thing) heard.textContent = tell(factsOf(thing), e.clientX, e.clientY);
        else { state.focus = null; tip.hidden = true; redraw(); }
      }
      range = null;
      fingers.delete(e.pointerId);
      canvas.classList.remove('dragging');
    };
    canvas.addEventListener('pointerup', up);
    canvas.addEventListener('pointercancel', e => { fingers.delete(e.pointerId); range = null; });
    canvas.addEventListener('pointerleave', e => { /* a finger that is lifted leaves, too: what it has tapped stays told */
      if (e.pointerType === 'touch') return;
      state.hover = null;
      tip.hidden = true;
      redraw();
    });
    canvas.addEventListener('dblclick', e => zoom(0.4, usAt(canvas, e.clientX - canvas.getBoundingClientRect().left)));
    canvas.addEventListener('wheel', e => {
      if (e.ctrlKey || e.metaKey) zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) * 0.008), usAt(canvas, e.clientX - canvas.getBoundingClientRect().left));
      else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan((e.deltaX || e.deltaY) / 800);
      else return; /* the page scrolls */
      e.preventDefault();
    }, { passive: false });
    canvas.addEventListener('focus', () => {
      if ((!state.focus || state.focus.run !== r) && canvas.matches(':focus-visible') && r.count) focusOn(r, firstVisible(r, 0));
    });
    canvas.addEventListener('blur', () => { state.focus = null; tip.hidden = true; redraw(); });
    canvas.addEventListener('keydown', e => { if (key(r, e)) e.preventDefault(); });
  }

  function firstVisible(r, from) {
    for (let n = from; n < r.rows.length; n++) {
      const i = firstAfter(r, r.rows[n], view.from / r.us);
      if (i < r.rows[n].last) return i;
    }
    return 0;
  }

  function key(r, e) {
    const at = state.focus && state.focus.run === r ? state.focus.span : -1;
    if (e.altKey || e.ctrlKey || e.metaKey) return false;
    const row = at >= 0 ? r.rows[r.rowOf[at]] : null, middle = at >= 0 ? (r.start[at] + r.stop[at]) / 2 * r.us : undefined;
    const beside = step => {
      for (let n = r.rowOf[at] + step; n >= 0 && n < r.rows.length; n += step) {
        const other = r.rows[n];
        if (other.first === other.last) continue;
        return Math.min(other.last - 1, firstAfter(r, other, Math.max(r.start[at], view.from / r.us)));
      }
      return at;
    };
    switch (e.key) {
      case '+': case '=': zoom(0.6, middle); return true;
      case '-': zoom(1 / 0.6, middle); return true;
      case '0': fit(); return true;
      case 'PageUp': pan(-0.8); return true;
      case 'PageDown': pan(0.8); return true;
      case 'r': nextRequest(); return true;
      case 'Escape': state.focus = null; tip.hidden = true; redraw(); note(); return true;
      case 'v': {
        if (!r.victims.length) return true;
        const now = at < 0 ? -1 : r.victimOf[at] >= 0 ? r.victimOf[at] : r.victimAfter.has(at) ? r.victimAfter.get(at) : -1;
        const next = r.spanOf[(now + 1) % r.victims.length];
        if (next >= 0) focusOn(r, next);
        return true;
      }
      default:
    }
    if (!e.key.startsWith('Arrow') && e.key !== 'Home' && e.key !== 'End') return false;
    if (!r.count) return true;
    if (at < 0) { focusOn(r, firstVisible(r, 0)); return true; }
    const next = e.key === 'ArrowLeft' ? Math.max(row.first, at - 1) : e.key === 'ArrowRight' ? Math.min(row.last - 1, at + 1)
      : e.key === 'Home' ? row.first : e.key === 'End' ? row.last - 1 : beside(e.key === 'ArrowUp' ? -1 : 1);
    focusOn(r, next);
    return true;
  }

  /* ---- tables: sorted by any column, copied as CSV ---- */

  const SHOWN = 300;
  function table(title, note, columns, rows) {
    const body = element('tbody'), head = element('tr'), left = element('span', { class: 'note' });
    const copy = element('button', { type: 'button' }, 'Copy as CSV');
    let order = -1, down = false, all = false;
    function fill() {
      const shown = all ? rows : rows.slice(0, SHOWN);
      body.replaceChildren(...shown.map(row => element('tr', {}, ...row.map((cell, i) =>
        element('td', columns[i].text ? { class: 'text' } : {}, cell === null ? '' : columns[i].digits !== undefined && typeof cell === 'number'
          ? cell.toFixed(columns[i].digits) : typeof cell === 'number' ? thousands(cell) : cell)))));
      left.textContent = rows.length > shown.length ? thousands(shown.length) + ' of ' + thousands(rows.length) + ' rows shown; the CSV has all. ' : '';
      if (rows.length > shown.length) {
        const more = element('button', { type: 'button' }, 'Show all');
        more.addEventListener('click', () => { all = true; fill(); });
        left.append(more);
      }
    }
    columns.forEach((column, i) => {
      const button = element('button', { type: 'button' }, column.name), cell = element('th', { scope: 'col', 'aria-sort': 'none' }, button);
      if (column.text) cell.className = 'text';
      button.addEventListener('click', () => {
        down = order === i ? !down : false;
        order = i;
        rows.sort((a, b) => {
          const x = a[i], y = b[i];
          if (x === null || y === null) return (x === null) - (y === null);
          return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
        });
        for (const other of head.children) {
          other.setAttribute('aria-sort', 'none');
          other.firstChild.textContent = other.firstChild.textContent.replace(/ [▲▼]$/, '');
        }
        cell.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        button.textContent = column.name + (down ? ' ▼' : ' ▲');
        fill();
      });
      head.append(cell);
    });
    const csv = () => {
      const cell = value => value === null ? '' : /[",\n]/.test(String(value)) ? '"' + String(value).replace(/"/g, '""') + '"' : String(value);
      return [columns.map(c => cell(c.name))].concat(rows.map(row => row.map(cell))).map(line => line.join(',')).join('\n') + '\n';
    };
    copy.addEventListener('click', () => {
      const done = () => { copy.textContent = 'Copied'; setTimeout(() => { copy.textContent = 'Copy as CSV'; }, 1500); };
      const area = element('textarea');
      area.value = csv();
      document.body.append(area);
      area.select();
      const worked = document.execCommand('copy'); /* works for pages from disk, too */
      area.remove();
      copy.focus();
      if (worked) done(); else if (navigator.clipboard) navigator.clipboard.writeText(csv()).then(done, () => {});
    });
    fill();
    const section = element('section', {}, element('div', { class: 'tablehead' }, element('h2', {}, title), copy, left),
      note ? element('p', { class: 'status' }, note) : '',
      element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': title },
        element('table', { class: 'data' }, element('thead', {}, head), body)));
    section.csv = csv;
    return section;
  }

  const work = runs.length ? runs[0].work : '';
  function requestTable() {
    const columns = [{ name: 'run', text: true }, { name: 'asked by', text: true }, { name: 'at µs', digits: 2 }, { name: 'techniques', text: true },
      { name: 'SMs' }, { name: 'blocks' }, { name: 'mean latency µs', digits: 3 }, { name: 'latency µs', digits: 3 },
      { name: 'limit µs', digits: 2 }, { name: 'bytes saved' }, { name: 'wasted ' + work }, { name: 'lost ' + work }];
    const rows = [];
    for (const r of runs) r.requests.forEach((q, n) => {
      const mine = r.victims.filter(v => v.request === n), left = mine.filter(v => v.end !== null), by = {};
      for (const v of mine) by[TECHNIQUES[v.left === null ? v.technique : v.left]] = (by[TECHNIQUES[v.left === null ? v.technique : v.left]] || 0) + 1;
      const names = Object.keys(by), sum = f => left.reduce((s, v) => s + f(v), 0);
      rows.push([r.name, kernelName(r, q.kernel), q.cycle * r.us, names.map(t => names.length > 1 ? by[t] + ' ' + t : t).join(', '),
        new Set(mine.map(v => r.rows[v.row] ? r.rows[v.row].group : 0)).size, mine.length,
        left.length ? sum(v => v.end - v.told) / left.length * r.us : null, q.served === null ? null : (q.served - q.cycle) * r.us,
        q.limit === null ? null : q.limit * r.us, sum(v => v.bytes), sum(v => v.dropped), sum(v => v.cost)]);
    });
    return rows.length ? table('Requests', 'Latency: from the request until the last block has left its SM; the mean is over blocks, each from when it was ' +
      'told. Wasted: done, and to be done again. Lost: with what a block would have done while it was stopped, saved and restored.', columns, rows) : '';
  }

  function victimTable() {
    const columns = [{ name: 'run', text: true }, { name: 'for', text: true }, { name: 'SM', text: true }, { name: 'slot', text: true },
      { name: 'kernel', text: true }, { name: 'block' }, { name: 'told at µs', digits: 2 }, { name: 'told to', text: true },
      { name: 'left by', text: true }, { name: 'estimated µs', digits: 3 }, { name: 'took µs', digits: 3 }, { name: 'estimated loss' },
      { name: 'lost ' + work }, { name: 'bytes saved' }];
    for (const t of TECHNIQUES) columns.push({ name: 'if ' + t + ', µs', digits: 3 });
    const rows = [];
    for (const r of runs) for (const v of r.victims) {
      const row = r.rows[v.row], us = cycles => cycles === null ? null : cycles * r.us;
      rows.push([r.name, kernelName(r, r.requests[v.request].kernel), row ? r.groups[row.group] : '', row ? row.name : '', kernelName(r, v.kernel), v.block,
        v.told * r.us, TECHNIQUES[v.technique], v.left === null ? 'still there' : TECHNIQUES[v.left], us(v.cycles[v.technique]),
        us(v.end === null ? null : v.end - v.told), v.overhead[v.technique], v.end === null ? null : v.cost, v.bytes].concat(v.cycles.map(us)));
    }
    return rows.length ? table('Victims', 'Who had to leave, what was expected of it when it was told, and what came of it. The last columns are the estimates for every ' +
      'technique that was allowed: why this block left this way.', columns, rows) : '';
  }

  /* ---- legend: what occurs in the data, drawn by the code that draws the charts ---- */

  function swatch(paint) {
    const canvas = element('canvas', { width: 52, height: 28, 'aria-hidden': 'true' }), c = canvas.getContext('2d');
    canvas.style.width = '26px';
    canvas.style.height = '14px';
    c.scale(2, 2);
    paint(c);
    return canvas;
  }
  function legend() {
    const list = element('ul', { class: 'legend', 'aria-label': 'Legend' }), phases = new Map();
    for (const r of runs) for (let i = 0; i < r.count; i++) {
      const phase = r.phase[i];
      if (!phases.has(phase)) phases.set(phase, [r, r.kernel[i]]);
    }
    const entry = (kind, paint, words) => list.append(element('li', { 'data-kind': kind }, swatch(paint), words));
    /* One entry per colour, with the names of its kernels. */
    const byColour = new Map();
    for (const r of runs) r.kernels.forEach((k, i) => {
      if (!byColour.has(k.colour)) byColour.set(k.colour, { run: r, kernel: i, process: k.process, names: [] });
      const one = byColour.get(k.colour);
      if (!one.names.includes(k.name)) one.names.push(k.name);
    });
    for (const [colour, one] of byColour) {
      const names = one.names.slice(0, 3).join(', ') + (one.names.length > 3 ? ' and ' + (one.names.length - 3) + ' more' : '');
      entry('kernel', c => { c.fillStyle = fillOf(one.run, PHASE.run, one.kernel); c.fillRect(0, 0, 26, 14); },
        names + (one.process && one.process !== names ? ' (' + one.process + ')' : ''));
      list.lastChild.dataset.colour = colour;
    }
    for (let phase = PHASE.stop; phase <= PHASE.transfer; phase++) {
      if (!phases.has(phase) || phase === PHASE.kernel) continue;
      const [r, kernel] = phases.get(phase);
      entry('phase' + phase, c => { c.fillStyle = fillOf(r, phase, kernel); c.fillRect(0, 0, 26, 14); }, PHASE_LEGEND[phase]);
    }
    if (runs.some(r => r.marks.some(m => m.row >= 0))) entry('flush', c => {
      c.strokeStyle = theme.cross;
      c.lineWidth = 1.8;
      c.beginPath();
      c.moveTo(8, 2); c.lineTo(18, 12); c.moveTo(8, 12); c.lineTo(18, 2);
      c.stroke();
    }, 'flushed: dropped, starts again');
    if (runs.some(r => r.requests.length)) entry('request', c => {
      c.fillStyle = theme.shade;
      c.fillRect(4, 3, 22, 11);
      c.fillStyle = theme.mark;
      c.fillRect(4, 0, 1.5, 14);
      c.fillRect(4, 2, 22, 2.5);
    }, 'a request, until the last block has made room');
    return list;
  }

  /* ---- what happened, in a sentence or two ---- */

  function several(number, what) { return thousands(number) + ' ' + what + (number === 1 ? '' : 's'); }
  function happened(r) {
    const left = r.victims.filter(v => v.left !== null), served = r.requests.filter(q => q.served !== null), by = new Map();
    const sum = f => left.reduce((total, v) => total + f(v), 0);
    if (!r.requests.length) {
      const kernels = new Set(r.kernels.map(k => k.name)).size;
      return several(kernels, 'kernel') + ' ran for ' + micro((r.end - r.begin) * r.us) + '. No block was asked to leave.';
    }
    for (const v of left) by.set(TECHNIQUES[v.left], (by.get(TECHNIQUES[v.left]) || 0) + 1);
    const ways = Array.from(by, ([name, count]) => thousands(count) + ' by ' + name).join(', ');
    const latencies = served.map(q => (q.served - q.cycle) * r.us), worst = Math.max(...latencies);
    const mean = latencies.reduce((a, b) => a + b, 0) / latencies.length, late = served.filter(q => q.limit !== null && q.served - q.cycle > q.limit).length;
    const limits = served.filter(q => q.limit !== null).length, names = Array.from(new Set(r.requests.map(q => kernelName(r, q.kernel))));
    const who = names.length === 1 ? (names[0] === 'nobody' ? '' : ' of ' + names[0]) : ' of ' + several(names.length, 'kernel');
    let text = several(r.requests.length, 'request') + who + (r.requests.length === 1 ? ' at ' + micro(r.requests[0].cycle * r.us) : '') + ' moved ' +
      several(left.length, 'block') + (ways ? ' (' + ways + ')' : '') + '. ';
    if (latencies.length === 1) text += 'The last block had left after ' + micro(worst);
    else if (latencies.length) text += 'The last block of a request had left after ' + micro(mean) + ' on average, ' + micro(worst) + ' at worst';
    if (limits) text += latencies.length === 1 ? (late ? ', later than the limit' : ', within the limit') : '; ' + thousands(late) + ' of ' + limits + ' missed the limit';
    if (latencies.length) text += '. ';
    return text + 'Cost: ' + thousands(sum(v => v.bytes)) + ' bytes saved, ' + thousands(sum(v => v.dropped)) + ' ' + r.work + ' to do again.';
  }

  /* ---- the page ---- */

  const tip = element('div', { class: 'tip', role: 'tooltip', hidden: '' }), heard = element('div', { class: 'heard', 'aria-live': 'polite' });
  const axis = element('canvas', { class: 'axis', 'aria-hidden': 'true' }), status = element('p', { class: 'status' });
  const button = (text, label, action) => {
    const b = element('button', { type: 'button', title: label, 'aria-label': label }, text);
    b.addEventListener('click', action);
    return b;
  };
  const slider = element('input', { type: 'range', min: 2, max: 30, 'aria-label': 'height of a row' });
  view.rowHeight = fitRows();
  slider.value = view.rowHeight;
  slider.addEventListener('input', () => { view.rowHeight = Number(slider.value); relayout(); note(); });
  const tools = element('div', { class: 'tools' },
    button('+', 'Zoom in (+)', () => zoom(0.6)), button('−', 'Zoom out (-)', () => zoom(1 / 0.6)), button('Whole run', 'Show all of it (0)', fit),
    button('◀', 'Earlier (Page Up)', () => pan(-0.5)), button('▶', 'Later (Page Down)', () => pan(0.5)));
  if (requestTimes().length) tools.append(button('Next request', 'Go to the next request (r)', nextRequest));
  const curves = element('input', { type: 'checkbox', checked: '' });
  curves.addEventListener('change', () => { view.curves = curves.checked; relayout(); note(); });
  tools.append(element('label', {}, 'row height', slider), element('label', {}, curves, 'curves'));
  const help = element('details', {}, element('summary', {}, 'Mouse, touch, keys'));
  let list = legend();
  const fold = element('details', { class: 'fold' }, element('summary', {}, 'Legend'), list); /* a narrow screen has it closed */
  fold.open = window.innerWidth >= NARROW;
  const bar = element('div', { class: 'bar' }, tools, fold, axis);
  help.append(element('p', {}, 'Mouse: drag to move, Ctrl and the wheel to zoom, Shift and drag to zoom into a range, double click to zoom in, point at anything to read it. ' +
    'Touch: drag with one finger, pinch with two, tap to read. Keys, once a timeline has the focus (Tab): '));
  for (const [keys, what] of [['← →', 'slice before, after'], ['↑ ↓', 'row above, below'], ['Home End', 'first, last slice of the row'], ['+ −', 'zoom'], ['Page Up, Page Down', 'earlier, later'],
    ['0', 'whole run'], ['r', 'next request'], ['v', 'next victim'], ['Esc', 'let go']])
    help.lastChild.append(element('kbd', {}, keys), ' ' + what + '  ');

  root.append(element('h1', {}, data.about.title), data.about.intro ? element('p', {}, data.about.intro) : '', bar);
  for (const r of runs) {
    r.canvas = element('canvas', { class: 'run', tabindex: '0', role: 'application', 'aria-roledescription': 'timeline',
      'aria-label': r.name + ': ' + r.count + ' slices on ' + r.rows.length + ' rows. Arrow keys go from slice to slice.' });
    const facts = element('span', { class: 'facts' });
    for (const [name, value] of r.facts) facts.append(element('span', {}, name + ' ', element('b', {}, String(value))));
    root.append(element('section', { class: 'run' }, element('h2', {}, r.name), facts,
      element('p', { class: 'happened' }, happened(r)), r.canvas));
    listen(r);
  }
  root.append(status, help);
  const tables = [requestTable(), victimTable()];
  for (const t of data.about.tables || []) tables.push(table(t.title, t.note || '', t.columns.map((name, i) => ({ name: name,
    text: t.rows.some(row => typeof row[i] === 'string'), digits: t.rows.some(row => row[i] % 1) ? 2 : undefined })), t.rows));
  for (const t of tables) if (t) root.append(t);
  const rows = element('tbody');
  for (const [name, value, remark] of data.about.record)
    rows.append(element('tr', {}, element('td', { class: 'text' }, name), element('td', { class: 'text' }, String(value)), element('td', { class: 'text' }, remark || '')));
  const record = element('details', { class: 'record' }, element('summary', {}, 'Record: versions, command, configuration, launch file'),
    element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Configuration' }, element('table', { class: 'data' }, rows)));
  for (const [name, text] of data.about.files || []) record.append(element('h2', {}, name), element('pre', { tabindex: '0' }, text));
  root.append(record, tip, heard);

  goTo(location.hash);
  document.documentElement.dataset.height = Math.ceil(root.getBoundingClientRect().height); /* for who takes a picture of all of it */
  window.addEventListener('hashchange', () => goTo(location.hash));
  dark.addEventListener('change', draw);
  window.addEventListener('resize', redraw);
  for (const [event, paper] of [['beforeprint', true], ['afterprint', false]])
    window.addEventListener(event, () => { state.paper = paper; fold.open = paper || window.innerWidth >= NARROW; draw(); });
  window.addEventListener('scroll', () => { if (runs.some(scrolledOut)) redraw(); }, { passive: true });

  return { runs, view, state, whole, show, zoom, pan, fit, nextRequest, draw, counted, find, focusOn, key, xOf, tables: tables.filter(t => t), fillOf, tip, PHASE };
}

if (document.getElementById('data'))
  window.gpump = gpumpPage(JSON.parse(document.getElementById('data').textContent), document.getElementById('page'));
