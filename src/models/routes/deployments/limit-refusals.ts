/** What callers are told of a deployment's limits. */
import type { FastifyReply } from 'fastify';
import { ApiError } from '../../../platform/http/server/errors.js';
import { fieldsOf } from '../../../platform/http/server/limits.js';
import type { LimitState, Taken } from '../../../platform/http/server/shared-limits.js';
import { unknownPrice } from '../../client/call-bound.js';
import { inVain } from '../upstream-error.js';
import type { DeploymentLimitKind, LimitedRequest, Rule, UsedUp } from './limit-rules.js';
import type { Uses } from '../../../kinds/deployment/store/uses.js';

/** Refuses a request whose spend is limited and would not be known. */
export function requirePrices(rules: readonly Rule[], { deployment, models }: LimitedRequest): void {
  if (rules.every(({ limits }) => limits.spend_usd_per_day === null)) return;
  const reason = models.map(unknownPrice).find((each) => each !== null);
  if (!reason) return;
  const message = `Deployment "${deployment.name}" has a limit of spend, and ${reason}; remove spend_usd_per_day, or deploy another model.`;
  throw new ApiError(400, 'cost_not_bounded', message);
}

export function usedUpRefused(request: LimitedRequest, { of, quota, limit, used, secondsLeft }: UsedUp): ApiError {
  const seconds = Math.max(1, Math.ceil(secondsLeft));
  if (quota === 'tokens_per_minute') {
    const message = `${allows(request, of, `${limit} tokens a minute`)} used ${used}; retry in ${seconds} s.`;
    return refused('rate_limit_exceeded', message, seconds);
  }
  const message = `${allows(request, of, `$${limit} a day (UTC)`)} spent $${used.toFixed(4)}; raise spend_usd_per_day, or wait for the next day.`;
  return refused('spend_quota_exceeded', message, seconds, inVain);
}

export function requestsRefused(request: LimitedRequest, { of, limit, secondsLeft }: LimitState): ApiError {
  const message = `${allows(request, of, `${limit} requests a minute`)} had them; retry in ${secondsLeft} s.`;
  return refused('rate_limit_exceeded', message, secondsLeft);
}

export function callsRefused(request: LimitedRequest, { of, limit }: LimitState): ApiError {
  const message = `${allows(request, of, `${limit} requests at a time`)} that many in flight; retry when one has ended.`;
  return refused('rate_limit_exceeded', message, 1);
}

/** What a limit allows to whom, and who it is that `has` … */
function allows({ tag, deployment }: LimitedRequest, of: LimitState['of'], what: string): string {
  const [whom, who] = parties(of as DeploymentLimitKind, tag);
  return `Deployment "${deployment.name}" allows ${what} to ${whom}, and ${who}`;
}

function parties(of: DeploymentLimitKind, tag: string): [whom: string, who: string] {
  if (of === 'deployment') return ['all callers together', 'they have'];
  if (of === 'deployment-key') return ['each key', 'this one has'];
  return ['each tag', tag === '' ? 'requests without x-ratchet-tag have' : `"${tag}" has`];
}

function refused(
  code: 'rate_limit_exceeded' | 'spend_quota_exceeded',
  message: string,
  retryAfterS: number,
  headers: Record<string, string> = {},
): ApiError {
  return new ApiError(429, code, message, { headers: { ...headers, 'retry-after': String(retryAfterS) } });
}

/** Adds what is left to the fields of an answer, behind the limits of the key. */
export function showLeft(
  reply: FastifyReply,
  { requests, calls, uses }: { requests: Taken; calls: Taken; uses: readonly (readonly [Rule, Uses])[] },
): void {
  const { 'ratelimit-policy': policy, ratelimit } = fieldsOf(requests.states, calls.states);
  const tokens = uses.flatMap(
    ([
      {
        of,
        limits: { tokens_per_minute: limit },
      },
      { tokens, minuteSecondsLeft },
    ]) =>
      limit === null
        ? []
        : [{ of, limit, left: Math.max(0, limit - tokens), seconds: Math.max(1, Math.ceil(minuteSecondsLeft)) }],
  );
  const policies = tokens.map(({ of, limit }) => `"${of}-tokens";q=${limit};w=60;qu="tokens"`);
  const states = tokens.map(({ of, left, seconds }) => `"${of}-tokens";r=${left};t=${seconds}`);
  append(reply, 'ratelimit-policy', [policy!, ...policies]);
  append(reply, 'ratelimit', [ratelimit!, ...states]);
}

function append(reply: FastifyReply, name: string, items: string[]): void {
  const all = [reply.getHeader(name), ...items].filter(Boolean);
  if (all.length > 0) void reply.header(name, all.join(', '));
}
