import type { CallCost } from '../client/cost.js';
import type { ChatResult } from '../client/chat.js';
import { providerRefusedAccount, providerRefusedKey } from '../client/refusals.js';
import { isSpendRefusal, ProviderError } from '../client/answers/provider-answer.js';
import { isPushback } from '../../clients/net/retry-advice.js';
import { answerCode } from '../../contracts/errors/index.js';
import type { RunFault } from '../../core/graphs/run/drive.js';
import { ApiError } from '../../platform/http/server/errors.js';
import { inVain, modelNotFound, noAnswer, refusedAccount, refusedKey } from './upstream-error.js';

/** A graph run without an answer; `spent`: its cost. */
export class GraphFailure extends ApiError {
  readonly spent: CallCost;

  constructor({ status, code, message, headers }: ApiError, spent: CallCost) {
    super(status, code, message, { headers });
    this.spent = spent;
  }
}

/** The error for a step that the infrastructure failed, with `retry-after` if known. */
export function stepNotAnswered(
  step: string,
  provider: string,
  { code, message, refused, retryAfterS, isLasting }: Extract<ChatResult, { ok: false }>,
): ApiError {
  if (code === providerRefusedKey) return refusedKey(provider);
  if (isSpendRefusal(code))
    return noAnswer(new ProviderError(code, message, undefined, { retryAfterS: retryAfterS ?? null }));
  const stepMessage = `Step ${step}: ${message}`;
  if (code === providerRefusedAccount) return refusedAccount(stepMessage);
  if (refused && !refused.mayPass) {
    const known = refused.scope === 'model' ? modelNotFound : answerCode(code);
    return new ApiError(502, known, stepMessage, { headers: inVain });
  }
  if (refused && isPushback(refused.status)) {
    const status = refused.status === 503 ? 503 : 429;
    return new ApiError(status, answerCode(code), stepMessage, {
      headers: { 'retry-after': refused.retryAfter ?? '1' },
    });
  }
  // No retry: the provider would refuse again after all earlier steps are paid again.
  const headers: Record<string, string> = isLasting ? inVain : {};
  return new ApiError(code === 'upstream_timeout' ? 504 : 502, answerCode(code), stepMessage, { headers });
}

/** The error for a graph that gives no output. */
export function runFailed(step: string | null, reason: string, fault: RunFault | null): ApiError {
  const code = fault === null ? 'graph_failed' : answerCode(fault.code);
  const message = step === null ? `The graph gave no output: ${reason}` : `Step ${step}: ${reason}`;
  // OpenAI's clients retry a 502 and would pay for all steps again.
  return new ApiError(502, code, message, { headers: inVain });
}
