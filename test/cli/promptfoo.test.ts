import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { readPromptfoo } from '../../src/cli/task/promptfoo.js';
import { ConfigError } from '../../src/service/config.js';
import { expectedProblem, scorerSchema } from '../../src/scorers/index.js';
import { compare, specOf } from '../support/scoring.js';

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
    policy: {},
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
      return compare(scorer, rows[1]!['expected'], output).reward;
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
    expect(notes).toHaveLength(1);
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
      tests([{ type: 'similar', value: 'x' }, { type: 'cost' }, { type: 'python' }]),
      /similar[^]*python/,
    ],
    ['tests without assertions', tests([], []), /--scorer/],
    ['a script of Python', both({ type: 'javascript', value: 'file://x.py' }), /x\.py/],
    ['a script that is not there', both({ type: 'javascript', value: 'file://x.js' }), /x\.js/],
    ['a long set that is negated as a whole', both({ type: 'not-contains-all', value: 'a,b,c,d,e' }), /not-contains/],
    ['a misspelt type', both({ type: 'contain', value: 'x' }), /did you mean contains/],
    ['a misspelt field', both({ type: 'contains', value: 'x', wieght: 2 }), /did you mean weight/],
    ['a weight that is no number', both({ type: 'contains', value: 'x', weight: 'much' }), /weight "much"/],
    ['a filter in a value', both({ type: 'contains', value: '{{ text | sort }}' }), /text \| sort/],
    ['a block in a value', both({ type: 'llm-rubric', value: '{% if a %}x{% endif %}' }), /{% if a %}/],
    ['a var in a value that the test lacks', both({ type: 'contains', value: '{{ want.label }}' }), /want\.label/],
    ['the environment in a value', both({ type: 'contains', value: '{{ env.HOME }}' }), /env\.HOME/],
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
    ['a function of a program as the prompt', { prompts: ['prompt.py:create'] }, /prompt\.py/],
    ['a filter in the prompt', { prompts: ['{{ text | sort }}'] }, /sort/],
    ['several providers', { providers: ['openai:a', 'openai:b'] }, /--model/],
    ['a setting that is unknown', { providers: [{ id: 'openai:a', config: { temprature: 0 } }] }, /temperature/],
    [
      'several prompts and providers at once',
      { prompts: ['a {{text}}', 'b'], providers: ['openai:a', 'openai:b'] },
      /--prompt[^]*--model/,
    ],
    ['a completion', { providers: ['openai:completion:davinci-002'] }, /completion.*--model/],
    ['an address', { providers: ['https://example.com/chat'] }, /--model/],
    ['a command', { providers: ['exec:python chat.py'] }, /--model/],
    ['a prompt file that is not there', { prompts: ['missing.txt'] }, /missing\.txt/],
    ['a prompt outside', { prompts: ['file:///etc/hostname'] }, /outside/],
    ['a prompt above', { prompts: ['file://../../etc/hostname'] }, /outside/],
    ['vars outside', { tests: [{ vars: { text: 'file:///etc/hostname' } }] }, /outside/],
    ['tests outside', { tests: '/etc/*.yaml' }, /outside/],
    ['a hidden file', { prompts: ['file://.env'] }, /hidden/],
    ['a block in the prompt', { prompts: ['{% for a in b %}{{text}}{% endfor %}'] }, /{% for a in b %}/],
    ['a literal of Nunjucks in the prompt', { prompts: ['{{ {"a": 1} }}{{text}}'] }, /--prompt/],
    ['a var that no test has', { prompts: ['{{text}} {{other}}'] }, /other/],
    ['a role that does not map', { prompts: [JSON.stringify([{ role: 'tool', content: 'x' }])] }, /tool/],
    [
      'a picture in the prompt',
      { prompts: [JSON.stringify([{ role: 'user', content: [{ type: 'image_url' }] }])] },
      /no text/,
    ],
    ['tests at an address', { tests: 'https://docs.google.com/spreadsheets/d/1' }, /not fetched/],
    ['a picture as a var', { tests: [{ vars: { text: 'file://a.png' } }] }, /a\.png/],
    ['$ref to another file', { defaultTest: { $ref: 'other.yaml#/a' } }, /other\.yaml/],
    ['$ref to nothing', { defaultTest: { $ref: '#/nothing' } }, /names nothing/],
    ['a misspelt field', { provider: ['openai:a'] }, /did you mean providers/],
    ['a provider in a file', { providers: ['file://provider.js'] }, /provider\.js/],
    ['a var of the next test', { tests: [{ vars: {}, options: { storeOutputAs: 'x' } }] }, /storeOutputAs/],
    [
      'a transform of a test',
      { tests: [{ vars: {}, options: { transform: 'x' }, assert: [{ type: 'is-json' }] }] },
      /transform.*--scorer/,
    ],
    ['tests of a program', { tests: 'file://tests.py' }, /tests\.py/],
    ['no tests', { tests: [] }, /tests/],
    ['vars of a program', { tests: [{ vars: 'file://vars.py' }] }, /vars\.py/],
    ['vars of a pattern without files', { tests: [{ vars: 'vars/*.yaml' }] }, /vars\/\*/],
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

describe('assertions that differ between tests', () => {
  const scored = async (more: object, ...outputs: string[]) => {
    const { scorer, rows, expected } = await read(more);
    return outputs.map((output, at) => {
      const value = expected === null ? undefined : rows[at]![expected];
      expect(expectedProblem(specOf(scorer), value)).toBeNull();
      return compare(scorer, value, output).reward;
    });
  };

  test.each<[string, object, string[], number[]]>([
    ['a negation', perTest('not-contains', 'a', 'b'), ['xa', 'xa'], [0, 1]],
    ['a negation of the same value', perTest('not-contains', 'a', 'a'), ['a', 'b'], [0, 1]],
    ['other types', tests([{ type: 'contains', value: 'a' }], [{ type: 'regex', value: '^b$' }]), ['a', 'a'], [1, 0]],
    [
      'several values',
      tests(
        ['a', 'b'].map((value) => ({ type: 'contains', value })),
        ['c', 'd', 'e', 'f'].map((value) => ({ type: 'contains', value })),
      ),
      ['a', 'c'],
      [0.5, 0.25],
    ],
    [
      'one of all tests beside others',
      tests(
        [{ type: 'is-json' }, { type: 'contains', value: '1' }],
        [{ type: 'is-json' }, { type: 'not-contains', value: '1', weight: 3 }],
      ),
      ['{"a": 1}', '{"a": 1}'],
      [1, 0.25],
    ],
    [
      'is-json beside equals',
      tests(...['1', '2'].map((value) => [{ type: 'is-json' }, { type: 'equals', value }])),
      ['1', '{}'],
      [1, 0.5],
    ],
    ['contains-all', perTest('contains-all', ['a', 'b'], 'c, d'), ['a', 'cd'], [0, 1]],
    ['contains-all of many', perTest('contains-all', ['a', 'b', 'c', 'd', 'e']), ['ab'], [0.4]],
    [
      'icontains-all beside a constant',
      tests([
        { type: 'icontains-all', value: ['A', 'b'] },
        { type: 'contains', value: 'x', weight: 2 },
      ]),
      ['abx'],
      [1],
    ],
    [
      'a set with weights of its own',
      tests([
        {
          type: 'assert-set',
          weight: 3,
          threshold: 0.5,
          assert: [
            { type: 'contains', value: 'a', weight: 2 },
            { type: 'contains', value: 'b' },
          ],
        },
        { type: 'contains', value: 'c' },
      ]),
      ['a'],
      [0.5],
    ],
  ])('%s', async (_, more, outputs, rewards) => {
    expect(await scored(more, ...outputs)).toEqual(rewards.map((reward) => expect.closeTo(reward, 9) as unknown));
  });

  test('a test without assertions is left out, and named', async () => {
    const { rows, notes } = await read(tests([{ type: 'equals', value: 'x' }], []));
    expect(rows).toHaveLength(1);
    expect(notes).toContainEqual(expect.stringContaining('1 of 2 tests'));
  });

  test('javascript of each test is one part', async () => {
    const { scorer, rows } = await read(perTest('javascript', 'output === "a"', 'output === "b"'));
    const { parts } = scorer as { parts: [{ scorer: { code: string } }] };
    const run = new Function(`return ${parts[0].scorer.code}`)() as (
      output: string,
      row: object,
      at: unknown,
    ) => unknown;
    expect(rows.map((row) => run('b', row, row['expected']))).toEqual([0, 1]);
  });

  test('javascript of a file', async () => {
    await writeFile(join(folder, 'score.js'), 'module.exports = (output, context) => output === context.vars.text;\n');
    await writeFile(join(folder, 'named.mjs'), 'export function half() { return 0.5; }\n');
    const run = async (value: string) => {
      const { scorer } = await read(both({ type: 'javascript', value }));
      return (new Function(`return ${String(scorer!['code'])}`)() as (output: string, row: object) => unknown)('a', {
        text: 'a',
      });
    };
    expect([await run('file://score.js'), await run('file://named.mjs:half')]).toEqual([1, 0.5]);
    await writeFile(join(folder, 'imports.js'), "const fs = require('node:fs');\nmodule.exports = () => 1;\n");
    await expect(run('file://imports.js')).rejects.toThrow(/--scorer/);
  });
});

describe('prompts', () => {
  const chat = [
    { role: 'system', content: 'Sort.' },
    { role: 'user', content: '{{text}}' },
  ];
  beforeAll(async () => {
    await mkdir(join(folder, 'prompts'), { recursive: true });
    await writeFile(join(folder, 'prompts', 'one.txt'), 'One {{text}}\n');
    await writeFile(join(folder, 'prompts', 'two.txt'), 'A {{text}}\n---\nB {{text}}\n');
    await writeFile(join(folder, 'prompts', 'rule.md'), '# Title\n\n---\n\n{{text}}\n');
    await writeFile(join(folder, 'prompts', 'chat.yaml'), stringify(chat));
    await writeFile(join(folder, 'prompts', 'list.csv'), 'label,prompt\nx,X {{text}}\ny,Y {{text}}\n');
    await writeFile(join(folder, 'prompts', 'lines.jsonl'), `${JSON.stringify(chat)}\n${JSON.stringify(chat)}\n`);
  });

  test.each<[string, unknown, string | undefined, string | object[]]>([
    ['a bare path', ['prompts/one.txt'], undefined, 'One {{text}}'],
    ['a path with ./', './prompts/one.txt', undefined, 'One {{text}}'],
    ['a reference', 'file://prompts/one.txt', undefined, 'One {{text}}'],
    ['a pattern', 'prompts/o*.txt', undefined, 'One {{text}}'],
    ['an object', [{ id: 'file://prompts/one.txt', label: 'o' }], undefined, 'One {{text}}'],
    ['labels by file', { 'prompts/one.txt': 'o', 'prompts/rule.md': 'r' }, 'r', '# Title\n\n---\n\n{{text}}'],
    ['the second of a file', 'prompts/two.txt', '2', 'B {{text}}'],
    ['a rule within Markdown', 'prompts/rule.md', undefined, '# Title\n\n---\n\n{{text}}'],
    ['a rule within a text', 'Rules.\n\n---\n\n{{text}}', undefined, 'Rules.\n\n---\n\n{{text}}'],
    ['a chat of YAML', 'prompts/chat.yaml', undefined, chat],
    ['a chat of JSON lines', 'prompts/lines.jsonl', '1', chat],
    ['a label of CSV', 'prompts/list.csv', 'y', 'Y {{text}}'],
    ['a label', [{ label: 'a b', raw: 'A {{text}}' }, 'B {{text}}'], 'a b', 'A {{text}}'],
    ['a text with a slash', 'Sort a/b: {{text}}', undefined, 'Sort a/b: {{text}}'],
    ['a text that ends like a file', 'Write {{text}} to notes.txt', undefined, 'Write {{text}} to notes.txt'],
  ])('%s', async (_, prompts, prompt, content) => {
    const read1 = await read({ prompts }, { prompt });
    const messages = typeof content === 'string' ? [{ role: 'user', content }] : content;
    expect(read1.prompt).toEqual({ messages });
  });

  test('a path in a var is a column', async () => {
    const assert = [{ type: 'contains', value: '{{user.name}}' }];
    const { rows } = await read({
      prompts: 'For {{ user.name }}',
      tests: [{ vars: { user: { name: 'Ann' } }, assert }],
    });
    expect(rows).toEqual([{ user: { name: 'Ann' }, 'user.name': 'Ann', expected: 'Ann' }]);
  });
});

describe('providers', () => {
  test.each<[string, string]>([
    ['openai:gpt-4o', 'openai/gpt-4o'],
    ['openai:chat:gpt-4o', 'openai/gpt-4o'],
    ['openai:responses:gpt-5', 'openai/gpt-5'],
    ['anthropic:messages:claude-sonnet-4', 'anthropic/claude-sonnet-4'],
    ['azure:chat:my-deployment', 'azure/my-deployment'],
    ['ollama:chat:llama3.1:8b', 'ollama/llama3.1:8b'],
    ['openrouter:google/gemini-2.5-flash', 'openrouter/google/gemini-2.5-flash'],
    ['google:gemini-2.5-pro', 'google/gemini-2.5-pro'],
    ['bedrock:anthropic.claude-3-haiku-20240307-v1:0', 'bedrock/anthropic.claude-3-haiku-20240307-v1:0'],
  ])('%s', async (id, model) => {
    expect((await read({ providers: [id] })).model).toBe(model);
    expect((await read({ providers: [{ id }] })).model).toBe(model);
  });

  test('settings become parameters; keys and addresses are named', async () => {
    await writeFile(join(folder, 'format.json'), '{"type":"json_object"}');
    const config1 = {
      temperature: 0,
      maxTokens: 9,
      generationConfig: { topP: 0.5 },
      response_format: 'file://format.json',
    };
    const { policy, notes } = await read({
      providers: [{ id: 'openai:gpt-4o', config: { ...config1, apiKey: 'x', apiBaseUrl: 'http://x' } }],
    });
    expect(policy).toEqual({ temperature: 0, max_tokens: 9, top_p: 0.5, response_format: { type: 'json_object' } });
    expect(notes.join('\n')).toMatch(/apiKey[^]*OPENAI_BASE_URL/);
  });

  const several = [
    { id: 'openai:a', label: 'cold', config: { temperature: 0 } },
    { id: 'openai:a', label: 'warm', config: { temperature: 1 } },
    'exec:python x.py',
  ];
  test.each<[string, unknown, string, string | null, object]>([
    ['by its label', several, 'warm', 'openai/a', { temperature: 1 }],
    ['by its name', several, 'openai/a', 'openai/a', { temperature: 0 }],
    ['another', several, 'openai/b', null, {}],
    ['another in place of the only one', [several[0]], 'openai/b', null, { temperature: 0 }],
    [
      'in place of a program',
      [{ id: 'python:x.py', config: { temperature: 0.5, own: 1 } }],
      'openai/b',
      null,
      { temperature: 0.5 },
    ],
  ])('--model chooses one %s', async (_, providers, model, name, policy) => {
    expect(await read({ providers }, { model })).toMatchObject({ model: name, policy });
  });
});

describe('reads', () => {
  test('YAML as js-yaml does: continuations, anchors and merge keys', async () => {
    const path = join(folder, 'odd.yaml');
    const text = `prompts: ['{{text}}']
providers: openai:m
base: &base {type: contains}
tests:
  - vars:
      text: "
line one\nline two"
      date: 2024-01-02
    assert:
      - {<<: *base, value: a}
`;
    await writeFile(path, text);
    const { rows, scorer } = await readPromptfoo(path, {});
    expect(rows).toEqual([{ text: expect.stringContaining('line two') as unknown, date: '2024-01-02', expected: 'a' }]);
    expect(scorer).toEqual({ type: 'regex' });
  });

  test.each<[string, object, object[]]>([
    [
      'a list of values',
      { tests: [{ vars: { text: ['a', 'b'] }, assert: [{ type: 'contains', value: '{{text}}' }] }] },
      [
        { text: 'a', expected: 'a' },
        { text: 'b', expected: 'b' },
      ],
    ],
    [
      '$ref',
      {
        assertionTemplates: { a: { type: 'contains', value: 'x' } },
        tests: [{ vars: { text: 'a' }, assert: [{ $ref: '#/assertionTemplates/a' }] }],
      },
      [{ text: 'a', expected: 'x' }],
    ],
    [
      'scenarios',
      {
        tests: undefined,
        scenarios: [
          {
            config: [{ vars: { text: 'a' } }, { vars: { text: 'b' } }],
            tests: [{ assert: [{ type: 'contains', value: '{{text}}' }] }],
          },
        ],
      },
      [
        { text: 'a', expected: 'a' },
        { text: 'b', expected: 'b' },
      ],
    ],
    [
      'a var in a var',
      { tests: [{ vars: { name: 'x', text: 'I am {{name}}' }, assert: [{ type: 'contains', value: '{{text}}' }] }] },
      [{ name: 'x', text: 'I am x', expected: 'I am x' }],
    ],
    [
      'a path in a value',
      {
        tests: [
          {
            vars: { text: 'a', want: { label: 'refund' } },
            assert: [{ type: 'icontains', value: '{{ want.label }}' }],
          },
        ],
      },
      [{ text: 'a', want: { label: 'refund' }, expected: 'refund' }],
    ],
  ])('%s', async (_, more, rows) => {
    expect((await read(more)).rows).toEqual(rows);
  });

  test.each([['tests*.csv'], [['tests2.csv']], ['tests2.csv'], ['file://tests2.csv']])('tests of %j', async (given) => {
    await rm(join(folder, 'tests.csv'), { force: true });
    await writeFile(join(folder, 'tests2.csv'), 'text,__expected,__threshold\na,contains: A,0.5\n');
    const { rows, notes } = await read({ tests: given });
    expect(rows).toEqual([{ text: 'a', expected: 'A' }]);
    expect(notes).toHaveLength(1);
  });

  test('fields without effect, and those that a note names', async () => {
    const harmless = {
      description: 'x',
      outputPath: 'o.json',
      sharing: false,
      commandLineOptions: {},
      evaluateOptions: {},
      tags: {},
    };
    expect((await read(harmless)).notes).toHaveLength(1);
    const noted = {
      env: { A: '1' },
      extensions: ['file://x.js:hook'],
      derivedMetrics: [],
      nunjucksFilters: { f: 'f.js' },
    };
    expect((await read(noted)).notes).toHaveLength(5);
  });
});
