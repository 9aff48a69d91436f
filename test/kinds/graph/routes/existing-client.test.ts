/** Bodies as `synth-ai` 0.9.0 sends them: `GraphGenJob.from_dataset(...).submit()`. */
import { expect, test } from '@jest/globals';
import { httpOfFile } from '../../../platform/http/support.js';

const url = '/api/graphgen/jobs';
const http = httpOfFile({ checkProvider: () => null });

const none = { input_schema: null, output_schema: null, select_output: null };
const rubric = {
  outcome: { criteria: [{ name: 'right', description: 'Is right.', expected_answer: '4', weight: 2 }] },
  events: null,
};
const tasks = Array.from({ length: 12 }, (_, i) => ({ id: `t${i}`, input: { question: `q${i}` }, rubric: null }));
const golds = tasks.map(({ id }) => ({ output: { answer: 'x' }, task_id: id, note: null }));
const verifier = { mode: 'rubric', model: 'llama-3.3-70b-versatile', provider: 'groq', scoring_guidelines: null };
const metadata = { name: 'n', description: 'Add up.', created_at: null, version: '1.0', ...none, output_config: null };
const dataset = {
  version: '1.0',
  metadata,
  tasks,
  gold_outputs: golds,
  default_rubric: rubric,
  verifier_config: verifier,
  ...none,
  output_config: { schema_: null, format: 'json', strict: true, extract_from: null },
  initial_prompt: 'Optimizing prompt graph...',
};
const recorded = {
  dataset,
  initial_prompt: null,
  policy_models: ['gpt-4o-mini'],
  rollout_budget: 100,
  proposer_effort: 'medium',
  initial_graph_id: 'single',
  metadata: {},
  auto_start: true,
};
const withDataset = (changes: object) => ({ ...recorded, dataset: { ...dataset, ...changes } });

async function created(body: object) {
  const answer = await http.call('POST', url, body);
  expect([answer.status, answer.body.errors]).toEqual([201, undefined]);
  const id = answer.body.job_id as string;
  const { spec } = (
    await http.db.org('default', (tx) => tx.query('select spec from jobs where id = $1', [id]))
  )[0]! as {
    spec: Record<string, unknown>;
  };
  const stored = await http.db.org('default', (tx) =>
    tx.query<{ rubric: unknown }>('select rubric from graph_tasks where job_id = $1 order by task_index', [id]),
  );
  return { answer: answer.body, spec, rubrics: stored.map((row) => row.rubric) };
}
const refused = async (body: object) => {
  const { status, body: answer } = await http.call('POST', url, body);
  return [status, answer.errors?.map(({ pointer }: { pointer: string }) => pointer)];
};

test('the whole body is accepted, and a warning names the fields without a use', async () => {
  const { answer, spec, rubrics } = await created(recorded);
  expect(answer).toMatchObject({ graph_evolve_job_id: answer.job_id, graph_gen_job_id: answer.job_id });
  expect(answer.warnings[0]).toMatch(/: dataset\.version, dataset\.output_config\.$/);
  expect(spec).toMatchObject({
    verifier: { type: 'rubric', judge: { model: 'llama-3.3-70b-versatile', provider: 'groq' } },
    description: 'Add up.',
    unused: { 'dataset.version': '1.0', 'dataset.output_config': dataset.output_config },
  });
  const criteria = [{ name: 'right', weight: 2, description: 'Is right.\nExpected answer: 4' }];
  expect(rubrics).toEqual(Array(12).fill({ criteria }));
  // The prompt is the description: the text that the client sends for none is no prompt.
  const graph = JSON.parse(spec['initialGraph'] as string) as { steps: { messages: { content: string }[] }[] };
  expect(graph.steps).toHaveLength(1);
  expect(graph.steps[0]!.messages[0]!.content).toBe('Add up.');
  const { warnings } = (await http.call('GET', `${url}/${answer.job_id}`)).body;
  expect(warnings).toEqual(answer.warnings);
});

test('all that the client can set', async () => {
  const { answer, spec } = await created({
    ...withDataset({
      gold_outputs: [...golds, { output: { answer: 'y' }, task_id: null, note: 'of no task' }],
      default_rubric: { outcome: null, events: { criteria: [] } },
      verifier_config: { ...verifier, mode: 'contrastive', scoring_guidelines: 'Be strict.' },
      output_schema: { type: 'object' },
    }),
    policy_provider: 'openai',
    judge_model: 'judge',
    judge_provider: 'openai',
    problem_spec: 'Sums.',
    target_llm_calls: 5,
    eval_sample_size: 10,
    feedback_sample_size: 3,
    metadata: { population_size: 6 },
  });
  expect(spec).toMatchObject({
    verifier: { type: 'gold_examples', judge: { model: 'judge', provider: 'openai' } },
    description: 'Add up.\n\nSums.',
  });
  expect(Object.keys(spec['unused'] as object).sort()).toEqual([
    'dataset.default_rubric.events',
    'dataset.gold_outputs without task_id',
    'dataset.gold_outputs[].note',
    'dataset.output_config',
    'dataset.output_schema',
    'dataset.verifier_config.scoring_guidelines',
    'dataset.version',
    'eval_sample_size',
    'feedback_sample_size',
    'target_llm_calls',
  ]);
  for (const name of Object.keys(spec['unused'] as object)) expect(answer.warnings[0]).toContain(name);
});

test("the client's default verifier without a rubric compares with the gold outputs, or follows the guidelines", async () => {
  const compared = await created(withDataset({ default_rubric: null }));
  expect(compared.spec).toMatchObject({ verifier: { type: 'gold_examples' } });
  expect(compared.answer.warnings[1]).toContain('gold_examples');
  const scoring_guidelines = 'Allow partial credit.';
  const guided = await created(
    withDataset({ default_rubric: null, verifier_config: { ...verifier, scoring_guidelines } }),
  );
  expect(guided.spec).toMatchObject({ verifier: { type: 'rubric' } });
  expect(guided.rubrics).toEqual(Array(12).fill(scoring_guidelines));
  expect(await refused(withDataset({ default_rubric: null, gold_outputs: [] }))).toEqual([
    422,
    ['/dataset/default_rubric'],
  ]);
});

test('options that a mode does not use are named in a warning', async () => {
  const text = tasks.map(({ id }) => ({ task_id: id, output: 'x' }));
  const exact = { mode: 'exact', model: 'm', provider: 'nobody', tolerance: 1 };
  const { answer, spec } = await created(
    withDataset({ gold_outputs: text, verifier_config: exact, rubric: undefined }),
  );
  expect(spec).toMatchObject({ verifier: { type: 'exact', caseSensitive: false } });
  const warned: string = answer.warnings[0];
  for (const name of ['model', 'provider', 'tolerance']) expect(warned).toContain(`dataset.verifier_config.${name}`);
});

test('the provider of a proposer is by default that of the policy', async () => {
  const { spec } = await created({ ...recorded, policy_provider: 'local', proposer: { model: 'p', temperature: 1 } });
  expect(spec).toMatchObject({ proposer: { model: 'p', provider: 'local', params: { temperature: 1 } } });
});

test.each([
  ['another graph', { ...recorded, initial_graph_id: 'other' }, '/initial_graph_id'],
  ['two graphs', { ...recorded, initial_graph: {} }, '/initial_graph_id'],
  ['a prompt in the wrong place', { ...recorded, initial_prompt: 'x' }, '/initial_prompt'],
  ['an unknown field', withDataset({ golds: [] }), '/dataset/golds'],
])('%s is refused', async (_name, body, pointer) => {
  expect(await refused(body)).toEqual([422, [pointer]]);
});
