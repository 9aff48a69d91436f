import { describe, expect, test } from '@jest/globals';
import { drawsOf } from '../../examples/two-steps/draws.js';
import { groupsOfTask, taskOf } from '../../examples/two-steps/tasks.js';
import { company } from '../../examples/two-steps/themes.js';
import { mentionFinder, offeredLabels } from '../../src/local-model/labels.js';
import { answerTo } from './ask.js';

// The task model follows the prompt. The words here come from no data set of the project.
describe('labels', () => {
  test.each([
    ['a line', 'Text: hello\n\nLabels: red_1, blue_2, green_3'],
    ['one of', 'Answer with exactly one of the names: red_1, blue_2, or green_3.\n\nText: hello'],
    ['a JSON array', 'Categories: ["red_1", "blue_2", "green_3"]\nText: hello'],
    ['pipes and backticks', 'Text: hello\nAllowed classes: `red_1` | `blue_2` | `green_3`'],
    ['bullets', 'Text: hello\n\nChoose from these options:\n- red_1\n- blue_2\n- green_3'],
    ['explained bullets', 'Queues:\n1. red_1: for roses\n2. blue_2: for skies\n3. green_3 - for grass\n\nText: hello'],
  ])('are read from %s', (_, message) => {
    expect(offeredLabels(message).labels).toEqual(['red_1', 'blue_2', 'green_3']);
  });

  test('are the longest list of the message', () => {
    const message = 'Message: which options: tea, coffee?\n\nLabels: red_1, blue_2, green_3';
    const rest = 'Message: which options: tea, coffee?\n\n';
    expect(offeredLabels(message)).toEqual({ labels: ['red_1', 'blue_2', 'green_3'], rest });
  });

  test('that are everyday words count in the position of a label alone', () => {
    const find = mentionFinder(['orders', 'gift_card', 'Late parcel']);
    const labels = (text: string) => find(text).map(({ label }) => label);
    expect(labels('people whose orders are late')).toEqual([]);
    expect(labels('Use `orders` here')).toEqual(['orders']);
    expect(labels('- orders: whatever')).toEqual(['orders']);
    expect(labels('where it is late -> orders')).toEqual(['orders']);
    expect(labels('a gift_card, a "late parcel"')).toEqual(['gift_card', 'Late parcel']);
  });
});

describe('a choice among labels', () => {
  const offered = (text: string) => `Message: ${text}\n\nLabels: k1, k2, k3`;
  test.each([
    ['bullets', '- `k1`: tulips, roses\n- `k2`: hammers, nails\n- `k3`: bread, rolls'],
    ['bold bullets', '* **k1** - tulips or roses\n* **k2** - hammers or nails\n* **k3** - bread or rolls'],
    ['a table', '| k1 | tulips, roses |\n| k2 | hammers, nails |\n| k3 | bread, rolls |'],
    ['lines', 'k1 when somebody writes of tulips or roses.\nk2 for hammers and nails.\nBread and rolls belong to k3.'],
    ['one line', 'Use k1 for tulips and roses, k2 for hammers and nails, k3 for bread and rolls.'],
  ])('follows guidance in %s', (_, system) => {
    expect(answerTo(offered('do you sell a rose'), system)).toBe('k1');
    expect(answerTo(offered('I need nails'), system)).toBe('k2');
    expect(answerTo(offered('your rolls were stale'), system)).toBe('k3');
  });

  test('follows guidance where the system prompt alone has the labels', () => {
    const system = 'Categories:\n- garden: tulips, roses\n- tools: hammers, nails\n\nAnswer with one category.';
    expect(answerTo('I need nails', system)).toBe('tools');
    expect(answerTo('one rose please', system)).toBe('garden');
  });

  test('prefers stronger words, stems and near spellings', () => {
    const system = '- `k1`: above all garden; also shed\n- `k2`: above all shed; also garden\n- `k3`: breads, delivery';
    const said = (text: string) => answerTo(offered(text), system);
    expect(['my shed', 'my garden', 'bread', 'a delivrey'].map(said)).toEqual(['k2', 'k1', 'k3', 'k3']);
  });

  test('without guidance follows the names of the labels', () => {
    expect(answerTo('Message: my apples\n\nLabels: apple_desk, pear_desk', 'Classify.')).toBe('apple_desk');
  });
});

describe('a lookup in a passage', () => {
  const facts =
    'The keeper of Alder is Birk. The keeper of Fir is Mo. The height of Alder is 12 m. The height of Birk is 2 m.';
  const about = (question: string, system: string, passage = facts) =>
    answerTo(`facts: ${passage}\n\nquestion: ${question}`, system);

  test('answers with the statement, or with its value alone if the prompt says so', () => {
    expect(about('How tall is Alder? Its height?', 'Answer.')).toBe('The height of Alder is 12 m');
    expect(about('How tall is Alder? Its height?', 'Nothing else than the value.')).toBe('12 m');
    const other = "Alder's keeper is Birk. Fir's keeper is Mo.";
    expect(about('Who is the keeper of Alder?', 'Alone.', other)).toBe('Birk');
    expect(answerTo(`${facts}\n\nWho is the keeper of Fir?`, 'Alone.')).toBe('Mo');
  });

  test('uses the prompt’s words for an attribute', () => {
    const asked = 'Which figure does the ruler show for Alder?';
    expect(about(asked, 'Alone.\n- `height`: often ruler\n- `keeper`: often guard')).toBe('12 m');
    expect(about(asked, 'Alone.\n- `height`: often guard\n- `keeper`: often ruler')).toBe('Birk');
  });

  test('looks up one thing, the one named first', () => {
    expect(about('The keeper, of Fir or of Alder?', 'Alone.')).toBe('Mo');
    const twice = 'What height has the keeper of Alder?';
    expect(about(twice, 'Alone. First look up the keeper, then its height.')).not.toBe('2 m');
    expect(answerTo(`about: Birk\n\nfacts: ${facts}\n\nquestion: ${twice}`, 'Alone.')).toBe('2 m');
  });
});

test('copies the first line of any other text', () => {
  expect(answerTo('Answer with the word ok.', '')).toBe('Answer with the word ok.');
  expect(answerTo('Message: a line\nand another', 'Say it.')).toBe('a line');
});

describe('the sample of two-step questions', () => {
  // The statement that names a thing's group has no influence on the statement that a call chooses.
  test('is right for at most one kind of relation between things and groups, with any prompt', () => {
    const all = [...company.links, ...company.ofThings, ...company.ofGroups];
    const guidance = all.map(({ name, asked }) => `- \`${name}\`: above all ${asked.join(', ')}.`).join('\n');
    const pieces = [
      `What to look up, by how it is asked for:\n${guidance}`,
      'Give what is found alone, and nothing else.',
      'First find the group that it belongs to, then look up what is said of that group, step by step.',
      `Labels: ${company.ofGroups.flatMap(({ values }) => values).join(', ')}`,
      ...company.groups.map((group) => `about: ${group}`),
      'plan: {{facts}}',
    ];
    const draws = drawsOf(5);
    const rates = Array.from({ length: 40 }, () => {
      const [system, ahead] = [1, 2].map(() => draws.some(pieces, draws.pick([0, 1, 2, 4])).join('\n\n'));
      const right = [0, 1, 2, 3].flatMap((seed) =>
        Array.from({ length: groupsOfTask }, (_, way) => {
          const { facts, question, answer } = taskOf(company, drawsOf(seed), 2, way);
          const fill = (text: string) => text.replaceAll('{{facts}}', facts);
          return answerTo(fill(`${ahead}\n\nfacts: ${facts}\n\nquestion: ${question}`), fill(system!)) === answer;
        }),
      );
      return right.filter(Boolean).length / right.length;
    });
    expect(Math.max(...rates)).toBeLessThanOrEqual(1 / groupsOfTask);
    // Some prompts guess.
    expect(Math.max(...rates)).toBeGreaterThan(0);
  });
});
