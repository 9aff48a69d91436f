import { expect, test } from '@jest/globals';
import { singleStepGraph } from '../../src/core/graphs/single-step.js';
import { messagesOf, type Question } from '../../src/core/question.js';
import { parseJudgement } from '../../src/core/verify/judgement.js';
import { agreementCriteria, parseRubric } from '../../src/core/verify/rubric.js';
import { completeLocally } from '../../src/local-model/index.js';
import { answerQuestion } from './ask.js';

// The provider answers the service's questions from their data, not from the words of our prompts.
const failure = { input: 'Message: a tulip\n\nLabels: k1, k2', output: 'k2', feedback: 'Expected `k1`.', reward: 0 };
const run = { ...failure, steps: [], calls: 1, tokens: null };
const graph = singleStepGraph([{ role: 'system', content: 'Answer.' }], ['question']);
const proposal = { graph: 'x', failures: [run], models: [], maxEdits: 3, attempts: { now: 1, most: 72 } };
const questions: Question[] = [
  { kind: 'text', reflection: { instruction: 'Classify.', examples: [failure] } },
  { kind: 'edits', graph, proposal },
  { kind: 'judgement', request: { criteria: agreementCriteria, input: 'x', output: 'y', gold: { value: 'y' } } },
];

test.each(questions)('the answer to a question about $kind does not depend on our wording', (question) => {
  const answerTo = (content: string, asked: Question | null) =>
    completeLocally({ messages: [{ role: 'user', content }] }, asked).choices[0].message.content;
  const own = messagesOf(question).at(-1)!.content;
  expect(answerTo('Other words.', question)).toBe(answerTo(own, question));
  // Without the data the same words are a task like any other.
  expect(answerTo(own, null)).not.toBe(answerTo(own, question));
});

function judge(output: string, criteria: typeof agreementCriteria, gold?: { value: unknown }) {
  const answer = answerQuestion({
    kind: 'judgement',
    request: { criteria, input: 'x', output, ...(gold && { gold }) },
  });
  const parsed = parseJudgement(answer, { criteria, finishReason: 'stop' });
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.verification;
}

test('the judge scores the share of the words that are wanted, and names them', () => {
  const judged = (output: string) => judge(output, agreementCriteria, { value: 'The ferry leaves at noon' });
  const outputs = ['the ferry, leaving at noon', 'The ferry leaves at one', 'A ferry', 'Nothing'];
  const rewards = outputs.map((output) => judged(output).reward);
  expect(rewards).toEqual([1, ...rewards.slice(1)].sort((a, b) => b - a));
  expect(rewards[3]).toBe(0);
  expect(judged('Nothing').feedback).toContain('\nExpected: The ferry leaves at noon');
});

test('the judge requires the quotes of a criterion, and the words of one without', () => {
  const rubric = parseRubric(
    '- thanks (1): says "thank you" and "goodbye"\n- matter (3): names the ferry and its pier',
  );
  const { reward, criteria } = judge('Thank you! The ferry is at pier 3.', rubric);
  expect(criteria).toMatchObject([
    { name: 'thanks', score: 0.5, reason: 'Expected "goodbye".' },
    { name: 'matter', score: 0.67, reason: 'It lacks: names.' },
  ]);
  expect(reward).toBeCloseTo(0.25 * 0.5 + 0.75 * 0.67);
});
