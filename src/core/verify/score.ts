/** Verification without a model, in the modes exact, contains, numeric and json. */
import type { JudgedVerifier, ScoredVerifier, VerifierSpec } from '../../contracts/scoring/verifier.js';
import { unwrapAnswer, comparableParts } from './answer.js';
import { containsWhole } from './contains.js';
import { areEqual } from './equal.js';
import { scoreFields, weightedFields } from './fields.js';
import { isClose, lastNumber, parseNumbers, soleNumber, type ReadNumber } from './numbers.js';
import { isObject } from '../../util/json.js';
import { asText, normalize, show } from './text.js';
import type { Verification } from './verification.js';

/** Maximum characters of a gold output and of an output in feedback. */
const maxShown = 1_500;

export function isJudged(verifier: VerifierSpec): verifier is JudgedVerifier {
  return verifier.mode === 'rubric' || verifier.mode === 'gold_examples';
}

/** Why a gold output cannot be compared with, as a predicate for the field's name, or null. */
export function goldProblem(verifier: ScoredVerifier, gold: unknown): string | null {
  switch (verifier.mode) {
    case 'exact':
      return null;
    case 'contains':
      return normalize(asText(unwrapAnswer(gold) ?? ''), true) === ''
        ? 'is empty, so every output would contain it'
        : null;
    case 'numeric': {
      const sole = soleNumber(unwrapAnswer(gold));
      return 'problem' in sole ? sole.problem : null;
    }
    case 'json':
      if (!isObject(gold)) return 'must be an object in mode json';
      return weightedFields(gold, verifier.fields).length > 0 ? null : 'has none of the compared fields';
  }
}

/** Throws a RangeError if `goldProblem` reports a problem; job creation rejects these. */
export function score(verifier: ScoredVerifier, gold: unknown, output: unknown): Verification {
  const problem = goldProblem(verifier, gold);
  if (problem !== null) throw new RangeError(`The gold output for mode ${verifier.mode} ${problem}.`);
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

/** Reward 1 for equal parts, else 0. */
function exact(gold: unknown, output: unknown, caseSensitive: boolean): Verification {
  const { gold: expected, output: given } = comparableParts(gold, output);
  if (areEqual(expected, given, caseSensitive)) return correct(`it is what was expected: ${show(expected, maxShown)}`);
  return incorrect(show(expected, maxShown), show(given, maxShown), whyNotEqual(expected, given, caseSensitive));
}

function whyNotEqual(expected: unknown, given: unknown, caseSensitive: boolean): string | null {
  if (asText(given ?? '').trim() === '') return 'There is no output.';
  if (areEqual(expected, given, false)) return 'Only upper and lower case differ, which counts here.';
  const [wanted, normalizedOutput] = [expected, given].map((value) => normalize(asText(value), caseSensitive)) as [
    string,
    string,
  ];
  if (wanted !== '' && containsWhole(wanted, normalizedOutput))
    return 'It says what was expected, but more than that: only that is wanted.';
  return null;
}

/** Reward 1 if the output contains the gold text as a whole word or phrase, else 0. */
function contains(gold: unknown, output: unknown, caseSensitive: boolean): Verification {
  const [expected, given] = [unwrapAnswer(gold), unwrapAnswer(output)];
  const [part, text] = [expected, given].map((value) => asText(value ?? '')) as [string, string];
  if (containsWhole(normalize(part, caseSensitive), normalize(text, caseSensitive))) {
    return correct(`it contains what was expected: ${show(expected, maxShown)}`);
  }
  const otherCase = caseSensitive && containsWhole(normalize(part, false), normalize(text, false));
  const why = otherCase
    ? 'It is there in other upper and lower case, which counts here.'
    : 'What was expected does not stand in the output as a whole word or text.';
  return incorrect(show(expected, maxShown), show(given, maxShown), why);
}

/** Reward 1 if the output's last number is within the tolerance of the gold number, else 0. */
function numeric(gold: unknown, output: unknown, verifier: ScoredVerifier & { mode: 'numeric' }): Verification {
  const wanted = lastNumber(unwrapAnswer(gold))!;
  const answer = unwrapAnswer(output);
  const given = lastNumber(answer);
  const { tolerance, relative } = verifier;
  const expected = `the number ${formatNumber(wanted)} (within ${tolerance}${relative && wanted.value !== 0 ? ' of its size' : ''})`;
  if (given === null) return incorrect(expected, show(answer, maxShown), 'There is no number in the output.');
  if (isClose(wanted, given, verifier)) return correct(`${formatNumber(given)} is ${expected}`);
  const earlier = typeof answer === 'string' && parseNumbers(answer).some((item) => isClose(wanted, item, verifier));
  const why = `The last number of the output is ${formatNumber(given)}${earlier ? '; the expected one stands before it, and must come last' : ''}.`;
  return incorrect(expected, show(answer, maxShown), why);
}

function formatNumber({ value, percent }: ReadNumber): string {
  return percent ? `${value} %` : String(value);
}

function correct(why: string): Verification {
  return { reward: 1, feedback: `Right: ${why}.` };
}

function incorrect(expected: string, given: string, why: string | null): Verification {
  const first = why === null ? 'Wrong.' : `Wrong. ${why}`;
  return { reward: 0, feedback: `${first}\nExpected: ${expected}\nGiven: ${given}` };
}
