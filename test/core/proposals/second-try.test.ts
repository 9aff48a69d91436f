import { describe, expect, test } from '@jest/globals';
import { buildEditProposal, editsForm } from '../../../src/core/graphs/edits/proposal.js';
import { askAgain, textForm } from '../../../src/core/proposals/second-try.js';
import { buildJudgePrompt, judgementForm } from '../../../src/core/verify/judge.js';

const question = [{ role: 'user' as const, content: 'Which?' }];
const asked = (answer: string, reason: string, form = textForm) =>
  askAgain(question, [{ text: answer, reason }], form).slice(1);

describe('askAgain', () => {
  test('shows the answer and its error, and asks for the form', () => {
    expect(asked('This.', 'it is too short')).toEqual([
      { role: 'assistant', content: 'This.' },
      { role: 'user', content: `Your answer cannot be used: it is too short. Answer again: ${textForm}.` },
    ]);
  });

  test('changes the question after the same fault twice, and shows neither answer', () => {
    const [no, other] = [
      { text: 'This.', reason: 'no fence' },
      { text: 'That.', reason: 'too short' },
    ];
    expect(askAgain(question, [no, other], textForm)).toHaveLength(3);
    const [changed, ...rest] = askAgain(question, [no, other, { ...no, text: 'Those.' }], textForm);
    expect(rest).toEqual([]);
    expect(changed!.content).toMatch(/^Which\?\n\n2 .*no fence/);
    expect(changed!.content).not.toMatch(/This|That|Those/);
  });

  test('replaces an empty answer, and advice for the operator', () => {
    const [answer, error] = asked(' ', 'it was cut off: allow the proposer more tokens');
    expect(answer!.content).toBe('(no text)');
    expect(error!.content).toContain('it was cut off; be briefer.');
  });

  test('asks a judge for the JSON object of its question, without fences', () => {
    const [system] = buildJudgePrompt({ criteria: [{ name: 'c', weight: 1, description: 'd' }], input: 1, output: 2 });
    expect(system!.content).toContain(judgementForm);
    expect(judgementForm).not.toMatch(/fence|`/);
  });

  test('asks for edits as the question does', () => {
    const attempts = { now: 3, most: 72 };
    const [edits] = buildEditProposal({ graph: 'g', failures: [], models: ['m'], maxEdits: 3, attempts });
    expect(edits!.content.endsWith(`Give ${editsForm(3)}.`)).toBe(true);
  });
});
