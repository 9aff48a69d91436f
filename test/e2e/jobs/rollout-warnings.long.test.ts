import { expect, test } from '@jest/globals';
import { answers } from '../../support/fakes/container-answers.js';
import { containersOfEachTest } from '../../support/fakes/containers-of-each-test.js';
import {
  createEvaluation,
  createSession,
  ended,
  pathOf,
  type Evaluation,
  type Session,
} from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { serviceOfFile } from '../../support/service-of-file.js';

const on = serviceOfFile();
const container = containersOfEachTest();
const policy = { provider: 'local', model: 'local' };

async function warningsOf(kind: 'session' | 'evaluation', body: (seed: number) => object): Promise<string[]> {
  const box = await container({
    prompt: [{ role: 'system', content: 'Do it.' }],
    behave: ({ seed }) => answers.raw(JSON.stringify(body(seed))),
  });
  const common = { container_url: box.url, policy, preflight: false };
  const seeds = range(0, 6);
  const gepa = { population_size: 1, generations: 1, train_seeds: range(6, 6), evaluation: { seeds } };
  const id =
    kind === 'session'
      ? await createSession(on.service, { ...common, gepa })
      : await createEvaluation(on.service, { ...common, seeds });
  const job = await ended<Session | Evaluation>(on.service, id);
  expect(job.status).toBe('completed');
  const list = await on.service.api.call<{ data: { job_id: string; warnings: string[] }[] }>(
    'GET',
    pathOf(id).replace(`/${id}`, ''),
  );
  expect(list.data.find(({ job_id }) => job_id === id)!.warnings).toEqual(job.warnings);
  return job.warnings;
}
const info = (outcome_reward: number, feedback?: string) => ({
  reward_info: { outcome_reward, ...(feedback && { details: { feedback } }) },
});
const range8 = [expect.stringMatching(/ -2 to 8\./)];
const noFeedback = [expect.stringMatching(/^None of the \d+ scored answers has feedback/)];

test.each<[string, 'session' | 'evaluation', (seed: number) => object, unknown[]]>([
  ['no feedback in any answer', 'session', () => info(0.5), noFeedback],
  ['feedback in one answer', 'session', (seed) => info(0.5, seed === 3 ? 'wrong' : undefined), []],
  ['nothing to say', 'session', () => info(1), []],
  ['no feedback in an evaluation', 'evaluation', () => info(0.5), []],
  ['rewards outside 0 to 1', 'evaluation', (seed) => info(2 * seed - 2), range8],
  ['rewards of 0 and 1', 'evaluation', (seed) => info(seed % 2), []],
])('%s', async (_, kind, body, warnings) => {
  expect(await warningsOf(kind, body)).toEqual(warnings);
});
