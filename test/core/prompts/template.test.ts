import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  bracedNames,
  isGraphInput,
  parseTemplate,
  placeholderNames,
  renderTemplate,
} from '../../../src/core/prompts/template.js';
import { toText, type Json } from '../../../src/core/graphs/values.js';

const render = (text: string, values: Record<string, Json>, most = 1_000) =>
  renderTemplate(parseTemplate(text, isGraphInput), (name) => toText(values[name]!), most);

describe('templates', () => {
  test.each<[string, Record<string, Json>, string]>([
    ['{{a}} and {{ b }}{{a}}', { a: 'x', b: 'y' }, 'x and yx'],
    ['{a} {"k": {"l": 1}} { {a} } {{}} }}{{', { a: 'x' }, '{a} {"k": {"l": 1}} { {a} } {{}} }}{{'],
    ['{{{a}}}', { a: 'x' }, '{x}'],
    ['{{a}}', { a: { k: [1, 'z', null] } }, '{"k":[1,"z",null]}'],
    ['{{a}} {{b}} {{c}}', { a: 1.5, b: true, c: null }, '1.5 true null'],
    ['{{a}}{{b}}', { a: '{{b}} $& $1', b: '{{a}}' }, '{{b}} $& $1{{a}}'],
    ['{{a}}{{b}}', { a: '{', b: '{a}}' }, '{{a}}'],
    ['', {}, ''],
  ])('%j', (text, values, expected) => {
    expect(render(text, values)).toBe(expected);
  });

  test('list distinct placeholders and what braces enclose', () => {
    const text = '{{b}} {{a}} {{b}} {{ a.b }} {{1}} {{a b}} {{}} {{a-b}} {{ a.b }}';
    expect(placeholderNames(text, isGraphInput)).toEqual(['b', 'a']);
    expect(bracedNames(text)).toEqual(['b', 'a', 'a.b', '1', 'a b', '', 'a-b']);
  });

  test('are bounded in length', () => {
    expect(render('ab{{a}}', { a: 'xyz' }, 5)).toBe('abxyz');
    expect(render('ab{{a}}', { a: 'xyz' }, 4)).toBeNull();
    expect(render('{{a}}'.repeat(10_000), { a: 'x'.repeat(1_000_000) }, 1_000_000)).toBeNull();
  });

  test('do not expand placeholders within values', () => {
    // No two of these words form the name of an unknown placeholder.
    const piece = fc.constantFrom('{{a}}', '{{b}}', '{{', '}}', '{', '}', ' a ', ' b ', '$&', '\\', ' ', '\n');
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, text, text, (template, a, b) => {
        const mark = '\u0001';
        const marked = render(template, { a: `${mark}A${mark}`, b: `${mark}B${mark}` })!;
        const expected = marked.split(`${mark}A${mark}`).map((part) => part.split(`${mark}B${mark}`).join(b));
        expect(render(template, { a, b })).toBe(expected.join(a));
      }),
    );
  });
});
