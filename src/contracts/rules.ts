import { z } from 'zod';
import { commanding } from '../util/text.js';

/** Rules across fields as JSON schema, for the OpenAPI document; `field-rules` checks them, too. */
export type Rule = Record<string, unknown>;

export const required = (...names: readonly string[]): Rule => ({ required: names });

export const forbidden = (...names: readonly string[]): Rule => ({
  not: { anyOf: names.map((name) => ({ required: [name] })) },
});

export const anyRequired = (...names: readonly string[]): Rule => ({ anyOf: names.map((name) => required(name)) });

export const oneRequired = (...names: readonly string[]): Rule => oneOf(...names.map((name) => required(name)));

/** Constraints of fields, where they are present. */
export const where = (properties: Record<string, Rule>): Rule => ({ properties });

/** All rules; those of a rule that has no others stand beside them. */
export const all = (...rules: readonly Rule[]): Rule => ({ allOf: rules.flatMap(partsOf) });

const partsOf = (rule: Rule): Rule[] =>
  Array.isArray(rule['allOf']) && Object.keys(rule).length === 1 ? (rule['allOf'] as Rule[]) : [rule];

export const either = (...rules: readonly Rule[]): Rule => ({ anyOf: rules });

const oneOf = (...rules: readonly Rule[]): Rule => ({ oneOf: rules });

/** The form of an HTTP URL; the checks of egress name its fault. */
export const urlForm: Rule = { format: 'uri', pattern: '^[hH][tT][tT][pP][sS]?://' };

/** A name on one line: without characters that a terminal would obey, or that reorder others. */
export const lineSchema = (max: number) =>
  z
    .string()
    .max(max)
    .refine((name) => !commanding.test(name), 'must not contain control characters')
    .trim()
    .min(1, 'must not be empty')
    .meta({
      pattern:
        '^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$',
    });
