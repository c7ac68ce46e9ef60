"""The Python binding: every public function is there with its comment, and what it says equals what the library says."""
import os
import re
import sys
import time
import unittest

import gpump
import numpy

HEADER = os.environ['GPUMP_HEADER']


def fastest(work):
    """The shortest of 20 times, in microseconds: the one that nothing else on the machine has lengthened."""
    times = []
    for _ in range(20):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times) * 1e6


class Surface(unittest.TestCase):
    """What is declared is reachable."""

    def test_every_public_function_is_there_with_a_comment(self):
        with open(HEADER, encoding='utf-8') as file:
            text = file.read().split('#ifdef GPUMP_IMPLEMENTATION', 1)[0]
        text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
        declared = set(re.findall(r'^(?:GPUMP_API|GPUMP_INLINE)\b[^;{(]*?\b(gpump_\w+)\(', text, re.M))
        self.assertGreater(len(declared), 200)
        known = set(gpump._functions.FUNCTIONS)
        self.assertEqual(declared - known, set())
        verbs = set(gpump._functions.VERBS)
        for name in sorted(known - verbs):
            function = getattr(gpump, name[len('gpump_'):] if hasattr(gpump, name[len('gpump_'):]) else name[len('gpump_'):] + '_')
            self.assertTrue(callable(function), name)
            self.assertGreater(len(function.__doc__), 20, name)
        self.assertEqual({v[len('gpump_'):] for v in verbs} - {'bytes', 'hash', 'statistics_field'},
                         {'preset', 'preset_for', 'bits', 'table_bits', 'init', 'adopt', 'check', 'next_cycle', 'get_statistics', 'statistics_diff'})

    def test_every_component_has_its_verbs(self):
        components = [c for c in vars(gpump._functions).values() if isinstance(c, gpump._runtime.Component)]
        self.assertGreater(len(components), 15)
        for component in components:
            self.assertIn(gpump.ffi.typeof(component.config_type).kind, ('struct',))

    def test_structs_have_documentation_and_keywords(self):
        self.assertIn('executed', gpump.block_view.fields)
        self.assertEqual(gpump.block_view(executed=5, block=dict(slot=3)).block.slot, 3)
        with self.assertRaisesRegex(TypeError, 'no field exceuted'):
            gpump.block_view(exceuted=5)


class Calls(unittest.TestCase):
    """Values, arrays and errors."""

    def setUp(self):
        self.gpu = gpump.gpu.preset('k20c')
        self.need = gpump.footprint(threads=256, registers=256 * 32, shared_bytes=4096)
        self.config = gpump.sm.preset('k20c')
        self.sm = gpump.sm.init(self.config)

    def place(self, cookie):
        return gpump.sm_place(self.sm, 0, gpump.sm_request(cookie=cookie, kernel=1, need=self.need), None)

    def test_calculations_equal_those_of_the_library(self):
        fits = gpump.gpu_occupancy(self.gpu, self.need)
        raw = gpump.ffi.new('gpump_occupancy *')
        self.assertEqual(gpump.lib.gpump_gpu_occupancy(self.gpu, self.need, raw, gpump.ffi.NULL), 0)
        self.assertEqual(gpump.as_dict(fits), gpump.as_dict(raw))
        self.assertEqual(gpump.gpu_context_bytes(self.gpu, self.need), 256 * 32 * 4 + 4096)
        self.assertEqual(gpump.gpu_context_bytes(self.gpu, dict(threads=256, registers=8192, shared_bytes=4096)), 256 * 32 * 4 + 4096)

    def test_arrays_come_in_full_and_are_seen_by_numpy_without_a_copy(self):
        for i in range(5):
            self.place(i)
        views = gpump.sm_blocks(self.sm, 0)
        self.assertEqual(len(views), 5)
        seen = gpump.view(views)
        self.assertEqual(list(seen['registers']), [8192] * 5)
        views[2].registers = 7
        self.assertEqual(seen['registers'][2], 7)
        seen['registers'][3] = 9
        self.assertEqual(views[3].registers, 9)
        self.assertEqual(len(gpump.sm_blocks(gpump.sm.init(self.config), 0)), 0)

    def test_numpy_arrays_are_taken_without_a_copy(self):
        history = numpy.zeros(3, gpump.dtype('gpump_cost_history'))
        gpump.cost_history_record(history, 1000, 2000)
        self.assertNotEqual(history[0].tobytes(), bytes(history.itemsize))
        with self.assertRaisesRegex(TypeError, 'entries of'):
            gpump.cost_history_record(numpy.zeros(3, 'u1'), 1000, 2000)

    def test_errors_name_the_argument(self):
        with self.assertRaisesRegex(gpump.UnknownNameError, 'no preset'):
            gpump.sm.preset('k21')
        with self.assertRaisesRegex(gpump.ArgumentError, 'kernel'):
            gpump.sm_place(self.sm, 0, gpump.sm_request(), None)
        with self.assertRaises(gpump.StaleError):
            gpump.sm_report_done(self.sm, 0, gpump.block_ref(slot=1, generation=9))
        with self.assertRaises(gpump.Error):
            gpump.sm.init(gpump.sm())
        for verb in (gpump.sm.init, gpump.sm.bytes, gpump.sm.check): # read as a configuration, a footprint has an end too early
            with self.assertRaisesRegex(TypeError, 'a gpump_sm.* is wanted, not struct gpump_footprint'):
                verb(gpump.footprint(threads=1))
        with self.assertRaisesRegex(TypeError, 'a gpump_sm is wanted, not NoneType'):
            gpump.sm.hash(None)
        self.assertIsNone(gpump.sm_next(self.sm, 0))
        with self.assertRaises(gpump.NotNow):
            for i in range(100):
                self.place(i)

    def test_checkpoints_continue(self):
        self.place(1)
        copy = gpump.sm.adopt(gpump.sm.copy(self.sm, self.config), self.config)
        self.assertEqual(gpump.sm.hash(copy), gpump.sm.hash(self.sm))
        self.place(2)
        self.assertNotEqual(gpump.sm.hash(copy), gpump.sm.hash(self.sm))
        gpump.sm.check(copy)
        counters = {row[0]: row[3] for row in gpump.sm.statistics_table(gpump.sm.statistics(self.sm))}
        self.assertEqual(counters['placed'], 2)

    def test_counters_of_every_kernel(self):
        config = gpump.rate.preset('lin', kernels=3)
        rate = gpump.rate.init(config)
        self.assertEqual(len(gpump.rate.statistics(rate, each=True)), 3)
        self.assertEqual(gpump.as_dict(gpump.rate.statistics(rate)), gpump.as_dict(gpump.rate.statistics(rate, each=True)[0]))
        self.assertEqual(gpump.sm.next_cycle(self.sm), gpump.UNKNOWN)

    def test_a_preset_for_a_machine(self):
        name = 'nvlink'
        slow, fast = (gpump.fault.preset_for(name, gpump.gpu.preset(machine)) for machine in ('k20c', 'h100'))
        self.assertNotEqual(gpump.as_dict(slow), gpump.as_dict(fast))
        with self.assertRaisesRegex(gpump.StateError, 'gpump_preset_for'):
            gpump.sm.preset_for('k20c', self.gpu)

    def test_programs_are_freed(self):
        program = gpump.program_create(None)
        self.assertIn('gpump_program', str(program))
        del program

    def test_exceptions_of_hooks_arrive(self):
        def wrong(args):
            raise ZeroDivisionError('in a hook')
        policy = gpump.victim_policy.copy(gpump.victim_find('dual'), technique=wrong)
        block = self.place(0)
        views = gpump.sm_blocks(self.sm, 0)
        self.assertEqual(views[0].block.slot, block.slot)
        estimates = gpump.cost_estimate.array(1)
        gpump.cost_estimate_blocks(gpump.gpu_port(self.gpu), gpump.cost_history.array(2), views, None, policy.cost, estimates)
        request = gpump.victim_request_init(2, 16, 0)
        question = gpump.victim_question(policy=policy, request=request, geometry=gpump.victim_geometry_init(self.gpu, self.need, 49152), sm_count=1,
                                         sms=gpump.victim_sm.array([dict(blocks=views, estimates=estimates, count=1)]),
                                         places=gpump.victim_place.array(64), choices=gpump.block_choice.array(64), place_capacity=64, choice_capacity=64)
        with self.assertRaises((ZeroDivisionError, gpump.Error)):
            gpump.victim_decide(question)
            gpump._runtime.raise_later()

    def test_a_decision_in_one_call(self):
        for i in range(6):
            self.place(i)
        views = gpump.sm_blocks(self.sm, 0)
        decision, choices = gpump.victims.choose('switch', self.gpu, self.need, views, kernel=2, positions=3)
        self.assertEqual((decision.places, decision.missing), (3, 0))
        gpump.sm_preempt(self.sm, 0, choices)
        self.assertEqual([gpump.sm_next(self.sm, 0).cookie for _ in range(decision.choices)], [c.cookie for c in choices])
        self.assertEqual(gpump.victims.choose('switch', self.gpu, self.need, gpump.sm_blocks(gpump.sm.init(self.config), 0), 2, 3)[0].choices, 0)
        with self.assertRaisesRegex(gpump.UnknownNameError, 'no victim policy is called swich'):
            gpump.victims.choose('swich', self.gpu, self.need, views, kernel=2, positions=3)

    def test_many_decisions_in_one_call(self):
        for i in range(6):
            self.place(i)
        views = gpump.sm_blocks(self.sm, 0)
        estimates = gpump.cost_estimate.array(len(views))
        gpump.cost_estimate_blocks(gpump.gpu_port(self.gpu), gpump.cost_history.array(2), views, None, None, estimates)
        kept = (gpump.victim_request_init(2, 2, 0), gpump.victim_geometry_init(self.gpu, self.need, 49152),
                gpump.victim_sm.array([dict(blocks=views, estimates=estimates, count=len(views))]), gpump.victim_place.array(64), gpump.block_choice.array(64))
        question = dict(policy=gpump.victim_find('dual'), request=kept[0], geometry=kept[1], sms=kept[2], places=kept[3], choices=kept[4], sm_count=1,
                        place_capacity=64, choice_capacity=64)
        asked = gpump.victim_question.array([question] * 1000)
        answers = gpump.victim_decide_all(asked)
        self.assertEqual(gpump.as_dict(answers[0]), gpump.as_dict(gpump.victim_decide(gpump.victim_question(**question))))
        self.assertEqual(len(answers), 1000)
        space, done, diag = gpump.victim_decision.array(1000), gpump.ffi.new('uint32_t *'), gpump.diag()
        best = {name: fastest(work) for name, work in (
            ('c', lambda: gpump.lib.gpump_victim_decide_all(asked, space, 1000, done, diag)),  # a loop in C, with one call from Python
            ('all', lambda: gpump.victim_decide_all(asked)),
            ('each', lambda: [gpump.victim_decide(asked + i) for i in range(1000)]),
            ('calls', lambda: [gpump.lib.gpump_gpu_cycles_from_ns(self.gpu, i) for i in range(1000)]))}
        print('1,000 decisions: %.0f us in C, %.0f us in one call, %.0f us one by one: %.2f us a call' %
              (best['c'], best['all'], best['each'], (best['each'] - best['c']) / 1e3), file=sys.stderr)
        # Python's share, in shares of this machine's own times: seconds would be the machine's verdict.
        self.assertLess(best['all'] - best['c'], (best['each'] - best['c']) / 8)
        self.assertLess(best['each'] - best['c'], 16 * best['calls'])


if __name__ == '__main__':
    unittest.main()
