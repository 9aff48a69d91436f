/** Verification by a JSON schema and by the expected fields, field by field. */
import type { ComparingScorer } from '../../contracts/scoring/scorer.js';
import { readJson } from '../answers/json.js';
import { areEqual } from './equal.js';
import { describeFields, maxShown } from './fields.js';
import { canonical, show, type JsonObject } from './text.js';
import { weightedMean, type CriterionScore, type Verification } from './verification.js';
import { compileSchema } from '../../util/json-schema.js';
import { isObject } from '../../util/json.js';

/** Name of the criterion for the parts of a schema that concern no single field. */
export const wholeOutput = '(schema)';

/**
 * A field scores 1 if it matches the schema and equals the expected value. The rest of the schema
 * counts as one more field of weight 1.
 */
export function scoreSchema(
  { fields, caseSensitive, schema }: Extract<ComparingScorer, { mode: 'json' }> & { schema: Record<string, unknown> },
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
    ...{ name: wholeOutput, weight: 1, score: found.length === 0 ? 1 : 0 },
    reason: found.length === 0 ? 'as the schema demands' : found.join('; '),
  });
  return { reward: weightedMean(criteria), feedback: describeFields(criteria, unread), criteria };
}
