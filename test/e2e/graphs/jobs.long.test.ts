import { describe, expect, test } from '@jest/globals';
import { createGraphJob, ended, eventsOf, type GraphJob } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { allRules, graphOf, graphServiceOfFile, llm } from './support.js';
import { isProposal, kindOf } from '../../support/worlds/asked.js';

const { on, create, calls, textOf } = graphServiceOfFile();

describe('a graph job', () => {
  test('is equal for equal rng_seed in any order of answers', async () => {
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

  test('starts from a given graph and calls the models of its steps', async () => {
    const initial_graph = graphOf([{ ...llm('think', allRules), model: 'other' }], 'think.answer');
    const { policy_model: _, ...job } = on.world.job(6, { rollout_budget: 40 });
    const id = await createGraphJob(on.service, { ...job, policy_models: ['task', 'other'], initial_graph });
    expect(await ended<GraphJob>(on.service, id)).toMatchObject({
      status: 'completed',
      best_reward: 1,
    });
    expect(calls('other').length).toBeGreaterThan(0);
  });

  test('preserves a given graph and the order of its steps’ inputs, also in children', async () => {
    const text = (id: string, text: string) => ({ id, type: 'transform', op: 'template', inputs: {}, text });
    const ask = (id: string, inputs: object, content: string, output: object) => {
      return { id, type: 'llm', inputs, messages: [{ role: 'user', content }], output };
    };
    const given = { question: 'input.question', said: 'said' };
    const properties = { explanation: { type: 'string' }, a: { type: 'string' } };
    const initial_graph = {
      inputs: ['question'],
      steps: [
        text('one', 'FIRST'),
        text('two', 'SECOND'),
        // The long name comes before the short one.
        { id: 'both', type: 'transform', op: 'list', inputs: { original: 'one', b: 'two' } },
        { id: 'said', type: 'transform', op: 'join', inputs: { list: 'both' }, by: '|' },
        ask('solve', given, 'Name the rule: {{question}} {{said}}', { field: 'answer' }),
        ask('other', given, '{{question}} {{said}}', { schema: { type: 'object', properties, required: ['a'] } }),
        {
          id: 'either',
          type: 'select',
          cases: [{ when: { of: 'one', is: 'equals', value: 'FIRST' }, then: 'solve.answer' }],
          otherwise: 'other.a',
        },
      ],
      output: 'either',
    };
    const id = await create(12, { initial_graph, rollout_budget: 150 });
    expect(await ended<GraphJob>(on.service, id)).toMatchObject({ status: 'completed', best_reward: 1 });
    const joined = calls('task').flatMap(({ body }) => /\w+\|\w+/.exec(JSON.stringify(body.messages)) ?? []);
    expect(new Set(joined)).toEqual(new Set(['FIRST|SECOND']));
    const graphs = await on.service.query<{ graph: typeof initial_graph }>(
      'select graph from candidates where job_id = $1 order by lever_version',
      [id],
    );
    expect(graphs[0]!.graph).toEqual(initial_graph);
    const listed = graphs.map(({ graph }) => JSON.stringify(graph.steps.find((step) => step.id === 'both')!.inputs));
    expect(new Set(listed)).toEqual(new Set(['{"original":"one","b":"two"}']));
    expect(graphs.length).toBeGreaterThan(2);
    const shown = (await textOf(id)).text;
    expect(shown).toMatch(/input original = one\n +input b = two/);
    expect(shown).toContain(JSON.stringify(properties));
  });

  test('continues with the recorded answer, without characters that Postgres rejects', async () => {
    const initial_graph = graphOf(
      [llm('think', 'Think!'), llm('solve', `{{thought}} ${allRules}`, { thought: 'think.answer' })],
      'solve.answer',
    );
    const isThought = (said: string) => said.endsWith('Think!');
    on.world.model.reply((request) =>
      isThought(request.body.messages[0]!.content) ? { text: 'nul\0 half\ud83d' } : on.world.answer(request),
    );
    const id = await create(6, { initial_graph, rollout_budget: 40 });
    expect(await ended<GraphJob>(on.service, id)).toMatchObject({ status: 'completed', best_reward: 1 });
    const prompts = calls('task')
      .map(({ body }) => body.messages[0]!.content)
      .filter((said) => !isThought(said));
    expect(prompts.length).toBeGreaterThan(0);
    for (const said of prompts) expect(said).toContain('nul\ufffd half\ufffd');
  });

  test('removes a useless costly step with the reason cheaper', async () => {
    const initial_graph = graphOf(
      [llm('think', allRules), llm('solve', `{{thought}} ${allRules}`, { thought: 'think.answer' })],
      'solve.answer',
    );
    const edits = [
      { edit: 'prompt', step: 'solve', messages: llm('', allRules).messages },
      { edit: 'rewire', step: 'solve', input: 'thought', to: null },
    ];
    on.world.model.reply((request) => {
      const said = request.body.messages.map(({ content }) => content).join('\n');
      if (kindOf(request.body.messages) !== 'edits') return on.world.answer(request);
      expect(said).toMatch(/## What it took\n2 model calls, \d+ tokens/);
      expect(said).toMatch(/at most [36] model calls, of the edited graph at most 72: /);
      return { text: `\`\`\`json\n${JSON.stringify(edits)}\n\`\`\`` };
    });
    const job = on.world.job(12, { initial_graph, rollout_budget: 80, proposer_effort: 'low' });
    const dataset = job['dataset'] as { gold_outputs: { task_id: string; output: string }[] };
    // Failures of all runs are the material to learn from.
    const gold_outputs = dataset.gold_outputs.map((gold, at) => (at % 2 === 0 ? gold : { ...gold, output: 'rule-9' }));
    const id = await createGraphJob(on.service, { ...job, dataset: { ...dataset, gold_outputs } });
    const seen = await ended<GraphJob>(on.service, id);
    expect(seen.status).toBe('completed');
    expect((await textOf(id)).text).not.toContain('think');
    expect(seen.best_reward).toBe(seen.history[0]!.best_reward);
    const accepted = (await eventsOf(on.service, id)).filter(({ type }) => type === 'candidate_accepted');
    expect(accepted).toEqual([
      expect.objectContaining({
        data: expect.objectContaining({ candidate_id: seen.best_candidate!.candidate_id, reason: 'cheaper' }),
      }),
    ]);
  });

  test('is scored by a judge, with recorded answers; an unreadable judgement gives no reward', async () => {
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
    const again = calls('judge')[1]!.body.messages.at(-1)!.content;
    expect(again).toMatch(/^Your answer cannot be used: .* Answer again: one JSON object and nothing else/);
    expect(again).not.toContain('```');
  });

  test('scores a graph without output 0 and learns from it', async () => {
    const schema = { type: 'object', properties: { rule: { type: 'string' } }, required: ['rule'] };
    const initial_graph = graphOf([{ ...llm('solve', ''), tries: 1, output: { schema } }], 'solve.rule');
    const fixed = '{{question}} Answer in JSON.';
    on.world.model.reply((request) => {
      const said = request.body.messages.map(({ content }) => content).join('\n');
      if (isProposal(request.body.messages)) {
        expect(said).toContain('There is no output. Step solve: The answer is not usable');
        const edits = [{ edit: 'prompt', step: 'solve', messages: [{ role: 'user', content: fixed }] }];
        const text = kindOf(request.body.messages) === 'edits' ? JSON.stringify(edits) : fixed;
        return { text: `\`\`\`\n${text}\n\`\`\`` };
      }
      const item = Number(/item (\d+)/.exec(said)![1]);
      const rule = `rule-${item % on.world.rules}`;
      return { text: said.includes('JSON') ? JSON.stringify({ rule }) : rule };
    });
    const id = await create(60, { initial_graph, rollout_budget: 400 });
    expect(await ended<GraphJob>(on.service, id)).toMatchObject({ status: 'completed', best_reward: 1 });
  });

  test.each([
    ['a slow provider', { rollout_timeout: 1 }, () => new Promise((later) => setTimeout(later, 1_500))],
    ['a missing path', {}, () => Promise.resolve()],
  ])('does not blame the graph for %s', async (what, more, wait) => {
    on.world.model.reply(async (request) => {
      await wait();
      return what.includes('slow') ? on.world.answer(request) : { status: 404, raw: 'gone' };
    });
    const id = await create(6, { rollout_budget: 40, ...more });
    expect(await ended<GraphJob>(on.service, id)).toMatchObject({ status: 'failed' });
    const rollouts = await on.service.query<{ infrastructure: string; reward: number | null }>(
      `select error->>'infrastructure' as infrastructure, reward from rollouts where job_id = $1 and status = 'failed'`,
      [id],
    );
    expect(new Set(rollouts.map((rollout) => JSON.stringify(rollout)))).toEqual(
      new Set([JSON.stringify({ infrastructure: 'true', reward: null })]),
    );
  });

  test('waiting for the budget does not count as running time', async () => {
    const ids = range(0, 8).map((n) => `solve_${n}`);
    const vote = { id: 'vote', type: 'vote', of: ids.map((id) => `${id}.answer`), by: 'majority' };
    const initial_graph = graphOf([...ids.map((id) => llm(id, allRules)), vote], 'vote');
    on.world.model.reply(async (request) => {
      await new Promise((later) => setTimeout(later, 200));
      return { ...on.world.answer(request), usage: { prompt_tokens: 1, completion_tokens: 1 } };
    });
    // Room for one reserved call at a time: a run of eight calls exceeds its time limit.
    const model = { policy_model: 'gpt-4o-mini', policy_provider: 'openai', proposer: undefined };
    const id = await create(6, {
      ...model,
      initial_graph,
      rollout_budget: 20,
      rollout_timeout: 1,
      max_concurrent: 1,
      budget: { max_cost_usd: 0.004 },
    });
    expect(await ended<GraphJob>(on.service, id, 120)).toMatchObject({ status: 'completed', best_reward: 1 });
    const failed = await on.service.query(`select error from rollouts where job_id = $1 and error is not null`, [id]);
    expect(failed).toEqual([]);
  });
});
