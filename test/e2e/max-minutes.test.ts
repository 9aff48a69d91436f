import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { answers } from '../support/fake-container.js';
import { startRulesWorld, type RulesWorld } from '../support/rules-world.js';
import { startTestService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

// budget.max_minutes: minutes of running. When they are over nothing new starts, and the session has its best so far.

let world: RulesWorld;
let service: TestService;
beforeAll(async () => {
  world = await startRulesWorld();
  service = await startTestService(world.env);
}, 60_000);
afterAll(async () => {
  await service.stop();
  await world.close();
}, 60_000);

interface Session {
  status: string;
  stopped_by: string | null;
  best_reward: number | null;
  error: string | null;
  error_details: { code: string } | null;
}
const base = '/api/v1/online/sessions';
const seeds = [0, 1, 2, 3];
const mine = (id: string) => world.container.ledger.filter((entry) => entry.rolloutId.includes(id.slice(4)));
const isBaseline = (prompt: string | undefined) => prompt === undefined || !prompt.includes('rule-');
const promptOf = (call: Parameters<Parameters<typeof world.container.behave>[0]>[0]) =>
  call.body.policy.config.prompt_template?.sections[0]?.content;

async function create(maxSeconds: number, more: Record<string, unknown> = {}): Promise<string> {
  const { session_id: id } = await service.api.call<{ session_id: string }>('POST', base, {
    policy_optimization: {
      algorithm: 'gepa',
      container_url: world.container.url,
      policy: { provider: 'fake', model: 'any' },
      gepa: { population_size: 2, generations: 50, minibatch_size: 2, evaluation: { seeds } },
      budget: { max_minutes: maxSeconds / 60 },
      ...more,
    },
  });
  return id;
}
const read = (id: string) => service.api.call<Session>('GET', `${base}/${id}`);
const ended = (id: string) =>
  until(
    `${id} has ended`,
    async () => {
      const session = await read(id);
      return ['completed', 'failed', 'cancelled'].includes(session.status) && session;
    },
    60,
  );

describe('budget.max_minutes', () => {
  test('ends a session with the best so far, also when its worker was away, and what hung is told to stop', async () => {
    world.container.behave((call) =>
      isBaseline(promptOf(call)) ? answers.reward(0.25, `needs rule-${call.seed}.`) : answers.hang(),
    );
    const id = await create(4);
    await until('the first child hangs', () => mine(id).some(({ out }) => out === null));
    await service.restart();
    const session = await ended(id);
    expect(session).toMatchObject({ status: 'completed', stopped_by: 'max_minutes', best_reward: 0.25, error: null });
    const results = await service.api.call<{ best_prompt: object }>('GET', `${base}/${id}/results`);
    expect(results.best_prompt).toMatchObject({ reward: 0.25 });
    await until('nothing is in flight', () => mine(id).every(({ out }) => out !== null));
    const workflow = await service.temporal.workflow.getHandle(`session-${id}`).describe();
    expect(workflow.status.name).toBe('COMPLETED');
    const { events } = await service.api.call<{ events: { type: string; data: object }[] }>(
      'GET',
      `${base}/${id}/events?since_seq=0&limit=1000`,
    );
    expect(events.at(-1)).toMatchObject({ type: 'job_complete', data: { stopped_by: 'max_minutes' } });
  });

  test('fails a session whose baseline was not evaluated in time, and says so', async () => {
    world.container.behave(() => answers.hang());
    const id = await create(1);
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      stopped_by: 'max_minutes',
      error: expect.stringMatching(/budget\.max_minutes was over before the baseline was evaluated.*raise it/),
      error_details: { code: 'max_minutes' },
    });
  });

  test('does not end one that is done before', async () => {
    world.container.behave(() => answers.reward(1));
    const id = await create(600, {
      gepa: { population_size: 1, generations: 1, evaluation: { seeds } },
    });
    expect(await ended(id)).toMatchObject({ status: 'completed', stopped_by: 'solved' });
  });
});
