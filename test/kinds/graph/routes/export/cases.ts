/** Graphs, inputs and answers with unusual texts, numbers and JSON. */
import fc from 'fast-check';
import type { Graph, Prompt, SelectCase, Step, Transform } from '../../../../../src/core/graphs/graph.js';
import { usedSteps } from '../../../../../src/core/graphs/refs.js';
import { stepShape } from '../../../../../src/core/graphs/shapes.js';
import { opSignatures } from '../../../../../src/core/graphs/ops.js';
import { user } from '../../../../core/graphs/cases.js';

/** Texts that two languages may treat differently. */
const odd = [
  '',
  ' ',
  '\u00a0x\u00a0',
  '\u0085',
  '\u001c x',
  '\ufeff{"k": 1}',
  ' Yes\u2003 NO\u2029',
  'ΑΣ ΣΑ',
  'İstanbul',
  'ß ﬃ ŉ',
  '\ud800',
  '\udc00!',
  '😀 a',
  '"\\ud83d"',
  '{{a}} {{x',
  '```json\n{"a": [1.0, -0]}\n```',
  '```\n```',
  '```x y\n1\n```',
  '``` \t\r\n"in"\n  ```',
  'from -3 to 1,234.50',
  'x-7 (-8)',
  '1,2345 12,345,678',
  '٣ 4',
  '-12.5',
  ' 007 ',
  '1e400',
  '-1e400',
  '-0',
  '5e-324',
  '0.1',
  '12345678901234567890',
  '[1e21, 1e-7, 0.000001, 123456789012345680000, 1.5e300, 4e-7]',
  '{"b": 1, "2": [2.50], "1": null, "01": true, "4294967295": 0, "4294967294": "", "b": " X"}',
  '{"constructor": {"k": [{}]}, "__proto__": 1}',
  '[NaN]',
  'Infinity',
  '[1,]',
  '"\t"',
  "'a'",
  'true',
  'null',
  '"text"',
  'a\r\nb\rc\nd\u2028e\u0085f\vg\fh',
  ' line \n\n\u00a0\n\ufeff\n two',
  'Candidate 2',
  'I take 1.\n\nNo: 2\n',
  '<a> one </a> <a>',
  '\u0000\u0001\u001f\u007f\u2028"\\/',
  'a b',
  'A  b',
];

const oddText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...odd) },
  fc.array(fc.constantFrom(...odd), { maxLength: 4 }).map((parts) => parts.join(' ')),
  fc.string({ unit: 'grapheme', maxLength: 70 }),
  fc.double().map(String),
  fc.json(),
);
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, 1e21),
);
const leaf: fc.Arbitrary<unknown> = fc.oneof(oddText, number, fc.boolean(), fc.constant(null));
const value: fc.Arbitrary<unknown> = fc.oneof(
  leaf,
  fc.array(leaf, { maxLength: 5 }),
  fc.array(number, { maxLength: 5 }),
  fc.array(fc.dictionary(fc.constantFrom('k', 'a', '1'), leaf), { maxLength: 4 }),
  fc.jsonValue({ maxDepth: 4 }),
  fc.constantFrom<unknown>({ k: 'x' }, { k: { k: [' X', 'x', 1] } }, nested(48), nested(50)),
);

/** A task's input as JSON. */
export const oddInput: fc.Arbitrary<string> = fc
  .record({
    text: oddText,
    number,
    list: fc.oneof(fc.array(value, { maxLength: 5 }), fc.array(oddText, { minLength: 1, maxLength: 5 })),
    numbers: fc.array(number, { minLength: 1, maxLength: 5 }),
    any: value,
  })
  .map((input) => JSON.stringify(input).replace(/(?<=[[:,])(\d+)(?=[,\]}])/g, '$1.0'));

/** Answers: possibly unusable ones first, and a usable one (`isRight`) at the end. */
export const oddAnswers = fc.record({
  first: oddText,
  second: fc.oneof(oddText, fc.json(), fc.constantFrom('["a", 1]', '{"a": null, "c": 1}', '{"k": "x"}', '2', '1 or 2')),
  isRight: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
});

/** A usable answer to the calls of a step; null: it makes no call. */
export function rightAnswer(step: Step, odd: string): string | null {
  if (step.type === 'vote') return step.by === 'majority' ? null : 'So:\n 1 ';
  if (step.type !== 'llm' && step.type !== 'map') return null;
  return 'field' in step.output ? odd : `\`\`\`\n${JSON.stringify({ a: odd, b: -0.5, k: 'x' })}\n\`\`\``;
}

const ops = Object.keys(opSignatures) as Transform['op'][];
const piece = fc.constantFrom('a', ',', ' ', '1', '\n', 'b', '{{', '"', 'é', '> ');
const stepPlan = fc.record({
  kind: fc.oneof(
    { weight: 5, arbitrary: fc.constant('transform' as const) },
    fc.constantFrom('select', 'vote', 'judge', 'of', 'llm', 'samples', 'map', 'schema'),
  ),
  op: fc.constantFrom(...ops),
  by: fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.nat()),
  pieces: fc.tuple(piece, piece),
  path: fc.constantFrom('', '', '', '', '', '', '.k', '.a', '.1', '.length', '.constructor'),
  is: fc.constantFrom('equals', 'contains', 'empty', 'less', 'greater'),
  scalar: fc.oneof(fc.constantFrom('x', 'yes no', 'σ', '1', ''), fc.boolean(), fc.constant(null)),
  number: fc.oneof(fc.integer({ min: -4, max: 4 }), fc.double({ noNaN: true, noDefaultInfinity: true })),
});

const schema: { schema: object } = {
  schema: {
    type: ['object', 'array', 'integer'],
    properties: { a: { type: ['string', 'null'] }, k: { enum: [1, 'x', { k: null }] }, b: { type: 'number' } },
    required: ['a'],
    items: { type: ['string', 'integer', 'boolean'] },
    additionalProperties: false,
  },
};

const fields = ['text', 'number', 'list', 'numbers', 'any'];

/** Any valid graph on such an input: all ops, conditions and votes, on any values. */
export const oddGraph: fc.Arbitrary<Graph> = fc.array(stepPlan, { minLength: 1, maxLength: 7 }).map((plans) => {
  const steps: Step[] = [];
  for (const [at, { kind, op, by, pieces, path, is, scalar, number }] of plans.entries()) {
    const id = `s${at}`;
    const given = steps.map((step) => refTo(step, path));
    const any = [...fields.map((field) => `input.${field}`), `input.any${path}`, 'input', ...given, ...given];
    const kindsOf = (ref: string) => steps.find(({ id }) => id === ref) ?? null;
    const texts = any.filter((ref) => ref === 'input.text' || mayBe('text', kindsOf(ref)));
    const lists = any.filter((ref) => ref === 'input.list' || ref === 'input.numbers' || mayBe('list', kindsOf(ref)));
    const [one, two, three] = [any[by[0] % any.length]!, any[by[1] % any.length]!, any[by[2] % any.length]!];
    const text = by[1] % 6 === 0 ? one : texts[by[0] % texts.length]!;
    const adds = op === 'sum' || op === 'min' || op === 'max';
    const list = adds && by[1] % 3 !== 0 ? 'input.numbers' : lists[by[3] % lists.length]!;
    const prompt: Prompt = {
      inputs: { a: one, b: two },
      messages: [...user(`${pieces[0]}{{a}} {{ b }}`), { role: 'system', content: `{${pieces[1]}}{{a}}` }],
      ...(by[0] % 3 === 0 ? { tries: 1 + (by[1] % 4), timeoutS: 7.5, model: 'big' } : {}),
    };
    const judge = { ...prompt, messages: user('{{b}}{{a}}\n{{candidates}}') };
    const form = kind === 'schema' || by[2] % 2 === 0 ? schema : { field: 'k' };
    steps.push(
      ((): Step => {
        switch (kind) {
          case 'transform': {
            const { takes } = opSignatures[op];
            const own = { text: `${pieces[0]}{{a}}{{b}}`, by: pieces[0], start: pieces[0], end: pieces[1] };
            const inputs =
              takes === 'any' || takes === 'some'
                ? { a: one, b: takes === 'some' ? list : two }
                : { [takes]: takes === 'list' ? list : takes === 'text' ? text : one };
            const index = Math.trunc(Math.abs(number) > 9 ? 1 : number);
            return { id, type: 'transform', inputs, ...transformOf(op, { ...own, index, path: path.slice(1) || 'k' }) };
          }
          case 'select': {
            const when =
              is === 'empty'
                ? { of: one, is }
                : is === 'less' || is === 'greater'
                  ? { of: by[0] % 3 === 0 ? one : 'input.number', is, value: number }
                  : { of: is === 'contains' ? text : one, is, value: scalar };
            const cases: SelectCase[] = [
              { when, then: two },
              { when: { of: two, is: 'equals', value: scalar }, then: one },
            ];
            return { id, type: 'select', cases, otherwise: three };
          }
          case 'vote':
            return { id, type: 'vote', over: list, by: 'majority' };
          case 'judge':
            return { id, type: 'vote', over: list, by: { judge } };
          case 'of':
            return { id, type: 'vote', of: [one, two, three], by: by[3] % 2 === 0 ? 'majority' : { judge } };
          case 'llm':
          case 'schema':
            return { id, type: 'llm', ...prompt, output: form };
          case 'samples':
            return { id, type: 'llm', ...prompt, output: form, samples: 2 + (by[3] % 3) };
          case 'map': {
            const inputs = { a: `one${path}`, b: two };
            return {
              id,
              type: 'map',
              ...prompt,
              inputs,
              over: list,
              as: 'one',
              output: form,
              ...(by[1] % 2 === 0 ? { maxItems: 3 } : {}),
            };
          }
        }
      })(),
    );
  }
  const output = refTo(steps.at(-1)!, plans[0]!.path);
  const used = usedSteps({ steps, output });
  return { inputs: fields, steps: steps.filter(({ id }) => used.has(id)), output };
});

function transformOf(
  op: Transform['op'],
  own: Record<'text' | 'by' | 'start' | 'end' | 'path', string> & { index: number },
): Transform {
  switch (op) {
    case 'template':
      return { op, text: own.text };
    case 'split':
    case 'join':
      return { op, by: own.by };
    case 'item':
      return { op, index: own.index };
    case 'between':
      return { op, start: own.start, end: own.end };
    case 'pluck':
      return { op, path: own.path };
    default:
      return { op };
  }
}

/** A ref into a step's value, at a path that any value may have. */
function refTo(step: Step, path: string): string {
  const shape = stepShape(step);
  const isFree = shape.kind === 'any' || (shape.kind === 'object' && (shape.fields?.includes(path.slice(1)) ?? true));
  return isFree ? `${step.id}${path}` : step.id;
}

function mayBe(kind: 'list' | 'text', step: Step | null): boolean {
  return step !== null && [kind, 'any'].includes(stepShape(step).kind);
}

function nested(depth: number): unknown {
  let inner: unknown = 1;
  for (let level = 0; level < depth; level++) inner = level % 2 === 0 ? [inner] : { k: inner };
  return inner;
}
