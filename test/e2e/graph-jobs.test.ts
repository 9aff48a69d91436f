import { afterEach, describe, expect, test } from '@jest/globals';
import { command, createGraphJob, ended, eventsOf, pathOf, readJob, type GraphJob } from '../support/jobs-over-http.js';
import { gate } from '../support/gate.js';
import { firstPrompt, startGraphWorld } from '../support/graph-world.js';
import { range } from '../support/range.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';

const on = serviceOfFile(() => startGraphWorld());
afterEach(() => on.world.reset());

const create = (tasks: number, more: object = {}) => createGraphJob(on.service, on.world.job(tasks, more));
const read = (id: string) => readJob<GraphJob>(on.service, id);
const calls = (model: string) => on.world.model.requests.filter(({ body }) => body.model === model);
const textOf = async (id: string) => {
  const headers = { authorization: `Bearer ${on.service.apiKey}` };
  const answer = await fetch(`${on.service.url}${pathOf(id)}/graph.txt`, { headers });
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
};

describe('a graph job', () => {
  test('finds a graph that knows all rules, by prompts and by edits, and what it says of itself adds up', async () => {
    const id = await create(20, { rollout_budget: 300 });
    const seen = await ended<GraphJob>(on.service, id);
    expect(seen).toMatchObject({
      job_id: id,
      graph_gen_job_id: id,
      status: 'completed',
      error: null,
      best_reward: 1,
      num_tasks: 20,
      policy_models: ['task'],
      verifier_mode: 'exact',
    });
    const { status, type, text } = await textOf(id);
    expect([status, type]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(text).toContain(firstPrompt);
    for (let rule = 0; rule < on.world.rules; rule += 1) expect(text).toContain(`rule-${rule}`);
    expect(seen.history[0]).toEqual({ generation: 0, best_reward: 0 });
    expect(seen.history.map(({ generation }) => generation)).toEqual(range(0, seen.history.length));
    expect(seen.progress.rollouts_completed).toBeLessThanOrEqual(300);
    const graphs = await on.service.query<{ steps: number; messages: unknown }>(
      `select jsonb_array_length(graph->'steps') as steps, messages from candidates where job_id = $1`,
      [id],
    );
    expect(new Set(graphs.map(({ messages }) => messages))).toEqual(new Set([null]));
    expect(Math.max(...graphs.map(({ steps }) => steps))).toBeGreaterThan(1);

    const all = await eventsOf(on.service, id);
    expect(all.map(({ seq }) => seq)).toEqual(range(1, all.length));
    expect(all[0]).toMatchObject({ type: 'job_started', data: { tasks: 20 } });
    expect(all.at(-1)).toMatchObject({ type: 'job_complete', data: { best_reward: 1 } });
    const of = (kind: string) => all.filter(({ type }) => type === kind);
    expect(of('rollout_completed')).toHaveLength(seen.progress.rollouts_completed);
    expect(of('generation_complete').length).toBe(seen.history.length);

    // Tokens of every call are counted, and each call is on record once.
    const [recorded] = await on.service.query<{ n: number; tokens: number }>(
      'select count(*) as n, sum(prompt_tokens + completion_tokens)::int as tokens from model_calls where job_id = $1',
      [id],
    );
    expect(recorded!.n).toBe(calls('task').length + calls('writer').length);
    expect(seen.usage.total_tokens).toBe(recorded!.tokens);
  });

  test('is the same for the same rng_seed, whatever comes first', async () => {
    const run = async (concurrent: number) => {
      const id = await create(12, { rng_seed: 3, max_concurrent: concurrent, rollout_budget: 80 });
      const { history } = await ended<GraphJob>(on.service, id);
      const graphs = await on.service.query(
        'select lever_version, graph, status, reward from candidates where job_id = $1 order by lever_version',
        [id],
      );
      return { history, graphs };
    };
    const first = await run(1);
    on.world.model.reply(async (request) => {
      await new Promise((later) => setTimeout(later, (request.n * 7) % 11));
      return on.world.answer(request);
    });
    expect(await run(9)).toEqual(first);
  });

  test('goes on from a graph that is given, and asks the models that its steps name', async () => {
    const initial_graph = {
      inputs: ['question'],
      steps: [
        {
          id: 'think',
          type: 'llm',
          inputs: { question: 'input.question' },
          messages: [{ role: 'user', content: '{{question}} There is rule-0, rule-1, rule-2.' }],
          model: 'other',
          output: { field: 'answer' },
        },
      ],
      output: 'think.answer',
    };
    const { policy_model: _, ...job } = on.world.job(6, { rollout_budget: 40 });
    const id = await createGraphJob(on.service, { ...job, policy_models: ['task', 'other'], initial_graph });
    expect(await ended<GraphJob>(on.service, id)).toMatchObject({
      status: 'completed',
      best_reward: 1,
    });
    expect(calls('other').length).toBeGreaterThan(0);
  });

  test('is scored by a judge, whose answers are on record; one that cannot be read is no reward', async () => {
    let garbled = 0;
    on.world.model.reply((request) => {
      if (request.body.model === 'judge' && garbled++ < 3) return { text: 'I like it.' };
      return on.world.answer(request);
    });
    const job = on.world.job(6, { rollout_budget: 200, max_concurrent: 1 });
    const { gold_outputs: _, ...dataset } = job['dataset'] as Record<string, unknown>;
    const verifier_config = { mode: 'rubric', model: 'judge' };
    const id = await createGraphJob(on.service, {
      ...job,
      dataset: { ...dataset, default_rubric: 'Is it a rule?', verifier_config },
    });
    const seen = await ended<GraphJob>(on.service, id);
    expect(seen).toMatchObject({ status: 'completed', best_reward: 1 });
    const rollouts = await on.service.query<{ code: string; reward: number | null }>(
      `select error->>'code' as code, reward from rollouts where job_id = $1 and error is not null`,
      [id],
    );
    expect(rollouts).toEqual([{ code: 'judgement_unusable', reward: null }]);
    const [judged] = await on.service.query<{ n: number }>(
      `select count(*) as n from model_calls where job_id = $1 and purpose = 'judge'`,
      [id],
    );
    expect(judged!.n).toBe(calls('judge').length);
  });

  test('fails with a reason where the model refuses every call', async () => {
    on.world.model.reply(() => ({ status: 400, raw: '{"error":{"message":"no such model"}}' }));
    const id = await create(6, { rollout_budget: 40 });
    const seen = await ended<GraphJob>(on.service, id);
    expect(seen).toMatchObject({ status: 'failed' });
    const [row] = await on.service.query<{ error: { code: string; message: string } }>(
      'select error from rollouts where job_id = $1 order by ordinal limit 1',
      [id],
    );
    expect(row!.error).toMatchObject({ code: 'step_refused' });
    expect(row!.error.message).toContain('no such model');
  });
});

describe('budget.max_cost_usd', () => {
  /** Dollars of what the provider answered, at the public price of gpt-4o-mini, a quarter of what each request allows. */
  function priced(solved: boolean) {
    let answered = 0;
    on.world.model.reply((request) => {
      const { body } = request;
      const usage = { prompt_tokens: 100, completion_tokens: Math.floor(Number(body['max_tokens']) / 4) };
      answered += usage.prompt_tokens * 0.15e-6 + usage.completion_tokens * 0.6e-6;
      const reply = on.world.answer(request);
      // There is always something left to learn, so that money is what ends the search.
      return { ...(solved || !reply.text?.startsWith('rule-') ? reply : { text: 'unknown' }), usage };
    });
    return () => answered;
  }
  const model = { policy_model: 'gpt-4o-mini', policy_provider: 'openai', proposer: undefined };

  test('is never exceeded, ends the job with its best, and a refused run is nobody’s failure', async () => {
    const answered = priced(false);
    const budget = { max_cost_usd: 0.06 };
    const id = await create(20, { ...model, budget, rollout_budget: 5_000, max_concurrent: 16 });
    const seen = await ended<GraphJob>(on.service, id);
    expect(seen).toMatchObject({ status: 'completed', stopped_by: 'max_cost_usd', error: null });
    const counted = await until('calls under way are counted', async () => {
      const now = await read(id);
      return now.budget.reserved_usd === 0 && now;
    });
    expect(answered()).toBeLessThanOrEqual(0.06);
    expect(answered()).toBeGreaterThan(0.04);
    expect(counted.budget.spent_usd).toBeCloseTo(answered(), 9);
    expect(counted.usage.total_cost_usd).toBeCloseTo(answered(), 9);
    const failed = await on.service.query(`select 1 from rollouts where job_id = $1 and status = 'failed'`, [id]);
    expect(failed).toEqual([]);
  });

  test('that does not reach for the baseline fails the job, and says so', async () => {
    const answered = priced(true);
    const id = await create(20, { ...model, budget: { max_cost_usd: 0.003 }, max_concurrent: 1 });
    expect(await ended<GraphJob>(on.service, id)).toMatchObject({
      status: 'failed',
      stopped_by: 'max_cost_usd',
      error_details: { code: 'max_cost_usd' },
    });
    expect(answered()).toBeLessThanOrEqual(0.003);
  });
});

describe('commands', () => {
  test('created with auto_start false it is pending until it is started', async () => {
    const id = await create(6, { auto_start: false, rollout_budget: 200 });
    expect(await read(id)).toMatchObject({ status: 'pending', started_at: null });
    expect(await command(on.service, id, 'start')).toMatchObject({ job_id: id, status: 'running' });
    expect(await ended<GraphJob>(on.service, id)).toMatchObject({ status: 'completed', best_reward: 1 });
  });

  test('paused nothing starts, and resumed it goes on', async () => {
    const { opened, open } = gate();
    on.world.model.reply(async (request) => {
      if (request.body.model === 'writer') await opened;
      return on.world.answer(request);
    });
    const id = await create(20);
    await until('a proposal is asked for', () => calls('writer').length > 0);
    expect(await command(on.service, id, 'pause')).toMatchObject({ status: 'paused' });
    const before = calls('task').length;
    open();
    await until('what is in flight has ended', () => on.world.model.finished() >= on.world.model.requests.length);
    await until('a proposal is stored', async () => {
      const stored = await on.service.query('select 1 from candidates where job_id = $1 and lever_version > 0', [id]);
      return stored.length > 0;
    });
    expect([(await read(id)).status, calls('task').length]).toEqual(['paused', before]);
    expect(await command(on.service, id, 'resume')).toMatchObject({ status: 'running' });
    expect(await ended<GraphJob>(on.service, id)).toMatchObject({ status: 'completed' });
    expect(calls('task').length).toBeGreaterThan(before);
  });

  test('cancelled it ends, and keeps the best so far', async () => {
    const { opened, open } = gate();
    on.world.model.reply(async (request) => {
      if (request.body.model === 'writer') await opened;
      return on.world.answer(request);
    });
    const id = await create(20);
    await until('a proposal is asked for', () => calls('writer').length > 0);
    expect(await command(on.service, id, 'cancel')).toMatchObject({ status: 'cancelled' });
    open();
    const seen = await read(id);
    expect(seen).toMatchObject({ status: 'cancelled', best_reward: 0, stopped_by: 'cancelled' });
    expect((await textOf(id)).text).toContain(firstPrompt);
  });
});
