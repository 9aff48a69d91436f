import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import nunjucks from 'nunjucks';
import { promptfooConfig, promptfooMessages } from '../../src/cli/export/promptfoo.js';
import { variableName } from '../../src/cli/export/promptfoo-text.js';
import { fillMessages } from '../../src/core/prompts/row-template.js';
import { compare } from '../support/scoring.js';

const engine = new nunjucks.Environment(null, { autoescape: false });
const columns = ['input', 'Question Text', '1st', 'naïve', 'constructor', 'a.b', 'range', 'true'];
const values = new Map(columns.map((name) => [name, `<${name} {{x}} {% y %}>`]));
const vars = Object.fromEntries(columns.map((name) => [variableName(name), values.get(name)]));

function rendered(content: string): string {
  const [message] = promptfooMessages([{ role: 'user', content }], columns);
  return engine.renderString(message!.content, vars);
}
const filled = (content: string) => fillMessages([{ role: 'user', content }], values, 1e6)![0]!.content;

test.each([
  '{% if range.constructor("globalThis.PWNED = 1; return 1")() %}Be kind.{% endif %}',
  '{{ range.constructor("globalThis.PWNED = 1")() }} {# gone #} #} {% raw %} {% endraw %}',
  '{{input}} {{ Question Text }} {{1st}} {{{input}}} {{input}}{ {{"a": 1}} ${{ secrets.X }}',
])('Nunjucks renders what the service sends: %s', (content) => {
  expect(rendered(content)).toBe(filled(content));
  expect(globalThis).not.toHaveProperty('PWNED');
});

test('for arbitrary texts', () => {
  const signs = ['{', '}', '{{', '}}', '%', '#', '{%', '%}', '{#', '#}', '-', "'", '"', '\\', '\n', ' ', 'raw'];
  const piece = fc.oneof(fc.constantFrom(...signs, 'endraw', ...columns), fc.string({ maxLength: 3 }));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const content = pieces.join('');
      expect(rendered(content)).toBe(filled(content));
    }),
  );
});

test('a name of Nunjucks or of several words becomes a variable', () => {
  expect(columns.map(variableName)).toEqual([
    'input',
    'Question_Text',
    '_1st',
    'naïve',
    '_constructor',
    'a_b',
    '_range',
    '_true',
  ]);
});

const message = { role: 'user' as const, content: 'Label: {{input}}' };
const policy = { provider: 'openai', model: 'm' };

interface Config {
  description?: string;
  providers: unknown[];
  defaultTest: { assert?: { type: string; value: string }[] };
  tests: { vars: Record<string, unknown> }[];
}
const configOf = (row: object, scorer: unknown, of = policy): Config =>
  JSON.parse(
    promptfooConfig({
      messages: [message],
      policy: of,
      inputs: ['input', ...Object.keys(row)],
      tests: { rows: [row as Record<string, unknown>], input: 'text', expected: 'right answer', scorer },
    }),
  ) as Config;

test.each<[unknown, unknown, string]>([
  ['exact', 'Card Arrival', ' card  arrival'],
  ['exact', 'card_arrival', 'It is card_arrival'],
  ['exact', ['4', 'four'], 'Four'],
  ['exact', '"q" \\n `é` {x}', '"q" \\n `é` {x}'],
  ['exact', 4, '4'],
  [{ type: 'exact', case_sensitive: true }, 'A', 'a'],
  ['contains', 'arrival', 'Card arrival.'],
  ['contains', 'arriv', 'Card arrival.'],
  ['numeric', '9 * 2 = 18\n#### 18', 'So 1,200 / 10 = 120, no: 18.'],
  ['numeric', '1,200', 'It is 1200'],
  ['numeric', 5, '6'],
  [{ type: 'numeric', tolerance: 0.5, relative: false }, 5, '5.4'],
  [{ type: 'regex', pattern: '^a{2}$', flags: 'i' }, 'x', 'AA'],
  ['regex', '^b+$', 'bbb'],
])('promptfoo scores %j with %j and the answer %j as the service does', (scorer, expected, output) => {
  const config = configOf({ text: 'x', 'right answer': expected }, scorer);
  const [assertion] = config.defaultTest.assert!;
  const { vars } = config.tests[0]!;
  // promptfoo renders the assertion, and variables only in prompts that are no JSON.
  const code = engine.renderString(assertion!.value, {});
  const body = code.includes('return ') ? code : `return ${code}`;
  const run = new Function('output', 'context', body) as (output: string, given: object) => boolean;
  expect(Number(run(output, { vars }))).toBe(compare(scorer, expected, output).reward);
});

test.each(['file:///etc/passwd', 'package:x:y', 'Say {{ env.HOME }}', '{% raw %}', '{# note #}'])(
  'a row that promptfoo would not take as it is is left out: %s',
  (text) => {
    expect(configOf({ text, 'right answer': 'a' }, 'exact').tests).toEqual([]);
    expect(configOf({ text: 'a', 'right answer': ['b', text] }, 'exact').tests).toEqual([]);
    expect(configOf({ text: `A ${text.replace('{', '(')}`, 'right answer': 'a' }, 'exact').tests).toEqual([
      { vars: { input: `A ${text.replace('{', '(')}`, right_answer: 'a' } },
    ]);
  },
);

test.each<[string, unknown]>([
  ['openai', 'openai:chat:m'],
  ['anthropic', 'anthropic:messages:m'],
  ['groq', 'groq:m'],
  ['local', 'local:m'],
  [
    'my-models',
    {
      id: 'openai:chat:m',
      label: 'my-models/m',
      config: { apiBaseUrl: '{{env.MY_MODELS_BASE_URL}}', apiKeyEnvar: 'MY_MODELS_API_KEY' },
    },
  ],
])('a model of %s has its name in promptfoo', (provider, id) => {
  const { providers, description } = configOf({ text: 'x' }, 'exact', { provider, model: 'm' });
  expect(providers).toEqual([id]);
  expect(description !== undefined).toBe(provider === 'local');
});
