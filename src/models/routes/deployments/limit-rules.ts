/** Which limits hold for a request to a deployment, and whose uses count for each. */
import type { PolicySpec } from '../../../core/jobs/policy.js';
import type { LimitSet } from '../../../kinds/deployment/contract/limits.js';
import type { ServedDeployment } from '../../../kinds/deployment/store/resolve.js';
import type { Uses } from '../../../kinds/deployment/store/uses.js';
import type { Limited } from '../../../platform/http/server/shared-limits.js';

/** A request to a deployment, and whose it is. */
export interface LimitedRequest {
  orgId: string;
  keyId: string | null;
  /** Empty: none. */
  tag: string;
  /** By which it names its deployment. */
  ref: string;
  deployment: Pick<ServedDeployment, 'name' | 'settings'>;
  /** Those that may answer. */
  models: readonly Pick<PolicySpec, 'provider' | 'model'>[];
}

export type DeploymentLimitKind = 'deployment' | 'deployment-key' | 'deployment-tag';

/** A set of limits, and whose uses it bounds. */
export interface Rule extends Limited {
  of: DeploymentLimitKind;
  limits: LimitSet;
}

/** Neither names nor tags have spaces; the count is of the name, whichever deployment serves it. */
export function rulesOf({
  keyId,
  tag,
  deployment: { name, settings },
}: Pick<LimitedRequest, 'keyId' | 'tag' | 'deployment'>): Rule[] {
  const { total, per_key: perKey, per_tag: perTag } = settings.limits ?? {};
  return [
    ruleOf('deployment', `deployment ${name}`, total),
    ruleOf('deployment-key', `deployment-key ${name} ${keyId ?? ''}`, perKey),
    ruleOf('deployment-tag', `deployment-tag ${name} ${tag}`, perTag),
  ].flat();
}

function ruleOf(of: DeploymentLimitKind, subject: string, limits: LimitSet | null | undefined): Rule[] {
  if (!limits) return [];
  const { requests_per_minute: requestsPerMinute, calls_in_flight: callsInFlight } = limits;
  return [{ of, subject, requestsPerMinute, callsInFlight, limits }];
}

/** Whether tokens or dollars count for a rule. */
export const isCounted = ({ limits }: Rule) => limits.tokens_per_minute !== null || limits.spend_usd_per_day !== null;

/** A limit of tokens or dollars that is used up. */
export interface UsedUp {
  of: DeploymentLimitKind;
  quota: 'tokens_per_minute' | 'spend_usd_per_day';
  limit: number;
  used: number;
  secondsLeft: number;
}

/** The limit that a rule's uses have reached; null: none. */
export function usedUpOf({ of, limits }: Rule, uses: Uses): UsedUp | null {
  const { spend_usd_per_day: usd, tokens_per_minute: tokens } = limits;
  // The one that lasts longer comes first.
  if (usd !== null && uses.usd >= usd)
    return { of, quota: 'spend_usd_per_day', limit: usd, used: uses.usd, secondsLeft: uses.daySecondsLeft };
  if (tokens !== null && uses.tokens >= tokens)
    return { of, quota: 'tokens_per_minute', limit: tokens, used: uses.tokens, secondsLeft: uses.minuteSecondsLeft };
  return null;
}
