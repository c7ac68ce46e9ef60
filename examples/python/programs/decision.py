"""Which blocks leave an SM for another kernel, under several policies and one of our own, written in Python."""
import gpump


def latest_first(args):
    """A hook: the technique of a block is to drain where that is in time, and else the one of least waste."""
    allowed, estimate = args.allowed, args.estimate
    if allowed >> gpump.TECHNIQUE_DRAIN & 1 and estimate.latency[gpump.TECHNIQUE_DRAIN] <= args.left:
        return gpump.TECHNIQUE_DRAIN
    return min((t for t in range(gpump.TECHNIQUES) if allowed >> t & 1), key=lambda t: estimate.overhead[t])


gpu = gpump.gpu.preset('k20c')
need = gpump.footprint(threads=256, registers=256 * 32, shared_bytes=4096)
sm = gpump.sm.init(gpump.sm.preset('k20c'))
for i in range(8):
    block = gpump.sm_place(sm, 0, gpump.sm_request(cookie=i, kernel=1, need=need), None)
    gpump.sm_report_executed(sm, block[0], 3000 * i)
histories = gpump.cost_history.array(3)
for cycles in (29000, 30000, 31000):
    gpump.cost_history_record(histories + 1, cycles, cycles)

views = gpump.sm_blocks(sm, 24000)
own = gpump.victim_policy.copy(gpump.victim_find('dual'), name='latest_first', technique=latest_first)
for policy in [gpump.victim_find(name) for name in ('drain', 'switch', 'chimera', 'dual')] + [own]:
    decision, choices = gpump.victims.choose(policy, gpu, need, views, kernel=2, positions=3, histories=histories, limit_us=11)
    print('%-12s' % gpump.text(policy.name), ', '.join('%d by %s' % (c.cookie, gpump.text(gpump.technique_at(c.technique).name)) for c in choices))
