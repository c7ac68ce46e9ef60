"""The hosts from Python: reports, sweeps, timelines and pages are those of the programs."""
import importlib.util
import json
import os
import subprocess
import sys
import unittest
from unittest import mock

from gpump import minigpu

SOURCE = os.environ['GPUMP_SOURCE']
SAXPY = os.path.join(SOURCE, 'examples/minigpu/kernels/saxpy/small.yaml')


class Hosts(unittest.TestCase):
    def test_a_report_is_a_dictionary(self):
        report = minigpu.run(SAXPY, preempt='200:switch', sms=2)
        text = subprocess.run([minigpu.program('minigpu'), 'run', SAXPY, '--json', '--preempt', '200:switch', '--sms', '2'],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True, check=True).stdout
        self.assertEqual(report['totals']['cycles'], json.loads(text)['totals']['cycles'])
        self.assertEqual(report['sms'], 2)

    def test_a_page_is_shown_inline(self):
        page = minigpu.run(SAXPY, page=True)['page']
        self.assertTrue(page._repr_html_().startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;'))

    def tables(self, make):
        """Calls make() twice: without pandas it is a list of dictionaries, with pandas the same as a frame. Returns the list."""
        with mock.patch.dict(sys.modules, {'pandas': None}):
            rows = make()
        self.assertIsInstance(rows, list)
        if importlib.util.find_spec('pandas'):
            frame = make()
            self.assertEqual(type(frame).__name__, 'DataFrame')
            self.assertEqual(len(frame), len(rows))
            self.assertEqual(list(frame.columns), list(rows[0]))
        return rows

    def test_a_sweep_is_a_table(self):
        rows = self.tables(lambda: minigpu.sweep(SAXPY, sms=[1, 2]))
        self.assertEqual([row['sms'] for row in rows], [1, 2])
        self.assertEqual(rows[0]['cycles'], minigpu.run(SAXPY, sms=1)['totals']['cycles'])

    def test_a_timeline_is_a_table(self):
        spans = self.tables(lambda: minigpu.timeline(SAXPY, preempt='200:switch'))
        self.assertTrue(any(s['group'] == 'SM 0' and s['end_us'] > s['start_us'] for s in spans))

    def test_an_error_says_what_the_program_said(self):
        with self.assertRaisesRegex(minigpu.Failed, 'no-such-option'):
            minigpu.run(SAXPY, no_such_option=True)
        with self.assertRaises(minigpu.Failed):
            minigpu.run('nowhere.yaml')


if __name__ == '__main__':
    unittest.main()
