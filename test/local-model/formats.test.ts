import { describe, expect, test } from '@jest/globals';
import { completeLocally } from '../../src/local-model/complete.js';
import { mentionFinder, offeredLabels } from '../../src/local-model/labels.js';
import { readGuidance } from '../../src/local-model/guidance.js';

// The task model follows the prompt. The words here come from no data set of the project.
const answer = (system: string, user: string) =>
  completeLocally({
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
  }).choices[0].message.content;

describe('labels in common formats', () => {
  const formats: Record<string, string> = {
    'a line': 'Text: hello\n\nLabels: red_1, blue_2, green_3',
    'one of': 'Answer with exactly one of: red_1, blue_2, or green_3.\n\nText: hello',
    'a JSON array': 'Categories: ["red_1", "blue_2", "green_3"]\nText: hello',
    'pipes and backticks': 'Text: hello\nAllowed classes: `red_1` | `blue_2` | `green_3`',
    bullets: 'Text: hello\n\nChoose from these options:\n- red_1\n- blue_2\n- green_3',
    'explained bullets': 'Queues:\n1. red_1: for roses\n2. blue_2: for skies\n3. green_3 - for grass\n\nText: hello',
  };
  for (const [name, message] of Object.entries(formats)) {
    test(name, () => expect(offeredLabels(message).labels).toEqual(['red_1', 'blue_2', 'green_3']));
  }

  test('does not mistake a shorter list in the input for the labels', () => {
    const message = 'Message: which options: tea, coffee?\n\nLabels: red_1, blue_2, green_3';
    expect(offeredLabels(message)).toEqual({
      labels: ['red_1', 'blue_2', 'green_3'],
      rest: 'Message: which options: tea, coffee?\n\n',
    });
  });

  test('accepts an everyday word as a label only in a label’s position', () => {
    const find = mentionFinder(['orders', 'gift_card', 'Late parcel']);
    const labels = (text: string) => find(text).map(({ label }) => label);
    expect(labels('people whose orders are late')).toEqual([]);
    expect(labels('Use `orders` here')).toEqual(['orders']);
    expect(labels('- orders: whatever')).toEqual(['orders']);
    expect(labels('where it is late -> orders')).toEqual(['orders']);
    expect(labels('a gift_card, a "late parcel"')).toEqual(['gift_card', 'Late parcel']);
  });
});

describe('guidance in common formats', () => {
  const user = (text: string) => `Message: ${text}\n\nLabels: k1, k2, k3`;
  const formats: Record<string, string> = {
    bullets: '- `k1`: tulips, roses\n- `k2`: hammers, nails\n- `k3`: bread, rolls',
    'bold bullets': '* **k1** - tulips or roses\n* **k2** - hammers or nails\n* **k3** - bread or rolls',
    'one sentence each':
      'Answer k1 when somebody writes of tulips or roses. Answer k2 when they write of hammers or nails. Bread and rolls belong to k3.',
    'one sentence for all': 'Messages on tulips and roses are k1, on hammers and nails k2, on bread and rolls k3.',
    sections: '## k1\ntulips and roses\n\n## k2\n- hammers\n- nails\n\n## k3\nbread, rolls',
    examples:
      '"Any roses or tulips left?" -> k1\n"I bent my hammers on nails" -> k2\n"The bread and the rolls were hard" -> k3',
    'a table': '| k1 | tulips, roses |\n| k2 | hammers, nails |\n| k3 | bread, rolls |',
    'the other labels named too':
      '- `k1`, not `k2`: tulips, roses\n- `k2`: hammers, nails rather than `k3`\n- `k3`: bread, rolls',
  };
  const asked = { k1: 'do you sell a rose', k2: 'I need nails', k3: 'your rolls were stale' };
  for (const [name, system] of Object.entries(formats)) {
    test(name, () => {
      for (const [label, text] of Object.entries(asked)) expect(answer(system, user(text))).toBe(label);
    });
  }

  test('accepts labels only in the system prompt', () => {
    const system = 'Categories:\n- garden: tulips, roses\n- tools: hammers, nails\n\nAnswer with one category.';
    expect(answer(system, 'I need nails')).toBe('tools');
    expect(answer(system, 'one rose please')).toBe('garden');
  });

  test('prefers stronger words, and counts words against a label', () => {
    const strong = '- `k1`: above all garden; also shed\n- `k2`: above all shed; also garden\n- `k3`: bread';
    expect(answer(strong, user('my shed'))).toBe('k2');
    expect(answer(strong, user('my garden'))).toBe('k1');
    const against = '- `k1`: shovel, but not snow\n- `k2`: rake\n- `k3`: bread';
    const guidance = readGuidance(against, mentionFinder(['k1', 'k2', 'k3']));
    expect(guidance.get('k1')!.get('snow')!.weight).toBeLessThan(0);
    expect(guidance.get('k1')!.get('shovel')!.weight).toBeGreaterThan(0);
    const snow = '- `k1`: shovel, but not snow\n- `k2`: shovel\n- `k3`: bread';
    expect(answer(snow, user('a shovel for snow'))).toBe('k2');
  });

  test('matches a cue despite a typing error or another ending', () => {
    const system = '- `k1`: umbrellas\n- `k2`: greenhouse\n- `k3`: lanterns';
    expect(answer(system, user('an umberlla for me'))).toBe('k1');
    expect(answer(system, user('two greenhouses'))).toBe('k2');
    expect(answer(system, user('lantern'))).toBe('k3');
  });

  test('uses only the names of the labels without guidance', () => {
    const named = (text: string) => `Message: ${text}\n\nLabels: garden_desk, tool_desk, bakery_desk`;
    expect(answer('Classify.', named('my garden is dry'))).toBe('garden_desk');
    const texts = Array.from({ length: 60 }, (_, n) => `zzz${n} qqq${n}`);
    const guesses = new Set(texts.map((text) => answer('Classify.', named(text))));
    expect(guesses.size).toBe(3);
    for (const text of texts) expect(answer('Classify.', named(text))).toBe(answer('Do it.', named(text)));
  });
});

describe('simple extraction by the prompt', () => {
  const text = 'Message: Order AB-1234 for jo@example.org came on 2026-01-05 and cost $30.50, see item 77.';
  test.each([
    ['Extract the order. It looks like `ZZ-9999`.', 'AB-1234'],
    ['Extract the e-mail address.', 'jo@example.org'],
    ['Which date is named?', '2026-01-05'],
    ['What was the price?', '$30.50'],
    ['Copy what looks like "q@q.q".', 'jo@example.org'],
  ])('%s', (system, expected) => expect(answer(system, text)).toBe(expected));

  test('answers with the text itself without guidance', () => {
    expect(answer('Be kind.', 'Good morning\nto you')).toBe('Good morning');
  });
});
