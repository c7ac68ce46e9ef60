"""Every page of the site and every page that a picture of docs is taken of, on four screens:
every_page.py CHROMIUM FOLDER SITE_DIR REPORT_PAGE...

Nothing may be thrown, no picture may be missing, nothing may be wider than a phone, the dark must be dark, and no letter may
be lost on paper. Pages with the source of a file are all alike: some of them are opened. The pages of runs are then used as
screens.py does. The last line is "all right", or the exit status is 1."""
import glob
import os
import re
import subprocess
import sys

from browser import Browser
from screens import DARK, DESK, PAPER, PHONE

SOURCES = 5  # pages with the source of a file that are opened
wrong = 0


def complain(*words):
    global wrong
    wrong += 1
    print('WRONG:', *words, flush=True)


def light(colour):
    return sum(map(int, re.findall(r'\d+', colour)[:3]))


def look(page, name, screen):
    broken = page.value("Array.from(document.images).filter(i => !i.complete || !i.naturalWidth).map(i => i.getAttribute('src'))")
    if broken:
        complain(name, 'pictures are missing', broken[:3])
    if page.complaints():
        complain(name, 'the console says something')
    if screen is PHONE and page.value('document.documentElement.scrollWidth') > PHONE.width:
        complain(name, 'is wider than a phone:', page.value('document.documentElement.scrollWidth'))
    ink, paper = page.value("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
    if screen is DARK and not (light(paper) < 120 and light(ink) > 600):
        complain(name, 'is not dark', ink, paper)
    if screen is PAPER and page.value("getComputedStyle(document.querySelector('nav') || document.head).display") != 'none':
        complain(name, 'prints its menu')
    if len(page.value('document.body.innerText')) < 40:
        complain(name, 'is empty')


def main():
    program, folder, site, reports = sys.argv[1], sys.argv[2], os.path.abspath(sys.argv[3]), sys.argv[4:]
    pages = sorted(os.path.relpath(p, site) for p in glob.glob(os.path.join(site, '**', '*.html'), recursive=True))
    sources = [p for p in pages if p.startswith('source' + os.sep)]
    pages = [p for p in pages if p not in sources and p != 'playground.html'] + sources[::max(1, len(sources) // SOURCES)]
    with Browser(program, folder) as browser:
        for screen, word in ((DESK, 'desk'), (PHONE, 'phone'), (DARK, 'dark'), (PAPER, 'paper')):
            page = browser.open('about:blank', screen)
            for name in pages:
                page.go('file://' + os.path.join(site, name))
                look(page, word + ', ' + name + ':', screen)
    print('%d pages on four screens' % len(pages), flush=True)
    for report in reports:
        done = subprocess.run([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'screens.py'), program, folder + '.screens', report],
                              capture_output=True, text=True, check=False)
        bad = [line for line in done.stdout.split('\n') if line.startswith('WRONG')]
        print('%s: %s' % (os.path.basename(report), bad[:3] if bad else 'right' if done.returncode == 0 else done.stderr[-300:]), flush=True)
        if done.returncode:
            complain(os.path.basename(report))
    print('%d wrong' % wrong if wrong else 'all right')
    return wrong != 0


if __name__ == '__main__':
    sys.exit(main())
