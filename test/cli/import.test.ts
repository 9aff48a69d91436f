import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { Report } from '../../src/cli/import/imported.js';
import { folderOf, projectOf } from '../../src/cli/import/project.js';
import { readImport, variablesOf } from '../../src/cli/import/read.js';
import { readSources } from '../../src/cli/import/source.js';
import { scorerSchema } from '../../src/scorers/index.js';
import { ConfigError } from '../../src/service/config.js';

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'ratchet-import-'))));
afterAll(() => rm(folder, { recursive: true }));

let count = 0;

/** Files of a new folder: objects as JSON, lists as JSONL, texts as they are. */
async function filesOf(files: Record<string, unknown>): Promise<string> {
  const home = join(folder, `case-${(count += 1)}`);
  for (const [name, value] of Object.entries(files)) {
    await mkdir(dirname(join(home, name)), { recursive: true });
    const lines = Array.isArray(value) && name.endsWith('l') && !name.endsWith('yaml');
    const text = lines ? value.map((one) => JSON.stringify(one)).join('\n') : value;
    await writeFile(join(home, name), typeof text === 'string' ? text : JSON.stringify(text));
  }
  return home;
}

async function read(files: Record<string, unknown>, { name, of = [''] }: { name?: string; of?: string[] } = {}) {
  const home = await filesOf(files);
  const report = new Report();
  const imported = await readImport(await readSources(of.map((one) => join(home, one))), name, report);
  // The service must take the scorer.
  if (imported.scorer) expect(scorerSchema.safeParse(imported.scorer).error).toBeUndefined();
  return { ...imported, values: imported.rows.map(({ value }) => value), report };
}

async function refused(files: Record<string, unknown>, options = {}): Promise<string> {
  const error: unknown = await read(files, options).catch((thrown: unknown) => thrown);
  if (!(error instanceof ConfigError)) throw new Error(`no refusal but ${JSON.stringify(error)}`);
  return error.message;
}

const output = '{{ sample.output_text }}';
const check = (more: object = {}) => ({
  type: 'string_check',
  name: 'label',
  input: output,
  operation: 'eq',
  reference: '{{ item.label }}',
  ...more,
});
const evalOf = (...criteria: object[]) => ({
  object: 'eval',
  id: 'eval_1',
  name: 'Tickets',
  data_source_config: { type: 'custom', schema: { type: 'object' } },
  testing_criteria: criteria.length > 0 ? criteria : [check()],
});
const template = [
  { type: 'message', role: 'developer', content: { type: 'input_text', text: 'Sort the ticket.' } },
  { role: 'user', content: '{{ item.ticket }}' },
];
const runOf = (more: object = {}) => ({
  object: 'eval.run',
  id: 'evalrun_1',
  eval_id: 'eval_1',
  created_at: 1,
  data_source: {
    type: 'responses',
    model: 'gpt-4.1',
    input_messages: { type: 'template', template },
    sampling_params: { temperature: 0, max_completions_tokens: 9, seed: null },
    source: { type: 'file_id', id: 'file-1' },
    ...more,
  },
});
const items = [
  { ticket: 'I cannot log in', label: 'access' },
  { ticket: 'My card is lost', label: 'cards' },
];
const lines = items.map((item) => ({ item }));

describe('an eval of OpenAI', () => {
  test('rows, the prompt of its run, model, parameters and scorer', async () => {
    const read1 = await read({ 'eval.json': evalOf(), 'run.json': runOf(), 'files/file-1.jsonl': lines });
    expect(read1).toMatchObject({ name: 'Tickets', values: items, expected: 'label', input: null });
    expect(read1.scorer).toEqual({ type: 'exact', case_sensitive: true });
    expect(read1.served).toEqual({
      messages: [
        { role: 'system', content: 'Sort the ticket.' },
        { role: 'user', content: '{{ticket}}' },
      ],
      model: 'openai/gpt-4.1',
      policy: { temperature: 0, max_completion_tokens: 9 },
      version: null,
    });
    expect(projectOf(read1)).toEqual({
      data: 'data.jsonl',
      prompt: 'prompt.json',
      expected: 'label',
      scorer: { type: 'exact', case_sensitive: true },
      model: 'openai/gpt-4.1',
      policy: { temperature: 0, max_completion_tokens: 9 },
    });
    expect(read1.report.left).toEqual([]);
  });

  test.each<[string, object]>([
    ['rows in the run', { source: { type: 'file_content', content: lines } }],
    ['rows of a file', {}],
  ])('%s, in one file of a script', async (_, source) => {
    const rows = 'source' in source ? [] : items;
    const saved = { eval: evalOf(), rows, runs: [{ run: runOf(source), output_items: [] }] };
    expect(await read({ 'eval_1.json': saved })).toMatchObject({ values: items, expected: 'label' });
  });

  test('rows of what a run put out, each once and in the order of the data', async () => {
    const itemOf = (at: number) => ({
      object: 'eval.run.output_item',
      run_id: 'evalrun_1',
      datasource_item_id: at,
      datasource_item: items[at],
      sample: { output: [] },
    });
    const outputs = { object: 'list', data: [itemOf(1), itemOf(0), itemOf(1)], has_more: false };
    const run = runOf({ source: { type: 'stored_completions' } });
    expect(await read({ 'eval.json': evalOf(), 'run.json': run, 'items.json': outputs })).toMatchObject({
      values: items,
    });
  });

  test('the newest of several runs with a prompt', async () => {
    const other = { ...runOf({ model: 'gpt-5' }), id: 'evalrun_2', name: 'second', created_at: 2 };
    const read1 = await read({
      'eval.json': evalOf(),
      'runs.json': { object: 'list', data: [runOf(), other] },
      'a.jsonl': lines,
    });
    expect(read1.served?.model).toBe('openai/gpt-5');
    expect(read1.report.notes).toContainEqual(expect.stringContaining('"second"'));
  });

  test('one of several by its name; the others are named', async () => {
    const files = { 'a.json': evalOf(), 'b.json': { ...evalOf(), id: 'eval_2', name: 'Other' }, 'a.jsonl': lines };
    expect(await refused(files)).toMatch(/"Tickets", "Other"/);
    expect(await read(files, { name: 'Other' })).toMatchObject({ name: 'Other' });
    expect(await read(files, { name: 'eval_1' })).toMatchObject({ name: 'Tickets' });
  });

  test('columns of paths, and a conversation in a column', async () => {
    const deep = [{ item: { user: { name: 'Ann' }, label: 'x' } }];
    const asking = [{ role: 'user', content: 'Hello {{item.user.name}}' }];
    const nested = await read({
      'e.json': evalOf(),
      'r.json': runOf({ input_messages: { type: 'template', template: asking } }),
      'a.jsonl': deep,
    });
    expect(nested.values[0]).toMatchObject({ 'user.name': 'Ann' });
    expect(nested.served?.messages[0]?.content).toBe('Hello {{user.name}}');
    const chat = await read({
      'e.json': evalOf(),
      'r.json': runOf({ input_messages: { type: 'item_reference', item_reference: 'item.ticket' } }),
      'a.jsonl': lines,
    });
    expect(chat.served?.messages).toEqual([{ role: 'user', content: '{{ticket}}' }]);
  });

  test('without a run, the text beside it is the prompt, and the one column that is left its input', async () => {
    const read1 = await read({ 'create.json': evalOf(), 'data.jsonl': lines, 'prompt.txt': 'Sort it.' });
    expect(read1).toMatchObject({ input: 'ticket', served: { messages: [{ role: 'system', content: 'Sort it.' }] } });
    expect(await read({ 'create.json': evalOf(), 'data.jsonl': lines })).toMatchObject({
      input: 'ticket',
      served: { messages: [{ role: 'user', content: '{{ticket}}' }], model: null },
    });
  });
});

describe('graders', () => {
  const graded = (...criteria: object[]) => read({ 'e.json': evalOf(...criteria), 'a.jsonl': lines });
  const similar = (metric: string) => ({
    type: 'text_similarity',
    name: 's',
    input: output,
    reference: '{{item.label}}',
    evaluation_metric: metric,
    pass_threshold: 0.5,
  });

  test.each<[string, object, object, unknown]>([
    ['like', check({ operation: 'like' }), { type: 'regex' }, 'label'],
    ['ilike', check({ operation: 'ilike' }), { type: 'regex', flags: 'i' }, 'label'],
    ['the sides of eq swapped', check({ input: '{{item.label}}', reference: output }), { type: 'exact' }, 'label'],
    ['rouge_l', similar('rouge_l'), { type: 'similarity', metric: 'rouge_l' }, 'label'],
    ['fuzzy_match', similar('fuzzy_match'), { type: 'similarity' }, 'label'],
    ['bleu', similar('bleu'), { type: 'similarity', metric: 'bleu' }, 'label'],
  ])('%s', async (_, grader, scorer, expected) => {
    const read1 = await graded(grader);
    expect(read1.scorer).toMatchObject(scorer);
    expect(read1.expected).toBe(expected);
    expect(read1.report.left).toEqual([]);
  });

  test('ne is the contrary of eq', async () => {
    const { scorer } = await graded(check({ operation: 'ne' }));
    expect(scorer).toMatchObject({ type: 'weighted', parts: [{ negate: true, scorer: { type: 'exact' } }] });
  });

  test('a value that is made of columns is a column of its own', async () => {
    const { values, expected } = await graded(check({ reference: 'Team: {{item.label}}' }));
    expect(expected).toBe('expected');
    expect(values.map((row) => row['expected'])).toEqual(['Team: access', 'Team: cards']);
  });

  test('fields of the JSON that a model answers are one object, with a weight each', async () => {
    const field = (name: string) => check({ name, input: `{{ sample.output_json.${name} }}` });
    const { scorer, values } = await graded(field('team'), field('again'));
    expect(scorer).toEqual({ type: 'json', case_sensitive: true });
    expect(values[0]!['expected']).toEqual({ team: 'access', again: 'access' });
  });

  test('model graders are rubrics of their own messages, judged by their model', async () => {
    const input = [
      { role: 'developer', content: 'Which tone has the statement?' },
      { role: 'user', content: [{ type: 'input_text', text: `About {{item.ticket}}: ${output}` }] },
    ];
    const label = {
      type: 'label_model',
      name: 'tone',
      model: 'o3-mini',
      input,
      labels: ['kind', 'cold'],
      passing_labels: ['kind'],
    };
    const score = { type: 'score_model', name: 'help', model: 'gpt-4.1', input, range: [1, 7], pass_threshold: 5 };
    const one = await graded(label);
    expect(one).toMatchObject({ expected: null, scorer: { type: 'rubric', provider: 'openai', model: 'o3-mini' } });
    const [criterion] = (one.scorer!['criteria'] as { criteria: { description: string }[] }).criteria;
    expect(criterion!.description).toContain('About (ticket of the row): (the output)');
    expect(criterion!.description).toContain('"kind", "cold"');
    const both = await graded(check(), label, score);
    expect((both.scorer!['parts'] as object[]).length).toBe(3);
    expect(both.report.notes).toContainEqual(expect.stringContaining('pass_threshold'));
  });

  test.each<[string, object]>([
    ['python', { type: 'python', name: 'p', source: 'def grade(sample, item): return 1' }],
    ['multi', { type: 'multi', name: 'm', graders: {}, calculate_output: 'a + b' }],
    ['cosine', similar('cosine')],
    ['an unknown operation', check({ operation: 'neq' })],
    ['a field within a field', check({ input: '{{sample.output_json.a.b}}' })],
    ['tools', check({ input: '{{sample.output_tools}}' })],
    [
      'a label grader without passing labels',
      { type: 'label_model', name: 'l', model: 'm', input: [{ role: 'user', content: 'x' }] },
    ],
    ['a type of another vendor', { type: 'azure_ai_evaluator', name: 'a' }],
  ])('%s is left out by name, with what to use; the others stay', async (_, grader) => {
    const alone = await graded(grader);
    expect(alone.scorer).toBeNull();
    expect(alone.report.left).toHaveLength(1);
    const beside = await graded(grader, check());
    expect(beside.scorer).toEqual({ type: 'exact', case_sensitive: true });
    expect(beside.report.left).toHaveLength(1);
  });

  test('a row without the value of a grader is named by its line', async () => {
    const files = {
      'e.json': evalOf(),
      'a.jsonl': [...lines, { item: { ticket: 'x' } }, { item: { ticket: 'y', label: null } }],
    };
    const message = await refused(files);
    expect(message).toMatch(/a\.jsonl:3 .*item\.label/);
    expect(message).toMatch(/a\.jsonl:4 /);
  });
});

describe('openai/evals', () => {
  const system = { role: 'system', content: 'Answer with the city alone.' };
  const sample = (content: string, ideal: unknown) => ({ input: [system, { role: 'user', content }], ideal });
  const samples = [sample('Peru?', 'Lima'), sample('Chile?', ['Santiago', 'Santiago de Chile'])];
  const registry = (kind: string, args: object = {}) =>
    stringify({
      capitals: { id: 'capitals.dev.v0', metrics: ['accuracy'] },
      'capitals.dev.v0': {
        class: `evals.elsuite.basic.x:${kind}`,
        args: { samples_jsonl: 'capitals/samples.jsonl', ...args },
      },
    });
  const tree = (yaml: string) => ({ 'evals/capitals.yaml': yaml, 'data/capitals/samples.jsonl': samples });
  const of = ['evals/capitals.yaml'];

  test.each<[string, string, object, object, unknown[]]>([
    ['Match', 'Match', {}, { type: 'regex' }, ['^Lima', '^(?:Santiago|Santiago de Chile)']],
    ['Includes', 'Includes', {}, { type: 'regex' }, ['Lima', '(?:Santiago|Santiago de Chile)']],
    [
      'Includes without case',
      'Includes',
      { ignore_case: true },
      { type: 'regex', flags: 'i' },
      ['Lima', '(?:Santiago|Santiago de Chile)'],
    ],
    ['FuzzyMatch', 'FuzzyMatch', {}, { type: 'contains' }, ['Lima', ['Santiago', 'Santiago de Chile']]],
  ])('%s', async (_, kind, args, scorer, expected) => {
    const read1 = await read(tree(registry(kind, args)), { of });
    expect(read1.scorer).toEqual(scorer);
    expect(read1.values.map((row) => row[read1.expected!])).toEqual(expected);
    expect(read1.values.map((row) => row['input'])).toEqual(['Peru?', 'Chile?']);
    expect(read1.served?.messages).toEqual([
      { role: 'system', content: 'Answer with the city alone.' },
      { role: 'user', content: '{{input}}' },
    ]);
    expect(read1.name).toBe('capitals');
  });

  test('a judge of a YAML beside it', async () => {
    const judge = {
      closed: {
        prompt: 'Is {completion} the same as {ideal} for {input}?',
        choice_strings: 'YN',
        choice_scores: { Y: 1, N: 0 },
      },
    };
    const files = {
      ...tree(registry('ModelBasedClassify', { modelgraded_spec: 'closed' })),
      'modelgraded/closed.yaml': stringify(judge),
    };
    const { scorer, expected } = await read(files, { of });
    expect(JSON.stringify(scorer)).toContain(
      'Is (the output) the same as (the expected value) for (the input of the row)?',
    );
    expect(JSON.stringify(scorer)).toContain('Y: 1, N: 0');
    expect(expected).toBe('ideal');
  });

  test('samples alone, conversations of different beginnings, and chats', async () => {
    const alone = await read({ 's.jsonl': samples });
    expect(alone).toMatchObject({ expected: 'ideal', scorer: null });
    const mixed = await read({ 's.jsonl': [samples[0], { input: 'Kenya?', ideal: 'Nairobi' }] });
    expect(mixed.served?.messages).toEqual([{ role: 'user', content: '{{input}}' }]);
    expect(mixed.values[0]!['input']).toHaveLength(2);
    const turn = (role: string, content: string) => ({ role, content });
    const shots = ['Peru?', 'Chile?'].map((last) => ({
      input: [system, turn('user', 'Kenya?'), turn('assistant', 'Nairobi'), turn('user', last)],
      ideal: 'x',
    }));
    const shown = await read({ 's.jsonl': shots });
    expect(shown.served?.messages).toHaveLength(2);
    expect(shown.values[0]!['input']).toHaveLength(3);
    const chats = [1, 2].map((at) => ({ messages: [system, turn('user', `Q${at}`), turn('assistant', `A${at}`)] }));
    expect(await read({ 'c.jsonl': chats })).toMatchObject({
      values: [
        { input: 'Q1', expected: 'A1' },
        { input: 'Q2', expected: 'A2' },
      ],
      expected: 'expected',
    });
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['code of its own', tree(registry('Translate')), /Translate/],
    ['samples that are not there', { 'evals/capitals.yaml': registry('Match') }, /capitals\/samples\.jsonl/],
    [
      'samples that Git LFS holds',
      {
        ...tree(registry('Match')),
        'data/capitals/samples.jsonl': 'version https://git-lfs.github.com/spec/v1\noid sha256:1\n',
      },
      /git lfs pull/,
    ],
    [
      'a sample without its answer',
      { ...tree(registry('Match')), 'data/capitals/samples.jsonl': [{ input: 'x' }] },
      /samples\.jsonl:1 /,
    ],
  ])('%s is refused', async (_, files, message) => {
    expect(await refused(files, { of })).toMatch(message);
  });
});

describe('prompts', () => {
  const messages = [
    { role: 'system', content: 'Help {{customer}}.' },
    { role: 'user', content: 'Issue: {{issue}}' },
  ];
  test('versions of a stored prompt, oldest first, and the one in use', async () => {
    const version = (number: string, more: object) => ({
      version: number,
      messages,
      config: { model: 'gpt-5', ...more },
    });
    const stored = {
      openai_prompt_id: 'pmpt_1',
      name: 'support',
      production_version: '2',
      versions: [version('3', {}), version('2', { reasoning: { effort: 'low' } })],
    };
    const read1 = await read({ 'p.json': stored });
    expect(read1.prompts.map((one) => one.version)).toEqual(['2', '3']);
    expect(read1.served).toEqual({
      messages,
      model: 'openai/gpt-5',
      policy: { reasoning_effort: 'low' },
      version: '2',
    });
    expect(variablesOf(read1.served!)).toEqual(['customer', 'issue']);
  });

  test('the body of a request, with the form of its answer and its functions', async () => {
    const body = {
      model: 'gpt-5',
      instructions: 'Help {{customer}}.',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Issue: {{issue}}' }] }],
      max_output_tokens: 50,
      store: true,
      text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object' } } },
      tools: [{ type: 'function', name: 'look', parameters: {} }, { type: 'web_search' }],
    };
    const { served, report } = await read({ 'p.json': body });
    expect(served?.messages).toEqual(messages);
    expect(served?.policy).toMatchObject({
      max_completion_tokens: 50,
      response_format: { type: 'json_schema' },
      tools: [{ type: 'function', function: { name: 'look' } }],
    });
    expect(report.left).toEqual([expect.stringContaining('web_search')]);
  });

  test('an answer, whose values become the variables again', async () => {
    const said = (role: string, text: string) => ({ type: 'message', role, content: [{ type: 'input_text', text }] });
    const answer = {
      object: 'response',
      model: 'gpt-5',
      instructions: [said('developer', 'Help Acme.'), said('user', 'Issue: Acme has no bill')],
      prompt: { id: 'pmpt_1', version: '4', variables: { customer: 'Acme', issue: 'Acme has no bill', gone: 'zzz' } },
      output: [],
      temperature: 0.5,
      top_p: 1,
    };
    const { served, report } = await read({ 'r.json': answer });
    expect(served).toMatchObject({ messages, version: '4', model: 'openai/gpt-5' });
    expect(served?.policy).toEqual({ temperature: 0.5 });
    expect(report.left).toEqual([expect.stringContaining('gone')]);
  });

  test('an id alone is refused: OpenAI has no API that reads its text', async () => {
    expect(await refused({ 'p.json': { model: 'gpt-5', prompt: { id: 'pmpt_9' } } })).toContain('pmpt_9');
    expect(await refused({ 'p.json': { id: 'pmpt_9', version: '1' } })).toContain('pmpt_9');
  });

  test('messages, the body of a chat completion, and a text', async () => {
    expect(await read({ 'm.json': messages })).toMatchObject({ served: { messages, model: null } });
    const chat = await read({ 'm.json': { model: 'gpt-5', messages, temperature: 0 } });
    expect(chat.served).toMatchObject({ messages, model: 'openai/gpt-5', policy: { temperature: 0 } });
    expect(await read({ 'p.txt': 'Sort {{text}}.' })).toMatchObject({ served: { messages: [{ role: 'user' }] } });
  });

  test('a picture in a message is refused by its place', async () => {
    const picture = { role: 'user', content: [{ type: 'input_image', image_url: 'x' }] };
    expect(await refused({ 'p.json': { messages: [picture] } })).toMatch(/p\.json messages\[0\] /);
  });
});

test('a file of promptfoo', async () => {
  const config = {
    prompts: ['Sort: {{text}}'],
    providers: ['openai:chat:gpt-4.1'],
    tests: [{ vars: { text: 'a' }, assert: [{ type: 'equals', value: 'A' }] }],
  };
  const read1 = await read({ 'promptfooconfig.yaml': stringify(config) });
  expect(read1).toMatchObject({ values: [{ text: 'a', expected: 'A' }], served: { model: 'openai/gpt-4.1' } });
  expect(await read({ 'Tickets export.json': config })).toMatchObject({ expected: 'expected' });
  expect(await refused({ 'results.json': { config, results: {} } })).toContain('config');
});

describe('bad files are refused by their place', () => {
  test.each<[string, Record<string, unknown>, RegExp]>([
    ['broken JSON', { 'a.json': '{"testing_criteria": [}' }, /a\.json is not valid JSON/],
    ['a broken line', { 'a.jsonl': '{"item": {}}\n{"item": ' }, /a\.jsonl:2 /],
    ['a row of another form', { 'a.jsonl': [{ item: {} }, { ticket: 'x' }] }, /a\.jsonl:2 .*item/],
    ['an eval without rows', { 'e.json': evalOf() }, /ratchet import openai:eval_1/],
    ['two files of rows', { 'e.json': evalOf(), 'a.jsonl': lines, 'b.jsonl': lines }, /a\.jsonl, .*b\.jsonl/],
    ['a run alone', { 'r.json': runOf() }, /r\.json/],
    [
      'the answer in the prompt',
      {
        'e.json': evalOf(),
        'r.json': runOf({ input_messages: { template: [{ role: 'user', content: output }] } }),
        'a.jsonl': lines,
      },
      /template\[0\] .*sample\.output_text/,
    ],
    [
      'a prompt of no column of the rows',
      { 'e.json': evalOf(check({ reference: 'x' })), 'r.json': runOf(), 'a.jsonl': [{ item: { text: 'x' } }] },
      /ticket/,
    ],
    ['something else', { 'a.json': { hello: 'world' } }, /testing_criteria/],
    ['an empty file', { 'a.json': ' ' }, /empty/],
    ['broken YAML', { 'a.yaml': 'a: [' }, /a\.yaml is not valid YAML/],
  ])('%s', async (_, files, message) => expect(await refused(files)).toMatch(message));

  test('a path that is not there, and a folder without files', async () => {
    await expect(readSources([join(folder, 'nowhere')])).rejects.toThrow(ConfigError);
    await mkdir(join(folder, 'empty'));
    await expect(readSources([join(folder, 'empty')])).rejects.toThrow(ConfigError);
  });
});

test('an id of more digits than a number keeps stays what it is', async () => {
  const text = JSON.stringify({ eval: evalOf(), rows: items }).replace('"I cannot log in"', '12345678901234567890');
  expect((await read({ 'e.json': text })).values[0]!['ticket']).toBe('12345678901234567890');
});

test.each([
  ['Tickets', 'Tickets'],
  ['Très bien: a/b', 'Tres-bien-a-b'],
  ['../../x', 'x'],
  ['日本', 'import'],
])('the folder of %s is %s', (name, expected) => expect(folderOf(name)).toBe(expected));
