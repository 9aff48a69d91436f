/** Scorers of a model's outputs for rows: requests, the stored form, and what follows from it. */
import { z } from 'zod';
import type { PolicySpec } from '../core/jobs/policy.js';
import type { Verification } from '../core/verify/verification.js';
import { compareWith, useOf, valueProblem } from './compare.js';
import { exact } from './exact.js';
import { judgeOf, partSchemas, partSpec, partTypes, scorerOf, withProvider, type PartSpec } from './parts.js';
import { shortOrFull, unknownType } from './request.js';
import { typeOf, type ScoringCall, type ServiceChecks } from './scorer.js';
import { isWeighted, partsFor, partsOf, weighted, weightedSpec, type WeightedSpec } from './weighted.js';

const types = [...partTypes, typeOf(weighted)];

export const scorerSchema = shortOrFull(
  z.discriminatedUnion('type', [...partSchemas, weighted.schema], unknownType(types)),
  'Scorer',
  weighted.partFields,
);
export type ScorerRequest = z.output<typeof scorerSchema>;

/** The scoring configuration stored with a job. */
export type ScorerSpec = PartSpec | WeightedSpec;

export function scorerSpec(request: ScorerRequest, defaultProvider: string): ScorerSpec {
  return 'parts' in request ? weightedSpec(request, defaultProvider) : partSpec(request, defaultProvider);
}

/** A request whose judge models name their provider. */
export function withProviders(request: ScorerRequest, defaultProvider: string): ScorerRequest {
  if (!('parts' in request)) return withProvider(request, defaultProvider);
  return {
    ...request,
    parts: request.parts.map((part) => ({ ...part, scorer: withProvider(part.scorer, defaultProvider) })),
  };
}

/** Whether each scored row must have an expected value. */
export function needsExpected(spec: ScorerSpec): boolean {
  if (comparesFields(spec)) return true;
  return partsOf(spec).some(({ scorer: part }) => {
    const scorer = scorerOf(part);
    return 'score' in scorer && useOf(scorer, part) === 'required';
  });
}

/** Whether parts compare with fields of the expected value, which then is no answer itself. */
export function comparesFields(spec: ScorerSpec): boolean {
  return isWeighted(spec) && spec.parts.some(({ field }) => field !== undefined);
}

/** The judge models in the order of their calls. */
export function judgesOf(spec: ScorerSpec): PolicySpec[] {
  return partsOf(spec).flatMap(({ scorer }) => judgeOf(scorer) ?? []);
}

/**
 * Why a scorer cannot score by an expected value (undefined or null: none), as a predicate, or
 * null.
 */
export function expectedProblem(spec: ScorerSpec, expected: unknown): string | null {
  const parts = partsFor(spec, expected);
  if (parts.length === 0) return 'has none of the fields that the parts of the scorer compare with';
  for (const { scorer: part, field, expected: wanted } of parts) {
    const scorer = scorerOf(part);
    const problem = 'score' in scorer ? valueProblem(scorer, part, wanted) : null;
    if (problem !== null) return field === undefined ? problem : `has a field "${field}", which ${problem}`;
  }
  return null;
}

/** What the schema cannot check of a request. */
export function serviceProblems(spec: ScorerSpec, checks: ServiceChecks): { path: PropertyKey[]; message: string }[] {
  return partsOf(spec).flatMap(({ scorer: part, path }) => {
    const scorer = scorerOf(part);
    if ('score' in scorer) return [];
    const { field, message } = scorer.check(part, checks);
    return message === null ? [] : [{ path: [...path, field], message }];
  });
}

/** A comparison's result, or the call that gives one. */
export type Scoring = { verification: Verification } | { call: ScoringCall };

/** Throws a RangeError if `expectedProblem` reports a problem. */
export function scorePart(part: PartSpec, expected: unknown, output: string): Scoring {
  const scorer = scorerOf(part);
  return 'score' in scorer
    ? { verification: compareWith(scorer, part, expected, output) }
    : { call: scorer.call(part) };
}

/** A judge's score and a label of the same output, each 0 to 1; at least 0.5 means good. */
export interface LabelledScore {
  judge: number;
  label: number;
}

/**
 * The score of a scorer's first judge beside the label: whether the output equals the expected
 * value. Null: no judge, or no expected value.
 */
export function labelledScore(
  spec: ScorerSpec,
  expected: unknown,
  output: string,
  { reward, criteria }: Pick<Verification, 'reward' | 'criteria'>,
): LabelledScore | null {
  const judge = expected == null ? null : judgeScore(spec, { reward, ...(criteria && { criteria }) });
  if (judge === null) return null;
  return { judge, label: compareWith(exact, { caseSensitive: false }, expected, output).reward };
}

/** The score of a scorer's first judge; null: no judge. */
export function judgeScore(
  spec: ScorerSpec,
  { reward, criteria }: Pick<Verification, 'reward' | 'criteria'>,
): number | null {
  const first = partsOf(spec).find(({ scorer }) => judgeOf(scorer) !== null)?.scorer;
  if (!first) return null;
  // The first part of a type has the name of its type.
  return (isWeighted(spec) ? criteria?.find(({ name }) => name === first.type)?.score : reward) ?? null;
}
