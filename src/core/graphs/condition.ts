/** Conditions of a select step. */
import type { Condition } from './graph.js';
import { isObject } from '../../util/json.js';
import { wholeNumber } from '../verify/numbers.js';
import { describeValue, isList, equivalenceKey, normalizeText, type Json } from './values.js';

export type ConditionResult = { ok: true; holds: boolean } | { ok: false; reason: string };

/**
 * `equals` and `contains` compare by `equivalenceKey`, or by normalized text; `empty`: null, a
 * blank text, an empty list or object; `less` and `greater` take a number, or a text that is a
 * number.
 */
export function evaluateCondition(
  { is, value: other = null }: Pick<Condition, 'is' | 'value'>,
  value: Json,
): ConditionResult {
  const mismatch = (expected: string): ConditionResult => ({
    ok: false,
    reason: `${is} expects ${expected}, but got ${describeValue(value)}`,
  });
  switch (is) {
    case 'equals':
      return { ok: true, holds: equivalenceKey(value) === equivalenceKey(other) };
    case 'contains':
      if (isList(value))
        return { ok: true, holds: value.some((item) => equivalenceKey(item) === equivalenceKey(other)) };
      if (typeof value !== 'string') return mismatch('a text or a list');
      return { ok: true, holds: normalizeText(value).includes(normalizeText(String(other))) };
    case 'empty':
      return { ok: true, holds: isEmpty(value) };
    case 'less':
    case 'greater': {
      const number = parseNumber(value);
      if (number === null) return mismatch('a number');
      return { ok: true, holds: is === 'less' ? number < Number(other) : number > Number(other) };
    }
  }
}

/** Why a condition is invalid for every value; null if it is valid. */
export function conditionProblem({ is, value }: Pick<Condition, 'is' | 'value'>): string | null {
  switch (is) {
    case 'empty':
      return value === undefined ? null : 'must be absent: empty takes no value';
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

function parseNumber(value: Json): number | null {
  return typeof value === 'string' ? wholeNumber(value) : typeof value === 'number' ? value : null;
}
