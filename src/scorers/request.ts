/** Reads scorers of requests. */
import { z } from 'zod';
import { closestName, unknownField } from '../contracts/close-names.js';
import { withoutNulls } from '../contracts/nulls.js';
import { describedAs, missing, unlessMissing } from '../contracts/validation.js';
import { asObject } from '../util/json.js';
import { costProblem } from './cost.js';
import type { RequestSchema } from './scorer.js';

export function unknownType(types: readonly string[]) {
  return unlessMissing(`must be a scorer whose type is one of ${types.join(', ')}`);
}

type Forms = z.ZodDiscriminatedUnion<readonly [RequestSchema, ...RequestSchema[]]>;

/**
 * Also reads the text `"exact"` as `{"type": "exact"}`. Not a union: its errors would not say which
 * field is wrong. `inside`: the names of the fields of an object within.
 */
export function shortOrFull<Form extends Forms>(schema: Form, id: string, inside: readonly string[] = []) {
  const shapes = new Map(schema.options.map(({ shape }) => [shape.type.value, shape]));
  const types = [...shapes.keys()];
  const short = types.filter((type) => schema.safeParse({ type }).success);
  return z
    .unknown()
    .transform((given, ctx): z.output<Form> => {
      const costly = costProblem(given);
      if (costly !== null) {
        ctx.addIssue({ code: 'custom', path: ['parts'], message: costly });
        return z.NEVER;
      }
      const full = typeof given === 'string' ? { type: given } : withoutNulls(schema, given);
      const read = schema.safeParse(full, { error: missing });
      if (read.success) return read.data;
      const type = asObject(full)?.['type'];
      const known = typeof type === 'string' ? Object.keys(shapes.get(type) ?? {}) : [];
      for (const issue of read.error.issues) {
        if (issue.code === 'unrecognized_keys') {
          for (const key of issue.keys) {
            const message = unknownField(key, issue.path.length === 0 ? known : inside);
            ctx.addIssue({ code: 'custom', path: [...issue.path, key], message });
          }
          continue;
        }
        const isUnknown = issue.code === 'invalid_union' && issue.path.join('.') === 'type';
        const meant = isUnknown && typeof type === 'string' ? closestName(type, types) : null;
        const message = meant === null ? issue.message : `${issue.message}; did you mean \`${meant}\`?`;
        // The text names a type that does not exist, or one that needs more fields.
        const isText = typeof given === 'string' && !types.includes(given);
        ctx.addIssue({ code: 'custom', path: isText ? [] : issue.path, message });
      }
      return z.NEVER;
    })
    .meta({
      ...describedAs(z.union([z.enum(short), schema])),
      id,
      description: 'How outputs are scored; "exact" is short for {"type": "exact"}.',
    });
}
