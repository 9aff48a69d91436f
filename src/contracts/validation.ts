/** Building blocks of request validation. */
import { z } from 'zod';

/** The error message for a missing field; undefined for other errors. */
export const missing = ({ code, input }: { code?: string; input?: unknown }) =>
  code?.startsWith('invalid_') && input === undefined ? 'is required' : undefined;

/** The message for a malformed field; a missing field gets zod's "is required". */
export function unlessMissing(message: string) {
  return { error: ({ input }: { input?: unknown }) => (input === undefined ? undefined : message) };
}

/** The error of a union: names the forms and the first problem inside a value. */
export function unionError(forms: string) {
  return {
    error: ({ input, errors }: { input?: unknown; errors?: { path: PropertyKey[]; message: string }[][] }) => {
      if (input === undefined) return undefined;
      const inside = (errors ?? []).flat().find(({ path }) => path.length > 0);
      return inside ? `must be ${forms}: ${inside.path.join('.')}: ${inside.message}` : `must be ${forms}`;
    },
  };
}

/** Of the existing client: accepted, kept with the job, and named in a warning. */
export const unusedSchema = z.unknown().optional().describe('Of the existing client; not used.');

/** Runs a cross-field check even if a field is invalid, so that all problems are reported. */
export const runAlways = { when: () => true };

export function valueAt(body: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined,
    body,
  );
}

/** What a schema reads as JSON Schema, for a field that reads it by code of its own. */
export function describedAs(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, $defs: _shared, id: _id, ...described } = z.toJSONSchema(schema, { io: 'input' });
  const text = JSON.stringify(described).replaceAll(/"#\/\$defs\/(\w+)"/g, '"#/components/schemas/$1Input"');
  return JSON.parse(text) as Record<string, unknown>;
}

/** The largest whole number of a request: exact as a double, and in every language. */
export const largestWhole = 1_000_000_000_000_000;

/** A whole number within limits. Not z.int(): its failures prevent cross-field checks. */
export function wholeNumber(minimum: number, maximum: number) {
  return z
    .number(unlessMissing('must be a whole number'))
    .superRefine((value, ctx) => {
      if (!Number.isInteger(value)) ctx.addIssue('must be a whole number');
      else if (value < minimum || value > maximum) ctx.addIssue(`must be ${minimum} to ${maximum}`);
    })
    .meta({ type: 'integer', minimum, maximum });
}

/** A whole number within limits in a query, in decimal digits. */
export function wholeParameter(minimum: number, maximum: number) {
  return z
    .unknown()
    .transform((text) => (typeof text === 'string' && /^\d{1,16}$/.test(text) ? Number(text) : text))
    .pipe(wholeNumber(minimum, maximum))
    .meta({ type: 'integer', minimum, maximum });
}
