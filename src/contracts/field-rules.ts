/** Rules between fields, said once: they check a body, and describe themselves in the document. */
import type { z } from 'zod';
import { isObject } from '../util/json.js';
import { all, either, forbidden, oneRequired, required, where, type Rule } from './rules.js';
import { describedAs, runAlways, valueAt } from './validation.js';

interface Fault {
  path: string[];
  message: string;
}

export interface FieldRule {
  /** JSON schema. */
  described: Rule;
  faults(body: unknown): Fault[];
}

const has = (body: unknown, name: string) => valueAt(body, name) !== undefined;
const faultOf = (message: string) => (name: string) => ({ path: [name], message });

export const needs = (names: readonly string[], message = 'is required'): FieldRule => ({
  described: required(...names),
  faults: (body) => names.filter((name) => !has(body, name)).map(faultOf(message)),
});

export const refuses = (names: readonly string[], message = 'is not used: remove it'): FieldRule => ({
  described: forbidden(...names),
  faults: (body) => names.filter((name) => has(body, name)).map(faultOf(message)),
});

/** Exactly one of the fields. */
export const needsOne = (names: readonly string[], message: string): FieldRule => ({
  described: oneRequired(...names),
  faults: (body) => (names.filter((name) => has(body, name)).length === 1 ? [] : [{ path: [], message }]),
});

/** The values that a field may have, if it is present. */
export const limits = (name: string, values: z.ZodType, message = 'has another value'): FieldRule => ({
  described: where({ [name]: describedAs(values) }),
  faults: (body) => (!has(body, name) || values.safeParse(valueAt(body, name)).success ? [] : [faultOf(message)(name)]),
});

/** A rule inside a field, if it is an object. */
export const within = (name: string, rule: FieldRule): FieldRule => ({
  described: where({ [name]: rule.described }),
  faults(body) {
    const inner = valueAt(body, name);
    if (!isObject(inner)) return [];
    return rule.faults(inner).map(({ path, message }) => ({ path: [name, ...path], message }));
  },
});

export const together = (...rules: readonly FieldRule[]): FieldRule => ({
  described: all(...rules.map(({ described }) => described)),
  faults: (body) => rules.flatMap((rule) => rule.faults(body)),
});

/** At least one of the rules; otherwise the fault. */
export const anyOf = (fault: Fault, ...rules: readonly FieldRule[]): FieldRule => ({
  described: either(...rules.map(({ described }) => described)),
  faults: (body) => (rules.some((rule) => rule.faults(body).length === 0) ? [] : [fault]),
});

/** The rule of the case that a body is; of the first case if it is none of them. */
export const firstOf = (...cases: readonly { when: FieldRule; then: FieldRule }[]): FieldRule => ({
  described: either(...cases.map(({ when, then }) => all(when.described, then.described))),
  faults: (body) => (cases.find(({ when }) => when.faults(body).length === 0) ?? cases[0]!).then.faults(body),
});

/** Adds a rule to the schema of an object. */
export function withRule<Schema extends z.ZodType>(schema: Schema, rule: FieldRule, id?: string): Schema {
  return schema
    .superRefine((body: unknown, ctx) => {
      if (!isObject(body)) return;
      for (const { path, message } of rule.faults(body)) ctx.addIssue({ code: 'custom', path, message });
    }, runAlways)
    .meta({ ...(id !== undefined && { id }), ...rule.described });
}
