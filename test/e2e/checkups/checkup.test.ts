import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { askedOf, checkedUp, checkUp, checkups, type Checkup } from '../../support/checkups-over-http.js';
import { built, deploy, readDeployment, saying } from '../../support/deployments-over-http.js';
import { deployments, eventsOf, readJob, type Evaluation } from '../../support/jobs-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { agingModels as models, gateRows, proposer, startAgingWorld } from '../../support/worlds/aging.js';
import { rowsBaseline } from '../../support/worlds/rows.js';
import { workflowIs } from '../../support/workflow-is.js';

const on = serviceOfFile(startAgingWorld);
afterEach(() => on.world.reset());

const gated = { min_reward: 0.5, seeds: '0-19', preflight: false };
const live = async (name: string, more: object = {}, policy: object = models.live) =>
  built(on.service, await deploy(on.service, { name, source: saying(rowsBaseline, policy), log: {}, ...more }));
const withGate = (name: string, policy?: object) =>
  live(name, { gate: { ...gateRows(on.world, 40), ...gated } }, policy);
/** The answers of a model that was right, as right answers. */
const traffic = (limit: number) => ({ limit, expected: 'corrected_or_answer' });
const stepsOf = ({ steps }: Checkup) => steps.map(({ step }) => step);
const jobsOf = (id: string) =>
  on.service.query<{ id: string; kind: string; status: string; spec: { budget?: { maxCostUsd: number } } }>(
    'select id, kind, status, spec from jobs where substr(id, 5, 28) = $1 and id <> $2 order by id',
    [id.slice(4, 32), id],
  );
const post = (path: string, body?: object) =>
  fetch(`${on.service.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${on.service.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body ?? {}),
  });

describe('a checkup', () => {
  test('compares with the release, finds drift, and rolls out a better prompt', async () => {
    const first = await withGate('support');
    await askedOf(on.service, 'support', 60);

    const young = await checkUp(on.service, 'support', { max_change: 0.3 });
    expect(young).toMatchObject({ rows: 20, traffic: null });
    expect(young.warnings!.join()).toMatch(/Traffic of support is not checked/);
    const same = await checkedUp(on.service, young.job_id);
    expect(same).toMatchObject({
      status: 'completed',
      verdict: 'same',
      checkup_number: 1,
      rows: { reward: 1, difference: 0, p_value: 1, rows_worse: 0, baseline: { reward: 1 } },
      traffic: null,
      improvement: null,
    });
    const begin = await checkUp(on.service, 'support', { rows: null, traffic: traffic(60), max_change: 0.3 });
    const measured = await checkedUp(on.service, begin.job_id);
    expect(measured).toMatchObject({
      verdict: 'first',
      checkup_number: null,
      rows: null,
      traffic: { reward: 1, rows: 60, baseline: null, difference: null, p_value: null },
    });

    on.world.age();
    const body = { traffic: traffic(60), improve: { proposer, deploy: { reason: 'drift' } } };
    const { job_id: id } = await checkUp(on.service, 'support', body);
    const done = await checkedUp(on.service, id, 120);
    expect(done).toMatchObject({
      status: 'completed',
      verdict: 'worse',
      checkup_number: 2,
      rows: { verdict: 'worse', reward: 0, difference: -1, rows: 20, rows_worse: 20 },
      traffic: { verdict: 'worse', reward: 0, rows: 30, baseline: { job_id: measured.traffic!.job_id, reward: 1 } },
      improvement: { verdict: 'better', reward: 1, today: { reward: 0 }, rows: 30 },
      improvement_verdict: 'better',
      approval: null,
      not_deployed: null,
    });
    expect(stepsOf(done)).toEqual(['rows', 'traffic', 'session', 'winner', 'winner_again', 'traffic_again']);
    expect(done.worse).toHaveLength(20);
    const [lost] = done.worse;
    expect(lost).toMatchObject({ baseline_reward: 1, reward: 0, output: 'No rule.' });
    expect(lost!.baseline_output).toBe(on.world.rows(40)[lost!.seed]!.answer);
    const events = await eventsOf(on.service, id);
    expect(events.filter(({ type }) => type === 'checkup_judged').map(({ data }) => data)).toMatchObject([
      { part: 'rows', verdict: 'worse', baseline_reward: 1 },
      { part: 'traffic', verdict: 'worse', rows: 30 },
      { part: 'improvement', verdict: 'better', p_value: null },
    ]);
    const deployed = await until('it is rolled out', async () => {
      const found = await readDeployment(on.service, done.deployment_id!);
      return found.status === 'rolling_out' && found;
    });
    expect(deployed).toMatchObject({
      live: false,
      reason: 'drift',
      source: { session_id: done.improvement!.session_id },
    });
    expect(await readDeployment(on.service, first.id)).toMatchObject({ live: true });
    // No request that decides was searched on.
    const [spec] = await on.service.query<{ deciding: number[]; train: number[]; evaluation: number[] }>(
      `select spec->'parts'->'traffic'->'gate'->'seeds' as deciding,
              spec->'improve'->'session'->'search'->'trainSeeds' as train,
              spec->'improve'->'session'->'search'->'evaluationSeeds' as evaluation from jobs where id = $1`,
      [id],
    );
    const searched = new Set([...spec!.train, ...spec!.evaluation]);
    expect(spec!.deciding.filter((seed) => searched.has(seed))).toEqual([]);
    await workflowIs(on.service.workflow(id), 'COMPLETED');

    // A second winner does not overtake the first.
    const again = await checkedUp(on.service, (await checkUp(on.service, 'support', body)).job_id, 120);
    expect(again).toMatchObject({ checkup_number: 3, improvement_verdict: 'better', deployment_id: null });
    expect(again.not_deployed).toMatch(deployed.id);
  }, 300_000);

  test('takes only requests with a corrected answer, where its scorer needs one', async () => {
    await live('corrected');
    const [first, second] = await askedOf(on.service, 'corrected', 8);
    for (const answer_id of [first, second])
      await on.service.api.call('POST', `${deployments}/corrected/feedback`, { answer_id, corrected: 'No rule.' });
    const { job_id: id, traffic } = await checkUp(on.service, 'corrected', { traffic: {}, scorer: 'exact' });
    expect(traffic).toBe(2);
    expect(await checkedUp(on.service, id)).toMatchObject({ verdict: 'first', traffic: { reward: 0, rows: 2 } });
    const response = await post(`${deployments}/corrected/improve`, { scorer: 'exact' });
    expect([response.status, await response.json()]).toMatchObject([
      409,
      { code: 'too_few_requests', found: 2, needed: 20 },
    ]);
  });

  test('gives each of its jobs the dollars that are left', async () => {
    await withGate('priced', models.priced);
    await askedOf(on.service, 'priced', 4);
    const budget = { max_cost_usd: 0.01 };
    const { job_id: id } = await checkUp(on.service, 'priced', { traffic: traffic(4), budget });
    expect(await checkedUp(on.service, id)).toMatchObject({ status: 'completed', max_cost_usd: 0.01 });
    const [rows, ofTraffic] = await on.service.query<{ max: number; spent: number }>(
      `select max_usd::float8 as max, spent_usd::float8 as spent from job_budgets where job_id = any($1) order by job_id`,
      [(await jobsOf(id)).map((job) => job.id)],
    );
    expect(rows!.max).toBe(0.01);
    expect(ofTraffic!.max).toBeCloseTo(0.01 - rows!.spent, 12);
    expect((await jobsOf(id)).map(({ spec }) => spec.budget?.maxCostUsd)).toEqual([rows!.max, ofTraffic!.max]);
  });

  test('fails once its dollars are spent, and buys no more', async () => {
    await withGate('poor', models.priced);
    const asked = on.world.model.requests.length;
    // A call reserves its longest answer: 50 tokens at 0.6 dollars a million.
    const { job_id: id } = await checkUp(on.service, 'poor', { traffic: null, budget: { max_cost_usd: 0.000_05 } });
    expect(await checkedUp(on.service, id)).toMatchObject({
      status: 'failed',
      error_details: { code: 'checkup_step_failed' },
      verdict: null,
    });
    const [evaluation] = await jobsOf(id);
    const { budget, error_details: error } = await readJob<Evaluation>(on.service, evaluation!.id);
    expect(error).toMatchObject({ code: 'cost_budget_exhausted' });
    expect(budget.spent_usd).toBeLessThanOrEqual(0.000_05);
    const calls = on.world.model.requests.length - asked;
    expect([calls > 0, calls < 20]).toEqual([true, true]);
  });

  test('is cancelled with the job that it waits for, and deleted', async () => {
    await withGate('cancelled');
    on.world.model.reply(() => new Promise(() => undefined));
    const { job_id: id } = await checkUp(on.service, 'cancelled', {});
    await until('its first evaluation runs', async () => (await jobsOf(id)).length === 1);
    await on.service.api.call('POST', `${checkups}/${id}/cancel`);
    expect(await checkedUp(on.service, id)).toMatchObject({ status: 'cancelled', verdict: null });
    expect(await jobsOf(id)).toMatchObject([{ status: 'cancelled' }]);
    const evaluation = (await jobsOf(id))[0]!.id;
    const remove = (path: string) =>
      fetch(`${on.service.url}${path}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${on.service.apiKey}` },
      });
    const kept = await remove(`/api/v1/offline/jobs/${evaluation}`);
    expect([kept.status, await kept.json()]).toMatchObject([409, { code: 'in_use', used_by: id }]);
    expect((await remove(`${checkups}/${id}`)).status).toBe(204);
  });

  test('whose job fails fails with its reason', async () => {
    await withGate('failing');
    on.world.model.reply(() => ({ status: 401, body: { error: { message: 'no such key' } } }) as never);
    const { job_id: id } = await checkUp(on.service, 'failing', {});
    expect(await checkedUp(on.service, id)).toMatchObject({
      status: 'failed',
      error_details: { code: 'checkup_step_failed' },
      steps: [{ step: 'rows', status: 'failed' }],
    });
  });
});

describe('an improvement that a person approves', () => {
  const improve = async () => {
    const body = { traffic: traffic(40), scorer: 'exact', proposer, deploy: { require_approval: true } };
    const { job_id: id } = await checkUp(on.service, 'careful', body, 'improve');
    const done = await checkedUp(on.service, id, 120);
    expect(done).toMatchObject({
      rows: null,
      traffic: { reward: 0, rows: 20 },
      improvement_verdict: 'better',
      approval: 'pending',
      deployment_id: null,
    });
    return id;
  };
  const decided = async (id: string, body: object) => {
    const response = await post(`${checkups}/${id}/approval`, body);
    return [response.status, (await response.json()) as Checkup & { code: string }] as const;
  };

  test('is deployed once, rejected, or expires with what is live', async () => {
    await live('careful');
    await askedOf(on.service, 'careful', 40);
    on.world.age();
    const [rejected, approved, expired] = [await improve(), await improve(), await improve()];
    expect(await decided(rejected, { approve: false })).toMatchObject([200, { approval: 'rejected' }]);
    expect(await decided(rejected, { approve: true })).toMatchObject([409, { code: 'not_awaiting_approval' }]);

    const [status, first] = await decided(approved, { approve: true, reason: 'looks right' });
    expect([status, first.approval]).toEqual([200, 'approved']);
    const again = await decided(approved, { approve: true });
    expect(again).toMatchObject([200, { approval: 'approved', deployment_id: first.deployment_id }]);
    await until('it is rolled out', async () => {
      const { status, reason } = await readDeployment(on.service, first.deployment_id!);
      return status === 'rolling_out' && reason === 'looks right';
    });

    expect(await decided(expired, { approve: true })).toMatchObject([409, { code: 'canary_in_progress' }]);
    await on.service.api.call('POST', `${deployments}/careful/rollout`, { action: 'promote' });
    await built(on.service, first.deployment_id!);
    expect(await decided(expired, { approve: true })).toMatchObject([409, { code: 'approval_expired' }]);
    expect(await decided(expired, { approve: true })).toMatchObject([409, { code: 'not_awaiting_approval' }]);
  }, 300_000);
});

describe('a checkup is refused before anything is spent', () => {
  beforeAll(async () => {
    await live('empty');
  });

  const refused: [string, string, object, number, string][] = [
    ['an unknown name', 'nobody', {}, 404, 'not_found'],
    ['nothing to check', 'empty', {}, 409, 'too_few_requests'],
    ['neither rows nor traffic', 'empty', { rows: null, traffic: null }, 422, ''],
    ['no traffic to search on', 'empty', { traffic: null, improve: {} }, 422, '/traffic'],
    ['traffic without a scorer', 'empty', { traffic: {} }, 422, '/scorer'],
    ['no requests', 'empty', { traffic: {}, scorer: 'exact' }, 409, 'too_few_requests'],
    [
      'an unknown proposer',
      'empty',
      { improve: { proposer: { provider: 'x', model: 'y' } } },
      422,
      '/improve/proposer/provider',
    ],
    ['dollars without prices', 'empty', { rows: 'own', budget: { max_cost_usd: 1 } }, 422, '/budget/max_cost_usd'],
    ['an unknown column', 'empty', { rows: 'unknown' }, 422, '/rows/dataset/input'],
  ];

  test.each(refused)('%s', async (_, name, { rows, ...body }: { rows?: unknown }, status, reason) => {
    const given = {
      own: gateRows(on.world, 20),
      unknown: { dataset: { rows: [{ q: 'a', expected: 'b' }] }, scorer: 'exact' },
    };
    const before = on.world.model.requests.length;
    const sent = rows === undefined ? {} : { rows: typeof rows === 'string' ? given[rows as 'own'] : rows };
    const response = await post(`${deployments}/${name}/checkups`, { ...body, ...sent });
    const problem = (await response.json()) as { code: string; errors?: { pointer: string }[] };
    expect([response.status, problem.errors?.[0]?.pointer ?? (status === 422 ? '' : problem.code)]).toEqual([
      status,
      reason,
    ]);
    expect(on.world.model.requests.length).toBe(before);
  });
});
