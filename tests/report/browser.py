"""A headless Chromium, driven over its debugging pipe: real input events, emulated screens, media and colour schemes.

    with Browser('chromium', folder) as browser:
        page = browser.open('file:///tmp/page.html', Screen(390, 844, touch=True))
        page.tap(100, 200)
        print(page.value('document.title'))
"""
import fcntl
import json
import os
import subprocess
from collections import namedtuple

Screen = namedtuple('Screen', 'width height touch dark media', defaults=(False, False, ''))

KEYS = {'Tab': 9, 'Enter': 13, 'Escape': 27, 'ArrowLeft': 37, 'ArrowUp': 38, 'ArrowRight': 39, 'ArrowDown': 40}  # virtual key codes
OPTIONS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
           '--disable-component-update', '--disable-sync', '--disable-extensions', '--host-resolver-rules=MAP * ~NOTFOUND',
           '--hide-scrollbars', '--force-device-scale-factor=1', '--remote-debugging-pipe']


class Browser:
    def __init__(self, program, folder):
        # The browser reads commands from file descriptor 3 and writes answers to 4; our own ends are moved out of the way.
        (to_read, self.out), (self.input, to_write) = ([fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in os.pipe()] for _ in '12')
        os.closerange(3, 7)
        os.dup2(to_read, 3, inheritable=True)
        os.dup2(to_write, 4, inheritable=True)
        self.process = subprocess.Popen([program, *OPTIONS, '--user-data-dir=' + folder], pass_fds=(3, 4), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (3, 4, to_read, to_write):
            os.close(end)
        self.rest, self.number, self.events = b'', 0, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def receive(self):
        while b'\0' not in self.rest:
            part = os.read(self.input, 65536)
            if not part:
                raise RuntimeError('the browser has ended')
            self.rest += part
        text, self.rest = self.rest.split(b'\0', 1)
        return json.loads(text)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        if session:
            message['sessionId'] = session
        os.write(self.out, json.dumps(message).encode() + b'\0')
        while True:
            answer = self.receive()
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise RuntimeError(method + ': ' + answer['error']['message'])
                return answer['result']
            self.events.append(answer)

    def wait_for(self, method):
        while not any(e.get('method') == method for e in self.events):
            self.events.append(self.receive())

    def open(self, address, screen):
        return Page(self, address, screen)


class Page:
    def __init__(self, browser, address, screen):
        self.browser = browser
        target = browser.call('Target.createTarget', url='about:blank')['targetId']
        self.session = browser.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime'):
            self.call(domain + '.enable')
        self.call('Emulation.setDeviceMetricsOverride', width=screen.width, height=screen.height, deviceScaleFactor=1, mobile=screen.touch)
        self.call('Emulation.setFocusEmulationEnabled', enabled=True)
        self.call('Emulation.setTouchEmulationEnabled', enabled=screen.touch)
        self.call('Emulation.setEmulatedMedia', media=screen.media,
                  features=[{'name': 'prefers-color-scheme', 'value': 'dark' if screen.dark else 'light'}])
        self.go(address)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def go(self, address):
        self.browser.events.clear()
        self.call('Page.navigate', url='about:blank')
        self.browser.wait_for('Page.loadEventFired')
        self.browser.events.clear()
        self.call('Page.navigate', url=address)
        self.browser.wait_for('Page.loadEventFired')

    def complaints(self):
        """What the page has thrown or written to its console since it was opened."""
        self.value('0')
        return [e['method'] for e in self.browser.events if e.get('method') in ('Runtime.exceptionThrown', 'Runtime.consoleAPICalled')]

    def value(self, expression):
        """The value of a JavaScript expression, after the next frame is drawn."""
        text = ('new Promise((done, failed) => requestAnimationFrame(() => requestAnimationFrame(() => { try { done((() => (' +
                expression + '))()); } catch (error) { failed(error); } })))')
        result = self.call('Runtime.evaluate', expression=text, awaitPromise=True, returnByValue=True)
        if 'exceptionDetails' in result:
            raise RuntimeError(expression + ': ' + json.dumps(result['exceptionDetails'])[:400])
        return result['result'].get('value')

    def hover(self, x, y):
        self.call('Input.dispatchMouseEvent', type='mouseMoved', x=x, y=y)

    def click(self, x, y):
        for kind in ('mousePressed', 'mouseReleased'):
            self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left', clickCount=1)

    def tap(self, x, y):
        self.call('Input.dispatchTouchEvent', type='touchStart', touchPoints=[{'x': x, 'y': y}])
        self.call('Input.dispatchTouchEvent', type='touchEnd', touchPoints=[])

    def press(self, key):
        more = {'windowsVirtualKeyCode': KEYS[key]} if key in KEYS else {'text': key}
        for kind in ('rawKeyDown' if key in KEYS else 'keyDown', 'keyUp'):
            self.call('Input.dispatchKeyEvent', type=kind, key=key, code=key, **more)

    def picture(self, path):
        import base64
        with open(path, 'wb') as file:
            file.write(base64.b64decode(self.call('Page.captureScreenshot')['data']))
