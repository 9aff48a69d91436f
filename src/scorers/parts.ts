/** Looks up scorers in the table. */
import { z } from 'zod';
import type { PolicySpec } from '../core/jobs/policy.js';
import { shortOrFull, unknownType } from './request.js';
import { typeOf, type Scorer, type SpecOf } from './scorer.js';
import { scorers } from './table.js';

/** The request schemas, for a union. */
const [first, ...others] = scorers;
export const partSchemas = [first.schema, ...others.map(({ schema }) => schema)] as const;
export const partTypes = scorers.map(typeOf);

export const partSchema = shortOrFull(z.discriminatedUnion('type', partSchemas, unknownType(partTypes)), 'PartScorer');
type PartRequest = z.output<typeof partSchema>;

/** A stored scorer that is not weighted. */
export type PartSpec = SpecOf<(typeof scorers)[number]>;

const byType: ReadonlyMap<string, Scorer> = new Map(
  scorers.map((scorer): [string, Scorer] => [typeOf(scorer), scorer]),
);

export const scorerOf = ({ type }: { type: PartSpec['type'] }): Scorer => byType.get(type)!;

export function partSpec(request: PartRequest, defaultProvider: string): PartSpec {
  const settings = scorerOf(request).settings(request, defaultProvider);
  // The settings are those of the scorer that the type names.
  return { type: request.type, ...settings } as PartSpec;
}

/** A request whose judge model, if it has one, names its provider. */
export function withProvider(request: PartRequest, defaultProvider: string): PartRequest {
  const judge = judgeOf(partSpec(request, defaultProvider));
  // Only a schema with a judge model has the field.
  return judge ? ({ ...request, provider: judge.provider } as PartRequest) : request;
}

/** The judge model of a scorer; null: it has none. */
export function judgeOf(spec: PartSpec): PolicySpec | null {
  const scorer = scorerOf(spec);
  const call = 'call' in scorer ? scorer.call(spec) : null;
  return call?.runner === 'judge' ? call.judge : null;
}
