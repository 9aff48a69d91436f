/** The weighted mean of several scorers. */
import { z } from 'zod';
import { maxFeedback, show } from '../core/verify/text.js';
import { weightedMean, type CriterionScore, type Verification } from '../core/verify/verification.js';
import { isObject } from '../util/json.js';
import { cutWithin } from '../util/text.js';
import type { ScorerForm } from './form.js';
import { partSchema, partSpec, type PartSpec } from './parts.js';

const maxParts = 50;

const part = z.strictObject({
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
});

const schema = z
  .strictObject({
    type: z.literal('weighted'),
    parts: z.array(part).min(1, 'must hold at least one part').max(maxParts, `must hold at most ${maxParts} parts`),
  })
  .meta({ id: 'WeightedScorer' });

const form: ScorerForm<'parts'> = {
  label: 'Weighted',
  fields: [
    {
      kind: 'value',
      name: 'parts',
      label: 'Parts',
      isRequired: true,
      hint: '[{"weight": 3, "scorer": "exact"}, {"weight": 1, "scorer": {"type": "regex", "pattern": "^[A-Z]"}}]',
    },
  ],
};

/** Its parts do the scoring: it is none of the table. */
export const weighted = {
  schema,
  form,
  reward: `weighted mean of up to ${maxParts} other scorers; the feedback begins with the worst one`,
  expected: 'as its parts',
  partFields: Object.keys(part.shape),
};

export interface WeightedSpec {
  type: z.output<typeof schema>['type'];
  parts: WeightedPart[];
}

export interface WeightedPart {
  weight: number;
  scorer: PartSpec;
  /** The field of the expected value that the part compares with. */
  field?: string;
  negate?: true;
}

export function weightedSpec({ type, parts }: z.output<typeof schema>, defaultProvider: string): WeightedSpec {
  return {
    type,
    parts: parts.map(({ weight, scorer, field, negate }) => ({
      weight,
      scorer: partSpec(scorer, defaultProvider),
      ...(field !== undefined && { field }),
      ...(negate && { negate: true as const }),
    })),
  };
}

export const isWeighted = (spec: PartSpec | WeightedSpec): spec is WeightedSpec => 'parts' in spec;

/** The scorers of a spec with their paths in it; one that is not weighted is its only part. */
export function partsOf(spec: PartSpec | WeightedSpec): { scorer: PartSpec; path: readonly (string | number)[] }[] {
  if (!isWeighted(spec)) return [{ scorer: spec, path: [] }];
  return spec.parts.map(({ scorer }, at) => ({ scorer, path: ['parts', at, 'scorer'] }));
}

/** A part of a scorer with what it compares with. */
export type AppliedPart = WeightedPart & { expected: unknown };

/** The parts that score a row: all but those whose field its expected value lacks. */
export function partsFor(spec: PartSpec | WeightedSpec, expected: unknown): AppliedPart[] {
  if (!isWeighted(spec)) return [{ weight: 1, scorer: spec, expected }];
  return spec.parts.flatMap((one) => {
    if (one.field === undefined) return [{ ...one, expected }];
    if (!isObject(expected) || !Object.hasOwn(expected, one.field)) return [];
    return [{ ...one, expected: expected[one.field] }];
  });
}

/** A part's verification; `name`: its type, and its number from the second of that type. */
export interface ScoredPart {
  name: string;
  weight: number;
  verification: Verification;
}

/** Distinct names of parts: `exact`, `rubric`, `rubric_2`. */
export function partNames(types: readonly string[]): string[] {
  return types.map((type, at) => {
    const earlier = types.slice(0, at).filter((other) => other === type).length;
    return earlier === 0 ? type : `${type}_${earlier + 1}`;
  });
}

/** The contrary of a verification: what it calls right is wrong. */
export function negated({ reward, feedback }: Verification): Verification {
  const said = feedback.replace(/^(?:Right: |Wrong\.\s*)/, '');
  const judged = reward < 0.5 ? 'Right: what is not wanted is not so.' : 'Wrong. The contrary of this is wanted:';
  return { reward: 1 - reward, feedback: cutWithin(`${judged}\n${said}`, maxFeedback) };
}

/** The weighted mean of at least one part, with the feedback of the worst first. */
export function combine(parts: readonly ScoredPart[]): Verification {
  const criteria = parts.map(({ name, weight, verification }): CriterionScore => {
    return { name, weight, score: verification.reward, reason: verification.feedback };
  });
  const share = Math.floor(maxFeedback / parts.length) - 1;
  const worstFirst = [...criteria].sort((left, right) => left.score - right.score);
  const feedback = worstFirst
    .map(({ name, score, weight, reason }) =>
      cutWithin(`## ${name}: ${Math.round(score * 1_000) / 1_000} of 1 (weight ${weight})\n${reason}`, share),
    )
    .join('\n');
  const details = parts.flatMap(({ name, verification }) =>
    verification.details ? [[name, verification.details] as const] : [],
  );
  return {
    reward: weightedMean(criteria),
    feedback: show(feedback, maxFeedback),
    criteria,
    ...(details.length > 0 && { details: Object.fromEntries(details) }),
  };
}
