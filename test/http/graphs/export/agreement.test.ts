/**
 * run.py does what the interpreter does: for any graph, input and answers both come to the same value, or both fail, and then at a
 * step and for a reason that the interpreter fails at too; and they make the same calls, with the same messages, as often.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  maxStepCalls,
  type Condition,
  type Graph,
  type LlmStep,
  type Step,
  type Transform,
} from '../../../../src/core/graphs/graph.js';
import { graphProblems } from '../../../../src/core/graphs/validate.js';
import type { Json } from '../../../../src/core/graphs/values.js';
import { answerTo, anyGraph, anyInput } from '../../../core/graphs/cases.js';
import { oddAnswers, oddGraph, oddInput, rightAnswer } from './cases.js';
import { withPython } from '../../../support/python.js';
import { runs } from '../../../support/runs.js';
import { startDriver, type Driver } from './driver.js';
import { byKey, outcomesAt, play, type Answers } from './play.js';

const { python, ...able } = withPython();

able.describe('run.py', () => {
  let driver: Driver;
  beforeAll(() => {
    driver = startDriver(python);
  });
  afterAll(() => driver.close());

  /** Compares; says how the run ended. */
  async function compare(graph: Graph, input: string, answers: Answers, otherwise?: string) {
    const { outcome, calls } = play(graph, input, byKey(answers, otherwise));
    const theirs = await driver.run(graph, input, answers, otherwise);
    if (outcome.status === 'done') {
      expect(theirs).toEqual({ value: JSON.stringify(outcome.value), calls });
      return 'done';
    }
    if (!('failed' in theirs)) throw new Error(`run.py gives ${theirs.value}, and not: ${JSON.stringify(outcome)}`);
    const { step, reason } = theirs.failed;
    const possible = step === null ? [outcome] : outcomesAt(graph, step, input, byKey(answers, otherwise));
    expect(possible).toContainEqual({ status: 'failed', step, reason });
    for (const [key, call] of Object.entries(theirs.calls)) {
      // The interpreter may have failed before it came to this one.
      const { tried, ...other } = calls[key] ?? call;
      expect(call).toEqual({ ...other, tried: expect.any(Number) });
      expect(call.tried).toBeLessThanOrEqual(tried);
    }
    return step === null ? 'failed' : 'failed at a step';
  }

  test('comes to the same as the interpreter, for any graph', async () => {
    const ends: Record<string, number> = {};
    const property = fc.asyncProperty(anyGraph, anyInput, fc.nat(5), async (graph, input, salt) => {
      const answers: Record<string, string[]> = {};
      for (const step of graph.steps) {
        for (let at = 0; at < maxStepCalls(step); at++) {
          const key = at === 0 ? step.id : `${step.id}#${at + 1}`;
          answers[key] = [answerTo(graph, key, salt)];
        }
      }
      const end = await compare(graph, JSON.stringify(input), answers);
      ends[end] = (ends[end] ?? 0) + 1;
    });
    await fc.assert(property, { numRuns: runs(25, 300) });
    expect(ends['done']).toBeGreaterThan(runs(0, 100));
  });

  test('comes to the same where texts, numbers and JSON are odd, and answers not usable', async () => {
    const ends: Record<string, number> = {};
    const property = fc.asyncProperty(
      oddGraph,
      oddInput,
      oddAnswers,
      async (graph, input, { first, second, isRight }) => {
        expect(graphProblems(graph)).toEqual([]);
        const answers: Record<string, (string | null)[]> = {};
        for (const [at, step] of graph.steps.entries()) {
          const [last, other] = isRight ? [rightAnswer(step, first), rightAnswer(step, second)] : [null, second];
          const before = at % 2 === 0 ? [first, second] : [];
          for (let call = 1; call <= maxStepCalls(step); call++)
            answers[call === 1 ? step.id : `${step.id}#${call}`] = [...before, call === 2 ? other : last];
        }
        const end = await compare(graph, input, answers);
        ends[end] = (ends[end] ?? 0) + 1;
      },
    );
    await fc.assert(property, { numRuns: runs(75, 1_000) });
    expect(ends['done']).toBeGreaterThan(runs(0, 200));
    expect(ends['failed at a step']).toBeGreaterThan(runs(0, 100));
  });

  test.each<[string, Transform, Record<string, unknown>, unknown]>([
    [
      'puts values in once',
      { op: 'template', text: '{{a}}: {{ b }}{{a}}' },
      { a: 'A {{b}}', b: [1] },
      'A {{b}}: [1]A {{b}}',
    ],
    ['names them', { op: 'object' }, { b: 1, a: [2] }, { b: 1, a: [2] }],
    ['lists them', { op: 'list' }, { b: 1, a: [2] }, [1, [2]]],
    ['joins lists', { op: 'concat' }, { b: [1], a: [[2], 3], c: [] }, [1, [2], 3]],
    ['reads JSON', { op: 'json_parse' }, { text: '```json\n{"a": [1]}\n```' }, { a: [1] }],
    [
      'reads names in order',
      { op: 'json_parse' },
      { text: '{"b": 1, "10": 2, "4294967295": 6, "9": 3, "a": 4, "4294967294": 7, "01": 8, "b": 5}' },
      { 9: 3, 10: 2, 4294967294: 7, b: 5, '4294967295': 6, a: 4, '01': 8 },
    ],
    [
      'writes JSON',
      { op: 'json_text' },
      { value: { a: 'x\u2028\u001f', 1: [1.5] } },
      '{"1":[1.5],"a":"x\u2028\\u001f"}',
    ],
    [
      'writes numbers',
      { op: 'json_text' },
      { value: [1e21, 1e-7, 0.000001, 123456789012345680000, 100, 1.5e300] },
      '[1e+21,1e-7,0.000001,123456789012345680000,100,1.5e+300]',
    ],
    ['cuts', { op: 'split', by: ', ' }, { text: 'a, b,c, ' }, ['a', 'b,c', '']],
    ['takes no patterns', { op: 'split', by: '.*' }, { text: 'a.*b' }, ['a', 'b']],
    ['takes lines', { op: 'lines' }, { text: ' a \r\n\n \rb\n\u0085c\u2028d' }, ['a', 'b', '\u0085c\u2028d']],
    ['puts together', { op: 'join', by: ' + ' }, { list: ['a', 1, { k: null }] }, 'a + 1 + {"k":null}'],
    ['makes lower', { op: 'lower' }, { text: 'ΣΑΣ Σ. İ' }, 'σας σ. i̇'],
    ['makes upper', { op: 'upper' }, { text: 'ßb ﬃ ŉ' }, 'SSB FFI ʼN'],
    ['makes halves of a character whole', { op: 'join', by: '' }, { list: ['\ud83d', '\ude00'] }, '😀'],
    [
      'reads numbers that are too large',
      { op: 'json_parse' },
      { text: `[${'9'.repeat(400)}, -1e400]` },
      [Infinity, -Infinity],
    ],
    ['trims', { op: 'trim' }, { text: '\ufeff\u0085 a b\u00a0\u2029' }, '\u0085 a b'],
    ['finds the last number', { op: 'number' }, { text: 'from 3 to 1,234.50.' }, 1234.5],
    ['finds a number below 0', { op: 'number' }, { text: '3-4 (-4)' }, -4],
    ['knows no other digits', { op: 'number' }, { text: '4 ٣' }, 4],
    ['takes a number as it is', { op: 'number' }, { text: 7 }, 7],
    [
      'finds what is between',
      { op: 'between', start: '<a>', end: '</a>' },
      { text: 'x <a> one </a> <a>two</a>' },
      'one',
    ],
    ['takes the first', { op: 'first' }, { list: ['a', 'b'] }, 'a'],
    ['takes the last', { op: 'last' }, { list: ['a', null] }, null],
    ['takes an item', { op: 'item', index: 1 }, { list: ['a', 'b', 'c'] }, 'b'],
    ['takes an item from the end', { op: 'item', index: -3 }, { list: ['a', 'b', 'c'] }, 'a'],
    ['counts', { op: 'count' }, { list: ['a', 'b'] }, 2],
    ['plucks', { op: 'pluck', path: 'a.b' }, { list: [{ a: { b: 1 } }, { a: { b: [2] } }] }, [1, [2]]],
    [
      'keeps the first of the same',
      { op: 'unique' },
      { list: ['a', ' A', { k: 'x' }, { k: 'X ' }, 1, '1', 1, '\u0085a', 'ß', 'SS', 'ς', 'σ', 'Σ'] },
      ['a', { k: 'x' }, 1, '1', '\u0085a', 'ß', 'SS', 'ς', 'σ'],
    ],
    [
      'adds from left to right',
      { op: 'sum' },
      { list: [0.1, 0.2, 0.3, 1e16, 1, -1e16] },
      0.1 + 0.2 + 0.3 + 1e16 + 1 - 1e16,
    ],
    ['finds the least', { op: 'min' }, { list: [3, -2, 5] }, -2],
    ['finds the greatest', { op: 'max' }, { list: [-3, -2, -5] }, -2],
  ])('%s: %j', async (_, transform, inputs, value) => {
    const graph = graphOf(transform, inputs);
    expect(play(graph, JSON.stringify(inputs), byKey({})).outcome).toEqual({ status: 'done', value });
    expect(await driver.run(graph, JSON.stringify(inputs), {})).toEqual({ value: JSON.stringify(value), calls: {} });
  });

  test.each<[Transform, Record<string, unknown>, string]>([
    [
      { op: 'template', text: '{{a}}{{a}}' },
      { a: '😀'.repeat(250_001) },
      'template gives more than 1000000 characters',
    ],
    [{ op: 'concat' }, { a: [], b: 'x' }, 'concat expects lists, but got the text "x" as b'],
    [{ op: 'json_parse' }, { text: '{' }, 'json_parse expects JSON, but its input is not JSON: the text "{"'],
    [{ op: 'json_parse' }, { text: '[NaN]' }, 'json_parse expects JSON, but its input is not JSON: the text "[NaN]"'],
    [
      { op: 'json_parse' },
      { text: '['.repeat(60) + ']'.repeat(60) },
      'json_parse expects JSON, but its input is nested deeper than 50 levels',
    ],
    [
      { op: 'json_parse' },
      { text: '['.repeat(99_999) + ']'.repeat(99_999) },
      'json_parse expects JSON, but its input is nested deeper than 50 levels',
    ],
    [{ op: 'lower' }, { text: 7 }, 'lower expects a text, but got the number 7'],
    [{ op: 'trim' }, { text: { answer: 'x' } }, 'trim expects a text, but got an object with answer'],
    [{ op: 'number' }, { text: '😀'.repeat(31) }, `number finds no number in the text "${'😀'.repeat(30)} […]"`],
    [{ op: 'number' }, { text: `x${'😀'.repeat(31)}` }, `number finds no number in the text "x${'😀'.repeat(29)} […]"`],
    [{ op: 'number' }, { text: '9'.repeat(400) }, `number finds no number in the text "${'9'.repeat(60)} […]"`],
    [{ op: 'between', start: '<', end: '>' }, { text: 'a>' }, 'between finds no "<" in the text "a>"'],
    [{ op: 'between', start: '<', end: '>' }, { text: '>a<b' }, 'between finds no ">" after "<" in the text ">a<b"'],
    [{ op: 'first' }, { list: [] }, 'first finds no item 0 in a list of 0'],
    [{ op: 'last' }, { list: [] }, 'last finds no item -1 in a list of 0'],
    [{ op: 'item', index: 2 }, { list: [1, 2] }, 'item finds no item 2 in a list of 2'],
    [{ op: 'count' }, { list: 'abc' }, 'count expects a list, but got the text "abc"'],
    [{ op: 'join', by: 'x'.repeat(9_000) }, { list: Array(113).fill('') }, 'join gives more than 1000000 characters'],
    [
      { op: 'pluck', path: 'a' },
      { list: [{ a: 1 }, { b: 1 }] },
      'pluck of item 1: there is no "a" in an object with b',
    ],
    [{ op: 'pluck', path: 'length' }, { list: ['abc'] }, 'pluck of item 0: there is no "length" in the text "abc"'],
    [{ op: 'sum' }, { list: [1, true] }, 'sum expects a list of numbers, but got true as item 1'],
    [{ op: 'sum' }, { list: [1e308, 1e308] }, 'sum is too large for a number'],
    [{ op: 'min' }, { list: [] }, 'min has no value for an empty list'],
    [{ op: 'max' }, { list: null }, 'max expects a list, but got null'],
  ])('fails and says why as the interpreter does (%#)', async (transform, inputs, reason) => {
    const graph = graphOf(transform, inputs);
    expect(play(graph, JSON.stringify(inputs), byKey({})).outcome).toEqual({ status: 'failed', step: 't', reason });
    expect(await driver.run(graph, JSON.stringify(inputs), {})).toEqual({ failed: { step: 't', reason }, calls: {} });
  });

  test.each<[Condition['is'], Json | undefined, Json, boolean | string]>([
    ['equals', 'yes', ' YES ', true],
    ['equals', 'yes', 'yes.', false],
    ['equals', 1, 1, true],
    ['equals', 1, '1', false],
    ['equals', 1, true, false],
    ['equals', null, null, true],
    ['equals', null, '', false],
    ['contains', 'b  C', 'A B c d', true],
    ['contains', 'ς', 'ΑΣ', true],
    ['contains', 'x', 'abc', false],
    ['contains', 4, 'is 42', true],
    ['contains', true, 'TRUE', true],
    ['contains', null, 'a null', true],
    ['contains', 'a', ['b', ' A'], true],
    ['contains', 'a', ['ab'], false],
    ['contains', 'a', { a: 1 }, 'contains expects a text or a list, but got an object with a'],
    ['empty', undefined, ' \n\ufeff', true],
    ['empty', undefined, '\u0085', false],
    ['empty', undefined, [], true],
    ['empty', undefined, [null], false],
    ['empty', undefined, {}, true],
    ['empty', undefined, null, true],
    ['empty', undefined, 0, false],
    ['empty', undefined, false, false],
    ['less', 3, 2, true],
    ['less', 3, 3, false],
    ['less', 3, true, 'less expects a number, but got true'],
    ['greater', 3, ' 3.5\u00a0', true],
    ['greater', 3, 3, false],
    ['greater', -5, '-4', true],
    ['greater', 3, '٤', 'greater expects a number, but got the text "٤"'],
    ['greater', 3, '4\u0085', 'greater expects a number, but got the text "4\u0085"'],
    ['greater', 3, '0x10', 'greater expects a number, but got the text "0x10"'],
  ])('takes the condition %s %j of %j as the interpreter does: %j', async (is, value, x, holds) => {
    const when = { of: 'input.x', is, ...(value === undefined ? {} : { value }) } as Condition;
    const step: Step = { id: 't', type: 'select', cases: [{ when, then: 'input.yes' }], otherwise: 'input.no' };
    const graph: Graph = { inputs: ['x', 'yes', 'no'], steps: [step], output: 't' };
    const input = JSON.stringify({ x, yes: true, no: false });
    const outcome =
      typeof holds === 'boolean'
        ? { status: 'done', value: holds }
        : { status: 'failed', step: 't', reason: `the condition on input.x: ${holds}` };
    expect(play(graph, input, byKey({})).outcome).toEqual(outcome);
    await compare(graph, input, {});
  });

  test('takes a field that is not there as empty, and fails on it by any other condition', async () => {
    const graphWhen = (when: Condition): Graph => ({
      inputs: ['x'],
      steps: [{ id: 't', type: 'select', cases: [{ when, then: 'input.x' }], otherwise: 'input' }],
      output: 't',
    });
    expect(await compare(graphWhen({ of: 'input.x.k', is: 'empty' }), '{"x": {}}', {})).toBe('done');
    const equals: Condition = { of: 'input.x.k', is: 'equals', value: null };
    expect(await compare(graphWhen(equals), '{"x": {}}', {})).toBe('failed at a step');
  });

  test.each<[string, string | null]>([
    ['2', 'b'],
    ['**03**', 'c'],
    ['2, since 2 is right', 'b'],
    ['2\n\nIt is the clearest.', 'b'],
    ['1 is wrong, 2 is wrong.\n\nSo: 3\n \n', 'c'],
    ['Candidate 2 and 3 differ.\r\n[1]', 'a'],
    ['3\r2', 'b'],
    ['1 beats 2.\nThat is clear.', null],
    ['1\u20282', null],
    ['4', null],
    ['0', null],
    ['9'.repeat(400), null],
    ['٢', null],
    ['', null],
  ])('takes the verdict %j as the interpreter does: %j', async (verdict, chosen) => {
    const judge = { inputs: {}, messages: [{ role: 'user' as const, content: '{{candidates}}' }], tries: 1 };
    const step: Step = { id: 'best', type: 'vote', over: 'input.list', by: { judge } };
    const graph: Graph = { inputs: ['list'], steps: [step], output: 'best' };
    const end = await compare(graph, '{"list": ["a", "b", "c", " A"]}', {}, verdict);
    expect(end).toBe(chosen === null ? 'failed at a step' : 'done');
    if (chosen !== null)
      expect(await driver.run(graph, '{"list": ["a", "b", "c"]}', {}, verdict)).toMatchObject({ value: `"${chosen}"` });
  });

  test('bounds inputs, values, messages and answers as the interpreter does', async () => {
    const half = '😀'.repeat(250_000);
    const twice: Step = { id: 't', type: 'transform', op: 'list', inputs: { a: 'input.x', b: 'input.x' } };
    const asking = (content: string): Graph => ({
      inputs: ['x'],
      steps: [
        {
          id: 's',
          type: 'llm',
          inputs: { x: 'input.x' },
          messages: [{ role: 'user', content }],
          output: { field: 'k' },
        },
      ],
      output: 's.k',
    });
    const two = asking('{{x}}');
    const [asked] = two.steps as [LlmStep];
    two.steps = [{ ...asked, messages: [...asked.messages, ...asked.messages] }];
    const many = asking('{{x}}');
    many.steps = [{ ...asked, samples: 20 }];
    many.output = 's';
    const each: Step = {
      ...asked,
      id: 'each',
      type: 'map',
      over: 'input.x.items',
      as: 'one',
      inputs: { x: 'input.x.text', y: 'one' },
    };
    const map: Graph = {
      inputs: ['x'],
      steps: [{ ...each, messages: [{ role: 'user', content: '{{x}}{{y}}' }] }],
      output: 'each',
    };
    const tenth = '😀'.repeat(199_999);
    const list = graphOf({ op: 'list' }, { x: 1 });
    for (const [graph, x, answer, end] of [
      [list, half, '', 'done'],
      [list, half + half, '', 'failed'],
      [list, { [half]: 1, ['y'.repeat(499_990)]: 1 }, '', 'done'],
      [list, { [half]: 1, ['y'.repeat(500_000)]: 1 }, '', 'failed'],
      [{ ...list, steps: [twice] }, half.slice(0, -2), '', 'done'],
      [{ ...list, steps: [twice] }, half, '', 'failed at a step'],
      [asking('{{x}}'), '😀'.repeat(200_000), '', 'done'],
      [asking('{{x}}!'), '😀'.repeat(200_000), '', 'failed at a step'],
      [two, '😀'.repeat(100_000), '', 'done'],
      [two, `${'😀'.repeat(100_000)}!`, '', 'failed at a step'],
      [many, '😀'.repeat(100_000), '', 'done'],
      [many, `${'😀'.repeat(100_000)}!`, '', 'failed'],
      [map, { text: tenth, items: Array(10).fill('ab') }, '', 'done'],
      [map, { text: tenth, items: Array(11).fill('a') }, '', 'failed'],
      [asking('{{x}}'), '', half, 'done'],
      [asking('{{x}}'), '', `${half}!`, 'failed at a step'],
    ] as const)
      expect(await compare(graph, JSON.stringify({ x }), {}, answer)).toBe(end);
  });

  test('looks at each step once, however many ways lead to it', async () => {
    const steps = Array.from({ length: 40 }, (_, at): Step => {
      const from = (name: string) => (at < 2 ? 'asked.k' : `${name}${Math.floor(at / 2) - 1}`);
      const id = `${at % 2 === 0 ? 'a' : 'b'}${Math.floor(at / 2)}`;
      return { id, type: 'vote', of: [from('a'), from('b')], by: 'majority' };
    });
    const asked: Step = {
      id: 'asked',
      type: 'llm',
      inputs: { x: 'input.x' },
      messages: [{ role: 'user', content: '{{x}}' }],
      output: { field: 'k' },
    };
    const last: Step = { id: 'last', type: 'vote', of: ['a19', 'b19'], by: 'majority' };
    expect(await compare({ inputs: ['x'], steps: [last, ...steps, asked], output: 'last' }, '{"x": ""}', {})).toBe(
      'done',
    );
  });

  test('knows upper case, lower case and white space of all characters', async () => {
    const changed: Record<string, [string, string]> = {};
    let white = '';
    for (let code = 0; code < 0x110000; code++) {
      const char = String.fromCodePoint(code);
      const [lower, upper] = [char.toLowerCase(), char.toUpperCase()];
      if (lower !== char || upper !== char) changed[char] = [lower, upper];
      if (/\s/.test(char)) white += char;
    }
    const wrong = await driver.wrongCharacters(changed, white);
    // A character that this Node does not know yet.
    expect(wrong.filter(([char, , own]) => !/\p{Cn}/u.test(char + own.join('')))).toEqual([]);
  });
});

/** A graph of one transform that takes these inputs of the task. */
function graphOf(transform: Transform, inputs: Record<string, unknown>): Graph {
  const names = Object.keys(inputs);
  const refs = Object.fromEntries(names.map((name) => [name, `input.${name}`]));
  return { inputs: names, steps: [{ id: 't', type: 'transform', inputs: refs, ...transform }], output: 't' };
}
