import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import nunjucks from 'nunjucks';
import { promptfooMessages, variableName } from '../../src/cli/export/promptfoo.js';
import { fillMessages } from '../../src/core/prompts/row-template.js';

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
