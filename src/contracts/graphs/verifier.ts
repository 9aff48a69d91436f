/** How the outputs of graphs are scored: a data set's rubrics and its `verifier_config`, and what a job stores of them. */
import { z } from 'zod';
import { policySchema, unlessMissing } from '../common.js';
import type { PolicySpec } from '../../core/jobs/spec.js';

const limits = { criteria: 20, rubricChars: 20_000 } as const;

/** Where a value may have one of two forms: says which, and what is wrong with the one that was meant. */
export function unionError(forms: string) {
  return {
    error: ({ input, errors }: { input?: unknown; errors?: { path: PropertyKey[]; message: string }[][] }) => {
      if (input === undefined) return undefined;
      const inside = (errors ?? []).flat().find(({ path }) => path.length > 0);
      return inside ? `must be ${forms}: ${inside.path.join('.')}: ${inside.message}` : `must be ${forms}`;
    },
  };
}

/** How names of criteria are told apart, as the judge's are. */
const criterionKey = (name: string) =>
  name.normalize('NFC').replaceAll(/\s+/gu, ' ').trim().toLowerCase().normalize('NFC');

const rubricObjectSchema = z.strictObject({
  criteria: z
    .array(
      z.strictObject({
        name: z.string().max(100).regex(/\S/, 'must not be blank'),
        weight: z.number().gt(0).max(1_000_000).default(1).describe('What counts is its share of the sum.'),
        description: z.string().max(limits.rubricChars).default(''),
      }),
    )
    .min(1, 'must hold at least one criterion')
    .max(limits.criteria, `must hold at most ${limits.criteria} criteria`)
    .superRefine((criteria, ctx) => {
      const names = criteria.map(({ name }) => criterionKey(name));
      for (const [index, name] of names.entries()) {
        if (names.indexOf(name) === index) continue;
        const message = `is the name of criteria.${names.indexOf(name)} already`;
        ctx.addIssue({ code: 'custom', path: [index, 'name'], message });
      }
    }),
});

export const rubricSchema = z
  .union(
    [z.string().regex(/\S/, 'must not be blank').max(limits.rubricChars), rubricObjectSchema],
    unionError('a text or {"criteria": [{"name", "weight", "description"}]}'),
  )
  .describe(
    'What a judge goes by. A text is a list of criteria where all its lines are "- name (weight): description", else one criterion.',
  );
export type Rubric = z.infer<typeof rubricSchema>;

/** What a data set may be scored by. */
export const modes = ['exact', 'contains', 'numeric', 'json', 'rubric', 'gold_examples'] as const;

/** Fields that mode json can be told to compare, at most. */
export const maxFields = 200;

const fieldName = z.string().min(1, 'must not be empty').max(200);

export const verifierSchema = z.strictObject({
  mode: z
    .enum(modes, unlessMissing(`must be one of ${modes.join(', ')}`))
    .describe(
      'exact: equal to the gold output; contains: the gold text stands in the output; numeric: its last number is the gold one; json: share of equal fields; rubric and gold_examples: a judge model scores.',
    ),
  model: policySchema.shape.model.optional().describe('The judge; required for rubric and gold_examples.'),
  provider: policySchema.shape.provider.optional().describe("The judge's; policy_provider where absent."),
  tolerance: z.number().min(0).optional().describe('numeric: how far off still counts; 0.000001 where absent.'),
  relative: z
    .boolean()
    .optional()
    .describe('numeric: whether tolerance is a share of the gold number (of 0 it is absolute); true where absent.'),
  case_sensitive: z.boolean().optional().describe('exact, contains, json: false where absent.'),
  fields: z
    .union(
      [
        z.array(fieldName).min(1, 'must name at least one field').max(maxFields),
        z.record(fieldName, z.number().gt(0).max(1_000_000)),
      ],
      unionError('a list of names of fields, or an object of their weights'),
    )
    .optional()
    .describe('json: the fields that are compared, or their weights; all fields of a gold output where absent.'),
});
export type VerifierConfig = z.infer<typeof verifierSchema>;

/** A verifier that compares with a gold output and needs no model. */
export type ScoredVerifier =
  | { mode: 'exact' | 'contains'; caseSensitive: boolean }
  | { mode: 'numeric'; tolerance: number; relative: boolean }
  | { mode: 'json'; caseSensitive: boolean; fields: Record<string, number> | null };
/** A verifier whose scores a judge model gives. */
export type JudgedVerifier = { mode: 'rubric' | 'gold_examples'; judge: PolicySpec };
/** How outputs are scored, as a job stores it. */
export type VerifierSpec = ScoredVerifier | JudgedVerifier;

/** A verifier as it is stored; `defaultProvider` is the judge's where none is given. A judged one has its model (`datasetProblems`). */
export function verifierSpec(config: VerifierConfig, defaultProvider: string): VerifierSpec {
  const caseSensitive = config.case_sensitive ?? false;
  switch (config.mode) {
    case 'exact':
    case 'contains':
      return { mode: config.mode, caseSensitive };
    case 'numeric':
      return { mode: 'numeric', tolerance: config.tolerance ?? 1e-6, relative: config.relative ?? true };
    case 'json':
      return { mode: 'json', caseSensitive, fields: fieldWeights(config.fields) };
    case 'rubric':
    case 'gold_examples': {
      const judge = { model: config.model!, provider: config.provider ?? defaultProvider, params: {} };
      return { mode: config.mode, judge };
    }
  }
}

function fieldWeights(fields: VerifierConfig['fields']): Record<string, number> | null {
  if (fields === undefined) return null;
  return Array.isArray(fields) ? Object.fromEntries(fields.map((name) => [name, 1])) : fields;
}
