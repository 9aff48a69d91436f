import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { readPromptfoo } from '../../src/cli/promptfoo.js';
import { ConfigError } from '../../src/config.js';
import { scorerSchema } from '../../src/contracts/scoring/scorer.js';

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'ratchet-promptfoo-'))));
afterAll(() => rm(folder, { recursive: true }));

const config = {
  prompts: ['Sort: {{text}}'],
  providers: ['openai:chat:gpt-4o-mini'],
  tests: [
    { vars: { text: 'a' }, assert: [{ type: 'equals', value: 'A' }] },
    { vars: { text: 'b' }, assert: [{ type: 'equals', value: 'B' }] },
  ],
};

async function read(more: object, given = {}) {
  const path = join(folder, 'promptfooconfig.yaml');
  await writeFile(path, stringify({ ...config, ...more }));
  const task = await readPromptfoo(path, given);
  // The service must take the scorer.
  if (task.scorer) expect(scorerSchema.safeParse(task.scorer).error).toBeUndefined();
  return task;
}

const tests = (...asserts: object[][]) => ({
  tests: asserts.map((assert, at) => ({ vars: { text: `text ${at}` }, assert })),
});
const both = (assert: object) => tests([assert], [assert]);
const perTest = (type: string, ...values: unknown[]) => tests(...values.map((value) => [{ type, value }]));

test('prompt, model, rows, expected values and scorer', async () => {
  expect(await read({})).toEqual({
    prompt: { messages: [{ role: 'user', content: 'Sort: {{text}}' }] },
    model: 'openai/gpt-4o-mini',
    rows: [
      { text: 'a', expected: 'A' },
      { text: 'b', expected: 'B' },
    ],
    scorer: { type: 'exact', case_sensitive: true },
    expected: 'expected',
    notes: [],
  });
});

describe('assertions', () => {
  test.each<[string, object, object, unknown]>([
    ['contains', perTest('contains', 'x', 'y'), { type: 'contains', case_sensitive: true }, 'y'],
    ['icontains', perTest('icontains', 'x', 'y'), { type: 'contains' }, 'y'],
    ['regex', perTest('regex', '^a', '^b'), { type: 'regex' }, '^b'],
    ['starts-with', perTest('starts-with', 'a.', 'b.'), { type: 'regex' }, '^b\\.'],
    ['contains-any', perTest('contains-any', ['a', 'b'], ['c', 'd']), { type: 'regex' }, 'c|d'],
    ['equals of JSON', perTest('equals', { a: 1 }, { a: 2 }), { type: 'json' }, { a: 2 }],
    ['rouge-n', perTest('rouge-n', 'x', 'y'), { type: 'similarity', metric: 'rouge_l' }, 'y'],
    ['bleu', perTest('bleu', 'x', 'y'), { type: 'similarity', metric: 'bleu' }, 'y'],
    ['llm-rubric', perTest('llm-rubric', 'kind', 'short'), { type: 'rubric' }, 'short'],
    ['a value with vars', both({ type: 'equals', value: 'is {{ text }}' }), { type: 'exact' }, 'is text 1'],
    ['is-json', both({ type: 'is-json' }), { type: 'json', schema: {} }, undefined],
    ['is-json with a schema', both({ type: 'is-json', value: { required: ['a'] } }), { type: 'json' }, undefined],
    ['javascript', both({ type: 'javascript', value: 'output.length < 9' }), { type: 'javascript' }, undefined],
  ])('%s', async (_, more, scorer, second) => {
    const task = await read(more);
    expect(task.scorer).toMatchObject(scorer);
    expect(task.rows[1]!['expected']).toEqual(second);
  });

  test('those of one value for all tests stand beside the expected value, with their weights', async () => {
    const fixed = [
      { type: 'icontains', value: 'a.b', weight: 2 },
      { type: 'llm-rubric', value: 'Is kind.', provider: 'openai:gpt-4o' },
      { type: 'latency', threshold: 100, weight: 0 },
    ];
    const { scorer, rows } = await read({
      defaultTest: { assert: fixed },
      ...perTest('equals', 'A', 'B'),
    });
    expect(scorer).toEqual({
      type: 'weighted',
      parts: [
        { weight: 2, scorer: { type: 'regex', pattern: 'a\\.b', flags: 'i' } },
        { weight: 1, scorer: { type: 'rubric', criteria: 'Is kind.', provider: 'openai', model: 'gpt-4o' } },
        { weight: 1, scorer: { type: 'exact', case_sensitive: true } },
      ],
    });
    expect(rows.map((row) => row['expected'])).toEqual(['A', 'B']);
  });

  test('javascript of promptfoo gives a reward', async () => {
    const codeOf = async (value: string) => {
      const { scorer } = await read(both({ type: 'javascript', value }));
      return new Function(`return ${String(scorer!['code'])}`)() as (output: string, row: object) => unknown;
    };
    expect((await codeOf('output === context.vars.text'))('x', { text: 'x' })).toBe(1);
    const body = 'const n = output.length;\nreturn { pass: n > 2, score: 0.5, reason: "half" };';
    expect((await codeOf(body))('x', {})).toEqual({ reward: 0.5, feedback: 'half' });
  });

  test.each([
    [
      'types without a scorer, all of them',
      tests([{ type: 'similar', value: 'x' }, { type: 'cost' }]),
      /similar, cost/,
    ],
    ['a negation', both({ type: 'not-contains', value: 'x' }), /not-contains/],
    [
      'tests that assert differently',
      tests([{ type: 'equals', value: 'x' }], [{ type: 'regex', value: 'x' }]),
      /test 2/,
    ],
    ['a test without assertions', tests([{ type: 'equals', value: 'x' }], []), /test 2/],
    [
      'two values that differ',
      tests(
        ['a', 'b'].map((value) => ({ type: 'contains', value })),
        ['c', 'd'].map((value) => ({ type: 'contains', value })),
      ),
      /contains, contains/,
    ],
    ['a script in a file', both({ type: 'javascript', value: 'file://x.js' }), /javascript/],
    [
      'is-json beside an expected value',
      tests(...['x', 'y'].map((value) => [{ type: 'is-json' }, { type: 'equals', value }])),
      /is-json/,
    ],
    ['a transform', both({ type: 'equals', value: 'x', transform: 'output.trim()' }), /transform/],
  ])('refuses %s', async (_, more, message) => {
    const reading = read(more);
    await expect(reading).rejects.toBeInstanceOf(ConfigError);
    await expect(reading).rejects.toThrow(message);
  });

  test('--scorer takes the place of those that do not map, and says so', async () => {
    const task = await read(both({ type: 'similar', value: 'x' }), { scorer: 'exact' });
    expect([task.scorer, task.notes.length]).toEqual([null, 1]);
  });

  test('a threshold is named, because it is not applied', async () => {
    expect((await read(both({ type: 'bleu', value: 'x', threshold: 0.4 }))).notes).toHaveLength(1);
  });
});

describe('files', () => {
  test('tests of CSV, with __expected', async () => {
    await writeFile(
      join(folder, 'tests.csv'),
      'text,__expected,__description\na,icontains: A,one\nb,icontains: B,two\n',
    );
    const { rows, scorer } = await read({ tests: 'file://tests.csv' });
    expect(scorer).toEqual({ type: 'contains' });
    expect(rows).toEqual([
      { text: 'a', expected: 'A' },
      { text: 'b', expected: 'B' },
    ]);
  });

  test.each(['tests.yaml', 'tests.json'])('tests of %s, and a chat as the prompt', async (name) => {
    await writeFile(join(folder, name), JSON.stringify(config.tests));
    const chat = [
      { role: 'system', content: 'Sort.' },
      { role: 'user', content: '{{text}}' },
    ];
    await writeFile(join(folder, 'chat.json'), JSON.stringify(chat));
    const { rows, prompt } = await read({ tests: [`file://${name}`], prompts: 'file://chat.json' });
    expect(rows).toHaveLength(2);
    expect(prompt).toEqual({ messages: chat });
  });
});

describe('refuses', () => {
  test.each([
    ['several prompts', { prompts: ['a {{text}}', 'b {{text}}'] }, /--prompt/],
    ['a program as the prompt', { prompts: ['file://prompt.py'] }, /prompt\.py/],
    ['a filter in the prompt', { prompts: ['{{ text | upper }}'] }, /upper/],
    ['several providers', { providers: ['openai:a', 'openai:b'] }, /--model/],
    ['settings of a provider', { providers: [{ id: 'openai:a', config: { temperature: 0 } }] }, /config/],
    ['a provider in a file', { providers: ['file://provider.js'] }, /provider\.js/],
    ['scenarios', { scenarios: [] }, /scenarios/],
    ['a list of values', { tests: [{ vars: { text: ['a', 'b'] } }] }, /test 1/],
    ['options of a test', { tests: [{ vars: {}, options: { transform: 'x' } }] }, /options\.transform/],
    ['tests of a program', { tests: 'file://tests.py' }, /tests\.py/],
    ['no tests', { tests: [] }, /tests/],
  ])('%s', async (_, more, message) => {
    const reading = read(more);
    await expect(reading).rejects.toBeInstanceOf(ConfigError);
    await expect(reading).rejects.toThrow(message);
  });
});
