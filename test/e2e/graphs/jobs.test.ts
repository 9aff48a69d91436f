import { describe, expect, test } from '@jest/globals';
import { command, createGraphJob, ended, eventsOf, pathOf, type GraphJob } from '../../support/jobs-over-http.js';
import { gate } from '../../support/gate.js';
import { currentOf, kindOf } from '../../support/worlds/asked.js';
import { firstPrompt } from '../../support/worlds/graph.js';
import { range } from '../../support/range.js';
import { allRules, graphOf, graphServiceOfFile, llm } from './support.js';
import { until } from '../../support/until.js';

const { on, create, read, calls, textOf } = graphServiceOfFile();

describe('a graph job', () => {
  test('finds a graph with all rules, by prompts and by edits, and its own report is consistent', async () => {
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
      `select json_array_length(graph->'steps') as steps, messages from candidates where job_id = $1`,
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

    // Every call's tokens are counted, and each call is recorded once.
    const [recorded] = await on.service.query<{ n: number; tokens: number }>(
      'select count(*) as n, sum(prompt_tokens + completion_tokens)::int as tokens from model_calls where job_id = $1',
      [id],
    );
    expect(recorded!.n).toBe(calls('task').length + calls('writer').length);
    expect(seen.usage.total_tokens).toBe(recorded!.tokens);
  });

  test('tries its winner without each step before it ends, and keeps the steps that are needed', async () => {
    on.world.model.reply((request) => {
      const { messages } = request.body;
      if (kindOf(messages) !== 'text') return on.world.answer(request);
      // Rewrites change nothing, so that rules come by steps.
      return { text: `\`\`\`\n${currentOf(messages)}\n\`\`\`` };
    });
    const id = await create(40, { rollout_budget: 300 });
    const seen = await ended<GraphJob>(on.service, id);
    expect(seen).toMatchObject({ status: 'completed', best_reward: 1 });
    const ablated = await on.service.query<{ id: string; edits: object[]; status: string }>(
      `select id, edits, status from candidates where job_id = $1 and detail ? 'ablation'`,
      [id],
    );
    expect(ablated.length).toBeGreaterThan(0);
    for (const { edits } of ablated) expect(edits).toEqual([expect.objectContaining({ edit: 'remove' })]);
    for (const { id: candidate } of ablated.filter(({ status }) => status === 'rejected')) {
      const path = `${pathOf(id)}/candidates/${candidate}`;
      const detail = await on.service.api.call<{ edits: object[] }>('GET', path);
      expect(detail).toMatchObject({ candidate_id: candidate, edits: [{ edit: 'remove' }] });
    }
  });

  test('has a trace of each task, with the usage of each step', async () => {
    const solve = llm('solve', `{{thought}} ${allRules}`, { thought: 'think.answer' });
    const initial_graph = graphOf([llm('think', allRules), { ...solve, samples: 3 }], 'solve');
    const job = on.world.job(6, { initial_graph, rollout_budget: 20 });
    const { gold_outputs: _, ...dataset } = job['dataset'] as Record<string, unknown>;
    const verifier_config = { mode: 'rubric', model: 'judge' };
    const id = await createGraphJob(on.service, {
      ...job,
      dataset: { ...dataset, default_rubric: 'Is it a rule?', verifier_config },
    });
    await ended<GraphJob>(on.service, id);
    const [rollout] = await on.service.query<{ id: string }>(
      `select id from rollouts where job_id = $1 and status = 'succeeded' order by ordinal limit 1`,
      [id],
    );
    const headers = { authorization: `Bearer ${on.service.apiKey}` };
    const trace = (await (await fetch(`${on.service.url}${pathOf(id)}/traces/${rollout!.id}`, { headers })).json()) as {
      seed: number;
      task_id: string;
      steps: { step: string; calls: number; prompt_tokens: number; completion_tokens: number }[];
      calls: { step: string | null }[];
      usage: { total_tokens: number };
    };
    const task = await on.service.query<{ id: string }>(
      'select task_id as id from graph_tasks where job_id = $1 and task_index = $2',
      [id, trace.seed],
    );
    expect(trace.task_id).toBe(task[0]!.id);
    const told = await on.service.query<{ task: string }>(
      `select data->>'task_id' as task from events where job_id = $1 and data->>'rollout_id' = $2`,
      [id, rollout!.id],
    );
    expect(told).toEqual([{ task: trace.task_id }]);
    expect(trace.steps.map((step) => [step.step, step.calls])).toEqual([
      ['think', 1],
      ['solve', 3],
    ]);
    expect(trace.calls.map((call) => call.step)).toEqual(['think', 'solve', 'solve', 'solve', null]);
    const [judged] = await on.service.query<{ tokens: number }>(
      `select (prompt_tokens + completion_tokens)::int as tokens from model_calls where rollout_id = $1 and purpose = 'judge'`,
      [rollout!.id],
    );
    const ofSteps = trace.steps.reduce((sum, step) => sum + step.prompt_tokens + step.completion_tokens, 0);
    expect(ofSteps + judged!.tokens).toBe(trace.usage.total_tokens);
  });

  test('fails with a reason when the model refuses every call', async () => {
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

describe('a provider that refuses its key', () => {
  const refusal = { status: 401, raw: '{"error":{"message":"Incorrect API key provided: sk-test"}}' };
  const refuse = (asker: string) =>
    on.world.model.reply((request) => (request.body.model === asker ? refusal : on.world.answer(request)));

  test('fails the job at its first call, and names the setting', async () => {
    refuse('gpt-4o-mini');
    const id = await create(20, { policy_model: 'gpt-4o-mini', policy_provider: 'openai', max_concurrent: 2 });
    const seen = await ended<GraphJob>(on.service, id);
    expect(seen).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/openai.*401.*OPENAI_API_KEY/),
      error_details: { code: 'provider_refused_key', retryable: false },
      progress: { rollouts_completed: 0 },
    });
    expect(seen.error).not.toContain('sk-test');
    // At most the concurrent calls: the baseline stops after the refusal.
    expect(on.world.model.requests.length).toBeLessThanOrEqual(2);
  });

  test('fails the job for the judge, too', async () => {
    refuse('judge');
    const { gold_outputs: _, ...dataset } = on.world.job(20)['dataset'] as Record<string, unknown>;
    const verifier_config = { mode: 'rubric', model: 'judge' };
    const judged = { ...dataset, default_rubric: 'Is it a rule?', verifier_config };
    const id = await create(20, { dataset: judged, max_concurrent: 2 });
    expect(await ended<GraphJob>(on.service, id)).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/401.*Check FAKE_API_KEY/),
      error_details: { code: 'provider_refused_key' },
    });
    expect(calls('judge').length).toBeLessThanOrEqual(2);
  });

  test('fails the job for the proposer, as for sessions, and keeps the baseline', async () => {
    refuse('writer');
    const id = await create(20);
    expect(await ended<GraphJob>(on.service, id)).toMatchObject({
      status: 'failed',
      best_reward: 0,
      error: expect.stringMatching(/401.*Check FAKE_API_KEY/),
      error_details: { code: 'provider_refused_key' },
    });
    expect(calls('writer').length).toBeLessThanOrEqual(4);
    expect((await textOf(id)).text).toContain(firstPrompt);
  });
});

describe('budget.max_cost_usd', () => {
  /** Cost of all answers at gpt-4o-mini's price; each has a quarter of the allowed tokens. */
  function priced(solved: boolean) {
    let answered = 0;
    on.world.model.reply((request) => {
      const { body } = request;
      const usage = { prompt_tokens: 100, completion_tokens: Math.floor(Number(body['max_tokens']) / 4) };
      answered += usage.prompt_tokens * 0.15e-6 + usage.completion_tokens * 0.6e-6;
      const reply = on.world.answer(request);
      // The search never runs out of rules: the budget ends it.
      return { ...(solved || !reply.text?.startsWith('rule-') ? reply : { text: 'unknown' }), usage };
    });
    return () => answered;
  }
  const model = { policy_model: 'gpt-4o-mini', policy_provider: 'openai', proposer: undefined };

  test('is never exceeded, ends the job with its best, and a refused run is not a failure of a graph', async () => {
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

  test('fails the job with a message when it does not cover the baseline', async () => {
    const answered = priced(true);
    const id = await create(20, { ...model, budget: { max_cost_usd: 0.003 }, max_concurrent: 1 });
    expect(await ended<GraphJob>(on.service, id)).toMatchObject({
      status: 'failed',
      stopped_by: 'max_cost_usd',
      error: expect.stringMatching(
        /^budget\.max_cost_usd did not last until the baseline .* Raise it, or give fewer tasks\.$/,
      ),
      error_details: { code: 'max_cost_usd' },
    });
    expect(answered()).toBeLessThanOrEqual(0.003);
  });
});

describe('commands', () => {
  /** A job whose proposer has been called and answers after the release. */
  async function createHeld() {
    const { opened, open } = gate();
    on.world.model.reply(async (request) => {
      if (request.body.model === 'writer') await opened;
      return on.world.answer(request);
    });
    const id = await create(20);
    await until('a proposal is asked for', () => calls('writer').length > 0);
    return { id, open };
  }

  test('with auto_start false the job is pending until its start', async () => {
    const id = await create(6, { auto_start: false, rollout_budget: 200 });
    expect(await read(id)).toMatchObject({ status: 'pending', started_at: null });
    expect(await command(on.service, id, 'start')).toMatchObject({ job_id: id, status: 'running' });
    expect(await ended<GraphJob>(on.service, id)).toMatchObject({ status: 'completed', best_reward: 1 });
  });

  test('a cancelled job ends and keeps its best candidate', async () => {
    const { id, open } = await createHeld();
    expect(await command(on.service, id, 'cancel')).toMatchObject({ status: 'cancelled' });
    open();
    const seen = await read(id);
    expect(seen).toMatchObject({ status: 'cancelled', best_reward: 0, stopped_by: 'cancelled' });
    expect((await textOf(id)).text).toContain(firstPrompt);
  });
});
