import { providerRefusedKey } from './complete-chat.js';
import { errorIn } from './provider-answer.js';
import { keySetting, urlSetting } from './providers.js';
import { cutErrorText } from '../net/untrusted.js';

/** A recorded model call without an answer; `code` and `message` are those of its error. */
export interface FailedCall {
  provider: string;
  model: string;
  status: number;
  code: string | null;
  message: string | null;
  /** The request field that names the model. */
  field?: string;
}

/** Why a rollout failed. `systemic`: every call to this model would fail. */
export interface CallFailure {
  code: string;
  message: string;
  infrastructure: boolean;
  systemic: boolean;
}

/** Errors of the proxy for calls without an answer of the provider. */
const noAnswer = new Set(['upstream_unreachable', 'upstream_connection_lost', 'upstream_timeout']);

/** What a failed model call means for its rollout or job, and what to do. */
export function callFailure({
  provider,
  model,
  status,
  code,
  message,
  field = 'policy.model',
}: FailedCall): CallFailure {
  const call = `The call to model "${model}" of provider "${provider}" failed`;
  const detail = message === null ? '' : `: ${cutErrorText(message)}`;
  const infrastructure = true;
  if (code === providerRefusedKey || code === 'provider_not_usable') {
    const why = code === providerRefusedKey ? ' with 401: the provider refused the key' : detail;
    const remedy =
      provider === 'local' ? 'Use another provider.' : `Check ${keySetting(provider)}, and start Ratchet again.`;
    return { code, message: `${call}${sentence(why)} ${remedy}`, infrastructure, systemic: true };
  }
  if (code !== null && noAnswer.has(code)) {
    const remedy = `Check that the provider runs and that ${urlSetting(provider)} reaches it.`;
    return { code, message: `${call}${sentence(detail)} ${remedy}`, infrastructure, systemic: false };
  }
  if (code === 'upstream_answer_too_large') {
    const remedy = 'Lower max_tokens.';
    return { code, message: `${call}${sentence(detail)} ${remedy}`, infrastructure: false, systemic: false };
  }
  const { name, remedy } = meaningOf({ status, code, provider, field });
  return {
    code: name,
    message: `${call} with ${status}${sentence(detail)} ${remedy}`,
    infrastructure: !faultsOfRequest.has(status),
    systemic: status === 404,
  };
}

/** Statuses for a request that the provider cannot accept; another prompt may work. */
const faultsOfRequest = new Set([400, 413, 422]);

/** A provider's code of a 429 that no waiting ends. */
const quotaSpent = 'insufficient_quota';

function meaningOf({
  status,
  code,
  provider,
  field,
}: Pick<FailedCall, 'status' | 'code' | 'provider'> & { field: string }): { name: string; remedy: string } {
  if (status === 403) {
    return { name: 'provider_refused', remedy: `Check that the key in ${keySetting(provider)} may use this model.` };
  }
  if (status === 404) {
    return { name: 'model_not_found', remedy: `Check ${field}, and ${urlSetting(provider)} if you set it.` };
  }
  if (status === 429 && code === quotaSpent) {
    return { name: 'provider_busy', remedy: 'Add credit, or raise the quota of your account at the provider.' };
  }
  if (status === 429) {
    return { name: 'provider_busy', remedy: 'Lower max_concurrent, or raise your limit at the provider.' };
  }
  if (status < 500) return { name: 'provider_rejected', remedy: "Check the request in the rollout's trace." };
  return { name: 'provider_error', remedy: 'Try again later, or use another provider.' };
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Status, code and words of a refusal by its body; of codes only one that changes the remedy. */
export function refusalOf({
  status,
  text,
}: {
  status: number;
  text: string;
}): Pick<FailedCall, 'status' | 'code' | 'message'> {
  const error = errorIn(text);
  const isSpent = error?.['code'] === quotaSpent || error?.['type'] === quotaSpent;
  return { status, code: isSpent ? quotaSpent : null, message: wordsOf(text) };
}

/** The provider's own words in an answer's body; null: none. */
function wordsOf(body: string): string | null {
  const words = errorIn(body)?.['message'] ?? body.trim();
  return typeof words === 'string' && words !== '' ? words : null;
}
