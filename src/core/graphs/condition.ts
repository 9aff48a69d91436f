/** The conditions of a select step. */
import type { Condition } from './graph.js';
import { described, isList, isObject, keyOf, normalText, type Json } from './values.js';

export type Judged = { ok: true; holds: boolean } | { ok: false; reason: string };

/**
 * Whether a condition holds of a value.
 * `equals`: both are the same (`keyOf`). `contains`: a text has the text in it (both by `normalText`), a list an item that is the
 * same. `empty`: null, a blank text, a list or an object with nothing in it. `less`, `greater`: than the number, of a number or of
 * a text that is one.
 */
export function judgeCondition({ is, value: other = null }: Pick<Condition, 'is' | 'value'>, value: Json): Judged {
  const wrong = (what: string): Judged => ({ ok: false, reason: `${is} takes ${what}, and got ${described(value)}` });
  switch (is) {
    case 'equals':
      return { ok: true, holds: keyOf(value) === keyOf(other) };
    case 'contains':
      if (isList(value)) return { ok: true, holds: value.some((item) => keyOf(item) === keyOf(other)) };
      if (typeof value !== 'string') return wrong('a text or a list');
      return { ok: true, holds: normalText(value).includes(normalText(String(other))) };
    case 'empty':
      return { ok: true, holds: isEmpty(value) };
    case 'less':
    case 'greater': {
      const number = numberOf(value);
      if (number === null) return wrong('a number');
      return { ok: true, holds: is === 'less' ? number < Number(other) : number > Number(other) };
    }
  }
}

/** Why a condition cannot be asked of any value, or null. */
export function conditionProblem({ is, value }: Pick<Condition, 'is' | 'value'>): string | null {
  switch (is) {
    case 'empty':
      return value === undefined ? null : 'empty compares with nothing: leave out value';
    case 'less':
    case 'greater':
      return typeof value === 'number' ? null : `${is} needs a number as value`;
    case 'equals':
    case 'contains':
      return value === undefined || (typeof value === 'object' && value !== null)
        ? `${is} needs a text, a number, true, false or null as value`
        : null;
  }
}

function isEmpty(value: Json): boolean {
  if (typeof value === 'string') return value.trim() === '';
  if (isList(value)) return value.length === 0;
  return value === null || (isObject(value) && Object.keys(value).length === 0);
}

function numberOf(value: Json): number | null {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : null;
}
