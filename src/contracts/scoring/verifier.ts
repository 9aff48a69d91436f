/** Scoring of graph outputs: rubrics, `verifier_config` and the stored form. */
import { z } from 'zod';
import { policySchema } from '../common.js';
import { unlessMissing } from '../validation.js';
import type { PolicySpec } from '../../core/jobs/spec.js';

const limits = { criteria: 20, rubricChars: 20_000 } as const;

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

/** Identity of a criterion's name, as for the judge. */
const criterionKey = (name: string) =>
  name.normalize('NFC').replaceAll(/\s+/gu, ' ').trim().toLowerCase().normalize('NFC');

const criterionSchema = z.strictObject({
  name: z.string().max(100).regex(/\S/, 'must not be blank'),
  weight: z.number().gt(0).max(1_000_000).default(1).describe('Relative to the sum of all weights.'),
  description: z.string().max(limits.rubricChars).default(''),
});
const criteriaOf = <Item extends typeof criterionSchema>(item: Item) =>
  z
    .array(item)
    .max(limits.criteria, `must hold at most ${limits.criteria} criteria`)
    .superRefine((criteria, ctx) => {
      const names = criteria.map(({ name }) => criterionKey(name));
      for (const [index, name] of names.entries()) {
        if (names.indexOf(name) === index) continue;
        const message = `repeats the name of criteria.${names.indexOf(name)}`;
        ctx.addIssue({ code: 'custom', path: [index, 'name'], message });
      }
    });
const rubricObjectSchema = z
  .strictObject({
    criteria: criteriaOf(criterionSchema).min(1, 'must hold at least one criterion'),
  })
  .meta({ id: 'Rubric' });

/** Of the existing client: accepted, kept with the job, and named in a warning. */
export const unusedSchema = z.unknown().optional().describe('Of the existing client; not used.');

const expectingSchema = criterionSchema.extend({ expected_answer: z.string().max(limits.rubricChars).optional() });
/** The existing client's form of a rubric. */
export const outcomeRubricSchema = z.strictObject({
  outcome: z.strictObject({ criteria: criteriaOf(expectingSchema) }).nullable(),
  events: unusedSchema,
});

export const rubricSchema = z
  .union(
    [z.string().regex(/\S/, 'must not be blank').max(limits.rubricChars), rubricObjectSchema],
    unionError('a text or {"criteria": [{"name", "weight", "description"}]}'),
  )
  .describe(
    'The criteria of the judge. A text is a list of criteria if all its lines are "- name (weight): description", else one criterion.',
  );
export type Rubric = z.infer<typeof rubricSchema>;

const scoringModes = ['exact', 'contains', 'numeric', 'json', 'rubric', 'gold_examples'] as const;
export type ScoringMode = (typeof scoringModes)[number];
/** With the existing client's name of gold_examples. */
export const modes = [...scoringModes, 'contrastive'] as const;

/** Maximum fields that mode json can be configured to compare. */
export const maxFields = 200;

const fieldName = z.string().min(1, 'must not be empty').max(200);

export const verifierSchema = z.strictObject({
  mode: z
    .enum(modes, unlessMissing(`must be one of ${scoringModes.join(', ')}`))
    .describe(
      'exact: equal to the gold output; contains: contains the gold text; numeric: the last number equals the gold number; json: share of equal fields; rubric and gold_examples (or contrastive): scored by a judge model.',
    ),
  model: policySchema.shape.model.optional().describe('The judge model; required for rubric and gold_examples.'),
  scoring_guidelines: z
    .string()
    .max(limits.rubricChars)
    .optional()
    .describe('rubric: the rubric of a data set without any rubric.'),
  provider: policySchema.shape.provider.optional().describe('Provider of the judge. Default: policy_provider.'),
  tolerance: z.number().min(0).optional().describe('numeric: accepted deviation. Default 0.000001.'),
  relative: z
    .boolean()
    .optional()
    .describe('numeric: whether tolerance is a share of the gold number (absolute for 0). Default true.'),
  case_sensitive: z.boolean().optional().describe('exact, contains, json: whether case counts. Default false.'),
  fields: z
    .union(
      [
        z.array(fieldName).min(1, 'must name at least one field').max(maxFields),
        z.record(fieldName, z.number().gt(0).max(1_000_000)),
      ],
      unionError('a list of field names, or an object of weights by field name'),
    )
    .optional()
    .describe('json: the compared fields, or their weights. Default: all fields of the gold output.'),
});
export type VerifierConfig = z.infer<typeof verifierSchema>;

/** A verifier that compares with a gold output without a model. */
export type ScoredVerifier =
  | { mode: 'exact' | 'contains'; caseSensitive: boolean }
  | { mode: 'numeric'; tolerance: number; relative: boolean }
  | { mode: 'json'; caseSensitive: boolean; fields: Record<string, number> | null };
/** A verifier that uses a judge model. */
export type JudgedVerifier = { mode: 'rubric' | 'gold_examples'; judge: PolicySpec };
/** The scoring configuration stored with a job. */
export type VerifierSpec = ScoredVerifier | JudgedVerifier;

/** `datasetProblems` ensures that a judged verifier has a model. */
export function verifierSpec(
  { mode, ...config }: Omit<VerifierConfig, 'mode'> & { mode: ScoringMode },
  defaultProvider: string,
): VerifierSpec {
  const caseSensitive = config.case_sensitive ?? false;
  switch (mode) {
    case 'exact':
    case 'contains':
      return { mode, caseSensitive };
    case 'numeric':
      return { mode: 'numeric', tolerance: config.tolerance ?? 1e-6, relative: config.relative ?? true };
    case 'json':
      return { mode: 'json', caseSensitive, fields: fieldWeights(config.fields) };
    case 'rubric':
    case 'gold_examples': {
      const judge = { model: config.model!, provider: config.provider ?? defaultProvider, params: {} };
      return { mode, judge };
    }
  }
}

/** The weights of the fields that mode json compares; null: all fields. */
export function fieldWeights(fields: VerifierConfig['fields']): Record<string, number> | null {
  if (fields === undefined) return null;
  return Array.isArray(fields) ? Object.fromEntries(fields.map((name) => [name, 1])) : fields;
}
