import { z } from 'zod';
import { unionError } from '../contracts/validation.js';
import { readJson } from '../core/answers/json.js';
import { parseIfObject } from '../core/verify/answer.js';
import { areEqual } from '../core/verify/equal.js';
import { asText, canonical, maxFeedback, show, type JsonObject } from '../core/verify/text.js';
import { weightedMean, type CriterionScore, type Verification } from '../core/verify/verification.js';
import { isObject } from '../util/json.js';
import { compileSchema, schemaProblem } from '../util/json-schema.js';
import { cutWithin } from '../util/text.js';
import { caseBox, caseField } from './case.js';
import { comparing } from './scorer.js';

/** Maximum fields that a request can name. */
export const maxFields = 200;

const fieldName = z.string().min(1, 'must not be empty').max(200);

/** `fields`: the weights of the compared fields; null: all fields, each with weight 1. */
interface Compared {
  caseSensitive: boolean;
  fields: Readonly<Record<string, number>> | null;
}

export const json = comparing({
  schema: z
    .strictObject({
      type: z.literal('json'),
      case_sensitive: caseField,
      fields: z
        .union(
          [
            z.array(fieldName).min(1, 'must name at least one field').max(maxFields),
            z.record(fieldName, z.number().gt(0).max(1_000_000)),
          ],
          unionError('a list of field names, or an object of weights by field name'),
        )
        .optional()
        .describe('json: the compared fields, or their weights. Default: all fields of the gold output.'),
      schema: z
        .record(z.string(), z.unknown())
        .superRefine((schema, ctx) => {
          const problem = schemaProblem(schema);
          if (problem !== null) ctx.addIssue(problem);
        })
        .optional()
        .describe('A JSON schema (2020-12) of the output; patterns in RE2 syntax, references within the schema.'),
    })
    .meta({ id: 'JsonScorer' }),
  settings: ({ case_sensitive: caseSensitive = false, fields = null, schema = null }): JsonSettings => ({
    caseSensitive,
    fields: Array.isArray(fields) ? Object.fromEntries(fields.map((name) => [name, 1])) : fields,
    schema,
  }),
  reward: 'share of the fields that are as expected, and as the schema demands',
  expected: 'without `schema`',
  form: {
    label: 'JSON',
    fields: [
      { kind: 'list', name: 'fields', label: 'Compared fields', hint: 'With commas between; empty: all.' },
      { kind: 'value', name: 'schema', label: 'JSON schema of the answer' },
      caseBox,
    ],
  },
  expectedUse: ({ schema }) => (schema === null ? 'required' : 'optional'),
  rightAnswer: 'object',
  problem({ fields }, expected) {
    if (!isObject(expected)) return 'must be an object in mode json';
    return weightedFields(expected, fields).length > 0 ? null : 'has none of the compared fields';
  },
  score(settings, expected, output) {
    const gold = isObject(expected) ? expected : null;
    if (settings.schema !== null) return scoreSchema(settings, settings.schema, gold, asText(output));
    return scoreFields(gold ?? {}, output, settings);
  },
});

export interface JsonSettings extends Compared {
  schema: Record<string, unknown> | null;
}

/** Maximum characters of a field's value and name in feedback. */
const maxShown = { value: 400, name: 100 } as const;

/** The fields of a gold output with their weights: all with weight 1, or those in `fields`. */
function weightedFields(gold: JsonObject, fields: Compared['fields']): [string, number][] {
  if (fields === null) return Object.keys(gold).map((name) => [name, 1]);
  return Object.entries(fields).filter(([name]) => Object.hasOwn(gold, name));
}

/**
 * The weighted share of the gold output's fields that are equal in the output; other fields do not
 * count.
 */
function scoreFields(gold: JsonObject, output: unknown, { fields, caseSensitive }: Compared): Verification {
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
function describeFields(criteria: readonly CriterionScore[], unread: readonly string[]): string {
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

/** Name of the criterion for the parts of a schema that concern no single field. */
export const wholeOutput = '(schema)';

/**
 * A field scores 1 if it matches the schema and equals the expected value. The rest of the schema
 * counts as one more field of weight 1.
 */
function scoreSchema(
  { fields, caseSensitive }: Compared,
  schema: JsonObject,
  gold: JsonObject | null,
  output: string,
): Verification {
  const compiled = compileSchema(schema);
  const read = output.length <= compiled.checked ? readJson(output) : null;
  const unread =
    read !== null
      ? []
      : output.length > compiled.checked
        ? [`The output is longer than ${compiled.checked} characters.`]
        : [`The output is no JSON: ${show(output, maxShown.value)}`];
  const given = read !== null && isObject(read.value) ? read.value : {};
  const names = Object.keys(gold ?? Object.fromEntries(compiled.fields.map((name) => [name, null])));
  const compared = fields === null ? names : names.filter((name) => Object.hasOwn(fields, name));
  const criteria = compared.map((name): CriterionScore => {
    const weight = fields?.[name] ?? 1;
    const wrong = (reason: string): CriterionScore => ({ name, weight, score: 0, reason });
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    const got = value === undefined ? 'no such field' : show(value, maxShown.value);
    const problem = compiled.field(name, value);
    if (problem !== null)
      return wrong(value === undefined ? problem : `${problem}, got ${show(canonical(value), maxShown.value)}`);
    if (gold !== null && !(value !== undefined && areEqual(gold[name], value, caseSensitive)))
      return wrong(`expected ${show(gold[name], maxShown.value)}, got ${got}`);
    return { name, weight, score: 1, reason: gold === null ? 'as the schema demands' : 'equal' };
  });
  const others = compiled.fields.filter((name) => !compared.includes(name));
  const problems = read === null ? ['there is no JSON to check'] : [compiled.rest(read.value)];
  for (const name of others) {
    const problem = compiled.field(name, Object.hasOwn(given, name) ? given[name] : undefined);
    if (problem !== null) problems.push(`${name} ${problem}`);
  }
  const found = problems.filter((problem) => problem !== null);
  criteria.push({
    name: wholeOutput,
    weight: 1,
    score: found.length === 0 ? 1 : 0,
    reason: found.length === 0 ? 'as the schema demands' : found.join('; '),
  });
  return { reward: weightedMean(criteria), feedback: describeFields(criteria, unread), criteria };
}
