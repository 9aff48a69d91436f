/** Scorers of a model's outputs for rows: requests and the stored form. */
import { z } from 'zod';
import { closestName, unknownField } from '../close-names.js';
import { policySchema } from '../common.js';
import { fieldWeights, rubricSchema, verifierSchema, type Rubric, type ScoredVerifier } from '../scoring/verifier.js';
import { withoutNulls } from '../nulls.js';
import { describedAs, missing, unlessMissing, wholeNumber } from '../validation.js';
import { costProblem } from './scorer-cost.js';
import type { PolicySpec } from '../../core/jobs/spec.js';
import { asObject } from '../../util/json.js';
import { schemaProblem } from '../../util/json-schema.js';
import { urlForm } from '../rules.js';
import { compilePattern } from '../../util/linear-regex.js';

const similarityMetrics = ['token_f1', 'rouge_l', 'bleu'] as const;
type SimilarityMetric = (typeof similarityMetrics)[number];

const limits = { codeChars: 50_000, parts: 50 } as const;
const { case_sensitive, tolerance, relative, fields } = verifierSchema.shape;

/** The scorers that can be parts of a weighted one. */
const partForms = [
  z.strictObject({ type: z.literal('exact'), case_sensitive }).meta({ id: 'ExactScorer' }),
  z.strictObject({ type: z.literal('contains'), case_sensitive }).meta({ id: 'ContainsScorer' }),
  z
    .strictObject({
      type: z.literal('regex'),
      pattern: z
        .string()
        .min(1, 'must not be empty')
        .optional()
        .describe('RE2 syntax. Default: the expected value of the row.'),
      flags: z
        .string()
        .regex(/^(?!.*(.).*\1)[ims]*$/, 'must be letters of i (ignore case), m (lines) and s (dot matches all)')
        .optional(),
    })
    .superRefine(({ pattern, flags }, ctx) => {
      const compiled = pattern === undefined ? null : compilePattern(pattern, flags);
      if (compiled && 'problem' in compiled)
        ctx.addIssue({ code: 'custom', path: ['pattern'], message: compiled.problem });
    })
    .meta({ id: 'RegexScorer' }),
  z.strictObject({ type: z.literal('numeric'), tolerance, relative }).meta({ id: 'NumericScorer' }),
  z
    .strictObject({
      type: z.literal('json'),
      case_sensitive,
      fields,
      schema: z
        .record(z.string(), z.unknown())
        .superRefine((schema, ctx) => {
          const problem = schemaProblem(schema);
          if (problem !== null) ctx.addIssue(problem);
        })
        .optional()
        .describe('A JSON schema (2020-12) of the output; patterns in RE2 syntax, references within the schema.'),
    })
    .meta({ id: 'JsonScorer' }),
  z
    .strictObject({
      type: z.literal('similarity'),
      metric: z.enum(similarityMetrics).optional().describe('Default token_f1.'),
    })
    .meta({ id: 'SimilarityScorer' }),
  z
    .strictObject({
      type: z.literal('rubric'),
      criteria: rubricSchema,
      model: policySchema.shape.model.describe('The judge model.'),
      provider: policySchema.shape.provider.optional().describe("Provider of the judge. Default: the policy's."),
    })
    .meta({ id: 'RubricScorer' }),
  z
    .strictObject({
      type: z.literal('javascript'),
      code: z
        .string()
        .regex(/\S/, 'must not be blank')
        .max(limits.codeChars)
        .describe(
          'A function (output, row, expected) => reward or {reward, feedback}, alone or after "export default". Only where the operator names the organization in RATCHET_ALLOW_JAVASCRIPT_SCORERS.',
        ),
    })
    .meta({ id: 'JavascriptScorer' }),
  z
    .strictObject({
      type: z.literal('http'),
      url: z
        .string()
        .min(1)
        .max(2_048)
        .meta(urlForm)
        .describe('Gets POST {output, row, expected}; answers {reward, feedback?, details?}.'),
      timeout: wholeNumber(1, 600).optional().describe('Seconds per try. Default: `rollout_timeout`.'),
    })
    .meta({ id: 'HttpScorer' }),
] as const;

const forms = 'exact, contains, regex, numeric, json, similarity, rubric, javascript, http';
const partSchema = withShortForm(z.discriminatedUnion('type', partForms, unknownType(forms)), forms, 'PartScorer');

const weightedForm = z
  .strictObject({
    type: z.literal('weighted'),
    parts: z
      .array(
        z.strictObject({
          weight: z.number().gt(0).max(1_000_000).default(1).describe('Relative to the sum of all weights.'),
          scorer: partSchema,
          field: z
            .string()
            .min(1, 'must not be empty')
            .max(200)
            .optional()
            .describe(
              'The part compares with this field of the expected value, which is an object; a row without the field has no such part, and null is no expected value.',
            ),
          negate: z.boolean().default(false).describe('true: the part counts 1 minus the reward of its scorer.'),
        }),
      )
      .min(1, 'must hold at least one part')
      .max(limits.parts, `must hold at most ${limits.parts} parts`),
  })
  .meta({ id: 'WeightedScorer' });

const allForms = `${forms}, weighted`;
export const scorerSchema = withShortForm(
  z.discriminatedUnion('type', [...partForms, weightedForm], unknownType(allForms)),
  allForms,
  'Scorer',
);

export type ScorerRequest = z.output<typeof scorerSchema>;
type PartRequest = z.output<typeof partSchema>;

function unknownType(names: string) {
  return unlessMissing(`must be a scorer whose type is one of ${names}`);
}

/**
 * Also reads the text `"exact"` as `{"type": "exact"}`. Not a union: its errors would not say which
 * field is wrong.
 */
function withShortForm<Form extends z.ZodDiscriminatedUnion>(schema: Form, names: string, id: string) {
  const shapes = schema.options as unknown as { shape: Record<string, z.ZodType> & { type: z.ZodLiteral<string> } }[];
  const types = shapes.map(({ shape }) => shape.type.value);
  const short = types.filter((type) => schema.safeParse({ type }).success);
  const described = describedAs(z.union([z.enum(short), schema]));
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
      const type = asObject(given)?.['type'];
      const known = Object.keys(shapes.find(({ shape }) => shape.type.value === type)?.shape ?? {});
      for (const issue of read.error.issues) {
        const keys = issue.code === 'unrecognized_keys' ? issue.keys : null;
        for (const key of keys ?? []) {
          const names = issue.path.length === 0 ? known : ['weight', 'scorer', 'field', 'negate'];
          ctx.addIssue({ code: 'custom', path: [...issue.path, key], message: unknownField(key, names) });
        }
        if (keys) continue;
        // The text names a type that does not exist, or one that needs more fields.
        const isText = typeof given === 'string' && !names.split(', ').includes(given);
        const wrong =
          issue.code === 'invalid_union' && issue.path.join('.') === 'type' ? asObject(full)?.['type'] : null;
        const meant = typeof wrong === 'string' ? closestName(wrong, types) : null;
        const message = meant === null ? issue.message : `${issue.message}; did you mean \`${meant}\`?`;
        ctx.addIssue({ code: 'custom', path: isText ? [] : issue.path, message });
      }
      return z.NEVER;
    })
    .meta({ ...described, id, description: 'How outputs are scored; "exact" is short for {"type": "exact"}.' });
}

/** A scorer that compares texts and values. */
export type ComparingScorer =
  | Exclude<ScoredVerifier, { mode: 'json' }>
  | (Extract<ScoredVerifier, { mode: 'json' }> & { schema: Record<string, unknown> | null })
  /** `pattern` null: the expected value. */
  | { mode: 'regex'; pattern: string | null; flags: string }
  | { mode: 'similarity'; metric: SimilarityMetric };

/** A scorer that is not weighted. */
export type PartSpec =
  | ComparingScorer
  | { mode: 'rubric'; rubric: Rubric; judge: PolicySpec }
  | { mode: 'javascript'; code: string }
  /** `timeoutS` null: the rollout's. */
  | { mode: 'http'; url: string; timeoutS: number | null };

/** The scoring configuration stored with a job. */
export type ScorerSpec = PartSpec | { mode: 'weighted'; parts: WeightedPart[] };

export interface WeightedPart {
  weight: number;
  scorer: PartSpec;
  /** The field of the expected value that the part compares with. */
  field?: string;
  negate?: true;
}

export function scorerSpec(request: ScorerRequest, defaultProvider: string): ScorerSpec {
  if (request.type !== 'weighted') return partSpec(request, defaultProvider);
  const parts = request.parts.map(({ weight, scorer, field, negate }) => ({
    ...{ weight, scorer: partSpec(scorer, defaultProvider) },
    ...(field !== undefined && { field }),
    ...(negate && { negate: true as const }),
  }));
  return { mode: 'weighted', parts };
}

function partSpec(request: PartRequest, defaultProvider: string): PartSpec {
  switch (request.type) {
    case 'exact':
    case 'contains':
      return { mode: request.type, caseSensitive: request.case_sensitive ?? false };
    case 'regex':
      return { mode: 'regex', pattern: request.pattern ?? null, flags: request.flags ?? '' };
    case 'numeric':
      return { mode: 'numeric', tolerance: request.tolerance ?? 1e-6, relative: request.relative ?? true };
    case 'json': {
      const compared = { caseSensitive: request.case_sensitive ?? false, fields: fieldWeights(request.fields) };
      return { mode: 'json', ...compared, schema: request.schema ?? null };
    }
    case 'similarity':
      return { mode: 'similarity', metric: request.metric ?? 'token_f1' };
    case 'rubric': {
      const { criteria: rubric, model, provider = defaultProvider } = request;
      return { mode: 'rubric', rubric, judge: { model, provider, params: {} } };
    }
    case 'javascript':
      return { mode: 'javascript', code: request.code };
    case 'http':
      return { mode: 'http', url: request.url, timeoutS: request.timeout ?? null };
  }
}

/** The parts of a scorer; a scorer that is not weighted is its only part. */
function partsOf(spec: ScorerSpec): PartSpec[] {
  return spec.mode === 'weighted' ? spec.parts.map(({ scorer }) => scorer) : [spec];
}

/** Whether each scored row must have an expected value. */
export function needsExpected(spec: ScorerSpec): boolean {
  if (comparesFields(spec)) return true;
  return partsOf(spec).some((part) => {
    if (part.mode === 'regex') return part.pattern === null;
    if (part.mode === 'json') return part.schema === null;
    return part.mode === 'exact' || part.mode === 'contains' || part.mode === 'numeric' || part.mode === 'similarity';
  });
}

/** Whether parts compare with fields of the expected value, which then is no answer itself. */
export function comparesFields(spec: ScorerSpec): boolean {
  return spec.mode === 'weighted' && spec.parts.some(({ field }) => field !== undefined);
}

/** The judge models in the order of their calls. */
export function judgesOf(spec: ScorerSpec): PolicySpec[] {
  return partsOf(spec).flatMap((part) => (part.mode === 'rubric' ? [part.judge] : []));
}
