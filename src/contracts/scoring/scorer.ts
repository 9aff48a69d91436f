import { z } from 'zod';
import { verifierSpec, verifierSchema, type ScoredVerifier } from './verifier.js';
import type { PolicySpec } from '../../core/jobs/spec.js';
const types = ['exact', 'contains', 'numeric', 'json'] as const;
const one = verifierSchema.omit({ mode: true, model: true, provider: true }).extend({ type: z.enum(types) });
export const scorerSchema = z.union([z.enum(types).transform((type) => ({ type })), one]);
export type ScorerRequest = z.infer<typeof scorerSchema>;
export type ScorerSpec = ScoredVerifier;
export function scorerSpec(request: ScorerRequest, defaultProvider: string): ScorerSpec {
  const { type, ...options } = request;
  return verifierSpec({ mode: type, ...options }, defaultProvider) as ScoredVerifier;
}
export function needsExpected(_: ScorerSpec): boolean {
  return true;
}
export function judgesOf(_: ScorerSpec): PolicySpec[] {
  return [];
}
