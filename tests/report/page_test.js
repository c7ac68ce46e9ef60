/* Appended to a page by tests/report/page.sh: uses the page as a reader would, by events, and writes what it found into the
 * document. EXPECTED is the number of slices that the trace of the same runs has. */
'use strict';
(() => {
  const page = window.gpump, lines = [], MOST = 100; /* slices of a row, and rows, that are visited */
  let wrong = 0;
  const check = (what, right, detail) => {
    if (!right) wrong++;
    lines.push((right ? 'right: ' : 'WRONG: ') + what + (detail === undefined ? '' : ' (' + detail + ')'));
  };
  const sum = c => c.single + c.merged + c.outside + c.unseen;
  const pixel = (canvas, x, y) => Array.from(canvas.getContext('2d').getImageData(Math.round(x * canvas.width / canvas.clientWidth),
    Math.round(y * canvas.height / canvas.clientHeight), 1, 1).data).join(',');
  const press = (canvas, key) => {
    canvas.dispatchEvent(new KeyboardEvent('keydown', { key: key, bubbles: true, cancelable: true }));
    page.draw();
  };
  const pointer = (canvas, type, x, y, more) => {
    const box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new PointerEvent(type, Object.assign({ clientX: box.left + x, clientY: box.top + y, pointerId: 1, bubbles: true }, more)));
    page.draw();
  };

  try {
    /* As many slices as the trace has, at any zoom. */
    let c = page.counted();
    check('slices of the page are those of the trace', c.slices === EXPECTED, c.slices + ' of ' + EXPECTED);
    check('all of them are drawn or merged at first', sum(c) === EXPECTED && c.outside === 0, JSON.stringify(c));
    /* Only what is near the screen is painted; whoever scrolls through the page sees every row, and paper shows all. */
    const whole_height = page.runs.reduce((h, r) => h + r.height, 0), painted = new Set();
    check('rows far from the screen are not painted', c.unseen > 0 || whole_height < 2 * window.innerHeight, c.unseen + ' slices');
    let blank = 0;
    for (let y = 0; ; y += window.innerHeight) {
      window.scrollTo(0, y);
      page.draw();
      for (const r of page.runs) {
        const top = r.canvas.getBoundingClientRect().top;
        for (const row of r.rows) {
          if (top + row.y + row.h < 0 || top + row.y > window.innerHeight || row.first === row.last) continue;
          const i = row.first, left = page.xOf(r.canvas, r.start[i] * r.us), right = page.xOf(r.canvas, r.stop[i] * r.us);
          const x = right - left < 1 ? Math.floor(left) : (left + right) / 2;
          if (['0,0,0,0', '243,245,247,255'].includes(pixel(r.canvas, x, row.y + row.h / 2))) blank++; /* nothing, or the row's background */
          painted.add(row);
        }
      }
      if (y > document.documentElement.scrollHeight) break;
    }
    window.scrollTo(0, 0);
    const filled_rows = page.runs.reduce((n, r) => n + r.rows.filter(row => row.last > row.first).length, 0);
    check('scrolling shows every row', painted.size === filled_rows && blank === 0, painted.size + ' of ' + filled_rows + ', ' + blank + ' blank');
    window.dispatchEvent(new Event('beforeprint'));
    check('paper has every row', page.counted().unseen === 0);
    window.dispatchEvent(new Event('afterprint'));
    page.zoom(0.05);
    page.draw();
    c = page.counted();
    check('zoomed in, slices are drawn, merged, or outside', sum(c) === EXPECTED && c.outside > 0, JSON.stringify(c));
    check('and the page says so', document.querySelector('main > .status').textContent.includes('outside the shown time'));
    page.fit();
    page.draw();
    lines.push('one drawing takes ' + page.state.drawMs.toFixed(1) + ' ms');

    /* Hover over slices of every phase of every run: the facts are those of that slice, and its colour is the legend's. */
    let hovered = 0, misses = 0, coloured = 0, faded = 0;
    const legend = Array.from(document.querySelectorAll('.legend li'));
    for (const r of page.runs) {
      const seen = new Map();
      for (let i = 0; i < r.count; i += Math.max(1, Math.floor(r.count / 400))) {
        const phase = r.phase[i], n = seen.get(phase) || 0;
        if (n >= 5) continue;
        seen.set(phase, n + 1);
        const middle = (r.start[i] + r.stop[i]) / 2 * r.us, length = (r.stop[i] - r.start[i]) * r.us, row = r.rows[r.rowOf[i]];
        page.state.focus = page.state.hover = null;
        page.show(middle - length * 2, middle + length * 2);
        window.scrollBy(0, r.canvas.getBoundingClientRect().top + row.y - window.innerHeight / 2);
        page.draw();
        pointer(r.canvas, 'pointermove', page.xOf(r.canvas, middle), row.y + row.h / 2);
        const text = page.tip.textContent, kernel = (r.kernels[r.kernel[i]] || {}).name;
        const words = phase >= page.PHASE.cpu ? [row.name] : phase === page.PHASE.kernel ? [kernel] : [kernel, 'block ' + r.block[i], r.groups[row.group], row.name];
        hovered++;
        if (page.tip.hidden || !words.every(w => text.includes(w)) || !text.includes((r.start[i] * r.us).toFixed(2) + ' µs')) {
          misses++;
          lines.push('  slice ' + i + ' of ' + r.name + ' tells: ' + text);
        }
        if (phase !== page.PHASE.run) continue;
        pointer(r.canvas, 'pointerleave', 0, 0);
        page.runs.forEach(other => { other.requests_kept = other.requests; other.requests = []; });
        page.draw();
        const entry = legend.find(li => li.dataset.colour === String(r.kernels[r.kernel[i]].colour));
        const shown = pixel(r.canvas, page.xOf(r.canvas, middle) + 30, row.y + 1), promised = pixel(entry.querySelector('canvas'), 13, 7);
        coloured++;
        if (shown !== promised) { faded++; lines.push('  slice ' + i + ' of ' + r.name + ' is ' + shown + ', the legend ' + promised); }
        page.runs.forEach(other => { other.requests = other.requests_kept; });
      }
    }
    check('hovering tells of the slice under the pointer', hovered >= 5 && misses === 0, misses + ' of ' + hovered + ' wrong');
    check('slices have the colour of their kernel in the legend', coloured > 0 && faded === 0, faded + ' of ' + coloured + ' wrong');
    page.fit();
    page.draw();

    /* The legend has what occurs, and nothing else. */
    const promised = new Set(legend.map(li => li.dataset.kind)), occurs = new Set(['kernel']);
    for (const r of page.runs) {
      for (const phase of r.phase) if (phase > page.PHASE.run && phase !== page.PHASE.kernel) occurs.add('phase' + phase);
      if (r.marks.some(m => m.row >= 0)) occurs.add('flush');
      if (r.requests.length) occurs.add('request');
    }
    check('the legend has what occurs', Array.from(promised).sort().join() === Array.from(occurs).sort().join(), Array.from(promised).join(' '));

    /* Everything that does something can have the focus. */
    const active = Array.from(document.querySelectorAll('button, input, summary, canvas.run, .scroll'));
    let unreachable = 0;
    for (const e of active) {
      if (e.closest('details:not([open])') && e.tagName !== 'SUMMARY') continue;
      if (e.offsetParent === null) continue; /* the legend of a wide screen cannot be closed */
      e.focus();
      if (document.activeElement !== e || e.tabIndex < 0) { unreachable++; lines.push('  no focus: ' + e.outerHTML.slice(0, 80)); }
    }
    check('buttons, tables and timelines take the focus', unreachable === 0, active.length + ' of them');

    /* Arrow keys go to every slice of a row, and to every row that has slices. */
    for (const r of page.runs) {
      r.canvas.focus({ preventScroll: true });
      const busiest = r.rows.reduce((a, b) => b.last - b.first > a.last - a.first ? b : a);
      page.focusOn(r, busiest.first);
      press(r.canvas, 'Home');
      const rows = new Set(), first = r.rows[r.rowOf[page.state.focus.span]], visited = new Set([page.state.focus.span]);
      for (let i = first.first + 1; i < first.last && visited.size < MOST; i++) { press(r.canvas, 'ArrowRight'); visited.add(page.state.focus.span); }
      check(r.name + ': the right arrow visits the row', visited.size === Math.min(MOST, first.last - first.first), visited.size);
      page.focusOn(r, r.rows.find(row => row.last > row.first).first);
      for (let n = 0; n < Math.min(MOST, r.rows.length); n++) { rows.add(r.rowOf[page.state.focus.span]); press(r.canvas, 'ArrowDown'); }
      const filled = Math.min(MOST, r.rows.filter(row => row.last > row.first).length);
      check(r.name + ': the down arrow visits the rows', rows.size === filled, rows.size + ' of ' + filled);
      check(r.name + ': what has the focus is told', !page.tip.hidden && document.querySelector('.heard').textContent.length > 10);
      if (!r.victims.length) continue;
      press(r.canvas, 'v');
      check(r.name + ': v finds a victim, with estimate and outcome', ['Victim', 'estimate', 'what came of it'].every(w => page.tip.textContent.includes(w)), page.tip.textContent);
      page.fit();
      press(r.canvas, 'r');
      const q = r.requests.find(one => one.cycle * r.us >= page.view.from && one.cycle * r.us <= page.view.to);
      check(r.name + ': r goes to a request', !!q || page.runs.length > 1, page.view.from + ' to ' + page.view.to);
      press(r.canvas, 'Escape');
    }

    /* Zoom and pan by key, wheel, mouse and two fingers. */
    const r = page.runs[0], canvas = r.canvas, length = () => page.view.to - page.view.from;
    page.fit();
    let before = length();
    press(canvas, '+');
    check('+ zooms in', length() < before * 0.9);
    press(canvas, '0');
    check('0 shows all', length() === before);
    const box = canvas.getBoundingClientRect(), wheel = (more) => new WheelEvent('wheel', Object.assign({ clientX: box.left + 500, clientY: box.top + 50, deltaY: -50, bubbles: true, cancelable: true }, more));
    canvas.dispatchEvent(wheel({ ctrlKey: true }));
    check('Ctrl and the wheel zoom', length() < before * 0.9);
    check('the wheel alone scrolls the page', canvas.dispatchEvent(wheel({})));
    before = page.view.from;
    pointer(canvas, 'pointerdown', 600, 60);
    pointer(canvas, 'pointermove', 500, 60);
    pointer(canvas, 'pointerup', 500, 60);
    check('dragging moves', page.view.from > before);
    before = length();
    pointer(canvas, 'pointerdown', 500, 60);
    pointer(canvas, 'pointerdown', 600, 60, { pointerId: 2 });
    pointer(canvas, 'pointermove', 400, 60);
    pointer(canvas, 'pointermove', 700, 60, { pointerId: 2 });
    pointer(canvas, 'pointerup', 400, 60);
    pointer(canvas, 'pointerup', 700, 60, { pointerId: 2 });
    check('two fingers zoom', Math.abs(length() / before - 1 / 3) < 0.05, length() / before);
    page.fit();
    before = length();
    pointer(canvas, 'pointerdown', 400, 60, { shiftKey: true });
    pointer(canvas, 'pointermove', 500, 60, { shiftKey: true });
    pointer(canvas, 'pointerup', 500, 60, { shiftKey: true });
    check('Shift and dragging zoom into the range', length() < before * 0.2);
    page.fit();
    page.draw();

    /* Tables: sorted, and as CSV. */
    for (const section of page.tables) {
      const title = section.querySelector('h2').textContent, rows = section.csv().trim().split('\n').length - 1;
      const heads = Array.from(section.querySelectorAll('th button'));
      check(title + ': the CSV has the rows', rows >= section.querySelectorAll('tbody tr').length && rows > 0, rows);
      heads.forEach((head, i) => {
        head.click();
        const cells = Array.from(section.querySelectorAll('tbody tr')).map(row => row.children[i].textContent).filter(t => t !== '');
        const numbers = cells.map(t => Number(t.replace(/ /g, '')));
        const sorted = numbers.every(n => !Number.isNaN(n)) ? numbers.every((n, at) => !at || numbers[at - 1] <= n) : cells.every((t, at) => !at || cells[at - 1] <= t);
        if (!sorted || head.parentNode.getAttribute('aria-sort') !== 'ascending') check(title + ' sorts by ' + head.textContent, false, cells.slice(0, 5).join(' '));
      });
    }
    check('the page is a record', ['GPUMP_MODEL_VERSION', 'command', 'launch file', 'GPU'].every(w => document.querySelector('.record').textContent.includes(w)));

    /* Where a block is being saved, for the comparison with an empty page. */
    for (const run of page.runs) for (let i = 0; i < run.count && !window.saved; i++) {
      if (run.phase[i] !== page.PHASE.save) continue;
      const q = run.requests[0], top = run.canvas.getBoundingClientRect().top + window.scrollY + run.rows[run.rowOf[i]].y;
      window.saved = [page.xOf(run.canvas, run.start[i] * run.us) + run.canvas.getBoundingClientRect().left, top,
        page.xOf(run.canvas, run.stop[i] * run.us) + run.canvas.getBoundingClientRect().left, top + run.rows[run.rowOf[i]].h];
    }
    lines.push('saved at ' + (window.saved || []).map(Math.round).join(' '));
  } catch (error) {
    wrong++;
    lines.push('WRONG: ' + error + ' ' + error.stack);
  }
  const verdict = document.createElement('pre');
  verdict.id = 'verdict';
  verdict.textContent = '\n' + lines.join('\n') + '\n' + (wrong ? wrong + ' wrong' : 'all right') + '\n';
  document.body.replaceChildren(verdict);
})();
