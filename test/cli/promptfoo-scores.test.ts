/** Scores of assertions, compared with what promptfoo computes (`src/assertions`). */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import nunjucks from 'nunjucks';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { stringify } from 'yaml';
import { readPromptfoo } from '../../src/cli/task/promptfoo.js';

import { functionOf } from '../../src/cli/task/promptfoo/code.js';
import { listOf, maxOrdered, patternOfAll } from '../../src/cli/task/promptfoo/patterns.js';
import { evaluate, parseExpression, textOf } from '../../src/cli/task/promptfoo/expressions.js';
import { compilePattern } from '../../src/util/linear-regex.js';
import { compare } from '../support/scoring.js';

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'ratchet-promptfoo-'))));
afterAll(() => rm(folder, { recursive: true }));

async function read(more: object) {
  const path = join(folder, 'promptfooconfig.yaml');
  const config = { prompts: ['{{text}}'], providers: ['openai:gpt-4o'], ...more };
  await writeFile(path, stringify(config));
  return readPromptfoo(path, {});
}

const withAssert = (assert: object) => ({ tests: [{ vars: { text: 'a' }, assert: [assert] }] });

async function reward(assert: object, output: string): Promise<number> {
  const { scorer, rows, expected } = await read(withAssert(assert));
  return compare(scorer, expected === null ? undefined : rows[0]![expected], output).reward;
}

const schema = {
  type: 'object',
  required: ['a', 'b'],
  properties: { a: { type: 'number' }, b: { $ref: '#/$defs/b' } },
};
const whole = { ...schema, $defs: { b: { type: 'string' } } };
test.each<[string, object, string, number]>([
  ['a schema counts as a whole', { type: 'is-json', value: whole }, '{"a": 1, "b": 2}', 0],
  ['a schema with definitions', { type: 'is-json', value: whole }, '{"a": 1, "b": "x"}', 1],
  ['no schema', { type: 'is-json', value: false }, '[1]', 1],
  ['one of all', { type: 'contains-all', value: ['alpha', 'beta'] }, 'alpha', 0],
  ['all that overlap', { type: 'contains-all', value: ['alpha', 'pha b'] }, 'alpha b', 1],
  ['all in other order and case', { type: 'icontains-all', value: 'beta, ALPHA' }, 'Alpha\nand Beta', 1],
  ['words, exactly', { type: 'word-count', value: 3 }, ' one\u00a0two\nthree ', 1],
  ['words, too few', { type: 'word-count', value: { min: 2 } }, 'one', 0],
  ['words, none', { type: 'word-count', value: { max: 0 } }, ' \n', 1],
  ['words, too many', { type: 'word-count', value: { min: 0, max: 2 } }, 'a b c', 0],
])('%s', async (_, assert, output, expected) => {
  expect(await reward(assert, output)).toBe(expected);
});

test('contains-all is that of promptfoo for arbitrary values and outputs', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'A', '.', ' '), minLength: 1, maxLength: 3 });
  const output = fc.string({ unit: fc.constantFrom('a', 'b', 'A', '.', ' ', '\n'), maxLength: 9 });
  const values = fc.array(letters, { minLength: 1, maxLength: maxOrdered });
  fc.assert(
    fc.property(values, output, fc.constantFrom('', 'i'), (texts, given, flags) => {
      const cased = (one: string) => (flags === 'i' ? one.toLowerCase() : one);
      const pattern = patternOfAll(texts, flags);
      fc.pre(pattern !== null);
      const compiled = compilePattern(pattern, flags);
      if ('problem' in compiled) throw new Error(compiled.problem);
      expect(compiled.test(given)).toBe(texts.every((one) => cased(given).includes(cased(one))));
    }),
  );
});

test.each<[string, string[]]>([
  ['a, b ,,c', ['a', 'b', 'c']],
  ['"a, b", c', ['a, b', 'c']],
  [String.raw`"say \"x\"", "a""b"`, ['say "x"', 'a"b']],
])('%s is a list', (text, values) => {
  expect(listOf(text)).toEqual(values);
});

describe('code', () => {
  const run = (code: string, output: string, context = {}) => {
    const scorer = functionOf(code, context);
    return JSON.parse(
      runInNewContext(`JSON.stringify((${scorer})(output, { topic: 't' }))`, { output }) as string,
    ) as unknown;
  };
  test.each<[string, string, string, object, unknown]>([
    ['that throws scores 0', 'JSON.parse(output).a === 1', 'no JSON', {}, { reward: 0 }],
    ['that returns nothing scores 0', 'undefined', 'x', {}, { reward: 0 }],
    ['that returns a text scores 0', '"yes"', 'x', {}, { reward: 0 }],
    ['sees its config', 'context.config.min', 'x', { config: { min: 0.25 } }, 0.25],
    ['sees the vars', "context.test.vars.topic === 't'", 'x', {}, 1],
    ['sees a value where the provider reads JSON', 'output.a === 1', '{"a": 1}', { readsJson: true }, 1],
    ['sees a text that is no JSON there', "output === '{'", '{', { readsJson: true }, 1],
  ])('%s', (_, code, output, context, result) => {
    const given = run(code, output, context);
    if (typeof result === 'object') expect(given).toMatchObject(result!);
    else expect(given).toBe(result);
  });

  test('its vars are rendered, as in promptfoo', async () => {
    const tests = ['red', 'blue'].map((text) => ({
      vars: { text },
      assert: [{ type: 'javascript', value: "output === '{{ text | upper }}'" }],
    }));
    const { scorer, rows } = await read({ tests });
    const code = (scorer as { parts: [{ scorer: { code: string } }] }).parts[0].scorer.code;
    const field = Object.keys(rows[0]!['expected'] ?? {})[0];
    const expected = rows.map((row) => (field === undefined ? row['expected'] : (row['expected'] as never)[field]));
    const scores = expected.map((at) => runInNewContext(`(${code})('BLUE', {}, ${String(at)})`, {}) as unknown);
    expect(scores).toEqual([0, 1]);
  });

  test('answers of a JSON format are values', async () => {
    const providers = [{ id: 'openai:gpt-4o', config: { response_format: { type: 'json_object' } } }];
    const { scorer } = await read({ providers, ...withAssert({ type: 'javascript', value: 'output.a === 1' }) });
    expect(runInNewContext(`(${String(scorer!['code'])})('{"a":1}', {})`, {})).toBe(1);
  });
});

describe('templates', () => {
  const engine = new nunjucks.Environment(null, { autoescape: false });
  const vars = {
    a: ' Big cat ',
    n: 12.5,
    yes: true,
    list: ['x', 'y', 'z'],
    o: { p: [{ q: 'deep' }], 'k-1': 'k' },
    e: '',
  };
  const ours = (source: string) => textOf(evaluate(parseExpression(source)!, vars));

  test.each([
    'a',
    'n',
    'yes',
    'list',
    'o.p[0].q',
    'o["p"][0].q',
    "'it'",
    '"a\\nb"',
    '3',
    'true',
    'none',
    'a | upper',
    'a|trim|lower',
    'a | trim | capitalize',
    'list | join(", ")',
    'list|join',
    'list | length',
    'a | length',
    'o | length',
    'list | first',
    'list | last',
    "a | replace('cat', 'dog')",
    'o.p | dump',
    "nothing | default('d')",
    "e | default('d')",
    "e | default('d', true)",
    'a | safe',
    'n | string',
    'o | dump(2)',
  ])('{{ %s }} is that of Nunjucks', (source) => {
    expect(ours(source)).toBe(engine.renderString(`{{ ${source} }}`, vars));
  });

  test.each([
    'a + 1',
    'a if yes',
    'a.trim()',
    'list[n]',
    'a | eval',
    'range(3)',
    'a | replace(n, "x")',
    '-a',
    '{"a": 1}',
    '',
  ])('{{ %s }} is refused', (source) => expect(parseExpression(source)).toBeNull());

  test.each([['o.constructor'], ['a.constructor.constructor'], ['__proto__'], ['list.length']])(
    '{{ %s }} leads out of no var',
    (source) => expect(evaluate(parseExpression(source)!, vars)).toBeUndefined(),
  );

  test('an expression of a prompt is a column', async () => {
    const tests = [
      { vars: { tags: { all: ['a', 'b'] } }, assert: [{ type: 'contains', value: "{{ tags.all | join('+') }}" }] },
    ];
    const { prompt, rows } = await read({ prompts: ["Use {{ tags.all | join(', ') }}."], tests });
    expect(prompt!.messages[0]!.content).toBe("Use {{tags.all | join(', ')}}.");
    expect(rows).toEqual([{ ...tests[0]!.vars, "tags.all | join(', ')": 'a, b', expected: String.raw`a\+b` }]);
  });

  test('a line break at the end of a var is left out, once', async () => {
    const tests = [{ vars: { text: 'a\n\n' }, assert: [{ type: 'contains', value: '<{{text}}>' }] }];
    expect((await read({ tests })).rows).toEqual([{ text: 'a\n', expected: '<a\n>' }]);
  });

  test('literals and raw parts are texts, unless they name a var', async () => {
    const literal = "{{ '{' }}{{ '{' }}x}} {% raw %}{{y}}{% endraw %}{# note #} {{text}}";
    const { prompt } = await read({ prompts: [literal], ...withAssert({ type: 'contains', value: 'x' }) });
    expect(prompt!.messages[0]!.content).toBe('{{x}} {{y}} {{text}}');
    const clash = [`{{text}} {% raw %}{{text}}{% endraw %}`];
    await expect(read({ prompts: clash, ...withAssert({ type: 'is-json' }) })).rejects.toThrow(
      /\{\{text\}\}.*--prompt/,
    );
  });
});
