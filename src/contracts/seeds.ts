import { z } from 'zod';
import { isObject } from '../util/json.js';
import { describedAs, largestWhole, missing, unlessMissing, wholeNumber } from './validation.js';

const seedSchema = wholeNumber(0, largestWhole);
const rangeSchema = z.strictObject({ from: seedSchema, to: seedSchema }).meta({ id: 'SeedRange' });
const textSchema = z.string().regex(/^[0-9]+-[0-9]+$/);
const forms = 'must be a list of whole numbers, a range such as "0-99", or {"from": 0, "to": 99}';

/** Seeds in the order they run: 1 to `max`, as a list or a range; read as a list. */
export function seedsSchema(max: number) {
  const listSchema = z
    .array(seedSchema, unlessMissing(forms))
    .min(1, 'must hold at least one seed')
    .max(max, `must hold at most ${max} seeds`);
  const described = describedAs(z.union([listSchema, textSchema, rangeSchema]));
  return z
    .unknown()
    .transform((given, ctx) => {
      if (Array.isArray(given) || given === undefined) return given;
      const range = rangeSchema.safeParse(rangeOf(given) ?? given, { error: missing });
      if (!range.success) {
        if (!isObject(given)) ctx.addIssue(forms);
        // Custom issues end the pipe; zod's own issue for an unknown field does not.
        else for (const fault of faultsOf(range.error)) ctx.addIssue({ code: 'custom', ...fault });
        return z.NEVER;
      }
      const { from, to } = range.data;
      const count = to - from + 1;
      if (count < 1) ctx.addIssue(`must not end before its begin; from is ${from}, to is ${to}`);
      else if (count > max) ctx.addIssue(`must hold at most ${max} seeds; ${from} to ${to} has ${count}`);
      else return Array.from({ length: count }, (_item, index) => from + index);
      return z.NEVER;
    })
    .pipe(listSchema)
    .meta(described);
}

/** The ends of a range in text; null: not one. */
function rangeOf(given: unknown): { from: number; to: number } | null {
  if (!textSchema.safeParse(given).success) return null;
  const [from, to] = String(given).split('-').map(Number);
  return { from: from!, to: to! };
}

function faultsOf({ issues }: z.ZodError): { path: PropertyKey[]; message: string }[] {
  return issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [key], message: 'unknown field' }))
      : [{ path: issue.path, message: issue.message }],
  );
}
