import { describe, expect, test } from '@jest/globals';
import { completeLocally } from '../../src/local-model/complete.js';
import { buildReflection, parseProposal } from '../../src/core/proposals/reflection.js';

// One lookup in a passage of statements: the messages determine its subject and the format of the
// answer.
const facts =
  'The keeper of Alder is Birk. The keeper of Fir is Mo. The height of Alder is 12 m. The height of Birk is 2 m.';
const asking = (question: string, passage = facts) => `facts: ${passage}\n\nquestion: ${question}`;
const say = (user: string, system = 'Answer from the facts.') =>
  completeLocally({
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
  }).choices[0].message.content;

describe('a lookup in a passage', () => {
  test.each([
    ['sentences', facts],
    ['the other order', "Alder's keeper is Birk. Fir's keeper is Mo. Alder's height is 12 m."],
    ['lines', 'keeper of Alder: Birk\nkeeper of Fir: Mo\nheight of Alder: 12 m'],
    ['bullets', '- The keeper of Alder: Birk\n- The keeper of Fir: Mo\n- The height of Alder: 12 m'],
  ])('reads %s', (_, passage) => {
    const user = asking('Who is the keeper of Alder?', passage);
    expect(say(user, 'Give what is found alone.')).toBe('Birk');
    expect(passage.replaceAll('- ', '')).toContain(say(user));
  });

  test('answers with the whole statement unless only the value is requested', () => {
    expect(say(asking('How tall is Alder? Its height?'))).toBe('The height of Alder is 12 m');
    expect(say(asking('How tall is Alder? Its height?'), 'Nothing else than the value.')).toBe('12 m');
  });

  test('uses the prompt’s words for an attribute', () => {
    const about = (system: string) => say(asking('Which figure does the ruler show for Alder?'), `Alone.\n${system}`);
    expect(about('- `height`: often ruler\n- `keeper`: often guard')).toBe('12 m');
    expect(about('- `height`: often guard\n- `keeper`: often ruler')).toBe('Birk');
  });

  test('finds only the thing named first', () => {
    expect(say(asking('The keeper, of Fir or of Alder?'), 'Alone.')).toBe('Mo');
    expect(say(`about: Birk\n\n${asking('What height has the keeper of Alder?')}`, 'Alone.')).toBe('2 m');
    expect(
      say(asking('What height has the keeper of Alder?'), 'Alone. First look up the keeper, then its height.'),
    ).not.toBe('2 m');
  });

  test('works without fields: the rest of the message is the question', () => {
    expect(say(`${facts} Who is the keeper of Fir?`, 'Alone.')).toBe('Mo');
    expect(say(`${facts}\n\nWho is the keeper of Fir?`, 'Alone.')).toBe('Mo');
    expect(say(`${facts}\n\nGive it alone: who is the keeper of Fir?`, '')).toBe('Mo');
  });

  test('answers something when nothing matches', () => {
    expect(say(asking('What height?'), 'Alone.')).toBe('12 m');
  });
});

describe('the proposer', () => {
  const propose = (instruction: string, input: object, output: string, feedback: string) => {
    const examples = [{ input: JSON.stringify(input), output, feedback, reward: 0 }];
    const answer = completeLocally({ messages: buildReflection({ instruction, examples }) }).choices[0].message.content;
    const parsed = parseProposal(answer, { parent: instruction, maxChars: 32_000, finishReason: 'stop' });
    return parsed.ok ? parsed.text : parsed.reason;
  };
  const input = { facts, question: 'Which figure does the ruler show for the guard at Alder?' };

  test('learns the words for an attribute from a trail, one lesson for each lookup, without names', () => {
    expect(propose('Answer.', input, 'Birk', 'Wrong.\nExpected: 2 m\nGiven: Birk')).toBe(
      'Answer.\n\nWhat to look up, by how it is asked for:\n' +
        '- `keeper`: also figure, ruler, guard.\n- `height`: also figure, ruler, guard.',
    );
  });

  test('learns once, from whole statements, to answer with values', () => {
    const feedback = 'Wrong.\nExpected: 12 m\nGiven: x';
    const once = propose('Answer {{facts}}', input, 'The keeper of Alder is Birk', feedback);
    expect(once).toContain('Answer {{facts}}\n\nGive what is found alone, and nothing else.\n\nWhat to look up');
    expect(propose(once, input, 'The keeper of Alder is Birk', feedback).match(/alone/g)).toHaveLength(1);
  });

  test('learns nothing from a passage without a path to the answer', () => {
    expect(propose('Answer.', input, 'x', 'Expected: 7 m')).not.toContain('What to look up');
    expect(propose('Answer.', { ...input, question: 'How tall?' }, 'x', 'Expected: 2 m')).not.toContain(
      'What to look up',
    );
  });
});
