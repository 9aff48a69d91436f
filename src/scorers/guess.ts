/** Which scorer fits right answers, by their form. */
import { listedAnswers, markedAnswer } from '../core/verify/answer.js';
import { soleNumber, wholeNumber } from '../core/verify/numbers.js';
import { isObject } from '../util/json.js';

export interface ScorerGuess {
  type: 'exact' | 'numeric' | 'json';
  /** Each has its steps, and the answer behind `####` on its last line. */
  isMarked: boolean;
}

/** `answers`: values of the expected column. `areLabels`: compare them as labels in any form. */
export function guessScorer(answers: readonly unknown[], areLabels: boolean): ScorerGuess {
  const given = answers.flatMap((answer) => listedAnswers(answer)).filter((one) => (one ?? '') !== '');
  if (areLabels || given.length === 0) return { type: 'exact', isMarked: false };
  const marked = given.map(markedAnswer);
  const isMarked = marked.every((answer) => answer !== null);
  const values = isMarked ? marked : given;
  const type = values.every(isNumber) ? 'numeric' : values.every((one) => isObject(one)) ? 'json' : 'exact';
  return { type, isMarked };
}

/** Why the scorer was chosen; null: there is nothing to say. */
export function guessText({ type, isMarked }: ScorerGuess): string | null {
  const steps = isMarked ? ' behind ####, after steps' : '';
  if (type === 'numeric') return `The right answers are numbers${steps}: the last number of an answer is compared.`;
  if (type === 'json') return 'The right answers are objects: each of their fields is compared.';
  return isMarked ? 'The right answers stand behind ####, after steps: only what is behind it is compared.' : null;
}

/** A number alone, and no code such as `007`. */
function isNumber(value: unknown): boolean {
  if (typeof value !== 'string') return typeof value === 'number';
  return !/^\s*0\d/.test(value) && wholeNumber(value) !== null && !('problem' in soleNumber(value));
}
