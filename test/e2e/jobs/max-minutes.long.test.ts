import { describe, expect, test } from '@jest/globals';
import { answers, type ReceivedRollout } from '../../support/fakes/container.js';
import { createSession, ended, eventsOf, resultsOf } from '../../support/jobs-over-http.js';
import { promptOf, startRulesWorld } from '../../support/worlds/rules.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';

// After budget.max_minutes of running time nothing starts, and the session keeps its best
// candidate.

const on = serviceOfFile(startRulesWorld);
const gepa = { population_size: 2, generations: 50, minibatch_size: 2, evaluation: { seeds: [0, 1, 2, 3] } };
const create = (maxSeconds: number) =>
  createSession(on.service, { ...on.world.job, gepa, budget: { max_minutes: maxSeconds / 60 } });

describe('budget.max_minutes', () => {
  test('ends a session with its best candidate, also after a worker’s downtime, and aborts hanging calls', async () => {
    const { container, answer } = on.world;
    const isChild = (call: Pick<ReceivedRollout, 'body'>) => promptOf(call).includes('rule-');
    container.behave((call) => (isChild(call) ? answers.hang() : answer(call, 0.25)));
    const id = await create(4);
    await until('the first child hangs', () => container.callsOf(id).some(isChild));
    await on.service.restart();
    const session = await ended(on.service, id);
    expect(session).toMatchObject({ status: 'completed', stopped_by: 'max_minutes', best_reward: 0.25, error: null });
    expect((await resultsOf(on.service, id)).best_prompt).toMatchObject({ reward: 0.25 });
    await until('nothing is in flight', () => container.callsOf(id).every(({ out }) => out !== null));
    expect((await on.service.workflow(id).describe()).status.name).toBe('COMPLETED');
    expect((await eventsOf(on.service, id)).at(-1)).toMatchObject({
      type: 'job_complete',
      data: { stopped_by: 'max_minutes' },
    });
  });

  test('fails a session with a message when its baseline was not evaluated in time', async () => {
    on.world.container.behave(() => answers.hang());
    expect(await ended(on.service, await create(1))).toMatchObject({
      status: 'failed',
      stopped_by: 'max_minutes',
      error: expect.stringContaining('budget.max_minutes'),
      error_details: { code: 'max_minutes' },
    });
  });

  test('does not end a session that completes earlier', async () => {
    on.world.container.behave(() => answers.reward(1));
    expect(await ended(on.service, await create(600))).toMatchObject({ status: 'completed', stopped_by: 'solved' });
  });
});
