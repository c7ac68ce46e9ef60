"""Victim selection for one SM in one call.

    import gpump
    gpu, need = gpump.gpu.preset('h100'), gpump.footprint(threads=256, registers=256 * 32)
    sm = gpump.sm.init(gpump.sm.preset('h100'))
    blocks = [gpump.sm_place(sm, 0, gpump.sm_request(cookie=i, kernel=1, need=need), None) for i in range(8)]
    decision, choices = gpump.victims.choose('switch', gpu, need, gpump.sm_blocks(sm, 0), kernel=2, positions=3)
    print([gpump.text(gpump.technique_at(c.technique).name) for c in choices])
"""
from . import _functions as c
from ._runtime import ERRORS

MOST = 64  # blocks of an SM


def choose(policy, gpu, need, views, kernel, positions, histories=None, limit_us=None, now=0):
    """Asks a policy which blocks leave one SM, and how, so that `positions` blocks of `kernel` can start.

    policy     a name such as 'dual', or a victim_policy
    gpu, need  the machine, and the footprint of a block of `kernel`
    views      the blocks of the SM at cycle `now`, as gpump.sm_blocks returns them
    histories  cost_history array with an entry per function; without one a drain cannot be estimated
    limit_us   the deadline in microseconds; None: there is none

    Returns the victim_decision and the list of its block_choices, which gpump.sm_preempt takes. Raises gpump.Error.
    """
    name = policy
    if isinstance(policy, str):
        policy = c.victim_find(policy)
    if not policy:
        raise ERRORS[c.ERROR_UNKNOWN_NAME]('no victim policy is called %s: help(gpump.victim_find) lists them' % name)
    if histories is None:
        histories = c.cost_history.array(1 + max([view.function or view.kernel for view in views], default=0))
    estimates = c.cost_estimate.array(max(len(views), 1))
    if len(views):
        c.cost_estimate_blocks(c.gpu_port(gpu), histories, views, None, policy.cost, estimates)
    request = c.victim_request_init(kernel, positions, now)
    if limit_us is not None:
        request.limit_cycles = int(limit_us * gpu.clock_khz / 1000)
    sms = c.victim_sm.array([dict(blocks=views, estimates=estimates, count=len(views))])
    choices, places = c.block_choice.array(MOST), c.victim_place.array(MOST)
    decision = c.victim_decide(c.victim_question(
        policy=policy, request=request, geometry=c.victim_geometry_init(gpu, need, max(gpu.shared_bytes)), sms=sms, sm_count=1,
        places=places, choices=choices, place_capacity=MOST, choice_capacity=MOST))
    return decision, choices[0:decision.choices]
