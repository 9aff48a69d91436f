import { expect, test } from '@jest/globals';
import { chainOf } from '../support/chain.js';
import { startDemosWorld } from '../support/worlds/demos.js';
import { command, createSession, ended, resultsOf, type Session } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { replay } from './replay-history.js';
import { workflowIs } from '../support/workflow-is.js';

// The history of a MIPRO search: a description, demonstrations, instructions, held-out seeds.

const on = serviceOfFile(() => startDemosWorld({ topics: 5, labeled: true }));

test('a MIPRO search, paused and resumed, up to the held-out comparison', async () => {
  const id = await createSession(on.service, {
    ...on.world.job,
    algorithm: 'mipro',
    mipro: {
      num_candidates: 6,
      num_trials: 15,
      minibatch_size: 3,
      max_bootstrapped_demos: 1,
      max_labeled_demos: 2,
      train_seeds: range(100, 20),
      evaluation: { seeds: range(0, 6), heldout_seeds: range(200, 4) },
    },
  });
  await command(on.service, id, 'pause');
  await command(on.service, id, 'resume');
  const session = await ended<Session>(on.service, id);
  expect(session).toMatchObject({ status: 'completed', error: null });
  expect(await resultsOf(on.service, id)).toMatchObject({ comparison: { basis: 'heldout' } });
  await workflowIs(on.service.workflow(id), 'COMPLETED');
  const [history, ...laterRuns] = await chainOf(on.service.temporal, `session-${id}`);
  expect(laterRuns).toEqual([]);
  await replay(history!);
  const asked = history!.events.map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name);
  const times = (activity: string) => asked.filter((name) => name === activity).length;
  expect(times('drive')).toBeGreaterThan(0);
}, 90_000);
