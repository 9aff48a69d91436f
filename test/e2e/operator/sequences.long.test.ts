import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { operatorWorldOfFile, type HeldEvaluation } from './held-evaluation.js';

// After any sequence of an operator's actions API and Temporal show one status, which is that of
// the last command where one followed; the job then completes, and buys no finished rollout again.

const world = operatorWorldOfFile();

type Action =
  | { do: 'command'; verb: 'pause' | 'resume'; by: 'http' | 'signal'; data: string; encoding: string }
  | { do: 'signal'; name: string; data: string; encoding: string }
  | { do: 'reset'; task: number; reapply: 'signals' | 'none' }
  | { do: 'complete'; result: unknown; encoding: string };

const data = fc.oneof(fc.json(), fc.string(), fc.constant('{"stop":"no","commandId":7}'));
const encoding = fc.constantFrom('json/plain', 'json/protobuf', 'binary/encrypted', 'binary/plain', 'x');
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({
    do: fc.constant('command' as const),
    verb: fc.constantFrom('pause' as const, 'resume' as const),
    by: fc.constantFrom('http' as const, 'signal' as const),
    data,
    encoding,
  }),
  fc.record({
    do: fc.constant('signal' as const),
    name: fc.constantFrom('hint', 'candidate', 'paws', '__proto__', 'constructor', '__temporal_x', '__stack_trace'),
    data,
    encoding,
  }),
  fc.record({
    do: fc.constant('reset' as const),
    task: fc.nat(9),
    reapply: fc.constantFrom('signals' as const, 'none' as const),
  }),
  fc.record({
    do: fc.constant('complete' as const),
    result: fc.oneof(
      fc.jsonValue(),
      fc.constant({ rest: { kind: 'ended', end: { kind: 'completed', stoppedBy: 'completed' } } }),
    ),
    encoding,
  }),
);

/** Does an action; returns the status that must follow, or null: any that both show. */
async function act(job: HeldEvaluation, one: Action): Promise<string | null> {
  switch (one.do) {
    case 'command':
      if (one.by === 'http') await job.command(one.verb);
      else await world.operator.signal(job.handle, one.verb, one.data, one.encoding);
      return one.verb === 'pause' ? 'paused' : 'running';
    case 'signal':
      await world.operator.signal(job.handle, one.name, one.data, one.encoding);
      return null;
    case 'reset':
      await world.operator.reset(job.handle, one.task, one.reapply);
      return null;
    case 'complete':
      if (await world.operator.pending(job.handle, 'drive'))
        await world.operator.complete(job.handle, 'drive', one.result, one.encoding);
      return null;
  }
}

test('any sequence of actions', async () => {
  const sequence = fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 6 }), async (actions) => {
    const job = await world.evaluation(6);
    for (const one of actions) await world.agreed(job.id, await act(job, one));
    if ((await world.agreed(job.id, null)) === 'paused') await job.command('resume');
    job.open();
    await job.shows('completed');
    const calls = job.calls();
    expect(new Set(calls).size).toBe(6);
    // Only the two rollouts in flight are sent again.
    const disturbances = actions.filter((one) => one.do === 'reset' || one.do === 'complete').length;
    expect(calls.length).toBeLessThanOrEqual(6 + 2 * disturbances);
  });
  await fc.assert(sequence, { numRuns: 15, endOnFailure: true });
}, 600_000);
