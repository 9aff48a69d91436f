import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { readPromptfoo } from '../../src/cli/task/promptfoo.js';
import { ConfigError } from '../../src/config.js';
import { scorerSchema, scorerSpec, type ComparingScorer } from '../../src/contracts/scoring/scorer.js';
import { compare } from '../../src/core/verify/compare.js';

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
    notes: [expect.stringContaining('white space')],
  });
});

describe('assertions', () => {
  test.each<[string, object, object, unknown]>([
    ['contains', perTest('contains', 'x', 'a.b'), { type: 'regex' }, 'a\\.b'],
    ['icontains', perTest('icontains', 'x', '(y'), { type: 'regex', flags: 'i' }, '\\(y'],
    ['contains-any of a text', perTest('contains-any', 'a, b', 'c,d'), { type: 'regex' }, 'c|d'],
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

  test('contains matches within words and with case, as in promptfoo', async () => {
    const scored = async (type: string, output: string) => {
      const { scorer, rows } = await read(perTest(type, 'x', 'a.b'));
      const spec = scorerSpec(scorerSchema.parse(scorer), 'local') as ComparingScorer;
      return compare(spec, rows[1]!['expected'], output).reward;
    };
    expect(await Promise.all(['za.bz', 'zA.Bz', 'zazbz'].map((output) => scored('contains', output)))).toEqual([
      1, 0, 0,
    ]);
    expect(await Promise.all(['za.bz', 'zA.Bz', 'zazbz'].map((output) => scored('icontains', output)))).toEqual([
      1, 1, 0,
    ]);
  });

  test('equals is strict about white space where one value is that of all tests', async () => {
    const fixed = { assert: [{ type: 'equals', value: 'a.b' }] };
    const { scorer, notes } = await read({ defaultTest: fixed, ...perTest('contains', 'x', 'y') });
    expect(scorer).toMatchObject({ parts: [{ scorer: { type: 'regex', pattern: '^a\\.b$' } }, {}] });
    expect(notes).toEqual([]);
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
    expect((await codeOf("output.includes('return')"))('x return', {})).toBe(1);
    expect((await codeOf('output === "a" // of course\n'))('a', {})).toBe(1);
    expect((await codeOf("const s = output; s === 'a;b';"))('a;b', {})).toBe(1);
    expect((await codeOf('const f = () => { const n = 1; return n; }; f() / 2'))('ab', {})).toBe(0.5);
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
    expect(scorer).toEqual({ type: 'regex', flags: 'i' });
    expect(rows).toEqual([
      { text: 'a', expected: 'A' },
      { text: 'b', expected: 'B' },
    ]);
  });

  test.each<[string, string, unknown]>([
    ['http://x', 'exact', 'http://x'],
    ['note: late', 'exact', 'note: late'],
    ['grade', 'exact', 'grade'],
    ['equals: a', 'exact', 'a'],
    ['regex:^a: b$', 'regex', '^a: b$'],
    ['starts-with(0.5):a', 'regex', '^a'],
    ['"icontains-any: a, b"', 'regex', 'a|b'],
    ['grade: kind', 'rubric', 'kind'],
    ['llm-rubric:kind', 'rubric', 'kind'],
    ['fn:output.length', 'javascript', undefined],
    ['eval: output.length', 'javascript', undefined],
    ['is-json', 'json', undefined],
  ])('__expected %s of CSV', async (text, type, value) => {
    await writeFile(join(folder, 'tests.csv'), `text,__expected\na,${text}\n`);
    const { rows, scorer } = await read({ tests: 'file://tests.csv' });
    expect(scorer).toMatchObject({ type });
    expect(rows).toEqual([value === undefined ? { text: 'a' } : { text: 'a', expected: value }]);
  });

  test.each([
    ['not-contains: a', /not-contains/],
    ['similar(0.8): a', /similar/],
    ['file://check.js', /file/],
  ])('__expected %s of CSV does not map', async (text, message) => {
    await writeFile(join(folder, 'tests.csv'), `text,__expected\na,${text}\n`);
    await expect(read({ tests: 'file://tests.csv' })).rejects.toThrow(message);
  });

  test.each([
    ['tests.jsonl', '{"vars":{}}\n\n{"vars":\n', /tests\.jsonl line 3 .*JSON/],
    ['tests.jsonl', '[1]\n', /tests\.jsonl line 1 .*object/],
    ['tests.csv', 'a,b\n1,2\n1,2,3\n', /tests\.csv line 3 .*CSV/],
    ['tests.csv', 'a,b\n1,"2\n', /tests\.csv line 2 .*CSV/],
    ['tests.yaml', 'a: [', /tests\.yaml .*YAML/],
  ])('a malformed %s is named with its line: %j', async (name, text, message) => {
    await writeFile(join(folder, name), text);
    const reading = read({ tests: `file://${name}` });
    await expect(reading).rejects.toBeInstanceOf(ConfigError);
    await expect(reading).rejects.toThrow(message);
  });

  test('vars of files, beside the file that names them', async () => {
    await mkdir(join(folder, 'more'), { recursive: true });
    await writeFile(join(folder, 'shared.yaml'), 'tone: short\nplace: here\n');
    await writeFile(join(folder, 'more', 'vars.json'), '{"text":"a","place":"there"}');
    const assert = [{ type: 'equals', value: '{{text}}' }];
    await writeFile(join(folder, 'more', 'tests.yaml'), stringify([{ vars: 'file://vars.json', assert }]));
    const { rows } = await read({
      defaultTest: { vars: ['shared.yaml'] },
      tests: ['file://more/tests.yaml', { vars: { text: 'b' }, assert }],
    });
    expect(rows).toEqual([
      { text: 'a', tone: 'short', place: 'there', expected: 'a' },
      { text: 'b', tone: 'short', place: 'here', expected: 'b' },
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
    ['vars of a program', { tests: [{ vars: 'file://vars.py' }] }, /vars\.py/],
    ['vars of a pattern of files', { tests: [{ vars: 'vars/*.yaml' }] }, /vars\/\*/],
    [
      'an assert that is no list',
      { tests: [{ vars: {}, assert: { type: 'equals', value: 'x' } }] },
      /assert in test 1/,
    ],
    ['an assertion that is no object', { tests: [{ vars: {}, assert: ['equals'] }] }, /assertion in test 1/],
  ])('%s', async (_, more, message) => {
    const reading = read(more);
    await expect(reading).rejects.toBeInstanceOf(ConfigError);
    await expect(reading).rejects.toThrow(message);
  });
});
