/**
 * Scores an output by comparison, without a model. An expected list holds right answers: each
 * scores, and the best counts.
 */
import { listedAnswers } from '../core/verify/answer.js';
import { maxFeedback, show } from '../core/verify/text.js';
import type { Verification } from '../core/verify/verification.js';
import { cutWithin } from '../util/text.js';
import { typeOf, type ComparingScorer } from './scorer.js';

/** Right answers that feedback lists. */
const maxListed = 20;

export const useOf = (scorer: ComparingScorer, settings: object) => scorer.expectedUse?.(settings) ?? 'required';

/** The list of right answers in a form of public data sets; objects that are answers unchanged. */
const listOfAnswers = ({ rightAnswer }: ComparingScorer, expected: unknown) =>
  rightAnswer === 'object' ? expected : listedAnswers(expected);

/** Why an expected value (undefined or null: none) cannot be used, as a predicate, or null. */
export function valueProblem(scorer: ComparingScorer, settings: object, given: unknown): string | null {
  const use = useOf(scorer, settings);
  if (use === 'unused') return null;
  const expected = listOfAnswers(scorer, given ?? undefined);
  if (expected === undefined) return use === 'optional' ? null : 'is missing';
  if (!Array.isArray(expected)) return scorer.problem(settings, expected);
  if (scorer.rightAnswer === 'list') return null;
  if (expected.length === 0) return 'is an empty list';
  const problems = expected.map((answer: unknown) => (answer === null ? 'is null' : scorer.problem(settings, answer)));
  const at = problems.findIndex((problem) => problem !== null);
  return at < 0 ? null : `is a list whose item ${at} ${problems[at]}`;
}

/** Throws a RangeError if `valueProblem` reports a problem; job creation rejects these. */
export function compareWith(scorer: ComparingScorer, settings: object, given: unknown, output: string): Verification {
  refuse(scorer, valueProblem(scorer, settings, given));
  const expected = listOfAnswers(scorer, given);
  if (!Array.isArray(expected) || useOf(scorer, settings) === 'unused')
    return scorer.score(settings, expected ?? undefined, output);
  const answers: unknown[] = scorer.rightAnswer === 'list' ? [...expected, expected] : expected;
  const scored = answers.map((answer) => scorer.score(settings, answer, output));
  const best = scored.reduce((left, right) => (right.reward > left.reward ? right : left));
  if (best.reward === 1 || expected.length < 2) return best;
  const listed = expected.slice(0, maxListed).map((answer: unknown) => show(answer, maxFeedback / maxListed / 2));
  const more = expected.length > maxListed ? ` and ${expected.length - maxListed} more` : '';
  return {
    ...best,
    feedback: cutWithin(`Any of these is right: ${listed.join(' | ')}${more}\n${best.feedback}`, maxFeedback),
  };
}

/** Compares with one right answer, which no list stands for. */
export function scoreOne(scorer: ComparingScorer, settings: object, expected: unknown, output: unknown): Verification {
  refuse(scorer, scorer.problem(settings, expected));
  return scorer.score(settings, expected, output);
}

function refuse(scorer: ComparingScorer, problem: string | null): void {
  if (problem !== null) throw new RangeError(`The expected value for the scorer ${typeOf(scorer)} ${problem}.`);
}
