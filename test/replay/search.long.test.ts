import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { answerTokens } from '../../src/models/client/call-bound.js';
import { chainOf } from '../support/chain.js';
import { answers } from '../support/fakes/container.js';
import { propose, startRulesWorld, type RulesWorld } from '../support/worlds/rules.js';
import { startTestService, type TestService } from '../support/service.js';
import { createSession, ended, resultsOf, type Session } from '../support/jobs-over-http.js';
import { replay } from './replay-history.js';
import { workflowIs } from '../support/workflow-is.js';

// Histories of whole searches: components, merges, intermediate evaluations, held-out seeds, and a
// spent budget.

let world: RulesWorld;
let service: TestService;
beforeAll(async () => {
  world = await startRulesWorld();
  world.container.behave((call) => {
    const prompt = call.body.policy.config.prompt_template?.sections.map(({ content }) => content).join('\n') ?? '';
    return answers.reward(world.score(prompt, call.seed), `needs rule-${call.seed % world.rules}.`);
  });
  service = await startTestService({ OPENAI_BASE_URL: world.model.url, OPENAI_API_KEY: 'sk-test' });
}, 60_000);
afterAll(async () => {
  await service.stop();
  await world.close();
}, 60_000);

/** Runs a session to its end, replays its history; `times`: number of runs of each activity. */
async function search(more: Record<string, unknown>) {
  const id = await createSession(service, {
    container_url: world.container.url,
    policy: { provider: 'openai', model: 'gpt-4o-mini' },
    initial_prompt: {
      messages: [
        { role: 'system', name: 'plan', content: 'Plan first.' },
        { role: 'user', name: 'answer', content: 'Then answer.' },
      ],
    },
    ...more,
  });
  const session = await ended<Session>(service, id);
  await workflowIs(service.workflow(id), 'COMPLETED');
  const [history, ...laterRuns] = await chainOf(service.temporal, `session-${id}`);
  expect(laterRuns).toEqual([]);
  await replay(history!);
  const asked = history!.events.map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name);
  return { id, session, times: (activity: string) => asked.filter((name) => name === activity).length };
}

test('a search with components and merges, up to the held-out comparison', async () => {
  const { id, session, times } = await search({
    gepa: {
      population_size: 2,
      generations: 5,
      minibatch_size: 2,
      train_seeds: [0, 1, 2, 3, 4, 5, 6, 7],
      evaluation: { seeds: [10, 11, 12, 13], heldout_seeds: [20, 21, 22, 23] },
    },
    budget: { max_cost_usd: 1 },
  });
  expect(session).toMatchObject({ status: 'completed', best_reward: 1 });
  expect(session.candidates.some(({ parent_ids: parents }) => parents.length > 1)).toBe(true);
  expect(await resultsOf(service, id)).toMatchObject({
    comparison: { basis: 'heldout' },
  });
  expect(times('drive')).toBeGreaterThan(0);
}, 90_000);

test('a search with a spent cost budget', async () => {
  const usage = { prompt_tokens: 100, completion_tokens: answerTokens.proposer };
  world.model.reply((request) => ({ text: propose(request), usage }));
  const { session, times } = await search({
    gepa: { population_size: 1, generations: 5, evaluation: { seeds: [0, 1, 2, 3] } },
    budget: { max_cost_usd: 0.012 },
  });
  expect(session).toMatchObject({ status: 'completed', stopped_by: 'max_cost_usd' });
  expect(times('drive')).toBeGreaterThan(0);
}, 90_000);
