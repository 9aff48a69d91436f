import { beforeEach, describe, expect, test } from '@jest/globals';
import { ask, built, deploy, readDeployment, saying } from '../../support/deployments-over-http.js';
import { gate } from '../../support/gate.js';
import { startFakeModel, type ModelRequest } from '../../support/fakes/model.js';
import { deployments } from '../../support/jobs-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { isJudge, verdictOf, type JudgeStats } from '../../support/judges.js';

const on = serviceOfFile(async () => {
  const model = await startFakeModel();
  return { model, env: { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-secret' }, close: () => model.close() };
});
beforeEach(() => {
  on.world.model.requests.length = 0;
  replying(() => verdictOf(0.5));
});

const rubric = { type: 'rubric', criteria: 'Is it kind?', model: 'gpt-4o-mini' };
const policy = { provider: 'openai', model: 'gpt-4o-mini' };

/** The judge's reply to a request; callers hear what they said. */
function replying(judge: (request: ModelRequest) => string | Promise<string>): void {
  on.world.model.reply(async (request) => {
    if (isJudge(request)) return { text: await judge(request) };
    return { text: `You said: ${request.body.messages.at(-1)!.content}` };
  });
}
const judgeCalls = () => on.world.model.requests.filter(isJudge);

async function judged(name: string, judge: object): Promise<string> {
  const id = await deploy(on.service, { name, source: saying('I am kind.', policy), judge });
  await built(on.service, id);
  return id;
}
async function asked(name: string, text: string): Promise<string> {
  const answer = await ask(on.service, name, { messages: [{ role: 'user', content: text }] });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { id: string }).id;
}
const stats = (name: string) => on.service.api.call<JudgeStats>('GET', `${deployments}/${name}/stats`);
const whenJudge = (name: string, state: object, what = JSON.stringify(state)) =>
  until(`the judge of ${name} has ${what}`, async () => {
    const { judge, metrics } = await stats(name);
    return Object.entries(state).every(([field, value]) => (judge as never)[field] === value) && { ...judge!, metrics };
  });
const change = (name: string, judge: object | null) =>
  on.service.api.call('PATCH', `${deployments}/${name}`, { judge });
/** Makes answers of a name due now. */
const hurry = (name: string) =>
  on.service.query('update deployment_judgements set due_at = now() where name = $1', [name]);

describe('a judge', () => {
  test('scores each sampled answer once, as a metric beside the rewards of callers', async () => {
    await judged('kind', { scorer: rubric, sample_rate: 1 });
    replying(({ body }) => verdictOf(/three/.test(JSON.stringify(body)) ? 1 : 0.4));
    const ids = [await asked('kind', 'one'), await asked('kind', 'two'), await asked('kind', 'three')];
    const { metrics, spend_today_usd: spent } = await whenJudge('kind', { judged: 3, waiting: 0 });
    expect(metrics['judge']).toMatchObject({ count: 3, mean: expect.closeTo(0.6) });
    expect(judgeCalls()).toHaveLength(3);
    expect(spent).toBeGreaterThan(0);
    expect(spent).toBeLessThan(0.01);
    const { data } = await on.service.api.call<{ data: Record<string, unknown>[] }>(
      'GET',
      `${deployments}/kind/feedback`,
    );
    expect(data.map(({ answer_id: id }) => id).toSorted()).toEqual(ids.toSorted());
    for (const one of data)
      expect(one).toMatchObject({ key: 'ratchet:judge', reward: null, comment: expect.stringContaining('because') });
    await on.service.api.call('POST', `${deployments}/kind/feedback`, { answer_id: ids[0], reward: 1 });
    expect((await stats('kind')).metrics['reward']).toMatchObject({ count: 1, mean: 1 });
    // What it has cost is spend of the organization.
    const [row] = await on.service.query<{ usd: number }>('select sum(cost_usd) as usd from daily_spend');
    expect(row!.usd).toBeGreaterThanOrEqual(spent);
    const workflows = on.service.temporal.workflow.list({
      query: `WorkflowType = 'judgeWorkflow' and RatchetName = 'kind'`,
    });
    await until('Temporal shows it', async () => {
      for await (const { status } of workflows) if (status.name === 'COMPLETED') return true;
      return false;
    });
  }, 60_000);

  test('without a model judges for nothing; an answer that failed, and a share of 0, are not judged', async () => {
    const scorer = { type: 'regex', pattern: 'please', flags: 'i' };
    await Promise.all([judged('polite', { scorer, sample_rate: 1 }), judged('unseen', { scorer, sample_rate: 0 })]);
    await asked('unseen', 'please');
    await asked('polite', 'Please!');
    await asked('polite', 'now');
    on.world.model.reply(() => ({ status: 400, text: '' }));
    expect((await ask(on.service, 'polite', { messages: [{ role: 'user', content: 'x' }] })).status).toBe(400);
    const { metrics } = await whenJudge('polite', { judged: 2, waiting: 0, failed: 0, dropped: 0, spend_today_usd: 0 });
    expect(metrics['judge']).toMatchObject({ count: 2, mean: 0.5 });
    expect((await stats('unseen')).judge).toMatchObject({ judged: 0, waiting: 0, dropped: 0 });
    expect(judgeCalls()).toHaveLength(0);
  }, 60_000);

  test('spends no more than the dollars of its day, until they are raised', async () => {
    await judged('poor', { scorer: rubric, sample_rate: 1, max_cost_usd_per_day: 0.000001 });
    await asked('poor', 'one');
    await whenJudge('poor', { dropped: 1, waiting: 0, judged: 0, budget_used_up: true, spend_today_usd: 0 });
    await asked('poor', 'two');
    expect((await stats('poor')).judge).toMatchObject({ dropped: 2, waiting: 0 });
    expect(judgeCalls()).toHaveLength(0);
    await change('poor', { max_cost_usd_per_day: 1 });
    expect((await stats('poor')).judge).toMatchObject({ budget_used_up: false });
    await asked('poor', 'three');
    await whenJudge('poor', { judged: 1, dropped: 2 });
  }, 60_000);

  test('of a model without a price is asked without a limit of dollars', async () => {
    const scorer = { ...rubric, model: 'served-by-us' };
    await judged('own', { scorer, sample_rate: 1, max_cost_usd_per_day: null });
    await asked('own', 'one');
    await whenJudge('own', { judged: 1, failed: 0, budget_used_up: false, spend_today_usd: 0 });
    expect(judgeCalls()[0]!.body.model).toBe('served-by-us');
  }, 60_000);

  test('repeats what may pass, and drops what never gets a score, with the cause', async () => {
    await judged('hard', { scorer: rubric, sample_rate: 1 });
    replying(() => 'no JSON');
    await asked('hard', 'one');
    const { last_failure: unusable } = await whenJudge('hard', { failed: 1, waiting: 0 });
    expect(unusable).toMatchObject({ code: 'judgement_unusable' });
    expect(judgeCalls()).toHaveLength(2);
    on.world.model.reply((request) => (isJudge(request) ? { status: 429, headers: { 'retry-after': '600' } } : {}));
    await asked('hard', 'two');
    await until('a try has failed', async () => (await stats('hard')).judge!.last_failure?.code === 'judge_refused');
    expect((await stats('hard')).judge).toMatchObject({ failed: 1, waiting: 1 });
    replying(() => verdictOf(1));
    await hurry('hard');
    await whenJudge('hard', { judged: 1, failed: 1, waiting: 0 });
  }, 60_000);

  test('goes on after its workflow was terminated, and ends with the setting and the deployment', async () => {
    await judged('lively', { scorer: rubric, sample_rate: 1 });
    const { opened, open } = gate();
    replying(async () => {
      await opened;
      return verdictOf(1);
    });
    await asked('lively', 'one');
    await until('the judge is asked', () => Promise.resolve(judgeCalls().length === 1));
    const [workflow] = await openJudges('lively');
    await on.service.temporal.workflow.getHandle(workflow!).terminate('by hand');
    open();
    await whenJudge('lively', { judged: 1, waiting: 0 });
    await asked('lively', 'two');
    const { metrics } = await whenJudge('lively', { judged: 2, waiting: 0 });
    expect(metrics['judge']).toMatchObject({ count: 2 });
    expect(judgeCalls()).toHaveLength(2);
    await change('lively', null);
    await asked('lively', 'three');
    expect((await stats('lively')).judge).toBeNull();
    expect(await on.service.query(`select 1 from deployment_judgements where name = 'lively'`)).toEqual([]);
    expect(judgeCalls()).toHaveLength(2);
  }, 90_000);
});

/** Open judges of a name. */
async function openJudges(name: string): Promise<string[]> {
  return until(`the judge of ${name} is open`, async () => {
    const ids: string[] = [];
    const query = `WorkflowType = 'judgeWorkflow' and RatchetName = '${name}' and ExecutionStatus = 'Running'`;
    for await (const { workflowId } of on.service.temporal.workflow.list({ query })) ids.push(workflowId);
    return ids.length > 0 && ids;
  });
}

test('a judge decides a shadow, whose answers no caller sees', async () => {
  const judge = { scorer: { type: 'regex', pattern: 'please', flags: 'i' }, sample_rate: 1 };
  on.world.model.reply(({ body }) => ({ text: /kind/.test(body.messages[0]!.content) ? 'Please, sit.' : 'Sit.' }));
  const live = await deploy(on.service, { name: 'shadowed', source: saying('Be brief.', policy), judge });
  await built(on.service, live);
  const rollout = { until: 'decided', steps: [100], shadow: 100, metric: 'judge', min_requests: 1 };
  const next = await deploy(on.service, { name: 'shadowed', source: saying('Be kind.', policy), rollout });
  await until('it is rolled out', async () => (await readDeployment(on.service, next)).status === 'rolling_out');
  for (let asks = 0; asks < 200; asks += 1) {
    const response = await ask(on.service, 'shadowed', {
      user: `u${asks}`,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const text = await response.text();
    // The new version answers once it is promoted, and not before.
    if (response.headers.get('x-ratchet-deployment-id') === next) break;
    expect(text).toContain('"Sit."');
  }
  const done = await built(on.service, next);
  expect(done).toMatchObject({ live: true, rollout: { status: 'promoted', is_shadow: true, metric: 'judge' } });
  expect(done.rollout!.evidence.metric).toMatchObject({ live: { mean: 0 }, canary: { mean: 1 }, verdict: 'better' });
}, 120_000);
