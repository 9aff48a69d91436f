/** The settings of a create or a change. */
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { checkedForCaller } from '../../../access/routes/provider-keys.js';
import { scorerChecks, scorerErrors } from '../../../datasets/routes/scorer-errors.js';
import { providerErrors } from '../../../jobs/routes/specs.js';
import { unknownPrice } from '../../../models/client/call-bound.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { refuse, type FieldError } from '../../../platform/http/server/errors.js';
import { expectedProblem, judgesOf, needsExpected, scorerSpec, withProviders } from '../../../scorers/index.js';
import type { changeFields } from '../contract/settings.js';
import type { ChangedJudge, SettingChanges } from '../store/settings.js';

type SettingsRequest = { [Name in keyof typeof changeFields]?: z.output<(typeof changeFields)[Name]> };

/**
 * Throws if a provider of a fallback is not usable, or a judge cannot score. `models`: those of the
 * deployment; the first one has the provider of a judge model without one.
 */
export async function settingsOf(
  deps: HttpDeps,
  request: FastifyRequest,
  { log, fallbacks, limits, judge }: SettingsRequest,
  models: readonly { provider: string }[],
): Promise<SettingChanges> {
  const scorer = judge?.scorer && withProviders(judge.scorer, models[0]?.provider ?? '');
  const checked = fallbacks?.models || scorer ? await checkedForCaller(deps, request) : deps;
  const errors = (fallbacks?.models ?? []).flatMap((policy, at) =>
    providerErrors(policy, ['fallbacks', 'models', String(at)], checked),
  );
  if (scorer) errors.push(...judgeErrors(scorer, checked, request.caller.orgId));
  if (errors.length > 0) throw refuse.invalid(errors);
  return { log, fallbacks, limits, judge: judge && { ...judge, ...(scorer && { scorer }) } };
}

const judgePath = ['judge', 'scorer'];
const pointer = `/${judgePath.join('/')}`;

function judgeErrors(scorer: ReturnType<typeof withProviders>, deps: HttpDeps, orgId: string): FieldError[] {
  // Its judge models name their provider, so there is no other one.
  const spec = scorerSpec(scorer, '');
  if (needsExpected(spec) || expectedProblem(spec, undefined) !== null) {
    const message =
      'compares with an expected value, which an answer to a caller does not have: use rubric, regex with a pattern, json with a schema, javascript or http';
    return [{ pointer, message }];
  }
  if (judgesOf(spec).some(({ provider }) => provider === ''))
    return [{ pointer, message: 'must name the provider of its model: that of the deployment is not known yet' }];
  return scorerErrors(spec, '', judgePath, scorerChecks(deps, orgId));
}

/** Throws if a judge has no scorer, or dollars limit calls of unknown prices. */
export function requireJudge(judge: ChangedJudge): void {
  if (!judge) return;
  const { scorer, max_cost_usd_per_day: limit } = judge;
  if (!scorer)
    throw refuse.invalid([{ pointer, message: 'is required: the name has no judge yet, so say how it scores' }]);
  const reason = judgesOf(scorerSpec(scorer, ''))
    .map(unknownPrice)
    .find((unknown) => unknown !== null);
  if (reason == null || limit === null) return;
  const message = `needs known prices: ${reason}. null judges without a limit of dollars`;
  throw refuse.invalid([{ pointer: '/judge/max_cost_usd_per_day', message }]);
}
