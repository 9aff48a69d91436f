/** A scorer as a form holds it. */
import { defaultScorer, scorerForms } from '../../../../src/scorers/forms.js';
import type { FormField } from '../../../../src/scorers/form.js';

/** Values by the names of fields. */
export interface ScorerDraft {
  type: string;
  values: Record<string, string | boolean>;
}

export const emptyScorer: ScorerDraft = { type: defaultScorer, values: {} };

/** What prevents the request; empty: nothing. */
export function scorerProblems({ type, values }: ScorerDraft): Record<string, string> {
  const problems: Record<string, string> = {};
  for (const { name, kind, isRequired } of scorerForms[type]?.fields ?? []) {
    const text = String(values[name] ?? '').trim();
    if (text === '') {
      if (isRequired) problems[name] = 'is required';
    } else if (kind === 'number' && !Number.isFinite(Number(text))) problems[name] = 'must be a number';
    else if (kind === 'value' && !isJson(text)) problems[name] = 'must be JSON';
  }
  return problems;
}

/** The scorer of a request, from a draft without problems. */
export function scorerOf({ type, values }: ScorerDraft): string | Record<string, unknown> {
  const entries = (scorerForms[type]?.fields ?? []).flatMap((field): [string, unknown][] => {
    const value = values[field.name];
    if (field.kind === 'check') return value === true ? [[field.name, field.on]] : [];
    const text = String(value ?? '').trim();
    return text === '' ? [] : [[field.name, valueOf(field.kind, text)]];
  });
  return entries.length === 0 ? type : { type, ...Object.fromEntries(entries) };
}

function valueOf(kind: FormField['kind'], text: string): unknown {
  if (kind === 'number') return Number(text);
  if (kind === 'value') return JSON.parse(text);
  if (kind === 'list')
    return text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean);
  return text;
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
