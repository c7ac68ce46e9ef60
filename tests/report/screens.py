"""Pages on a desk, on a phone with touch, in the dark and on paper: screens.py CHROMIUM FOLDER PAGE...

Uses each page by real input events and compares what its tip says with the page's own JSON. The last line is "all right",
or the exit status is 1."""
import json
import re
import sys

from browser import Browser, Screen

DESK, PHONE = Screen(1400, 1000), Screen(390, 844, touch=True)
DARK, PAPER = Screen(1400, 1000, dark=True), Screen(718, 1000, media='print')  # A4 without its margins, in pixels of 1/96 inch
wrong = 0


def check(what, right, detail=''):
    global wrong
    wrong += not right
    print(('right: ' if right else 'WRONG: ') + what + (' (%s)' % (detail,) if detail != '' else ''))


def micro(cycles, run):
    return '%.2f µs' % (cycles * 1000 / run['clock_khz'])


def victims(data):
    """Victims that left, each as run index, victim index, and the words that a tip about it must have."""
    for r, run in enumerate(data['runs']):
        for n, v in enumerate(run['victims']):
            request, row, kernel, block, told, end, technique, left, bytes_saved = v[:9]
            if end is None:
                continue
            words = [run['kernels'][kernel]['name'], 'block %d' % block, data['about']['techniques'][technique], 'what came of it']
            rounded = (end - told) * 1000 / run['clock_khz'] * 100 % 1
            if abs(rounded - 0.5) > 1e-6:  # 0.125 may be told as 0.12 or 0.13
                words.append(micro(end - told, run))
            if bytes_saved:
                words.append('{:,}'.format(bytes_saved).replace(',', ' ') + ' bytes saved')
            yield r, n, words


def some(things, most=6):
    things = list(things)
    return things[::max(1, len(things) // most)][:most]


def place(page, run, victim):
    """Brings the span of a victim to the middle of the screen; returns its place there, or None where it has no span."""
    return page.value('''(() => {
        const g = window.gpump, r = g.runs[%d], i = r.spanOf[%d];
        if (i < 0) return null;
        const length = Math.max((r.stop[i] - r.start[i]) * r.us, 0.02), middle = (r.start[i] + r.stop[i]) / 2 * r.us;
        g.show(middle - 3 * length, middle + 3 * length);
        const row = r.rows[r.rowOf[i]];
        window.scrollBy(0, r.canvas.getBoundingClientRect().top + row.y - window.innerHeight / 2);
        g.draw();
        const box = r.canvas.getBoundingClientRect();
        return [box.left + g.xOf(r.canvas, middle), box.top + row.y + row.h / 2];
    })()''' % (run, victim))


def told(page):
    return page.value("window.gpump.tip.hidden ? '' : window.gpump.tip.textContent")


def tell(page, data, act, what):
    """Acts on some victims, and compares the tip with the data."""
    tried, bad = 0, []
    for run, victim, words in some(victims(data)):
        at = place(page, run, victim)
        if at is None:
            continue
        act(*at)
        text = told(page)
        tried += 1
        bad += [(w, text) for w in words if w not in text]
    if any(True for _ in victims(data)):
        check(what + ' a victim tells what the data says', tried > 0 and not bad, bad[:1] or tried)


def too_wide(page):
    return page.value('''Array.from(document.querySelectorAll('main > section .scroll')).filter(s => s.scrollWidth > s.clientWidth + 1)
        .map(s => s.getAttribute('aria-label') + ' ' + s.scrollWidth + ' of ' + s.clientWidth)''')


def desk(page, data, address):
    tell(page, data, page.hover, 'pointing at')
    tell(page, data, page.click, 'clicking')
    check('no column is cut off at 1400 pixels', not too_wide(page), ', '.join(too_wide(page)))
    check('each run says what happened', page.value('''Array.from(document.querySelectorAll('section.run')).every(s =>
        s.querySelector('.happened').textContent.length > 30)'''))
    page.go(address)
    for _ in range(20):
        page.press('Tab')
        if page.value("document.activeElement.matches('canvas.run')"):
            break
    check('the Tab key reaches a timeline, which tells of a slice', told(page) != '')
    page.press('ArrowRight')
    page.press('+')
    page.press('+')
    here = 'JSON.stringify([window.gpump.view.from.toFixed(3), window.gpump.view.to.toFixed(3), window.gpump.state.focus.span])'
    page.value('new Promise(done => setTimeout(done, 300))')
    view = page.value(here)
    link = page.value('location.href')
    check('the address follows the view', link.startswith(address + '#') and 'from=' in link and 'slice=' in link, link[-60:])
    page.go(link)
    check('the address opens the same view', page.value(here) == view, page.value(here))
    page.value("(location.hash = '#curves=0&rows=7')")
    check('another address takes effect at once', page.value('window.gpump.view.rowHeight === 7 && !window.gpump.view.curves'))


def phone(page, data, _):
    top = page.value("document.querySelector('canvas.run').getBoundingClientRect().top")
    check('the first run begins on the first screen of a phone', top < 600, '%d pixels down' % top)
    check('nothing is wider than the phone', page.value('document.documentElement.scrollWidth') <= 390)
    at = page.value("(b => [b.left + 30, b.top + b.height / 2])(document.querySelector('.fold > summary').getBoundingClientRect())")
    page.tap(*at)
    page.value('new Promise(done => setTimeout(done, 400))')
    check('a tap opens the legend', page.value("document.querySelector('.fold').open"))
    page.value("(document.querySelector('.fold').open = false)")
    tell(page, data, page.tap, 'tapping')
    at = page.value('''(() => {
        const r = window.gpump.runs[0], chart = r.charts[0];
        window.scrollBy(0, r.canvas.getBoundingClientRect().top + chart.y - window.innerHeight / 2);
        window.gpump.draw();
        const box = r.canvas.getBoundingClientRect();
        return [box.left + 200, box.top + chart.y + 10, chart.name];
    })()''')
    page.tap(at[0], at[1])
    check('a tap on a curve tells its value', at[2] in told(page), told(page)[:60])


def in_the_dark(page, data, _):
    paper, ink = page.value("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]")
    light = [sum(map(int, re.findall(r'\d+', colour)[:3])) for colour in (paper, ink)]
    check('the page is dark and its letters are light', light[0] < 120 and light[1] > 600, paper + ' ' + ink)
    lit = page.value('''(() => { /* the brightest pixel of an empty row: its background */
        const r = window.gpump.runs[0], c = r.canvas.getContext('2d'), chart = r.charts[0];
        return Array.from(c.getImageData(r.canvas.width - 3, chart.y + 2, 1, 1).data.slice(0, 3)).reduce((a, b) => a + b, 0);
    })()''')
    check('the timelines are dark, too', lit < 200, lit)
    saved = page.value('''(() => { /* a block that is being saved stands out */
        for (const r of window.gpump.runs) {
            const i = Array.from(r.phase).indexOf(window.gpump.PHASE.save);
            if (i >= 0) return window.gpump.fillOf(r, window.gpump.PHASE.save, 0);
        }
        return '#ffffff';
    })()''')
    check('a saved block is light', sum(int(saved[i:i + 2], 16) for i in (1, 3, 5)) > 600, saved)


def paper(page, data, _):
    page.value("(window.dispatchEvent(new Event('beforeprint')), window.gpump.focusOn(window.gpump.runs[0], 0))")
    check('an open tip is not printed', page.value("getComputedStyle(window.gpump.tip).display") == 'none')
    check('no column is lost on paper', not too_wide(page), ', '.join(too_wide(page)))
    check('buttons are not printed', page.value("getComputedStyle(document.querySelector('.tools')).display") == 'none')
    check('every row is printed', page.value('window.gpump.counted().unseen') == 0)
    check('the legend is printed', page.value("document.querySelector('.fold').open"))


def main():
    program, folder, pages = sys.argv[1], sys.argv[2], sys.argv[3:]
    with Browser(program, folder) as browser:
        for path in pages:
            with open(path, encoding='utf-8') as file:
                data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', file.read(), re.S).group(1))
            for name, screen, use in (('desk', DESK, desk), ('phone', PHONE, phone), ('dark', DARK, in_the_dark), ('paper', PAPER, paper)):
                print('==== %s: %s' % (path.rsplit('/', 1)[-1], name))
                page = browser.open('file://' + path, screen)
                use(page, data, 'file://' + path)
                check('the console is silent', not page.complaints(), page.complaints()[:1])
                if '--pictures' in sys.argv:
                    page.picture(path + '.' + name + '.png')
    print('%d wrong' % wrong if wrong else 'all right')
    return wrong != 0


if __name__ == '__main__':
    sys.exit(main())
