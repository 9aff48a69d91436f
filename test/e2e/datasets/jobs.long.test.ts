import { bestRewardAttribute, rolloutsAttribute, stopReasonAttribute } from '../../../workflows/messages.js';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  createEvaluation,
  createSession,
  deployments,
  ended,
  eventsOf,
  pathOf,
  readJob,
  resultsOf,
  settledSpend,
  type Evaluation,
  type Session,
} from '../../support/jobs-over-http.js';
import { ask, built } from '../../support/deployments-over-http.js';
import { gate } from '../../support/gate.js';
import { until } from '../../support/until.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { judgedOutput } from '../../support/worlds/asked.js';
import { rowsBaseline, startRowsWorld } from '../../support/worlds/rows.js';
import { propose } from '../../support/worlds/rules.js';

const on = serviceOfFile(() => startRowsWorld());
afterEach(() => on.world.reset());

const gepa = { population_size: 2, generations: 12 };
const budget = { max_rollouts: 300 };

interface Trace {
  seed: number;
  reward: number;
  feedback: string;
  details: { output: string; expected: string };
  calls: { request: { messages: { role: string; content: string }[] } }[];
}
const traceOf = (session: string, id: string) => on.service.api.call<Trace>('GET', `${pathOf(session)}/traces/${id}`);

describe('a session on a data set', () => {
  test('finds the prompt with all rules, and compares it with the baseline on held-out rows', async () => {
    const id = await createSession(on.service, { ...on.world.job(40), gepa, budget });
    const seen = await ended<Session>(on.service, id);
    expect(seen).toMatchObject({ status: 'completed', error: null, stopped_by: 'solved', best_reward: 1 });
    expect(seen.container_url).toBeNull();
    expect(seen.dataset).toMatchObject({ num_rows: 40, scorer: 'exact' });
    const { train, evaluation, heldout } = seen.split!;
    expect([...train, ...evaluation, ...heldout].sort((a, b) => a - b)).toEqual([...Array(40).keys()]);
    // Every part has each of the four answers.
    for (const part of [train, evaluation, heldout]) expect(new Set(part.map((row) => row % 4)).size).toBe(4);
    const { best_prompt: best, verdict } = await resultsOf(on.service, id);
    expect(verdict).toBe('better');
    for (let rule = 0; rule < 4; rule += 1) expect(best!.messages[0]!.content).toContain(`rule-${rule}.`);
    expect(best!.messages[1]).toMatchObject({ role: 'user', content: '{{input}}' });
    expect(on.world.policyCalls()).toHaveLength(seen.progress.rollouts_completed);
    const rollouts = seen.progress.rollouts_completed;
    const summary = { verdict: 'better', bestReward: 1, rollouts };
    expect(await on.service.workflow(id).result()).toEqual({ ...summary, name: null, costUsd: null });
    const { typedSearchAttributes: shown, memo } = await on.service.workflow(id).describe();
    expect(memo).toMatchObject(summary);
    expect(shown.get(stopReasonAttribute)).toBe('solved');
    expect([shown.get(bestRewardAttribute), shown.get(rolloutsAttribute)]).toEqual([1, rollouts]);
  });

  test('reports rollouts, estimate and cost while it runs', async () => {
    const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10, cost: 0.001 };
    const second = gate();
    let proposals = 0;
    on.world.model.reply(async (request) => {
      // The second generation waits for its proposals.
      if (request.body.model === 'proposer' && (proposals += 1) > gepa.population_size) await second.opened;
      return { ...on.world.answer(request), usage };
    });
    // With one slot nothing runs beside the proposals that wait.
    const id = await createSession(on.service, { ...on.world.job(40), gepa, budget, max_concurrent: 1 });
    await until('the first generation is over', () => proposals > gepa.population_size);
    const answered = on.world.policyCalls().length + gepa.population_size;
    const midway = await readJob<Session>(on.service, id);
    second.open();
    expect(midway).toMatchObject({
      status: 'running',
      progress: { rollouts_completed: on.world.policyCalls().length },
    });
    const { estimated_reward: estimate, estimated_reward_interval: interval, usage: soFar } = midway;
    expect(estimate).toBeGreaterThan(0);
    expect(interval!.low).toBeLessThanOrEqual(estimate!);
    expect(interval!.high).toBeGreaterThanOrEqual(estimate!);
    expect(soFar.total_cost_usd).toBeCloseTo(answered * usage.cost);

    const seen = await ended<Session>(on.service, id);
    let completed = 0;
    let spent = 0;
    let last: Record<string, unknown> = {};
    for (const { type, data } of await eventsOf(on.service, id)) {
      if (type === 'rollout_completed') expect(data.completed).toBe((completed += 1));
      if (type !== 'generation_complete') continue;
      expect(data.rollouts_completed).toBe(completed);
      expect(data.cost_usd).toBeGreaterThan(spent);
      spent = data.cost_usd as number;
      last = data;
    }
    expect(completed).toBe(seen.progress.rollouts_completed);
    expect(spent).toBeLessThanOrEqual(seen.usage.total_cost_usd!);
    const { estimated_reward, estimated_reward_interval } = seen;
    expect(last).toMatchObject({ estimated_reward, estimated_reward_interval });
  });

  test('records call, output and expected value of a rollout', async () => {
    const id = await createSession(on.service, { ...on.world.job(12), gepa, budget: { max_rollouts: 30 } });
    const seen = await ended<Session>(on.service, id);
    const [frame] = seen.sensor_frames;
    const trace = await traceOf(id, frame!.trace_ids[0]!);
    const { question, answer } = on.world.rows(12)[trace.seed]!;
    expect(trace).toMatchObject({ reward: 0, details: { output: 'No rule.', expected: answer } });
    expect(trace.feedback).toContain(answer);
    expect(trace.calls).toHaveLength(1);
    expect(trace.calls[0]!.request.messages).toEqual([
      { role: 'system', content: rowsBaseline },
      { role: 'user', content: question },
    ]);
  });

  test('rewrites no message that is only a placeholder', async () => {
    const { initial_prompt: _, ...job } = on.world.job(40) as Record<string, unknown>;
    const messages = [
      { role: 'system', content: rowsBaseline },
      { role: 'user', content: '{{question}}' },
    ];
    const id = await createSession(on.service, {
      ...job,
      initial_prompt: { messages },
      budget,
      gepa: { ...gepa, component_selection: 'all' },
    });
    expect(await ended<Session>(on.service, id)).toMatchObject({ best_reward: 1 });
    const { best_prompt: best } = await resultsOf(on.service, id);
    expect(best!.messages[1]!.content).toBe('{{question}}');
  });

  test('searches demonstrations: answers of other rows, never its own', async () => {
    on.world.model.reply(({ body }) => {
      if (body.model === 'proposer') return { text: '```\nAnswer well, please.\n```' };
      const answers = body.messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
      const wanted = `needs rule-${/rule (\d+)/.exec(body.messages.at(-1)!.content)![1]}.`;
      return { text: answers.includes(wanted) ? wanted : 'No rule.' };
    });
    const id = await createSession(on.service, {
      ...on.world.job(40),
      algorithm: 'mipro',
      budget: { max_rollouts: 200 },
      mipro: { num_candidates: 3 },
    });
    const seen = await ended<Session>(on.service, id);
    expect(seen).toMatchObject({ status: 'completed', best_reward: 1 });
    for (const { body } of on.world.policyCalls()) {
      const asked = body.messages.filter(({ role }) => role === 'user').map(({ content }) => content);
      expect(new Set(asked).size).toBe(asked.length);
    }
  });

  test('of which the provider refuses the model fails with the cause, after one call a slot', async () => {
    on.world.model.reply(() => ({ status: 404, raw: '{"error":{"message":"no model policy"}}' }));
    const id = await createSession(on.service, { ...on.world.job(40), gepa, budget, max_concurrent: 2 });
    const seen = await ended<Session>(on.service, id);
    expect(seen).toMatchObject({ status: 'failed', error_details: { code: 'model_not_found' } });
    expect(seen.error).toContain('no model policy');
    expect(on.world.policyCalls().length).toBeLessThanOrEqual(2);
  });
});

describe('the winner of a session on a data set', () => {
  test('is deployed without placeholders: callers bring their own message', async () => {
    const session = await createSession(on.service, { ...on.world.job(40), gepa, budget });
    await ended<Session>(on.service, session);
    const source = { session_id: session };
    const { id } = await on.service.api.call<{ id: string }>('POST', deployments, { name: 'rows', source });
    expect(await built(on.service, id)).toMatchObject({ status: 'ready' });
    const answer = await ask(on.service, id, { messages: [{ role: 'user', content: 'Row 7: rule 3' }] });
    expect(await answer.json()).toMatchObject({ choices: [{ message: { content: 'needs rule-3.' } }] });
    const { messages } = on.world.policyCalls().at(-1)!.body;
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(messages[1]!.content).toBe('Row 7: rule 3');
  });

  test('is not deployed with a placeholder inside a text', async () => {
    const { initial_prompt: _, ...job } = on.world.job(12) as Record<string, unknown>;
    const messages = [{ role: 'user', content: 'Answer: {{input}}' }];
    const session = await createSession(on.service, { ...job, initial_prompt: { messages }, gepa, budget });
    await ended<Session>(on.service, session);
    const refused = on.service.api.call('POST', deployments, { name: 'r', source: { session_id: session } });
    await expect(refused).rejects.toThrow(/422 source.session_id: .*{{input}} inside a text/);
  });
});

describe('an evaluation on a data set', () => {
  const policy = { policy: { provider: 'fake', model: 'policy' }, preflight: false };

  test('runs all rows of an uploaded file with a prompt', async () => {
    const uploaded = await on.service.api.call<{ dataset_id: string }>('POST', '/api/v1/datasets', on.world.rows(8));
    const id = await createEvaluation(on.service, {
      ...policy,
      env_name: undefined,
      scorer: { type: 'exact' },
      dataset: { dataset_id: uploaded.dataset_id, input: 'question', expected: 'answer' },
      candidate: { messages: [{ role: 'user', content: 'rule-0. rule-1. {{question}}' }] },
    });
    const seen = await ended<Evaluation>(on.service, id);
    expect(seen).toMatchObject({ status: 'completed', results: { mean_reward: 0.5 }, container_url: null });
    expect(seen.dataset).toMatchObject({ dataset_id: uploaded.dataset_id, num_rows: 8 });
    expect(on.world.policyCalls()[0]!.body.messages).toHaveLength(1);
  });

  test('runs the winner of a session on other rows', async () => {
    const session = await createSession(on.service, { ...on.world.job(40), gepa, budget });
    await ended<Session>(on.service, session);
    const id = await createEvaluation(on.service, {
      ...policy,
      env_name: undefined,
      scorer: 'exact',
      candidate: { session_id: session },
      dataset: { rows: on.world.rows(60), input: 'question', expected: 'answer' },
      seeds: '40-59',
    });
    const seen = await ended<Evaluation>(on.service, id);
    expect(seen).toMatchObject({ status: 'completed', num_seeds: 20, results: { mean_reward: 1 } });
  });

  test('is scored by several scorers with their weights, a judge among them', async () => {
    on.world.model.reply(({ body }) => {
      if (body.model !== 'judge') return { text: 'needs rule-0.' };
      return { text: JSON.stringify({ criteria: [{ name: 'kind', reason: 'It is curt.', score: 0.5 }] }) };
    });
    const rubric = { type: 'rubric', criteria: '- kind (1): Is the answer kind?', model: 'judge' };
    const id = await createEvaluation(on.service, {
      ...policy,
      env_name: undefined,
      candidate: { messages: [{ role: 'user', content: '{{question}}' }] },
      dataset: { rows: on.world.rows(4), input: 'question', expected: 'answer' },
      scorer: {
        type: 'weighted',
        parts: [
          { weight: 3, scorer: 'exact' },
          { weight: 1, scorer: rubric },
        ],
      },
    });
    const seen = await ended<Evaluation>(on.service, id);
    // Row 0: (3 × 1 + 0.5) / 4; rows 1 to 3: 0.5 / 4.
    expect(seen).toMatchObject({ status: 'completed', results: { mean_reward: (3.5 / 4 + 3 * (0.5 / 4)) / 4 } });
    expect(seen.dataset).toMatchObject({ scorer: 'weighted' });
    const judged = on.world.model.requests.filter(({ body }) => body.model === 'judge');
    expect(judged).toHaveLength(4);
  });
});

describe('a judge', () => {
  const judge = { type: 'rubric', criteria: 'Is it right?', model: 'judge' };
  const twoRules = { messages: [{ role: 'system', content: 'There is rule-0. There is rule-1.' }] };
  /** Evaluates with a judge that gives an output this score. */
  const evaluate = async (scorer: unknown, score: (isRight: boolean) => number) => {
    on.world.model.reply((request) => {
      const { model, messages } = request.body;
      if (model !== 'judge') return on.world.answer(request);
      const isRight = !judgedOutput(messages).startsWith('No rule');
      const criteria = [{ name: 'rubric', reason: 'because', score: score(isRight) }];
      return { text: JSON.stringify({ criteria }) };
    });
    const { initial_prompt: _, proposer: __, ...job } = on.world.job(40) as Record<string, unknown>;
    const id = await createEvaluation(on.service, { ...job, env_name: undefined, scorer, candidate: twoRules });
    return ended<Evaluation>(on.service, id);
  };

  test('is compared with the labels of the rows', async () => {
    const honest = await evaluate(judge, (isRight) => (isRight ? 0.9 : 0.2));
    const agreed = { outputs: 40, accuracy: 1, kappa: 1, better_than_chance: true };
    expect(honest).toMatchObject({ status: 'completed', judge_agreement: agreed });
    const results = await on.service.api.call('GET', `${pathOf(honest.job_id)}/results`);
    expect(results).toMatchObject({ judge_agreement: agreed });

    const weighted = { type: 'weighted', parts: [judge, 'exact'].map((scorer) => ({ weight: 1, scorer })) };
    const kind = await evaluate(weighted, () => 1);
    expect(kind.judge_agreement).toMatchObject({ outputs: 40, accuracy: 0.5, kappa: 0, better_than_chance: false });
    expect((await evaluate('exact', () => 1)).judge_agreement).toBeUndefined();
  });

  test('is paid from budget.max_cost_usd, and ends the session by it', async () => {
    const dollars = { 'gpt-4o-mini': 0.000_01, 'gpt-4.1-nano': 0.000_02, 'gpt-4.1-mini': 0.001 };
    on.world.model.reply((request) => {
      const model = request.body.model as keyof typeof dollars;
      const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20, cost: dollars[model] };
      if (model !== 'gpt-4.1-mini') return { text: model === 'gpt-4o-mini' ? 'No rule.' : propose(request), usage };
      const criteria = [{ name: 'rubric', reason: 'because', score: 0.5 }];
      return { text: JSON.stringify({ criteria }), usage };
    });
    const openai = (model: keyof typeof dollars) => ({ provider: 'openai', model, max_tokens: 100 });
    const maxUsd = 0.05;
    const id = await createSession(on.service, {
      ...on.world.job(40),
      scorer: { ...judge, provider: 'openai', model: 'gpt-4.1-mini' },
      policy: openai('gpt-4o-mini'),
      proposer: openai('gpt-4.1-nano'),
      gepa: { population_size: 2, generations: 100 },
      budget: { max_cost_usd: maxUsd },
    });
    const seen = await ended<Session>(on.service, id);
    expect(seen).toMatchObject({ status: 'completed', stopped_by: 'max_cost_usd', error: null });
    const paid = on.world.model.requests.map(({ body }) => dollars[body.model as keyof typeof dollars]);
    const answered = paid.reduce((sum, usd) => sum + usd, 0);
    expect(await settledSpend(on.service, id)).toBeCloseTo(answered, 9);
    expect(answered).toBeLessThanOrEqual(maxUsd);
    expect(answered).toBeGreaterThan(0.75 * maxUsd);
    // Nearly all of it is the judge's.
    const judged = on.world.model.requests.filter(({ body }) => body.model === 'gpt-4.1-mini');
    expect(judged.length * dollars['gpt-4.1-mini']).toBeGreaterThan(0.95 * answered);
  });
});
