import { expect, test } from '@jest/globals';
import { until } from '../../support/until.js';
import { workflowIs } from '../../support/workflow-is.js';
import { replay } from '../../replay/replay-history.js';
import { History } from '../../support/chain.js';
import { operatorWorldOfFile } from './held-evaluation.js';

// A reset job shows one status in API and Temporal, does not spin, obeys commands and buys no
// finished rollout again. Its history replays.

const world = operatorWorldOfFile();

test.each(['signals', 'none'] as const)(
  'a paused evaluation, reapplying %s',
  async (reapply) => {
    const { id, handle, shows, command, open, calls } = await world.evaluation();
    await command('pause');
    await shows('paused');
    const run = await world.operator.reset(handle, 0, reapply);
    await shows('paused');
    await until('its work rests', async () => (await world.operator.pending(handle, 'drive')) === null);
    const { historyLength } = await handle.describe();
    expect(historyLength).toBeLessThan(60);
    await command('resume');
    await shows('running');
    await command('pause');
    await shows('paused');
    await command('resume');
    open();
    await shows('completed');
    expect((await handle.describe()).runId).toBe(run);
    expect(await world.eventsOf(id, 'paused')).toHaveLength(2);
    expect(new Set(calls()).size).toBe(4);
    await replay(History.fromObject(await handle.fetchHistory()));
  },
  90_000,
);

test('an evaluation that was resumed, to its pause and without the resume', async () => {
  const { handle, shows, command, open } = await world.evaluation();
  await command('pause');
  await shows('paused');
  // Another workflow task, in which the job is paused.
  await handle.signal('reward');
  const tasks = await until('the signal is handled', async () => {
    const { events } = await handle.fetchHistory();
    const signalled = events!.findLastIndex((event) => event.workflowExecutionSignaledEventAttributes);
    if (!events!.slice(signalled).some((event) => event.workflowTaskCompletedEventAttributes)) return null;
    return events!.filter((event) => event.workflowTaskCompletedEventAttributes).length;
  });
  await command('resume');
  await shows('running');
  await world.operator.reset(handle, tasks - 1, 'none');
  await shows('running');
  await command('pause');
  await shows('paused');
  await command('resume');
  open();
  await shows('completed');
  await replay(History.fromObject(await handle.fetchHistory()));
}, 90_000);

test('an evaluation whose end was under way goes on', async () => {
  const { id, handle, shows, open } = await world.evaluation();
  // As `stopWork` leaves it, whose workflow forgets the end.
  await world.service.db.org('default', (tx) =>
    tx.query(`update job_controls set control = 'stop' where job_id = $1`, [id]),
  );
  await world.operator.reset(handle, 0, 'none');
  open();
  await shows('completed');
}, 90_000);

test.each(['completed', 'cancelled'])(
  'a %s evaluation ends as before',
  async (status) => {
    const { handle, shows, command, open } = await world.evaluation();
    if (status === 'cancelled') await command('cancel');
    open();
    await shows(status);
    await workflowIs(handle, status.toUpperCase());
    const run = await world.operator.reset(handle, 0, 'none');
    await until('the new run is closed', async () => {
      const seen = await handle.describe();
      return seen.runId === run && seen.status.name === status.toUpperCase();
    });
    await shows(status);
  },
  90_000,
);
