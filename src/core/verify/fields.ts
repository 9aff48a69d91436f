/** Field-by-field verification (mode json). */
import { parseIfObject } from './answer.js';
import { areEqual } from './equal.js';
import { isObject } from '../../util/json.js';
import { maxFeedback, show, type JsonObject } from './text.js';
import { weightedMean, type CriterionScore, type Verification } from './verification.js';
import { cutWithin } from '../../util/text.js';

/** Maximum characters of a field's value and name in feedback. */
export const maxShown = { value: 400, name: 100 } as const;

/** The fields of a gold output with their weights: all with weight 1, or those in `fields`. */
export function weightedFields(gold: JsonObject, fields: Readonly<Record<string, number>> | null): [string, number][] {
  if (fields === null) return Object.keys(gold).map((name) => [name, 1]);
  return Object.entries(fields).filter(([name]) => Object.hasOwn(gold, name));
}

/**
 * The weighted share of the gold output's fields that are equal in the output; other fields do not
 * count.
 */
export function scoreFields(
  gold: JsonObject,
  output: unknown,
  { fields, caseSensitive }: { fields: Readonly<Record<string, number>> | null; caseSensitive: boolean },
): Verification {
  const read = parseIfObject(output);
  const given = isObject(read) ? read : {};
  const criteria = weightedFields(gold, fields).map(([name, weight]): CriterionScore => {
    const isThere = Object.hasOwn(given, name);
    if (isThere && areEqual(gold[name], given[name], caseSensitive)) return { name, weight, score: 1, reason: 'equal' };
    const got = isThere ? show(given[name], maxShown.value) : 'no such field';
    return { name, weight, score: 0, reason: `expected ${show(gold[name], maxShown.value)}, got ${got}` };
  });
  const unread = isObject(read) ? [] : [`The output is no JSON object: ${show(output, maxShown.value)}`];
  return { reward: weightedMean(criteria), feedback: describeFields(criteria, unread), criteria };
}

/** Feedback that lists the wrong fields, then the right ones. */
export function describeFields(criteria: readonly CriterionScore[], unread: readonly string[]): string {
  const wrong = criteria.filter(({ score }) => score < 1);
  if (wrong.length === 0) return cutWithin(`Right: all fields are as expected: ${joinNames(criteria)}.`, maxFeedback);
  const lines = [
    ...unread,
    `Wrong fields: ${wrong.length} of ${criteria.length}.`,
    ...wrong.map(({ name, reason }) => `- ${show(name, maxShown.name)}: ${reason}`),
  ];
  const right = criteria.filter(({ score }) => score === 1);
  if (right.length > 0) lines.push(`Right fields: ${joinNames(right)}.`);
  return cutWithin(lines.join('\n'), maxFeedback);
}

const joinNames = (criteria: readonly CriterionScore[]) =>
  criteria.map(({ name }) => show(name, maxShown.name)).join(', ');
