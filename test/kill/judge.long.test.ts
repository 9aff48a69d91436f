import { beforeAll, expect, test } from '@jest/globals';
import { ask, built, deploy, saying } from '../support/deployments-over-http.js';
import { gate } from '../support/gate.js';
import { startFakeModel } from '../support/fakes/model.js';
import { isJudge, verdictOf, type JudgeStats } from '../support/judges.js';
import { deployments } from '../support/jobs-over-http.js';
import { until } from '../support/until.js';
import { workerOfFile } from '../harness/worlds/processes.js';

// kill -9 of the worker while it judges: a call in flight is bought again, a recorded one is not,
// and each answer gets one score.

const on = workerOfFile(async () => {
  const model = await startFakeModel();
  return { model, env: { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-secret' }, close: () => model.close() };
});
beforeAll(() => on.worker.start(), 60_000);

const judgeCalls = () => on.world.model.requests.filter(isJudge);
const calls = (criterion: string) => judgeCalls().filter(({ body }) => JSON.stringify(body).includes(criterion)).length;
const rubric = (criteria: string) => ({ type: 'rubric', criteria, model: 'gpt-4o-mini' });

test('a judge survives the death of its worker, without a score that counts twice', async () => {
  const { model } = on.world;
  const { opened, open } = gate();
  let isHeld = true;
  model.reply(async (request) => {
    if (!isJudge(request)) return { text: 'fine' };
    if (isHeld && JSON.stringify(request.body).includes('second')) await opened;
    return { text: verdictOf(0.5) };
  });
  const id = await deploy(on.service, {
    name: 'judged',
    source: saying('I am judged.', { provider: 'openai', model: 'gpt-4o-mini' }),
    judge: {
      scorer: { type: 'weighted', parts: [{ scorer: rubric('first?') }, { scorer: rubric('second?') }] },
      sample_rate: 1,
    },
  });
  await built(on.service, id);
  const answers = 6;
  for (let n = 0; n < answers; n += 1)
    await (await ask(on.service, 'judged', { messages: [{ role: 'user', content: `question ${n}` }] })).text();
  await until('four answers are in hand', () => calls('second?') === 4);
  await on.worker.kill();
  isHeld = false;
  open();
  await on.worker.start();
  const { judge, metrics } = await until(
    'all answers are judged',
    async () => {
      const stats = await on.service.api.call<JudgeStats>('GET', `${deployments}/judged/stats`);
      return stats.judge!.waiting === 0 && stats;
    },
    150,
  );
  expect(judge).toMatchObject({ judged: answers, failed: 0, dropped: 0 });
  expect(metrics['judge']).toMatchObject({ count: answers, mean: 0.5 });
  // The first part of each answer was recorded, so it is bought once.
  expect(calls('first?')).toBe(answers);
  expect(calls('second?')).toBe(answers + 4);
  const reports = await on.service.query(`select 1 from deployment_feedback where key = 'ratchet:judge'`);
  expect(reports).toHaveLength(answers);
}, 240_000);
