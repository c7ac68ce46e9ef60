"""Two processes share a small GPU under Tanasic's dynamic spatial sharing: 20 lines of a simulator around the scheduler."""
import heapq

import gpump

config = gpump.scheduler.preset('k20c', sms=4, blocks_per_sm=4, saved_blocks=16)
scheduler, policy = gpump.scheduler.init(config), gpump.scheduler_find('dss')
for number, weight in enumerate((3, 1)):
    row = gpump.scheduler_open(scheduler, 0, gpump.scheduler_process(cookie=number, weight=weight))
    gpump.scheduler_submit(scheduler, 0, number, gpump.scheduler_command(cookie=number, blocks=40, process=row, blocks_per_sm=4, saved_limit=16))
now, running, saved, events = 0, {}, [], []
while True:
    while (a := gpump.scheduler_next(scheduler, policy, now)) is not None:
        if a.kind == gpump.SCHEDULER_SETUP:
            gpump.scheduler_report_ready(scheduler, now, a.sm)
            print('%7d  SM %d is set up for process %d' % (now, a.sm, a.process_cookie))
        elif a.kind == gpump.SCHEDULER_ISSUE:
            left = saved[a.handle] if a.saved else 1000
            running[a.sm, a.block.slot] = (gpump.block_ref.copy(a.block), a.kernel, now, left)
            heapq.heappush(events, (now + left, a.sm, a.block.slot, a.block.generation))
        elif a.kind == gpump.SCHEDULER_PREEMPT:
            for sm, slot in [key for key in running if key[0] == a.sm]:
                block, kernel, begun, left = running.pop((sm, slot))
                saved.append(left - (now - begun))
                gpump.scheduler_report_preempted(scheduler, now, sm, block, len(saved) - 1)
        elif a.kind == gpump.SCHEDULER_KERNEL_DONE:
            print('%7d  the kernel of process %d has ended' % (now, a.kernel_cookie))
    coming = [events[0][0]] if events else []
    coming += [gpump.scheduler.next_cycle(scheduler)] if gpump.scheduler.next_cycle(scheduler) != gpump.UNKNOWN else []
    if not coming:
        break
    now = max(now, min(coming))
    while events and events[0][0] <= now:
        _, sm, slot, generation = heapq.heappop(events)
        if (sm, slot) in running and running[sm, slot][0].generation == generation:
            gpump.scheduler_report_finished(scheduler, now, sm, running.pop((sm, slot))[0])
