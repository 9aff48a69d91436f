/** The scorers of the API, with the fields that a form shows. */

interface FieldOf<Kind extends string> {
  kind: Kind;
  name: string;
  label: string;
  hint?: string;
  isRequired?: true;
}

/** `on`: the value of a marked box; an unmarked one is left out. */
type CheckField = FieldOf<'check'> & { on: boolean };
type ChoiceField = FieldOf<'choice'> & { choices: readonly string[] };
export type ScorerField = FieldOf<'text' | 'area' | 'number' | 'list' | 'json'> | CheckField | ChoiceField;

export interface ScorerKind {
  label: string;
  explanation: string;
  fields: readonly ScorerField[];
}

const caseSensitive: ScorerField = {
  kind: 'check',
  name: 'case_sensitive',
  label: 'Case-sensitive',
  on: true,
};

export const scorerKinds: Record<string, ScorerKind> = {
  exact: {
    label: 'Exact',
    explanation: '1 if the answer equals the expected value; white space is collapsed.',
    fields: [caseSensitive],
  },
  contains: {
    label: 'Contains',
    explanation: '1 if the answer contains the expected value as a whole word or phrase.',
    fields: [caseSensitive],
  },
  numeric: {
    label: 'Number',
    explanation: 'Compares the last number of the answer with the expected one.',
    fields: [
      {
        kind: 'number',
        name: 'tolerance',
        label: 'Tolerance',
        hint: 'A share of the expected number; default 0.000001.',
      },
      { kind: 'check', name: 'relative', label: 'The tolerance is an absolute number', on: false },
    ],
  },
  regex: {
    label: 'Regular expression',
    explanation: '1 if a part of the answer matches the pattern.',
    fields: [
      { kind: 'text', name: 'pattern', label: 'Pattern', hint: 'RE2 syntax. Empty: the expected value of each row.' },
      { kind: 'text', name: 'flags', label: 'Flags', hint: 'i: ignores case, m: lines, s: a dot matches all.' },
    ],
  },
  json: {
    label: 'JSON',
    explanation: 'The share of fields that are as expected, and as the schema demands.',
    fields: [
      { kind: 'list', name: 'fields', label: 'Compared fields', hint: 'With commas between; empty: all.' },
      { kind: 'json', name: 'schema', label: 'JSON schema of the answer' },
      caseSensitive,
    ],
  },
  similarity: {
    label: 'Similarity',
    explanation: 'How similar the words of answer and expected value are.',
    fields: [{ kind: 'choice', name: 'metric', label: 'Measure', choices: ['token_f1', 'rouge_l', 'bleu'] }],
  },
  rubric: {
    label: 'Judge model',
    explanation: 'A model scores each answer by your criteria; its calls are paid for like others.',
    fields: [
      {
        kind: 'area',
        name: 'criteria',
        label: 'Criteria',
        hint: 'One a line, with weights: “- correct (3): names the right team”.',
        isRequired: true,
      },
      { kind: 'text', name: 'model', label: 'Judge model', isRequired: true },
      { kind: 'text', name: 'provider', label: 'Judge provider', hint: 'Empty: that of the policy.' },
    ],
  },
  javascript: {
    label: 'JavaScript',
    explanation: 'Your function scores the answer, where the operator allows it.',
    fields: [
      {
        kind: 'area',
        name: 'code',
        label: 'Function',
        hint: '(output, row, expected) => a reward from 0 to 1, or {reward, feedback}.',
        isRequired: true,
      },
    ],
  },
  http: {
    label: 'HTTP',
    explanation: 'Your URL gets POST {output, row, expected} and answers {reward, feedback}.',
    fields: [
      { kind: 'text', name: 'url', label: 'URL', isRequired: true },
      { kind: 'number', name: 'timeout', label: 'Seconds per try', hint: 'Default 30.' },
    ],
  },
  weighted: {
    label: 'Weighted',
    explanation: 'The weighted mean of several scorers.',
    fields: [
      {
        kind: 'json',
        name: 'parts',
        label: 'Parts',
        hint: '[{"weight": 3, "scorer": "exact"}, {"weight": 1, "scorer": {"type": "regex", "pattern": "^[A-Z]"}}]',
        isRequired: true,
      },
    ],
  },
};

/** What a form holds of a scorer. */
export interface ScorerDraft {
  type: string;
  values: Record<string, string | boolean>;
}

/** What prevents the request; empty: nothing. */
export function scorerProblems({ type, values }: ScorerDraft): Record<string, string> {
  const problems: Record<string, string> = {};
  for (const { name, kind, isRequired } of scorerKinds[type]?.fields ?? []) {
    const text = String(values[name] ?? '').trim();
    if (text === '') {
      if (isRequired) problems[name] = 'is required';
    } else if (kind === 'number' && !Number.isFinite(Number(text))) problems[name] = 'must be a number';
    else if (kind === 'json' && !isJson(text)) problems[name] = 'must be JSON';
  }
  return problems;
}

/** The scorer of a request, from a draft without problems. */
export function scorerOf({ type, values }: ScorerDraft): string | Record<string, unknown> {
  const entries = (scorerKinds[type]?.fields ?? []).flatMap((field): [string, unknown][] => {
    const value = values[field.name];
    if (field.kind === 'check') return value === true ? [[field.name, field.on]] : [];
    const text = String(value ?? '').trim();
    return text === '' ? [] : [[field.name, valueOf(field.kind, text)]];
  });
  return entries.length === 0 ? type : { type, ...Object.fromEntries(entries) };
}

function valueOf(kind: ScorerField['kind'], text: string): unknown {
  if (kind === 'number') return Number(text);
  if (kind === 'json') return JSON.parse(text);
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
