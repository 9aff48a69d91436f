import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readMarks, replaceMarks } from '../../../src/models/routes/lever-marks.js';
import { pureRuns } from '../../support/runs.js';

const lever = (name: string, text: string) => `<lever name="${name}">${text}</lever>`;
const fill = (text: string, texts: Record<string, string> = {}) =>
  replaceMarks(text, new Map(Object.entries(texts))).text;

describe('marks in a text', () => {
  test('are removed, with the new text or their own text between them', () => {
    const text = `Before ${lever('plan', 'old plan')}, ${lever('act', 'old act')}.\n`;
    expect(fill(text, { plan: 'new' })).toBe('Before new, old act.\n');
    expect(fill(text)).toBe('Before old plan, old act.\n');
    expect(readMarks(text)).toEqual([
      { name: 'plan', text: 'old plan' },
      { name: 'act', text: 'old act' },
    ]);
  });

  test('get a new text verbatim, including its own marks and $', () => {
    const hostile = `$& $1 ${lever('act', 'x')} </lever><lever name="act">`;
    expect(fill(`${lever('plan', '')}${lever('act', 'own')}`, { plan: hostile, act: '' })).toBe(hostile);
  });

  test('nested marks: the outer one wins if it has a text', () => {
    const text = `(${lever('plan', `a${lever('act', 'b')}c`)})`;
    expect(fill(text, { plan: 'P', act: 'A' })).toBe('(P)');
    expect(fill(text, { act: 'A' })).toBe('(aAc)');
    expect(fill(text)).toBe('(abc)');
    expect(readMarks(text)).toEqual([{ name: 'plan', text: 'abc' }]);
    expect([...replaceMarks(text, new Map([['act', 'A']])).found]).toEqual(['act']);
  });

  test.each([
    '<lever name="plan">never closed',
    'never opened</lever>',
    '</lever><lever name="plan">',
    lever('', 'x'),
    lever('1st', 'x'),
    lever('a'.repeat(65), 'x'),
    '<lever name=plan>x</lever>',
    "<lever name='plan'>x</lever>",
    '<Lever name="plan">x</Lever>',
  ])('treats %s as text', (text) => {
    expect(fill(text, { plan: 'P', '': 'P', '1st': 'P' })).toBe(text);
    expect(readMarks(text)).toEqual([]);
  });

  test('keeps half a pair, and removes the pairs beside it', () => {
    expect(fill(`<lever name="plan">a ${lever('act', 'b')} c`, { plan: 'P', act: 'A' })).toBe(
      '<lever name="plan">a A c',
    );
    expect(fill(`${lever('act', 'b')}</lever>`, { act: 'A' })).toBe('A</lever>');
  });

  test('take time in proportion to their number, at any depth', () => {
    const deep = '<lever name="a">'.repeat(100_000) + 'x' + '</lever>'.repeat(100_000);
    expect(fill(deep)).toBe('x');
    expect(readMarks(deep)).toEqual([{ name: 'a', text: 'x' }]);
  });
});

type Node = string | { name: string; inner: Node[] };
const names = fc.constantFrom('plan', 'act', 'constructor', 'a-_9');
// Arbitrary text with parts of marks, but no complete mark.
const free = fc
  .array(fc.oneof(fc.string({ unit: 'binary', maxLength: 4 }), fc.constantFrom('<lever', 'lever>', '</', '$1', '\n')))
  .map((parts) => parts.join(''));
const nodes = fc.letrec<{ nodes: Node[]; node: Node }>((tie) => ({
  nodes: fc.array(tie('node'), { maxLength: 4, depthIdentifier: 'lever' }),
  node: fc.oneof(
    { depthSize: 'small', depthIdentifier: 'lever', withCrossShrink: true },
    free,
    fc.record({ name: names, inner: tie('nodes') }),
  ),
})).nodes;
const written = (all: Node[]): string =>
  all.map((node) => (typeof node === 'string' ? node : lever(node.name, written(node.inner)))).join('');
const filled = (all: Node[], texts: Map<string, string>): string =>
  all.map((node) => (typeof node === 'string' ? node : (texts.get(node.name) ?? filled(node.inner, texts)))).join('');
const count = (all: Node[]): number =>
  all.reduce<number>((sum, node) => sum + (typeof node === 'string' ? 0 : 1 + count(node.inner)), 0);
const marks = /<lever name="[A-Za-z][\w-]{0,63}">|<\/lever>/g;
const without = (text: string) => (text.match(marks) ?? []).length === 0;

describe('for any text', () => {
  test('every pair of marks is removed, new texts are inserted verbatim and the rest is unchanged', () => {
    const newTexts = fc.dictionary(names, fc.oneof(free, nodes.map(written)), { noNullPrototype: true });
    fc.assert(
      fc.property(nodes, newTexts, (tree, texts) => {
        const text = written(tree);
        fc.pre((text.match(marks) ?? []).length === 2 * count(tree));
        const map = new Map(Object.entries(texts));
        expect(replaceMarks(text, map).text).toBe(filled(tree, map));
        expect(readMarks(text)).toEqual(
          tree.flatMap((node) =>
            typeof node === 'string' ? [] : [{ name: node.name, text: filled(node.inner, new Map()) }],
          ),
        );
      }),
      { numRuns: pureRuns(1_000) },
    );
  });

  test('no mark survives between texts without angle brackets', () => {
    const plain = nodes.map((tree) => bare(tree));
    fc.assert(
      fc.property(plain, (tree) => expect(without(fill(written(tree)))).toBe(true)),
      { numRuns: pureRuns(500) },
    );
  });

  test('text without marks stays', () => {
    fc.assert(
      fc.property(free, fc.dictionary(names, free, { noNullPrototype: true }), (text, texts) => {
        fc.pre(without(text));
        expect(fill(text, texts)).toBe(text);
      }),
      { numRuns: pureRuns(1_000) },
    );
  });
});

function bare(tree: Node[]): Node[] {
  return tree.map((node) =>
    typeof node === 'string' ? node.replaceAll('<', '') : { name: node.name, inner: bare(node.inner) },
  );
}
