import { afterEach, expect, test } from '@jest/globals';
import { createEvaluation, ended, pathOf, type Evaluation } from '../../support/jobs-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { startRowsWorld } from '../../support/worlds/rows.js';

const on = serviceOfFile(() => startRowsWorld());
afterEach(() => on.world.reset());
const numRows = 6;

test('rows are answered without what their model refuses; the job says so, and no cache lies', async () => {
  const { model } = on.world;
  const refusals: string[] = [];
  model.reply((request) => {
    const bad = ['temperature', 'presence_penalty', 'max_tokens'].find((name) => name in request.body);
    if (bad === undefined) return on.world.answer(request);
    refusals.push(bad);
    const error = { message: `Unsupported parameter: '${bad}' is not supported with this model.`, param: bad };
    return { status: 400, raw: JSON.stringify({ error }) };
  });
  const body = {
    env_name: undefined,
    scorer: 'exact',
    preflight: false,
    max_concurrent: 1,
    answer_cache: true,
    policy: { provider: 'fake', model: 'policy', temperature: 0, presence_penalty: 0, max_tokens: 64 },
    dataset: { rows: on.world.rows(numRows), input: 'question', expected: 'answer' },
    candidate: { messages: [{ role: 'user', content: 'rule-0. {{question}}' }] },
  };
  const id = await createEvaluation(on.service, body);
  const seen = await ended<Evaluation>(on.service, id);
  expect(seen).toMatchObject({ status: 'completed', error: null, usage: { calls: numRows } });
  expect(seen.warnings).toEqual([expect.stringMatching(/ temperature:/)]);
  const { results } = await on.service.api.call<{ results: { status: string }[] }>('GET', `${pathOf(id)}/results`);
  expect(results.map(({ status }) => status)).toEqual(Array(numRows).fill('succeeded'));
  // Each once, by the first row.
  expect(refusals).toEqual(['temperature', 'presence_penalty', 'max_tokens']);
  expect(model.requests.at(-1)!.body).toMatchObject({ max_completion_tokens: 64 });
  // Its answers are samples, not those of temperature 0.
  const again = await ended<Evaluation>(on.service, await createEvaluation(on.service, body));
  expect(again.usage).toMatchObject({ calls: numRows, cached_calls: 0 });
  expect(refusals).toHaveLength(3);
});
