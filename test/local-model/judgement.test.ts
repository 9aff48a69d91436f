import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { buildJudgePrompt, type JudgementRequest } from '../../src/core/verify/judge.js';
import { parseJudgement } from '../../src/core/verify/judgement.js';
import { agreementCriteria, parseRubric } from '../../src/core/verify/rubric.js';
import { localSays } from './evolve.js';

// The judge compares words, and answers in the requested format.
function judge(request: JudgementRequest) {
  const answer = localSays(buildJudgePrompt(request));
  const parsed = parseJudgement(answer, { criteria: request.criteria, finishReason: 'stop' });
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.verification;
}

describe('with an expected output', () => {
  const judged = (output: string) =>
    judge({
      criteria: agreementCriteria,
      input: 'x',
      output,
      gold: { value: 'The ferry leaves at noon' },
      examples: ['other'],
    });
  test('scores the share of matching words, up to 1', () => {
    expect(judged('the ferry, leaving at noon').reward).toBe(1);
    const [near, far, none] = ['The ferry leaves at one', 'A ferry', 'Nothing'].map((answer) => judged(answer).reward);
    expect(near).toBeGreaterThan(far!);
    expect(far).toBeGreaterThan(none!);
    expect(none).toBe(0);
  });
  test('names the expected output in its reason, for a proposer to learn from', () => {
    expect(judged('Nothing').feedback).toContain('\nExpected: The ferry leaves at noon');
  });
  test('lowers the score for extra words', () => {
    expect(judged('The ferry leaves at noon, though nobody knows whether the captain likes it').reward).toBeLessThan(
      0.8,
    );
  });
});

describe('with a rubric only', () => {
  const rubric = parseRubric(
    '- thanks (1): says "thank you" and "goodbye"\n- matter (3): names the ferry and its pier',
  );
  const judged = (output: string) => judge({ criteria: rubric, input: 'x', output });
  test('requires the quotes of a criterion, and the words of one without quotes', () => {
    const { reward, criteria } = judged('Thank you! The ferry is at pier 3.');
    expect(criteria).toMatchObject([
      { name: 'thanks', score: 0.5, reason: 'Expected "goodbye".' },
      { name: 'matter', score: 0.67, reason: 'It lacks: names.' },
    ]);
    expect(reward).toBeCloseTo(0.25 * 0.5 + 0.75 * 0.67);
  });
});

test('gives a readable judgement of any text, including hostile ones', () => {
  const piece = fc.constantFrom(
    '\n',
    '# Output to judge',
    '# Criterion 2',
    'Name:',
    '> ',
    '"',
    '{',
    'score 1',
    'ferry',
    ' ',
  );
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(text, text, text, (input, output, description) => {
      const criteria = [{ name: 'a b', weight: 1, description }, ...agreementCriteria];
      const { reward } = judge({ criteria, input, output, gold: { value: 'ferry' } });
      expect(reward).toBeGreaterThanOrEqual(0);
    }),
  );
});
