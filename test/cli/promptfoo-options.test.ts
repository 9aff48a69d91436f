import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { readPromptfoo } from '../../src/cli/task/promptfoo.js';
import { readTask } from '../../src/cli/task/task.js';

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'ratchet-promptfoo-'))));
afterAll(() => rm(folder, { recursive: true }));

const config = {
  prompts: ['Sort: {{text}}'],
  providers: ['openai:chat:gpt-4o-mini'],
  tests: ['a', 'b'].map((text) => ({ vars: { text }, assert: [{ type: 'contains', value: text }] })),
};

async function read(more: object, given = {}) {
  const path = join(folder, 'promptfooconfig.yaml');
  await writeFile(path, stringify({ ...config, ...more }));
  return readPromptfoo(path, given);
}

async function refusal(more: object, given = {}): Promise<string> {
  const reading = read(more, given);
  await expect(reading).rejects.toThrow();
  return reading.then(
    () => '',
    (error: Error) => error.message,
  );
}

const prompts = ['A {{text}}', 'B {{text}}'];
const providers = ['openai:a', { id: 'openai:b', label: 'b cold', config: { temperature: 0 } }];
const asserted = (...types: string[]) => ({
  tests: [{ vars: { text: 'a' }, assert: types.map((type) => ({ type, value: 'x' })) }],
});
const asked = (value: string) => ({ messages: [{ role: 'user', content: value }] });

/** The options of a message's last line. */
function optionsOf(message: string): Record<string, string> {
  const line = message.split('\n').at(-1)!;
  const found = [...line.matchAll(/--(prompt|model|scorer) ('[^']*'|[^\s;]+)/g)];
  return Object.fromEntries(found.map(([, name, value]) => [name, value!.replaceAll("'", '')]));
}

describe('the last line names the options that are enough', () => {
  test.each<[string, object, string[]]>([
    ['several prompts', { prompts }, ['prompt']],
    ['several models', { providers }, ['model']],
    ['several prompts and models', { prompts, providers }, ['model']],
    ['a label with a space', { providers: providers.toReversed() }, ['model']],
    ['a program in place of a model', { providers: ['python:x.py'] }, ['model']],
    ['several prompts and a program', { prompts, providers: ['https://example.com'] }, ['model']],
    ['several models and an assertion', { providers, ...asserted('similar', 'contains') }, ['scorer']],
    ['settings that do not map', { providers: [{ id: 'openai:a', config: { own: 1 } }] }, ['model']],
    ['an own model of a test', { tests: [{ ...config.tests[0], provider: 'openai:c' }] }, ['model']],
    ['an assertion', asserted('contains', 'python'), ['scorer']],
    [
      'an assertion with a transform',
      {
        tests: [
          {
            vars: { text: 'a' },
            assert: [
              { type: 'equals', value: 'x', transform: 'output.trim()' },
              { type: 'contains', value: 'a' },
            ],
          },
        ],
      },
      ['scorer'],
    ],
    [
      'a pattern with look-ahead',
      {
        tests: [
          {
            vars: { text: 'a' },
            assert: [
              { type: 'regex', value: '^(?!a)' },
              { type: 'contains', value: 'a' },
            ],
          },
        ],
      },
      ['scorer'],
    ],
    ['an assertion and a program', { providers: ['exec:x'], ...asserted('contains', 'python') }, ['model', 'scorer']],
  ])('%s', async (_, more, names) => {
    const options = optionsOf(await refusal(more));
    expect(Object.keys(options)).toEqual(names);
    if (options['model'] === 'provider/model') options['model'] = 'openai/c';
    expect((await read(more, options)).rows.length).toBeGreaterThan(0);
  });

  test.each<[string, object]>([
    ['a misspelt assertion', asserted('contain')],
    ['a misspelt assertion beside another fault', { prompts, ...asserted('contain') }],
    ['tests of a program', { tests: 'file://tests.py' }],
  ])('none for %s', async (_, more) => {
    expect(optionsOf(await refusal(more))).toEqual({});
  });

  test('a scorer of one’s own, where none maps', async () => {
    for (const more of [asserted('similar'), { tests: [{ vars: { text: 'a' } }] }, { prompts, ...asserted('python') }])
      expect(JSON.parse(optionsOf(await refusal(more))['scorer'] ?? '')).toMatchObject({ type: 'rubric' });
  });

  test('the same of many tests is told once', async () => {
    const tests = Array.from({ length: 50 }, () => ({
      vars: { text: 'a' },
      assert: [{ type: 'similar', value: 'x' }],
    }));
    expect((await refusal({ tests })).split('\n')).toHaveLength(2);
  });
});

describe('one choice leaves the first of what is open, with a note', () => {
  test.each<[object, object, string, object]>([
    [{ model: 'b cold' }, asked('A {{text}}'), 'openai/b', { temperature: 0 }],
    [{ prompt: '2' }, asked('B {{text}}'), 'openai/a', {}],
    [{ prompt: '2', model: 'openai/b' }, asked('B {{text}}'), 'openai/b', { temperature: 0 }],
    [{ scorer: 'mapped' }, asked('A {{text}}'), 'openai/a', {}],
  ])('%j', async (given, prompt, model, policy) => {
    const task = await read({ prompts, providers }, given);
    expect(task).toMatchObject({ prompt, model, policy });
    const open = 2 - ['prompt', 'model'].filter((name) => name in given).length;
    expect(task.notes.filter((note) => /^of its 2/.test(note))).toHaveLength(open);
  });

  test('one that maps comes before one that does not', async () => {
    const mixed = { prompts: ['file://x.py', 'B {{text}}'], providers: ['exec:x', 'openai:b'] };
    const task = await read(mixed, { scorer: 'mapped' });
    expect(task).toMatchObject({ prompt: asked('B {{text}}'), model: 'openai/b' });
  });

  test('a model that is named with its provider answers without the settings that do not map', async () => {
    const own = { providers: [{ id: 'openai:a', config: { own: 1, temperature: 0 } }] };
    const { policy, notes } = await read(own, { model: 'openai/a' });
    expect([policy, notes.filter((note) => note.includes('own'))]).toEqual([{ temperature: 0 }, [expect.anything()]]);
  });
});

test('--scorer mapped leaves out what does not map, and says how much', async () => {
  const tests = ['a', 'b', 'c'].map((text, at) => ({
    vars: { text },
    assert: [{ type: 'similar', value: 'x' }, ...(at < 2 ? [{ type: 'contains', value: text }] : [])],
  }));
  const { rows, scorer, notes } = await read({ tests }, { scorer: 'mapped' });
  expect([rows.map(({ expected }) => expected), scorer]).toEqual([['a', 'b'], { type: 'regex' }]);
  expect(notes.join('\n')).toMatch(/similar \(3\)[^]*1 of 3 tests|1 of 3 tests[^]*similar \(3\)/);
});

test('tests for other prompts and models are left out', async () => {
  const named = [
    { raw: 'A {{text}}', label: 'first' },
    { raw: 'B {{text}}', label: 'second:b' },
  ];
  const tests = [
    { ...config.tests[0], prompts: ['first'] },
    { ...config.tests[1], prompts: ['second'] },
    { ...config.tests[1], providers: ['openai:a'] },
    { ...config.tests[1], prompts: ['sec*'], providers: ['b cold'] },
  ];
  const given = { prompt: 'second:b', model: 'b cold' };
  const { rows, notes } = await read({ prompts: named, providers, tests }, given);
  expect([rows.length, notes.filter((note) => note.startsWith('2 of 4 tests')).length]).toEqual([2, 1]);
});

test('without prompts the var prompt is asked, as in promptfoo', async () => {
  const tests = [{ vars: { prompt: 'How?' }, assert: [{ type: 'contains', value: 'x' }] }];
  expect(await read({ prompts: undefined, tests })).toMatchObject({
    prompt: asked('{{prompt}}'),
    rows: [{ prompt: 'How?' }],
  });
  expect(Object.keys(optionsOf(await refusal({ prompts: undefined })))).toEqual(['prompt']);
});

test('a prompt without a var would ask the same in each test', async () => {
  expect(optionsOf(await refusal({ prompts: 'Write a haiku.' }))).toEqual({ prompt: 'FILE' });
  expect(optionsOf(await refusal({ prompts: 'Sort: {{input}}' }))).toEqual({ prompt: 'FILE' });
});

test('a redteam without tests is refused in one sentence', async () => {
  expect((await refusal({ tests: undefined, redteam: { plugins: [] } })).split('\n')).toHaveLength(1);
});

test('fields that promptfoo does not know are named in a note, once', async () => {
  const tests = config.tests.map((one) => ({
    ...one,
    name: 'n',
    prompt: 'x',
    ideal: 'y',
    assert: [{ ...one.assert[0], label: 'l' }],
  }));
  expect((await read({ tests })).notes).toHaveLength(4);
});

describe('files of data', () => {
  const task = async (name: string, value: unknown) => {
    const data = join(folder, name);
    await writeFile(data, typeof value === 'string' ? value : JSON.stringify(value));
    return readTask({ data });
  };

  test('a configuration of JSON is read', async () => {
    expect((await task('promptfooconfig.json', config)).rows).toHaveLength(2);
  });

  test('rows in a file of such a name are rows', async () => {
    expect((await task('promptfoo-rows.json', [{ input: 'a' }])).rows).toBeNull();
  });

  test.each(['promptfooconfig.js', 'promptfooconfig.ts', 'my.promptfoo.mjs'])('%s is not run', async (name) => {
    await expect(task(name, 'throw 1')).rejects.toThrow(`${name}: is a program`);
  });
});
