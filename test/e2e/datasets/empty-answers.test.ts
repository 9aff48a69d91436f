/** Empty answers tell their reason: in feedback, in warnings, and at the end of a search. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { someOf } from '../../support/environment.js';
import type { ModelReply } from '../../support/fakes/model.js';
import {
  createEvaluation,
  createGraphJob,
  createSession,
  ended,
  type Evaluation,
  type GraphJob,
  type Session,
} from '../../support/jobs-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { isProposal } from '../../support/worlds/asked.js';
import { graphAnswer, graphDataset } from '../../support/worlds/graph.js';
import { startRowsWorld } from '../../support/worlds/rows.js';

const on = serviceOfFile(() => startRowsWorld());
afterEach(() => on.world.reset());

const saying = (message: object, finish: string): ModelReply => ({
  fields: { choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }] },
});
const cases: [string, ModelReply, RegExp][] = [
  ['length', saying({ content: '', reasoning_content: 'Well' }, 'length'), /max_tokens/],
  ['content_filter', saying({ content: '' }, 'content_filter'), /content filter/],
  ['refusal', saying({ content: null, refusal: 'I cannot help with that.' }, 'stop'), /refused/],
  ['nothing', saying({ content: '' }, 'stop'), /without a reason/],
];

/** The policy's answers are empty; `share`: of the rows whose number is below. */
function silence(reply: ModelReply, below = Infinity): void {
  on.world.model.reply((request) => {
    const row = Number(/Row (\d+)/.exec(request.body.messages.at(-1)!.content)?.[1]);
    return request.body.model === 'policy' && row < below ? reply : on.world.answer(request);
  });
}

describe.each(someOf(cases, 2))('%s', (reason, reply, words) => {
  test('fails a session before any proposal, with the remedy', async () => {
    silence(reply);
    const id = await createSession(on.service, { ...on.world.job(12), gepa: { population_size: 1, generations: 3 } });
    const seen = await ended<Session>(on.service, id);
    expect(seen).toMatchObject({ status: 'failed', error_details: { code: 'answers_empty', retryable: false } });
    expect(seen.error).toMatch(words);
    expect(seen.warnings).toContainEqual(expect.stringMatching(words));
    expect(on.world.model.requests.filter(({ body }) => body.model === 'proposer')).toEqual([]);
    const rows = await on.service.query<{ feedback: string; empty: string }>(
      'select feedback, empty from rollouts where job_id = $1',
      [id],
    );
    expect(new Set(rows.map(({ empty }) => empty))).toEqual(new Set([reason]));
    expect(rows.every(({ feedback }) => /^There is no output: the model /.test(feedback))).toBe(true);
  });

  test('warns of an evaluation, with the count', async () => {
    silence(reply, 2);
    const { proposer: _, initial_prompt: candidate, ...job } = on.world.job(6) as Record<string, unknown>;
    const seen = await ended<Evaluation>(
      on.service,
      await createEvaluation(on.service, { ...job, candidate, seeds: undefined, env_name: undefined }),
    );
    expect(seen.status).toBe('completed');
    expect(seen.warnings).toEqual([expect.stringMatching(/^2 of 6 answers /)]);
    expect(seen.warnings[0]).toMatch(words);
  });
});

test('answers that only some rows lack do not end a session', async () => {
  silence(cases[0]![1], 3);
  const id = await createSession(on.service, { ...on.world.job(12), gepa: { population_size: 1, generations: 1 } });
  const seen = await ended<Session>(on.service, id);
  expect(seen.status).toBe('completed');
  expect(seen.warnings).toContainEqual(expect.stringMatching(/ answers are empty\. /));
});

test('a graph whose step has no answer fails its job with the reason', async () => {
  on.world.model.reply(({ body }) =>
    isProposal(body.messages) ? { text: graphAnswer(body.messages) } : saying({ content: '' }, 'length'),
  );
  const id = await createGraphJob(on.service, {
    dataset: graphDataset(12),
    policy_model: 'task',
    policy_provider: 'fake',
    rollout_budget: 60,
    preflight: false,
  });
  const seen = await ended<GraphJob>(on.service, id);
  expect(seen).toMatchObject({ status: 'failed', error_details: { code: 'answers_empty' } });
  expect(seen.warnings).toContainEqual(expect.stringMatching(/max_tokens/));
  const [{ feedback }] = (await on.service.query<{ feedback: string }>(
    'select feedback from rollouts where job_id = $1 limit 1',
    [id],
  )) as [{ feedback: string }];
  expect(feedback).toMatch(/^At step \S+ the model stopped/);
});
