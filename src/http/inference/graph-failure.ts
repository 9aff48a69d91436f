import type { CallCost } from '../../clients/models/cost.js';
import { providerRefusedKey, type ChatResult } from '../../clients/models/complete-chat.js';
import { unusableAnswer, type RunFault } from '../../core/graphs/run/drive.js';
import { ApiError } from '../server/errors.js';
import { refusedKey } from './upstream-error.js';

/** A graph that was run gave no answer; `spent`: what it has cost until then. */
export class GraphFailure extends ApiError {
  readonly spent: CallCost;

  constructor({ status, code, message, headers }: ApiError, spent: CallCost) {
    super(status, code, message, { headers });
    this.spent = spent;
  }
}

/** What the caller is told where the infrastructure fails a step: whom to wait for, and how long, as far as that is known. */
export function stepNotAnswered(
  step: string,
  provider: string,
  { code, message, refused }: Extract<ChatResult, { ok: false }>,
): ApiError {
  if (code === providerRefusedKey) return refusedKey(provider);
  const said = `Step ${step}: ${message}`;
  if (refused?.status === 429 || refused?.status === 503) {
    return new ApiError(refused.status, code, said, { headers: { 'retry-after': refused.retryAfter ?? '1' } });
  }
  // What a provider refuses it refuses again, and all steps before would be bought again.
  const isLasting = code === 'provider_not_usable' || (refused !== undefined && refused.status < 500);
  const headers: Record<string, string> = isLasting ? { 'x-should-retry': 'false' } : {};
  return new ApiError(code === 'upstream_timeout' ? 504 : 502, code, said, { headers });
}

/** What the caller is told where the graph itself comes to no output. */
export function runFailed(step: string | null, reason: string, fault: RunFault | null): ApiError {
  const code = fault?.code === unusableAnswer ? unusableAnswer : 'graph_failed';
  const said = step === null ? `The graph gave no output: ${reason}` : `Step ${step}: ${reason}`;
  // OpenAI's clients try a 502 again by themselves, and would buy all steps again.
  return new ApiError(502, code, said, { headers: { 'x-should-retry': 'false' } });
}
