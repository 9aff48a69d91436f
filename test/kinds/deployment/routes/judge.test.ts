import { describe, expect, test } from '@jest/globals';
import { mostWaiting } from '../../../../src/kinds/deployment/store/judgements.js';
import { deployments as base } from '../../../support/jobs-over-http.js';
import { deploymentsOfFile, question, saying } from './support.js';

const it = deploymentsOfFile();

const rubric = { type: 'rubric', criteria: 'Is it kind?', model: 'gpt-4o-mini' };
const regex = { type: 'regex', pattern: 'card' };
const create = (name: string, judge: object) => it.create({ name, source: saying(`I am ${name}.`), judge });
const change = (name: string, judge: object | null) => it.http.call('PATCH', `${base}/${name}`, { judge });
const settings = async (name: string) => (await it.status(name)).body.judge;
const stats = async (name: string) => (await it.http.call('GET', `${base}/${name}/stats`)).body.judge;
const waiting = (name: string) =>
  it.http.db.org('default', (tx) =>
    tx.query<{ answer_id: string; request: string; answer: string }>(
      'select answer_id, request, answer from deployment_judgements where name = $1 order by due_at',
      [name],
    ),
  );
async function asked(name: string, text = 'Where is my card?', headers: Record<string, string> = {}): Promise<string> {
  const answer = await it.ask(name, { messages: [{ role: 'user', content: text }] }, headers);
  await answer.text();
  return answer.headers.get('x-ratchet-answer-id')!;
}

describe('the judge of a name', () => {
  test('is a setting, whose fields stay when others change', async () => {
    expect((await create('set', { scorer: rubric })).status).toBe(201);
    const scorer = { ...rubric, provider: 'openai' };
    expect(await settings('set')).toEqual({ scorer, sample_rate: 0.05, max_cost_usd_per_day: 1 });
    expect((await change('set', { sample_rate: 0.5 })).status).toBe(200);
    expect(await settings('set')).toEqual({ scorer, sample_rate: 0.5, max_cost_usd_per_day: 1 });
    await it.http.call('PATCH', `${base}/set`, { log: {} });
    expect((await change('set', { scorer: regex, max_cost_usd_per_day: 3 })).status).toBe(200);
    expect(await settings('set')).toEqual({ scorer: regex, sample_rate: 0.5, max_cost_usd_per_day: 3 });
    expect(await stats('set')).toEqual({
      ...{ judged: 0, failed: 0, dropped: 0, waiting: 0 },
      ...{ last_failure: null, spend_today_usd: 0, budget_used_up: false },
    });
    expect((await change('set', null)).status).toBe(200);
    expect(await settings('set')).toBeNull();
    expect(await stats('set')).toBeNull();
  });

  test.each([
    ['exact', '/judge/scorer'],
    ['contains', '/judge/scorer'],
    [{ type: 'regex' }, '/judge/scorer'],
    [{ type: 'json' }, '/judge/scorer'],
    [{ type: 'weighted', parts: [{ scorer: regex }, { scorer: regex, field: 'a' }] }, '/judge/scorer'],
    [{ ...rubric, model: 'of-no-price' }, '/judge/max_cost_usd_per_day'],
    [{ ...rubric, provider: 'nobody' }, '/judge/scorer/provider'],
    [{ type: 'javascript', code: '() => 1' }, '/judge/scorer/code'],
    [{ type: 'nothing' }, '/judge/scorer/type'],
  ])('is refused with the scorer %j', async (scorer, pointer) => {
    for (const answer of [await create('refused', { scorer }), await changeOfAny({ scorer })]) {
      expect(answer.status).toBe(422);
      expect(answer.body.errors).toMatchObject([{ pointer }]);
    }
  });

  test('needs a scorer at first, and shares and dollars in bounds', async () => {
    for (const [judge, pointer] of [
      [{}, '/judge/scorer'],
      [{ sample_rate: 1 }, '/judge/scorer'],
      [{ scorer: regex, sample_rate: 1.5 }, '/judge/sample_rate'],
      [{ scorer: regex, max_cost_usd_per_day: -1 }, '/judge/max_cost_usd_per_day'],
      [{ scorer: regex, rate: 1 }, '/judge/rate'],
    ] as const)
      for (const answer of [await create('without', judge), await changeOfAny(judge)]) {
        expect(answer.status).toBe(422);
        expect(answer.body.errors).toMatchObject([{ pointer }]);
      }
    expect((await it.status('without')).status).toBe(404);
  });

  test('of an unknown price needs no limit of dollars', async () => {
    const scorer = { type: 'rubric', criteria: 'Kind?', model: 'served-by-us', provider: 'openai' };
    const pointer = '/judge/max_cost_usd_per_day';
    expect((await create('unpriced', { scorer })).body.errors).toMatchObject([{ pointer }]);
    expect((await create('unpriced', { scorer, max_cost_usd_per_day: null })).status).toBe(201);
    expect((await change('unpriced', { max_cost_usd_per_day: 1 })).body.errors).toMatchObject([{ pointer }]);
    expect((await change('unpriced', { sample_rate: 1 })).status).toBe(200);
    expect(await settings('unpriced')).toMatchObject({ sample_rate: 1, max_cost_usd_per_day: null });
  });

  async function changeOfAny(judge: object) {
    if ((await it.status('any')).status === 404) await it.deploy('any');
    return change('any', judge);
  }
});

describe('samples of a judge', () => {
  test('wait with what was said, whatever the log redacts, and an episode is whole', async () => {
    await it.create({
      ...{ name: 'waits', source: saying('I wait.'), log: { redact: ['email'] } },
      judge: { scorer: regex, sample_rate: 1 },
    });
    it.model.reply(() => ({ text: 'It is here.' }));
    const id = await asked('waits', 'Mail a@example.org');
    expect(await waiting('waits')).toMatchObject([
      { answer_id: id, request: expect.stringContaining('a@example.org'), answer: expect.stringContaining('here') },
    ]);
    expect(await stats('waits')).toMatchObject({ waiting: 1, judged: 0 });
    await change('waits', { sample_rate: 0.5 });
    for (let episode = 0; episode < 12; episode += 1)
      for (let n = 0; n < 2; n += 1) await asked('waits', 'x', { 'x-ratchet-correlation-id': `e-${episode}` });
    const sampled = await it.http.db.org('default', (tx) =>
      tx.query<{ answers: number }>(
        `select count(*)::int as answers from episode_answers e join deployment_judgements j using (answer_id) group by correlation_id`,
      ),
    );
    expect(sampled.length).toBeGreaterThan(0);
    expect(sampled.length).toBeLessThan(12);
    for (const { answers } of sampled) expect(answers).toBe(2);
    await change('waits', null);
    expect(await waiting('waits')).toEqual([]);
  });

  test('are dropped where they are too long or too many wait, and with their deployment', async () => {
    const { body } = await create('full', { scorer: regex, sample_rate: 1 });
    await asked('full', 'x '.repeat(150_000));
    expect(await stats('full')).toMatchObject({ waiting: 0, dropped: 1 });
    const deploymentId = body.id as string;
    await it.http.db.org('default', (tx) =>
      tx.query(
        `insert into deployment_judgements (org_id, deployment_id, answer_id, name, request, answer)
         select 'default', $1, 'a-' || n, 'full', '{}', '{}' from generate_series(1, $2::int) n`,
        [deploymentId, mostWaiting - 1],
      ),
    );
    await asked('full');
    await asked('full');
    expect(await stats('full')).toMatchObject({ waiting: mostWaiting, dropped: 2 });
    await it.http.call('DELETE', `${base}/${deploymentId}`);
    expect(await waiting('full')).toEqual([]);
  });

  test('are none of failed requests, of a share of 0, and without a judge', async () => {
    await create('none', { scorer: regex, sample_rate: 0 });
    await asked('none');
    await change('none', { sample_rate: 1 });
    it.model.reply(() => ({ status: 500, text: '' }));
    await asked('none');
    await it.deploy('unjudged');
    await asked('unjudged');
    expect(await waiting('none')).toEqual([]);
    expect(await waiting('unjudged')).toEqual([]);
  });
});

test('callers report neither the metric of judges nor under keys of the service', async () => {
  await it.deploy('reserved');
  const answer = await it.ask('reserved', question);
  const { id } = (await answer.json()) as { id: string };
  const report = (body: object) => it.http.call('POST', `${base}/reserved/feedback`, { answer_id: id, ...body });
  expect(await report({ metrics: { judge: 1 } })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '/metrics' }] },
  });
  expect(await report({ reward: 1, key: 'ratchet:judge' })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '/key' }] },
  });
});
