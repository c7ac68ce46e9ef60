"""The playground in a headless Chromium, used as a class would: walk.py CHROMIUM FOLDER PAGE MINIGPU SOURCE_DIR [--pictures FOLDER]

Walks the eight lessons and compares their numbers with the native program's, changes each control, goes on and back,
drops a PTX file and a wrong one, compares policies, opens a link with state; on a desk, on a phone, in the dark. The last
line is "all right", or the exit status is 1."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'report'))
from browser import Browser, Screen  # noqa: E402

DESK, PHONE, DARK = Screen(1400, 1000), Screen(390, 844, touch=True), Screen(1400, 1000, dark=True)
PATIENCE = 90  # seconds
wrong = 0


def check(what, right, detail=''):
    global wrong
    wrong += not right
    print(('right: ' if right else 'WRONG: ') + what + (' (%s)' % (detail,) if detail != '' else ''), flush=True)


def until(page, expression, what):
    end = time.time() + PATIENCE
    while time.time() < end:
        if page.value(expression):
            return True
        time.sleep(0.05)
    check(what + ' in time', False, page.value("document.getElementById('error').textContent"))
    return False


def settle(page):
    """Waits until the experiment has ended or failed and nothing is on its way."""
    until(page, "['ended', 'failed', 'stopped'].includes(document.body.dataset.state) && !busy", 'an end')
    return page.value('document.body.dataset.state')


def act(page, script):
    """Does something that begins the experiment again, and waits."""
    page.value("(document.body.dataset.state = 'running', %s, 1)" % script)
    return settle(page)


def numbers(page):
    return json.loads(page.value("document.getElementById('sum').dataset.numbers"))


def native(minigpu, source, command):
    """The numbers of the native program for a command line of the page."""
    words = [minigpu] + command.split()[1:] + ['--json']
    report = json.loads(subprocess.run(words, cwd=source, capture_output=True, check=False).stdout)
    latency = None
    done = [p for p in report['preemptions']]
    if done and all(p['end_cycle'] is not None for p in done):
        latency = max(p['end_cycle'] for p in done) - min(p['request_cycle'] for p in done)
    return {'cycles': report['totals']['cycles'], 'saved': report['totals']['saved_bytes'],
            'wasted': report['totals']['wasted_warp_instructions'], 'ends': [k['end_cycle'] for k in report['kernels']], 'latency': latency}


def same(page, minigpu, source, what):
    command = page.value("document.getElementById('command').textContent")
    here, there = numbers(page), native(minigpu, source, command)
    if len(page.value('run.end.requests')) != 1:
        here['latency'] = there['latency'] = None
    check(what + ' has the numbers of ' + command, here == there, '' if here == there else '%s, native %s' % (here, there))


def lessons(page, minigpu, source):
    count = page.value('lessons.length')
    check('there are eight lessons', count == 8, count)
    for n in range(1, count + 1):
        act(page, "document.getElementById('lessonAfter').click()")
        same(page, minigpu, source, 'lesson %d' % n)
        check('lesson %d asks, and answers when asked' % n, page.value('''(() => {
            const panel = document.getElementById('lessonText'), fold = panel.querySelector('details');
            const closed = !fold.open;
            fold.querySelector('summary').click();
            return closed && fold.open && /Question/.test(panel.textContent) && fold.textContent.length > 80;
        })()'''))
        check('lesson %d is in the address' % n, 'lesson=%d' % n in page.value('location.hash'))
        height = page.value("document.getElementById('lessonText').getBoundingClientRect().height")
        check('lesson %d leaves room on the screen' % n, height < 420, '%d pixels' % height)


def moments(page):
    act(page, "openLesson(1)")
    at = page.value('run.look.now')
    before = page.value('JSON.stringify(run.look)')
    for key in ('toRequest', 'on', 'on', 'back'):
        page.value("(document.getElementById('%s').click(), 1)" % key)
        until(page, '!busy', 'a step')
    check('request, +1, +1, -1', page.value('run.look.now') == page.value('run.request') + 1, page.value('run.look.now'))
    page.value('(goTo(%d), 1)' % at)
    until(page, '!busy', 'a step')
    check('a moment looks the same when it is reached again', page.value('JSON.stringify(run.look)') == before)
    page.value("(document.getElementById('play').click(), 1)")
    until(page, 'run.look.now > %d + 300' % at, 'playing')
    page.value("(document.getElementById('play').click(), 1)")
    until(page, '!busy', 'a pause')
    here = page.value('run.look.now')
    time.sleep(0.3)
    check('pause stops the time', page.value('run.look.now') == here, here)
    page.value("(document.getElementById('toEnd').click(), 1)")
    until(page, '!busy && run.look.ended === 1', 'the end')
    check('the end says so', 'Every kernel has ended' in page.value("document.getElementById('happening').textContent"))
    page.value("(document.activeElement.blur(), 1)")
    page.press(',')
    until(page, '!busy && run.look.now === run.end.now - 1', 'the key for one cycle back')


CONTROLS = [('file', 'examples/minigpu/launches/hotspot_pathfinder.yaml'), ('file', 'examples/minigpu/pair.yaml'), ('first', 'saxpy/launch'), ('second', 'hotspot/small'),
            ('second', 'saxpy/small'), ('arrival', '900'), ('priority', '2'), ('how', 'policy:chimera'), ('deadline', '3'), ('how', 'technique:drain'), ('context', 'live'),
            ('how', 'partition:even'), ('how', 'technique:switch'), ('faults', 'queue'), ('link', 'ideal'), ('absent', 'all'), ('switching', '1'), ('switching', ''), ('faults', ''), ('link', ''),
            ('absent', ''), ('gpu', 'k20c'), ('gpu', ''), ('duet', ''), ('more', '--sms 4')]


def controls(page, minigpu, source):
    page.value("(openLesson(''), 1)")
    tried = set()
    for name, value in CONTROLS:
        state = act(page, '''(() => {
            const c = document.getElementById('c_%s');
            c.value = '%s';
            c.dispatchEvent(new Event('input'));
            c.dispatchEvent(new Event('change'));
        })()''' % (name, value))
        error = page.value("document.getElementById('error').textContent")
        check('%s = %s' % (name, value or 'none'), state == 'ended' or (state == 'failed' and len(error) > 20), error[:90])
        tried.add(name)
    missing = page.value("Array.from(document.querySelectorAll('#controls [id^=c_]')).map(c => c.id.slice(2))")
    check('each control was changed', set(missing) - {'file_input'} <= tried, set(missing) - tried)
    # pair.yaml is the page's own: the native program gets it as the page shows it
    kernels = os.path.join(source, 'examples/minigpu/kernels/')
    with tempfile.NamedTemporaryFile('w', suffix='.yaml', encoding='utf-8') as file:
        file.write(page.value("document.getElementById('launch').textContent").replace('ptx: kernels/', 'ptx: ' + kernels))
        file.flush()
        command = page.value("document.getElementById('command').textContent").replace('examples/minigpu/pair.yaml', file.name)
        here, there = numbers(page), native(minigpu, source, command)
    check('two kernels put together have the native numbers', here == there, (here, there))


def side_by_side(page, minigpu, source):
    act(page, "openLesson(5)")
    page.value("(document.getElementById('compare').click(), 1)")
    until(page, "document.body.dataset.compared === 'yes'", 'the comparison')
    rows = page.value("Array.from(document.querySelectorAll('#compared tbody tr')).map(r => Array.from(r.cells).map(c => c.textContent))")
    check('the policies are compared', len(rows) == 5, [row[0] for row in rows])
    for row in rows:
        there = native(minigpu, source, 'minigpu run examples/minigpu/demo.yaml --victims %s --deadline-us 2' % row[0])
        check('%s: bytes and waste are the native ones' % row[0], [int(row[i].replace(' ', '')) for i in (5, 6)] == [there['saved'], there['wasted']], (row, there))


def trace():
    """A trace as Accel-Sim's tracer writes it: four blocks of one warp, each of which loads, adds and stores."""
    lines = ['-kernel name = made', '-kernel id = 1', '-grid dim = (4,1,1)', '-block dim = (32,1,1)', '-shmem = 0', '-nregs = 16', '-binary version = 70',
             '-cuda stream id = 0', '-shmem base_addr = 0x00007f4000000000', '-local mem base_addr = 0x00007f4200000000', '-nvbit version = 1.5',
             '-accelsim tracer version = 3', '', '#traces format = PC mask dest_num ...', '']
    for block in range(4):
        lines += ['#BEGIN_TB', '', 'thread block = %d,0,0' % block, '', 'warp = 0', 'insts = 5', '0000 ffffffff 1 R2 S2R 0 0']
        lines += ['0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x%x 4' % (0x7f0000000000 + 128 * block), '0020 ffffffff 1 R6 IADD3 3 R4 R4 R4 0',
                  '0030 ffffffff 0 STG.E 2 R2 R6 4 1 0x%x 4' % (0x7f0000100000 + 128 * block), '0040 ffffffff 0 EXIT 0 0', '', '#END_TB', '']
    return '\n'.join(lines)


def files(page, minigpu, source, address):
    with open(os.path.join(source, 'examples/minigpu/kernels/saxpy/saxpy.ptx'), encoding='utf-8') as file:
        ptx = file.read()
    drop = '''(() => {
        const files = new DataTransfer();
        files.items.add(new File([%s], %s));
        document.dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true }));
    })()'''
    state = act(page, drop % (json.dumps(ptx), json.dumps('mine.ptx')))
    check('a dropped PTX file runs', state == 'ended' and 'saxpy' in page.value("document.getElementById('score').textContent"), page.value("document.getElementById('error').textContent"))
    want, link = numbers(page), page.value('location.href')
    with tempfile.NamedTemporaryFile('w', suffix='.traceg') as file:
        file.write(trace())
        file.flush()
        state = act(page, drop % (json.dumps(trace()), json.dumps('mine.traceg')))
        command = page.value("document.getElementById('command').textContent").replace('examples/minigpu/mine/mine.traceg', file.name)
        here, there = numbers(page), native(minigpu, source, command)
        check('a dropped trace runs, with the native numbers', state == 'ended' and here['cycles'] == there['cycles'], (here, there, page.value("document.getElementById('error').textContent")))
    for name, text, words in (('wrong.ptx', '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { frobnicate.u32 %r1; }\n', 'wrong.ptx'),
                              ('notes.txt', 'hello', 'notes.txt'), ('bad.yaml', 'kernels: [', 'bad.yaml')):
        state = act(page, "document.body.dataset.state = 'failed', " + drop % (json.dumps(text), json.dumps(name)))
        until(page, "!document.getElementById('error').hidden", 'a refusal')
        check('%s is refused by name' % name, words in page.value("document.getElementById('error').textContent"), page.value("document.getElementById('error').textContent")[:100])
    page.go('about:blank')
    page.go(link)
    settle(page)
    check('the link has the dropped file in it', numbers(page) == want, (len(link), numbers(page)))
    page.go('about:blank')
    page.go(address + '#lesson=2&at=20500&sm=3')
    settle(page)
    check('a link with a state opens that moment', page.value('run.look.now') == 20500 and 'SM 3' in page.value("document.getElementById('told').textContent"))
    page.value("(document.getElementById('report').click(), 1)")
    until(page, 'document.body.dataset.page > 100000 && !busy', 'the timeline')
    check('the timeline is saved, and the moment stays', page.value('run.look.now') == 20500)


def stopping(page):
    page.value("(document.body.dataset.state = '', state = { ...DEFAULTS, file: LAUNCHES + 'corun_third.yaml', how: 'none' }, begin(), 1)")
    until(page, 'run && run.look.now > 1000', 'a long run')
    page.value("(document.getElementById('stop').click(), 1)")
    settle(page)
    check('a long run can be stopped', page.value('run.look.ended') == 0 and 'stopped at cycle' in page.value("document.getElementById('error').textContent"))


def fast(page):
    first = page.value('performance.getEntriesByName("first picture").map(e => e.startTime)[0]')
    check('the first picture comes within a second of a quiet machine', first < 3000, '%d ms' % first)


def phone(page):
    settle(page)
    check('nothing is wider than the phone', page.value('document.documentElement.scrollWidth') <= 390, page.value('document.documentElement.scrollWidth'))
    page.value("(document.getElementById('grid').scrollIntoView(), 1)")
    at = page.value("(b => [b.left + 60, b.top + 40])(document.getElementById('grid').getBoundingClientRect())")
    page.tap(*at)
    until(page, "/^SM 0/.test(document.getElementById('told').textContent)", 'a tap on an SM')
    check('a tap on an SM tells what it holds', 'registers' in page.value("document.getElementById('told').textContent"))
    small = page.value("Array.from(document.querySelectorAll('.time button')).filter(b => !b.hidden && b.getBoundingClientRect().height < 30).map(b => b.id)")
    check('buttons are large enough to touch', not small, small)


def dark(page):
    settle(page)
    ink, paper = page.value("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
    light = [sum(map(int, re.findall(r'\d+', colour)[:3])) for colour in (paper, ink)]
    check('the page is dark and its letters are light', light[0] < 120 and light[1] > 600, paper + ' ' + ink)


def keyboard(page):
    settle(page)
    seen = set()
    for _ in range(60):
        page.press('Tab')
        seen.add(page.value('document.activeElement.id'))
        if 'grid' in seen:
            break
    check('the Tab key reaches controls and the grid', {'lesson', 'c_how', 'play', 'grid'} <= seen, sorted(seen))
    page.press('ArrowRight')
    check('the grid tells of the next SM', page.value("document.getElementById('told').textContent").startswith('SM 1:'))
    nameless = page.value('''Array.from(document.querySelectorAll('button, select, input, canvas#grid')).filter(e =>
        !(e.textContent.trim() || e.getAttribute('aria-label') || e.getAttribute('aria-describedby') || (e.labels && e.labels.length))).map(e => e.id || e.outerHTML.slice(0, 60))''')
    check('each control has a name', not nameless, nameless)
    check('what happens is announced', page.value("['happening', 'told'].every(id => document.getElementById(id).getAttribute('aria-live') === 'polite')"))


def main():
    program, folder, path, minigpu, source = sys.argv[1:6]
    address = 'file://' + os.path.abspath(path)
    minigpu = os.path.abspath(minigpu)
    check('the page is below 1.5 MB', os.path.getsize(path) < 1500000, os.path.getsize(path))
    with Browser(program, folder) as browser:
        page = browser.open(address, DESK)
        settle(page)
        fast(page)
        for use in (lambda: lessons(page, minigpu, source), lambda: moments(page), lambda: controls(page, minigpu, source),
                    lambda: side_by_side(page, minigpu, source), lambda: files(page, minigpu, source, address), lambda: stopping(page)):
            use()
        check('the console is silent', not page.complaints(), [e for e in browser.events if 'exception' in str(e)][:1])
        for name, screen, use in (('desk, keys', DESK, keyboard), ('phone', PHONE, phone), ('dark', DARK, dark)):
            print('==== ' + name)
            other = browser.open(address, screen)
            use(other)
            check('the console is silent', not other.complaints())
            if '--pictures' in sys.argv:
                other.picture(os.path.join(sys.argv[-1], name.split(',')[0] + '.png'))
    print('%d wrong' % wrong if wrong else 'all right')
    return wrong != 0


if __name__ == '__main__':
    sys.exit(main())
