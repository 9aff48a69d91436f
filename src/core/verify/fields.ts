/** Verification field by field: mode json. */
import { asObject } from './answer.js';
import { areEqual } from './equal.js';
import { cut, isObject, maxFeedback, show, type JsonObject } from './text.js';
import { weightedMean, type CriterionScore, type Verification } from './verification.js';

/** Characters of a field's value in a feedback, and of its name. */
const shownOf = { value: 400, name: 100 } as const;

/**
 * The gold output's fields that are compared, with their weights: all alike, or those that `fields` names. A field that it
 * names and this gold output lacks is not compared.
 */
export function weightedFields(gold: JsonObject, fields: Readonly<Record<string, number>> | null): [string, number][] {
  if (fields === null) return Object.keys(gold).map((name) => [name, 1]);
  return Object.entries(fields).filter(([name]) => Object.hasOwn(gold, name));
}

/**
 * The weighted share of the gold output's fields that the output has equal; 0 where it is no object (nor a text that is one in
 * JSON). Further fields of the output do not matter. A field of objects or lists counts as a whole.
 */
export function scoreFields(
  gold: JsonObject,
  output: unknown,
  { fields, caseSensitive }: { fields: Readonly<Record<string, number>> | null; caseSensitive: boolean },
): Verification {
  const read = asObject(output);
  const given = isObject(read) ? read : {};
  const criteria = weightedFields(gold, fields).map(([name, weight]): CriterionScore => {
    const isThere = Object.hasOwn(given, name);
    if (isThere && areEqual(gold[name], given[name], caseSensitive)) return { name, weight, score: 1, reason: 'equal' };
    const got = isThere ? show(given[name], shownOf.value) : 'no such field';
    return { name, weight, score: 0, reason: `expected ${show(gold[name], shownOf.value)}, got ${got}` };
  });
  const unread = isObject(read) ? [] : [`The output is no JSON object: ${show(output, shownOf.value)}`];
  return { reward: weightedMean(criteria), feedback: describe(criteria, unread), criteria };
}

function describe(criteria: readonly CriterionScore[], unread: readonly string[]): string {
  const wrong = criteria.filter(({ score }) => score < 1);
  if (wrong.length === 0) return cut(`Right: all fields are as expected: ${names(criteria)}.`, maxFeedback);
  const lines = [
    ...unread,
    `Wrong fields: ${wrong.length} of ${criteria.length}.`,
    ...wrong.map(({ name, reason }) => `- ${show(name, shownOf.name)}: ${reason}`),
  ];
  const right = criteria.filter(({ score }) => score === 1);
  if (right.length > 0) lines.push(`Right fields: ${names(right)}.`);
  return cut(lines.join('\n'), maxFeedback);
}

const names = (criteria: readonly CriterionScore[]) => criteria.map(({ name }) => show(name, shownOf.name)).join(', ');
