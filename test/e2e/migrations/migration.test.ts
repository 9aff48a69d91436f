import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { built, deploy, readDeployment, saying } from '../../support/deployments-over-http.js';
import { eventsOf, readJob, resultsOf, type Evaluation } from '../../support/jobs-over-http.js';
import { migrate, migrated, migrations, readMigration, type Migration } from '../../support/migrations-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { movableModels as models, movableRows, proposer, startMovableWorld } from '../../support/worlds/movable.js';
import { rowsBaseline } from '../../support/worlds/rows.js';
import { workflowIs } from '../../support/workflow-is.js';

const on = serviceOfFile(startMovableWorld);
afterEach(() => on.world.reset());

beforeAll(async () => {
  await live('support');
});

const live = async (name: string) =>
  built(on.service, await deploy(on.service, { name, source: saying(rowsBaseline, models.old) }));
const rows = () => movableRows(on.world, 40);
const asked = (more: object) => ({ ...rows(), max_loss: 0.3, proposer, ...more });
const childrenOf = (id: string) =>
  on.service.query<{ id: string; kind: string; status: string }>(
    `select id, kind, status from jobs where substr(id, 5, 28) = $1 and id <> $2 order by id`,
    [id.slice(4, 32), id],
  );

describe('a migration', () => {
  test('of an equal model is no worse without a session, and changes nothing that is not asked for', async () => {
    const id = await migrate(on.service, 'support', asked({ to: models.equal }));
    const done = await migrated(on.service, id);
    expect(done).toMatchObject({
      status: 'completed',
      verdict: 'no_worse',
      side: 'same_prompt',
      same_prompt: { reward: 1, today: { reward: 1 }, difference: 0, rows: 20, rows_worse: 0 },
      optimized: null,
      deployment_id: null,
      worse: [],
      from: models.old,
      to: models.equal,
    });
    expect(done.steps.map(({ step, status }) => [step, status])).toEqual([
      ['same_prompt', 'completed'],
      ['today', 'completed'],
    ]);
    expect((await eventsOf(on.service, id)).map(({ type }) => type)).toEqual([
      'migration_step',
      'migration_step',
      'migration_judged',
      'job_complete',
    ]);
    await workflowIs(on.service.workflow(id), 'COMPLETED');
    const { created_by: by } = done;
    expect(by).toEqual({ key_id: expect.any(String), key_name: expect.any(String) });
    const of = async (creator: string) => {
      const path = `${migrations}?created_by=${creator}`;
      return (await on.service.api.call<{ data: Migration[] }>('GET', path)).data.map(({ job_id }) => job_id);
    };
    expect([await of(by!.key_id), await of('nobody')]).toEqual([[id], []]);
    // The service made its evaluations.
    const part = await readJob<Evaluation>(on.service, done.steps[0]!.job_id);
    expect(part.created_by).toBeNull();
  });

  test('searches a prompt where the model is worse, and deploys the winner', async () => {
    const first = await live('moved');
    const id = await migrate(on.service, 'moved', asked({ to: models.needy, deploy: { reason: 'cheaper' } }));
    const done = await migrated(on.service, id, 90);
    expect(done).toMatchObject({
      status: 'completed',
      verdict: 'no_worse',
      side: 'optimized',
      same_prompt: { verdict: 'worse', reward: 0, rows_worse: 20 },
      optimized: { verdict: 'no_worse', reward: 1, rows_worse: 0 },
    });
    const session = done.steps.find(({ step }) => step === 'session')!.job_id;
    const { best_prompt: best } = await resultsOf(on.service, session);
    const deployed = await built(on.service, done.deployment_id!);
    expect(deployed).toMatchObject({
      status: 'ready',
      live: true,
      previous_id: first.id,
      reason: 'cheaper',
      source: { session_id: session },
    });
    const snapshot = await on.service.api.call('GET', `/api/harbor/deployments/snapshots/${deployed.snapshot_id}`);
    expect(snapshot).toMatchObject({ messages: [best!.messages[0]], policy: models.needy });
    // No row that decides was shown to the session.
    const [spec] = await on.service.query<{ deciding: number[]; train: number[]; evaluation: number[] }>(
      `select spec->'gate'->'seeds' as deciding, spec->'session'->'search'->'trainSeeds' as train,
              spec->'session'->'search'->'evaluationSeeds' as evaluation from jobs where id = $1`,
      [id],
    );
    const searched = new Set([...spec!.train, ...spec!.evaluation]);
    expect(spec!.deciding.filter((seed) => searched.has(seed))).toEqual([]);
    expect(spec!.deciding.length).toBe(20);
  }, 120_000);

  test('deploys step by step, and a person decides', async () => {
    const first = await live('stepwise');
    const rollout = { until: 'decided', steps: [50, 100] };
    const id = await migrate(
      on.service,
      'stepwise',
      asked({ to: models.equal, optimize: 'never', deploy: { rollout } }),
    );
    const { deployment_id: next } = await migrated(on.service, id);
    const path = `/api/harbor/deployments/${next}`;
    const begun = await until('it is rolled out', async () => {
      const deployment = await readDeployment(on.service, next!);
      return deployment.status === 'rolling_out' && deployment;
    });
    expect(begun).toMatchObject({
      live: false,
      rollout: { status: 'running', step: 1, steps: 1, percent: 50, live_deployment_id: first.id },
    });
    await on.service.api.call('POST', `${path}/rollout`, { action: 'promote' });
    expect(await built(on.service, next!)).toMatchObject({ status: 'ready', live: true, previous_id: first.id });
  });

  test('of a hopeless model is worse, names the rows that lost, and deploys nothing', async () => {
    const body = asked({ to: models.hopeless, optimize: 'never', deploy: {} });
    const done = await migrated(on.service, await migrate(on.service, 'support', body));
    expect(done).toMatchObject({
      status: 'completed',
      verdict: 'worse',
      deployment_id: null,
      same_prompt: { reward: 0, difference: -1, rows: 40, rows_worse: 40 },
    });
    expect(done.steps.map(({ step }) => step)).toEqual(['same_prompt', 'today', 'same_prompt_again', 'today_again']);
    expect(done.worse).toHaveLength(40);
    expect(done.worse[0]).toMatchObject({
      today_reward: 1,
      reward: 0,
      input: on.world.rows(40)[done.worse[0]!.seed]!.question,
      today_output: on.world.rows(40)[done.worse[0]!.seed]!.answer,
      output: 'No rule.',
    });
  });

  test('takes the rows of the gate of what is live', async () => {
    const gate = { ...rows(), seeds: '0-11', min_reward: 0.5, preflight: false };
    const source = saying(rowsBaseline, models.old);
    await built(on.service, await deploy(on.service, { name: 'gated', source, gate }));
    const done = await migrated(
      on.service,
      await migrate(on.service, 'gated', { to: models.equal, max_loss: 0.3, proposer }),
    );
    expect(done).toMatchObject({ verdict: 'no_worse', same_prompt: { rows: 12 }, dataset: { num_rows: 40 } });
  });

  test('is cancelled with the job that it waits for', async () => {
    on.world.model.reply(() => new Promise(() => undefined));
    const id = await migrate(on.service, 'support', asked({ to: models.equal, optimize: 'never' }));
    await until('its first evaluation runs', async () => (await childrenOf(id)).length === 1);
    await on.service.api.call('POST', `${migrations}/${id}/cancel`);
    const done = await migrated(on.service, id);
    expect(done).toMatchObject({ status: 'cancelled', verdict: null });
    const last_command = { command: 'cancel', by: { key_name: 'bootstrap' } };
    expect(done).toMatchObject({ last_command });
    const [part] = await childrenOf(id);
    expect(part).toMatchObject({ status: 'cancelled' });
    expect(await readJob(on.service, part!.id)).toMatchObject({ last_command });
    await workflowIs(on.service.workflow(id), 'CANCELLED');
  });

  test('whose job fails fails with its reason', async () => {
    on.world.model.reply(() => ({ status: 401, body: { error: { message: 'no such key' } } }) as never);
    const id = await migrate(on.service, 'support', asked({ to: models.equal, optimize: 'never' }));
    const done = await migrated(on.service, id);
    expect(done).toMatchObject({ status: 'failed', error_details: { code: 'migration_step_failed' } });
    expect((await readMigration(on.service, id)).steps).toMatchObject([{ step: 'same_prompt', status: 'failed' }]);
  });
});

describe('a migration is refused before anything is spent', () => {
  const refused: [string, string, object, number, string][] = [
    ['the model that is live', 'support', { to: models.old }, 422, '/to'],
    ['an unknown provider', 'support', { to: { provider: 'nobody', model: 'm' } }, 422, '/to/provider'],
    [
      'a budget of dollars without prices',
      'support',
      { to: models.equal, budget: { max_cost_usd: 1 } },
      422,
      '/budget/max_cost_usd',
    ],
    [
      'too few rows to search',
      'support',
      { to: models.equal, dataset: { rows: [{ input: 'a', expected: 'b' }] } },
      422,
      '/optimize',
    ],
    [
      'an unknown column',
      'support',
      { to: models.equal, dataset: { rows: [{ q: 'a', expected: 'b' }] } },
      422,
      '/dataset/input',
    ],
    ['no rows', 'support', { to: models.equal, dataset: undefined, scorer: undefined }, 422, '/dataset'],
    ['no scorer', 'support', { to: models.equal, scorer: undefined }, 422, '/scorer'],
    ['an unknown name', 'nobody', { to: models.equal }, 404, ''],
  ];

  test.each(refused)('%s', async (_, name, body, status, pointer) => {
    const before = on.world.model.requests.length;
    const response = await fetch(`${on.service.url}/api/harbor/deployments/${name}/migrations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${on.service.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(asked(body)),
    });
    const problem = (await response.json()) as { errors?: { pointer: string }[] };
    expect([response.status, problem.errors?.[0]?.pointer ?? '']).toEqual([status, pointer]);
    expect(on.world.model.requests.length).toBe(before);
  });
});
