import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { maxFeedback } from '../../src/core/verify/text.js';
import { expectedProblem } from '../../src/scorers/index.js';
import { wholeOutput } from '../../src/scorers/json.js';
import { wordsOf } from '../../src/scorers/similarity.js';
import { compare, specOf } from '../support/scoring.js';

const rewardOf = (request: unknown, expected: unknown, output: string) => compare(request, expected, output).reward;
const feedbackOf = (request: unknown, expected: unknown, output: string) => compare(request, expected, output).feedback;

const gsm8k = 'She sells 16 - 7 = <<16-7=9>>9 eggs.\nShe makes 9 * 2 = $<<9*2=18>>18.\n#### 18';

describe('a list of right answers', () => {
  test.each<[unknown, unknown, string, number]>([
    ['exact', ['4', 'four'], 'Four', 1],
    ['exact', ['4', 'four'], '["4", "four"]', 1],
    ['exact', ['4', 'four'], '5', 0],
    ['exact', [], '[]', 1],
    ['exact', [4, 5], '5', 1],
    ['contains', ['Paris', 'Lutetia'], 'It is Lutetia.', 1],
    ['contains', ['Paris', 'Lutetia'], 'It is Rome.', 0],
    ['numeric', ['12,5', 13], 'so 13', 1],
    ['numeric', ['12,5', 13], 'so 14', 0],
    ['regex', ['^a$', '^b$'], 'b', 1],
    [{ type: 'regex', pattern: 'x' }, ['a'], 'x', 1],
    [
      'json',
      [
        { a: 1, b: 1 },
        { a: 2, b: 2 },
      ],
      '{"a": 2, "b": 1}',
      0.5,
    ],
    ['json', [{ a: 1 }, { a: 2 }], '{"a": 2}', 1],
    ['similarity', ['a b', 'c d'], 'c d', 1],
    ['exact', { text: ['Denver', 'the Broncos'], answer_start: [1, 2] }, 'the broncos', 1],
    ['contains', { text: ['Denver'], answer_start: [1] }, 'Oslo', 0],
    ['exact', { value: 'Denver', aliases: ['Denver', 'Mile High City'], type: 'x' }, 'Mile High City', 1],
    ['exact', { text: ['a'] }, 'a', 0],
    // GSM8K: steps, and the answer behind a mark on the last line.
    ['numeric', gsm8k, '9 * 2 = 18, so she makes $18.', 1],
    ['numeric', gsm8k, 'She makes $9.', 0],
    ['numeric', 'So 276,000.\n#### 276,000', '276000', 1],
    ['exact', gsm8k, '18', 1],
    ['exact', gsm8k, '9 * 2 = 18\n#### 18', 1],
    ['exact', gsm8k, '#### 18', 1],
    ['exact', gsm8k, 'She makes 18.', 0],
    ['contains', gsm8k, 'She makes 18.', 1],
    ['contains', gsm8k, 'She makes 180.', 0],
    ['exact', '#### 18', '#### 18', 1],
    ['exact', 'a\n#### b\nc', 'b', 0],
  ])('%j: expected %j, given %j: %d', (request, expected, output, reward) => {
    expect(rewardOf(request, expected, output)).toBe(reward);
  });

  test('the best score counts, whatever the order', () => {
    const words = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 5 }), words, (answers, output) => {
        const texts = answers.map((answer) => answer.join(' '));
        const rewards = texts.map((text) => rewardOf('similarity', text, output.join(' ')));
        expect(rewardOf('similarity', texts, output.join(' '))).toBe(Math.max(...rewards));
        expect(rewardOf('similarity', texts.reverse(), output.join(' '))).toBe(Math.max(...rewards));
      }),
    );
  });

  test.each<[unknown, unknown]>([
    ['numeric', []],
    ['numeric', ['1', 'none']],
    ['numeric', ['1', '2 or 3']],
    ['contains', ['a', '']],
    ['json', [{ a: 1 }, 'a']],
    ['similarity', ['a', null]],
    ['regex', ['a', '(']],
  ])('%j: %j has an unusable item', (request, expected) => {
    expect(expectedProblem(specOf(request), expected)).not.toBeNull();
  });
});

describe('regex', () => {
  test.each<[unknown, unknown, string, number]>([
    [{ type: 'regex', pattern: String.raw`^\d{4}-\d\d$` }, undefined, '2024-05', 1],
    [{ type: 'regex', pattern: String.raw`^\d{4}-\d\d$` }, undefined, 'in 2024-05', 0],
    ['regex', 'colou?r', 'the color red', 1],
    ['regex', 'colou?r', 'the COLOR red', 0],
    [{ type: 'regex', flags: 'i' }, 'colou?r', 'the COLOR red', 1],
    [{ type: 'regex', flags: 'm' }, '^b$', 'a\nb', 1],
    ['regex', '^b$', 'a\nb', 0],
    ['regex', 'a.b', 'a\nb', 0],
    [{ type: 'regex', flags: 's' }, 'a.b', 'a\nb', 1],
  ])('%j: pattern %j, given %j: %d', (request, expected, output, reward) => {
    expect(rewardOf(request, expected, output)).toBe(reward);
  });

  test('the feedback has pattern and output, and says what is close', () => {
    const feedback = feedbackOf('regex', '^yes$', 'YES');
    expect(feedback).toContain('^yes$');
    expect(feedback).toContain('YES');
    expect(feedback).toContain('upper and lower case');
    expect(feedbackOf('regex', '^yes$', 'yes\n')).toContain('white space');
  });

  test('a pattern that takes exponential time elsewhere ends', () => {
    expect(rewardOf('regex', '^(a+)+$', `${'a'.repeat(50_000)}!`)).toBe(0);
    expect(rewardOf('regex', '(?:.{0,400}[x-z])+$', 'abc '.repeat(50_000))).toBe(0);
  }, 30_000);

  test('a large pattern searches the beginning of a long output, and the feedback says so', () => {
    const output = `${'a'.repeat(50_000)}z`;
    expect(rewardOf('regex', 'z', output)).toBe(1);
    expect(rewardOf('regex', 'z|b{900}', output)).toBe(0);
    expect(feedbackOf('regex', 'z|b{900}', output)).toMatch(/The first \d+ characters/);
  });

  test.each(['(', '(?=a)', String.raw`(a)\1`, '', '(a{0,1000}){2}', 'a'.repeat(1_001)])('refuses %j', (pattern) => {
    expect(expectedProblem(specOf('regex'), pattern)).not.toBeNull();
  });
});

describe('similarity', () => {
  test.each<[string, string, string, number]>([
    ['token_f1', 'the cat sat', 'the cat sat', 1],
    ['token_f1', 'the cat sat', 'The cat, sat!', 1],
    // Two of two given and of four expected words: 2 · 2 / 6.
    ['token_f1', 'the cat sat down', 'cat sat', 4 / 6],
    ['token_f1', 'a a b', 'a b b', 4 / 6],
    ['token_f1', 'cat', 'dog', 0],
    ['token_f1', 'cat', '', 0],
    ['rouge_l', 'police killed the gunman', 'the gunman killed police', 2 / 4],
    ['bleu', 'one', 'two', 0],
  ])('%s: expected %j, given %j: %d', (metric, expected, output, reward) => {
    expect(rewardOf({ type: 'similarity', metric }, expected, output)).toBeCloseTo(reward, 12);
  });

  /**
   * sacrebleu 2.6.0 (`add-k` of 1, `effective_order`, no tokenizer; for `one three` NLTK 3.10.4,
   * method2) and rouge-score 0.1.2 (F1).
   */
  test.each<[expected: string, output: string, bleu: number, rougeL: number]>([
    ['the cat sat on the mat', 'the cat sat on the mat', 1, 1],
    ['the cat sat on the mat', 'the cat is on the mat', 0.485492, 0.833333],
    ['the cat sat on the mat', 'a dog ran', 0, 0],
    ['police killed the gunman', 'police kill the gunman', 0.5, 0.75],
    ['police killed the gunman', 'the gunman kill police', 0.5, 0.5],
    [
      'the quick brown fox jumps over the lazy dog',
      'the fast brown fox jumped over the lazy dog near the river bank',
      0.311487,
      0.636364,
    ],
    ['refunds take five working days to reach your account', 'refunds reach your account in five days', 0.297278, 0.5],
    [
      'it is a guide to action that ensures that the military will forever heed party commands',
      'it is a guide to action which ensures that the military always obeys the commands of the party',
      0.455087,
      0.647059,
    ],
    ['the the the the the the the', 'the cat is on the mat', 0.194331, 0.307692],
    ['one two', 'one two', 1, 1],
    ['one two', 'one three', 0.5, 0.5],
    ['one', 'one', 1, 1],
    ['one two three four five', 'one two three', 0.513417, 0.75],
  ])('BLEU and ROUGE-L as others compute them: %s / %s', (expected, output, bleu, rougeL) => {
    expect(rewardOf({ type: 'similarity', metric: 'bleu' }, expected, output)).toBeCloseTo(bleu, 6);
    expect(rewardOf({ type: 'similarity', metric: 'rouge_l' }, expected, output)).toBeCloseTo(rougeL, 6);
  });

  test('BLEU by hand: clipped counts, smoothing and brevity penalty', () => {
    // 1-grams 5/5; 2-grams 3/4, 3-grams 1/3, 4-grams 0/2, each plus 1; 5 words of 6.
    const wanted = Math.exp(1 - 6 / 5) * ((5 / 5) * (4 / 5) * (2 / 4) * (1 / 3)) ** (1 / 4);
    const given = 'the cat on the mat';
    expect(rewardOf({ type: 'similarity', metric: 'bleu' }, 'the cat is on the mat', given)).toBeCloseTo(wanted, 12);
    // "the" stands twice in the expected text, so two of seven count.
    const clipped = ((2 / 7) * (1 / 7) * (1 / 6) * (1 / 5)) ** (1 / 4);
    const repeated = 'the the the the the the the';
    expect(rewardOf({ type: 'similarity', metric: 'bleu' }, 'the cat is on the mat', repeated)).toBeCloseTo(
      clipped,
      12,
    );
  });

  test('the feedback names missing and superfluous words, or their order', () => {
    const feedback = feedbackOf('similarity', 'refund the order today', 'refund my order');
    expect(feedback).toMatch(/Missing words: the, today$/m);
    expect(feedback).toMatch(/Superfluous words: my$/m);
    expect(feedbackOf({ type: 'similarity', metric: 'rouge_l' }, 'a b', 'b a')).toContain('another order');
  });

  test('splits scripts without spaces into characters, with their marks', () => {
    expect(wordsOf('東京 2024年 hello')).toEqual(['東', '京', '2024', '年', 'hello']);
    expect(wordsOf('กำ')).toHaveLength(2);
    expect(wordsOf('が'.normalize('NFD'))).toEqual(['が']);
  });

  test('is 0 to 1, 1 for equal texts, symmetric but for BLEU, and bounded in its feedback', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.constantFrom('a', 'b', 'c')).map((words) => words.join(' ')),
    );
    const metric = fc.constantFrom('token_f1', 'rouge_l', 'bleu');
    fc.assert(
      fc.property(metric, text, text, (name, left, right) => {
        fc.pre(wordsOf(left).length > 0 && wordsOf(right).length > 0);
        const request = { type: 'similarity', metric: name };
        const { reward, feedback } = compare(request, left, right);
        expect(reward).toBeGreaterThanOrEqual(0);
        expect(reward).toBeLessThanOrEqual(1);
        expect(feedback.length).toBeLessThanOrEqual(maxFeedback);
        expect(rewardOf(request, left, left)).toBeCloseTo(1, 12);
        if (name !== 'bleu') expect(rewardOf(request, right, left)).toBeCloseTo(reward, 12);
      }),
    );
  });
});

describe('json with a schema', () => {
  const schema = {
    type: 'object',
    properties: { name: { type: 'string', minLength: 2 }, age: { $ref: '#/$defs/age' }, kind: { enum: ['a', 'b'] } },
    required: ['name', 'age'],
    additionalProperties: false,
    $defs: { age: { type: 'integer', minimum: 0 } },
  };
  const request = { type: 'json', schema };
  const scoresOf = (expected: unknown, output: string, of: unknown = request) =>
    Object.fromEntries(compare(of, expected, output).criteria!.map(({ name, score }) => [name, score]));

  test('without an expected value, each field and the whole count', () => {
    expect(scoresOf(undefined, '{"name": "Ann", "age": 3}')).toEqual({ name: 1, age: 1, kind: 1, [wholeOutput]: 1 });
    expect(scoresOf(undefined, '{"name": "A", "age": -3, "kind": "c"}')).toEqual({
      name: 0,
      age: 0,
      kind: 0,
      [wholeOutput]: 1,
    });
    expect(scoresOf(undefined, '{"name": "Ann"}')).toEqual({ name: 1, age: 0, kind: 1, [wholeOutput]: 1 });
    expect(scoresOf(undefined, '{"name": "Ann", "age": 3, "more": 1}')[wholeOutput]).toBe(0);
    expect(scoresOf(undefined, 'no JSON')[wholeOutput]).toBe(0);
    expect(scoresOf(undefined, '[]')[wholeOutput]).toBe(0);
  });

  test('with an expected value, a field must also be equal to it', () => {
    expect(scoresOf({ name: 'Ann' }, '{"name": "Bob", "age": 3}')).toEqual({ name: 0, [wholeOutput]: 1 });
    // A field that is not expected counts with the whole.
    expect(scoresOf({ name: 'Ann' }, '{"name": "Ann", "age": -1}')).toEqual({ name: 1, [wholeOutput]: 0 });
    expect(rewardOf({ ...request, fields: { name: 3 } }, { name: 'Ann', x: 1 }, '{"name": "Ann"}')).toBe(0.75);
  });

  test('the feedback names field, rule and value', () => {
    const feedback = feedbackOf(request, undefined, '{"name": "Ann", "age": "3", "kind": "c"}');
    expect(feedback).toMatch(/- age: must be integer, got "3"/);
    expect(feedback).toMatch(/- kind: .*\["a","b"\], got "c"/);
    expect(feedback).toContain('Right fields: name, (schema)');
  });

  test('reads one fenced block, a root reference and schemas that are no objects', () => {
    const named = { $ref: '#/$defs/person', $defs: { person: schema, age: schema.$defs.age } };
    const of = { type: 'json', schema: named };
    expect(scoresOf(undefined, '```json\n{"name": "Ann", "age": 3}\n```', of)).toEqual({
      name: 1,
      age: 1,
      kind: 1,
      [wholeOutput]: 1,
    });
    const list = { type: 'json', schema: { type: 'array', items: { type: 'number' }, minItems: 1 } };
    expect(scoresOf(undefined, '[1, 2]', list)).toEqual({ [wholeOutput]: 1 });
    expect(scoresOf(undefined, '[1, "x"]', list)).toEqual({ [wholeOutput]: 0 });
  });

  test('an output that is too long for its schema is not checked', () => {
    const of = { type: 'json', schema: { items: { pattern: `${'a?'.repeat(450)}$` } } };
    const feedback = feedbackOf(of, undefined, JSON.stringify(Array.from({ length: 20_000 }, () => 'aa')));
    expect(feedback).toContain('longer than');
  });
});

describe('expected values', () => {
  test.each<[unknown, unknown, boolean]>([
    ['exact', 'a', true],
    ['exact', undefined, false],
    ['exact', null, false],
    ['contains', '', false],
    ['numeric', 'none', false],
    ['json', 'text', false],
    [{ type: 'json', schema: {} }, undefined, true],
    [{ type: 'json', schema: {} }, 'text', false],
    ['similarity', '!', false],
    [{ type: 'regex', pattern: 'a' }, undefined, true],
    ['regex', undefined, false],
    [{ type: 'rubric', criteria: 'good', model: 'm' }, undefined, true],
    [{ type: 'http', url: 'http://x' }, undefined, true],
    [{ type: 'weighted', parts: [{ scorer: 'exact' }, { scorer: 'numeric' }] }, 'a', false],
    [{ type: 'weighted', parts: [{ scorer: 'exact' }, { scorer: 'numeric' }] }, '1', true],
    [
      {
        type: 'weighted',
        parts: [
          { scorer: 'exact', field: 'a' },
          { scorer: 'numeric', field: 'b' },
        ],
      },
      { a: 'x' },
      true,
    ],
    [
      {
        type: 'weighted',
        parts: [
          { scorer: 'exact', field: 'a' },
          { scorer: 'numeric', field: 'b' },
        ],
      },
      { b: 'x' },
      false,
    ],
    [{ type: 'weighted', parts: [{ scorer: 'exact', field: 'a' }] }, { c: 'x' }, false],
    [{ type: 'weighted', parts: [{ scorer: 'exact', field: 'a' }] }, 'x', false],
    [{ type: 'weighted', parts: [{ scorer: { type: 'json', schema: {} }, field: 'a' }] }, { a: null }, true],
  ])('%j by %j: %s', (request, expected, ok) => {
    expect(expectedProblem(specOf(request), expected) === null).toBe(ok);
  });

  test('a value that cannot be compared with is an error', () => {
    expect(() => rewardOf('numeric', 'none', '1')).toThrow(RangeError);
  });
});
