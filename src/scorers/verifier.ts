/** `verifier_config` of a graph job: the request and the stored form. */
import { z } from 'zod';
import { policySchema } from '../contracts/common.js';
import { maxRubric } from '../contracts/rubric.js';
import { unlessMissing } from '../contracts/validation.js';
import type { PolicySpec } from '../core/jobs/policy.js';
import type { Verification } from '../core/verify/verification.js';
import { caseField } from './case.js';
import { scoreOne } from './compare.js';
import { json } from './json.js';
import { numeric } from './numeric.js';
import { typeOf, type ComparingScorer, type JudgedVerifier, type SpecOf } from './scorer.js';
import { verifiers } from './table.js';

export type VerifierMode = keyof typeof verifiers;
type Verifier = (typeof verifiers)[VerifierMode];

const modes = Object.keys(verifiers) as VerifierMode[];

/** The scorer or judge of a mode; null: there is no such mode. */
export function verifierOf(mode: unknown): ComparingScorer | JudgedVerifier | null {
  return typeof mode === 'string' && Object.hasOwn(verifiers, mode) ? verifiers[mode as VerifierMode] : null;
}

const nameOf = (verifier: ComparingScorer | JudgedVerifier): string =>
  'score' in verifier ? typeOf(verifier) : verifier.type;

const named = modes.filter((mode) => nameOf(verifiers[mode]) === mode);

const judgeFields = {
  model: policySchema.shape.model.optional().describe('The judge model; required for rubric and gold_examples.'),
  provider: policySchema.shape.provider.optional().describe('Provider of the judge. Default: policy_provider.'),
};

export const verifierSchema = z.strictObject({
  mode: z
    .enum(modes, unlessMissing(`must be one of ${named.join(', ')}`))
    .describe(
      'exact: equal to the gold output; contains: contains the gold text; numeric: the last number equals the gold number; json: share of equal fields; rubric and gold_examples (or contrastive): scored by a judge model.',
    ),
  model: judgeFields.model,
  scoring_guidelines: z
    .string()
    .max(maxRubric)
    .optional()
    .describe('rubric: the rubric of a data set without any rubric.'),
  provider: judgeFields.provider,
  tolerance: numeric.schema.shape.tolerance,
  relative: numeric.schema.shape.relative,
  case_sensitive: caseField,
  fields: json.schema.shape.fields,
});
export type VerifierConfig = z.infer<typeof verifierSchema>;

/** The options that a mode does not use. */
export function unusedOptions({ mode, scoring_guidelines: _, ...options }: VerifierConfig): string[] {
  const verifier = verifiers[mode];
  const used = 'score' in verifier ? verifier.schema.shape : judgeFields;
  return Object.entries(options).flatMap(([name, value]) => (value === undefined || name in used ? [] : [name]));
}

/** A graph's output is compared with the gold output of its task, without a model. */
export type ComparedSpec = SpecOf<Extract<Verifier, ComparingScorer>>;
/** A graph's output is scored by a judge model. */
export type JudgedSpec = { type: Extract<Verifier, JudgedVerifier>['type']; judge: PolicySpec };
/** The scoring configuration stored with a graph job. */
export type VerifierSpec = ComparedSpec | JudgedSpec;

/** Whether a mode judges by rubrics; false for what is no mode. */
export function readsRubric(mode: unknown): boolean {
  const verifier = verifierOf(mode);
  return verifier !== null && 'criteria' in verifier && verifier.readsRubric;
}

/** Whether a judge by rubrics has none, and compares with the gold outputs. */
export function lacksRubric({ mode, scoring_guidelines: guidelines }: VerifierConfig, hasRubric: boolean): boolean {
  return readsRubric(mode) && guidelines === undefined && !hasRubric;
}

/** `datasetProblems` ensures that a judge has a model. `hasRubric`: some task has one. */
export function verifierSpec(config: VerifierConfig, hasRubric: boolean, defaultProvider: string): VerifierSpec {
  const { mode, model, provider = defaultProvider } = config;
  const verifier = verifiers[mode];
  if ('score' in verifier) {
    const scorer: ComparingScorer = verifier;
    const request = { ...config, type: typeOf(scorer) };
    // The settings are those of the scorer that the type names.
    return { type: request.type, ...scorer.settings(request, defaultProvider) } as ComparedSpec;
  }
  const { type } = lacksRubric(config, hasRubric) ? verifiers.gold_examples : verifier;
  return { type, judge: { model: model!, provider, params: {} } };
}

export const isJudged = (spec: VerifierSpec): spec is JudgedSpec => 'judge' in spec;

export const judgeOf = ({ type }: JudgedSpec): JudgedVerifier => verifiers[type];

/** Why a gold output cannot be compared with, as a predicate for the field's name, or null. */
export function goldProblem(spec: ComparedSpec, gold: unknown): string | null {
  const scorer: ComparingScorer = verifiers[spec.type];
  return scorer.problem(spec, gold);
}

/** Scores the output of a graph. Throws a RangeError if `goldProblem` reports a problem. */
export function verifyOutput(spec: ComparedSpec, gold: unknown, output: unknown): Verification {
  return scoreOne(verifiers[spec.type], spec, gold, output);
}
