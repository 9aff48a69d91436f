/**
 * Verification without a model: how near an output is to its gold output, in the modes exact, contains, numeric and json.
 * Which parts of the two are compared is said in answer.ts, when they are the same in equal.ts.
 */
import type { JudgedVerifier, ScoredVerifier, VerifierSpec } from '../../contracts/graphs/verifier.js';
import { answerOf, comparable } from './answer.js';
import { standsIn } from './contains.js';
import { areEqual } from './equal.js';
import { scoreFields, weightedFields } from './fields.js';
import { isClose, lastNumber, numbersIn, type ReadNumber } from './numbers.js';
import { asText, isObject, normalize, show } from './text.js';
import type { Verification } from './verification.js';

/** Characters of a gold output and of an output in a feedback. */
const shownOf = 1_500;

/** Whether a judge model gives the score (judge.ts). */
export function isJudged(verifier: VerifierSpec): verifier is JudgedVerifier {
  return verifier.mode === 'rubric' || verifier.mode === 'gold_examples';
}

/** Why nothing can be compared with a gold output; null where it is fine. The sentence goes on from the field's name. */
export function goldProblem(verifier: ScoredVerifier, gold: unknown): string | null {
  switch (verifier.mode) {
    case 'exact':
      return null;
    case 'contains':
      return normalize(asText(answerOf(gold) ?? ''), true) === '' ? 'is empty: every output would contain it' : null;
    case 'numeric':
      return lastNumber(answerOf(gold)) === null ? 'holds no number' : null;
    case 'json':
      if (!isObject(gold)) return 'must be an object, whose fields are compared one by one';
      return weightedFields(gold, verifier.fields).length > 0 ? null : 'has none of the fields that are compared';
  }
}

/**
 * An output's score by its gold output. Throws RangeError on a gold output that has a `goldProblem`: a job with such a one
 * is not to be created.
 */
export function score(verifier: ScoredVerifier, gold: unknown, output: unknown): Verification {
  const problem = goldProblem(verifier, gold);
  if (problem !== null) throw new RangeError(`a gold output for mode ${verifier.mode} ${problem}`);
  switch (verifier.mode) {
    case 'exact':
      return exact(gold, output, verifier.caseSensitive);
    case 'contains':
      return contains(gold, output, verifier.caseSensitive);
    case 'numeric':
      return numeric(gold, output, verifier);
    case 'json':
      return scoreFields(gold as Readonly<Record<string, unknown>>, output, verifier);
  }
}

/** 1 where the two are equal, else 0. */
function exact(gold: unknown, output: unknown, caseSensitive: boolean): Verification {
  const { gold: expected, output: given } = comparable(gold, output);
  if (areEqual(expected, given, caseSensitive)) return right(`it is what was expected: ${show(expected, shownOf)}`);
  return wrong(show(expected, shownOf), show(given, shownOf), whyNotEqual(expected, given, caseSensitive));
}

function whyNotEqual(expected: unknown, given: unknown, caseSensitive: boolean): string {
  if (asText(given ?? '').trim() === '') return 'There is no output.';
  if (areEqual(expected, given, false)) return 'Only upper and lower case differ, which counts here.';
  const [wanted, said] = [expected, given].map((value) => normalize(asText(value), caseSensitive)) as [string, string];
  if (wanted !== '' && standsIn(wanted, said))
    return 'It says what was expected, but more than that: only that is wanted.';
  return 'The two must be equal.';
}

/** 1 where the gold text stands in the output's text as a whole, else 0. */
function contains(gold: unknown, output: unknown, caseSensitive: boolean): Verification {
  const [expected, given] = [answerOf(gold), answerOf(output)];
  const [part, text] = [expected, given].map((value) => asText(value ?? '')) as [string, string];
  if (standsIn(normalize(part, caseSensitive), normalize(text, caseSensitive))) {
    return right(`it contains what was expected: ${show(expected, shownOf)}`);
  }
  const otherCase = caseSensitive && standsIn(normalize(part, false), normalize(text, false));
  const why = otherCase
    ? 'It is there in other upper and lower case, which counts here.'
    : 'What was expected does not stand in the output as a whole word or text.';
  return wrong(show(expected, shownOf), show(given, shownOf), why);
}

/** 1 where the output's number, or the last one of its text, is the gold output's within the tolerance, else 0. */
function numeric(gold: unknown, output: unknown, verifier: ScoredVerifier & { mode: 'numeric' }): Verification {
  const wanted = lastNumber(answerOf(gold))!;
  const answer = answerOf(output);
  const given = lastNumber(answer);
  const { tolerance, relative } = verifier;
  const expected = `the number ${sayNumber(wanted)} (within ${tolerance}${relative && wanted.value !== 0 ? ' of its size' : ''})`;
  if (given === null) return wrong(expected, show(answer, shownOf), 'There is no number in the output.');
  if (isClose(wanted, given, verifier)) return right(`${sayNumber(given)} is ${expected}`);
  const earlier = typeof answer === 'string' && numbersIn(answer).some((one) => isClose(wanted, one, verifier));
  const why = `The last number of the output is ${sayNumber(given)}${earlier ? '; the expected one stands before it, and must come last' : ''}.`;
  return wrong(expected, show(answer, shownOf), why);
}

function sayNumber({ value, percent }: ReadNumber): string {
  return percent ? `${value} %` : String(value);
}

function right(why: string): Verification {
  return { reward: 1, feedback: `Right: ${why}.` };
}

function wrong(expected: string, given: string, why: string): Verification {
  return { reward: 0, feedback: `Wrong. ${why}\nExpected: ${expected}\nGiven: ${given}` };
}
