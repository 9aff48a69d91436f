/** run.py reads the texts of models as the service does. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readJson } from '../../../../../src/core/answers/json.js';
import { mayPass } from '../../../../../src/clients/net/retry-advice.js';
import { splitThoughts } from '../../../../../src/core/answers/thoughts.js';
import { parseNumbers, wholeNumber } from '../../../../../src/core/verify/numbers.js';
import { isObject } from '../../../../../src/util/json.js';
import { textOfContent } from '../../../../../src/core/answers/completion.js';
import { markedText, numberText } from '../../../../core/answers/texts.js';
import { withPython } from '../../../../support/python.js';
import { runs } from '../../../../support/runs.js';
import { startDriver, type Driver, type TextReadings } from './driver.js';

const { python, ...able } = withPython();

/** As the service reads the text; values as JSON. */
function ours(text: string): TextReadings {
  const [any, object] = [readJson(text), readJson(text, isObject)];
  return {
    answer: splitThoughts(text).answer,
    json: any && JSON.stringify(any.value),
    object: object && JSON.stringify(object.value),
    numbers: JSON.stringify(parseNumbers(text).map(({ value }) => value)),
    number: JSON.stringify(wholeNumber(text)),
  };
}

able.describe('run.py', () => {
  let driver: Driver;
  beforeAll(() => {
    driver = startDriver(python);
  });
  afterAll(() => driver.close());

  test.each([
    ['thoughts, fences and JSON', markedText],
    ['numbers', numberText],
  ])('reads %s as the service does', async (_, text) => {
    const property = fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 20 }), async (texts) => {
      const theirs = await driver.readings(texts);
      for (const [at, read] of theirs.entries()) expect([texts[at], read]).toEqual([texts[at], ours(texts[at]!)]);
    });
    await fc.assert(property, { numRuns: runs(60, 2_000) });
  });

  test('knows the signs of currencies', async () => {
    const texts = [...Array(0x110000).keys()].flatMap((code) => {
      const sign = String.fromCodePoint(code);
      return /\p{Sc}/u.test(sign) ? [`-${sign}5`] : [];
    });
    expect(texts.length).toBeGreaterThan(60);
    for (const { numbers } of await driver.readings(texts)) expect(numbers).toBe('[-5]');
  });

  test('reads the end of a long text only, in units of UTF-16', async () => {
    for (const text of [`7${'😀'.repeat(50_000)}`, `7${'😀'.repeat(49_999)}x`, `${'9'.repeat(99_999)}.5`])
      expect(await driver.readings([text])).toEqual([ours(text)]);
  });

  test('repeats the refusals that the service repeats', async () => {
    const statuses = [...Array(300).keys()].map((at) => 300 + at);
    for (const advice of [null, 'true', 'false'])
      expect(await driver.mayPass(statuses, advice)).toEqual(
        statuses.map((status) => mayPass(status, { shouldRetry: advice === null ? null : advice === 'true' })),
      );
  });

  test('leaves out the parts of a message that are thoughts', async () => {
    const parts = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
      { type: 'reasoning_text', text: 'Hm.' },
      { type: 'text', text: 'A' },
      { type: 'text', text: null },
      { type: 'output_text', text: 'B' },
    ];
    expect(await driver.contentText(parts)).toBe(textOfContent(parts));
    expect(await driver.contentText('<think>x</think>y')).toBe('<think>x</think>y');
  });
});
