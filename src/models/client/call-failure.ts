import {
  judgeRefusal,
  providerRefusedAccount,
  providerRefusedKey,
  refusedCall,
  type RefusalScope,
} from './refusals.js';
import { keySetting, urlSetting } from './addresses/configured.js';
import { isPushback } from '../../clients/net/retry-advice.js';
import type { UnsentCause } from '../../clients/net/unsent.js';
import { cutErrorText } from '../../clients/net/untrusted.js';

/** A recorded model call without an answer; `code` and `message` are those of its error. */
export interface FailedCall {
  provider: string;
  model: string;
  status: number;
  code: string | null;
  message: string | null;
  /** The error's further codes, such as its type. */
  codes?: readonly string[];
  /** What failed before the first byte (`UnsentCause`); absent, null: another failure. */
  unsent?: string | null;
  /** The request field that names the model. */
  field?: string;
}

/** Why a rollout failed. `systemic`: every call to this model would fail. `isOfAccount`: to any. */
export interface CallFailure {
  code: string;
  message: string;
  infrastructure: boolean;
  systemic: boolean;
  isOfAccount?: true;
}

/** Errors of the proxy for calls without an answer of the provider. */
const noAnswer = new Set(['upstream_unreachable', 'upstream_connection_lost', 'upstream_timeout']);

/** Causes whose message says what to do. */
const ownRemedy: ReadonlySet<string | null> = new Set<UnsentCause>(['certificate', 'tls', 'proxy']);

/** What a failed model call means for its rollout or job, and what to do. */
export function callFailure({
  provider,
  model,
  status,
  code,
  message,
  codes = [],
  unsent = null,
  field = 'policy.model',
}: FailedCall): CallFailure {
  const call = `The call to model "${model}" of provider "${provider}" failed`;
  const detail = message === null ? '' : `: ${cutErrorText(message)}`;
  const infrastructure = true;
  if (code === providerRefusedKey || code === 'provider_not_usable') {
    const why = code === providerRefusedKey ? ` with ${status || 401}: the provider refused the key` : detail;
    const isOfAccount = code === providerRefusedKey && ({ isOfAccount: true } as const);
    const remedy =
      provider === 'local' ? 'Use another provider.' : `Check ${keySetting(provider)}, and start Ratchet again.`;
    return { code, message: `${call}${sentence(why)} ${remedy}`, infrastructure, systemic: true, ...isOfAccount };
  }
  if (code !== null && noAnswer.has(code)) {
    const remedy = ownRemedy.has(unsent)
      ? ''
      : ` Check that the provider runs and that ${urlSetting(provider)} reaches it.`;
    return { code, message: `${call}${sentence(detail)}${remedy}`, infrastructure, systemic: false };
  }
  if (code === 'upstream_answer_too_large') {
    const remedy = 'Lower max_tokens.';
    return { code, message: `${call}${sentence(detail)} ${remedy}`, infrastructure: false, systemic: false };
  }
  const known = [...codes, ...(code === null ? [] : [code])];
  const { scope } = judgeRefusal({ status, codes: known, message: message ?? '' }, { shouldRetry: null });
  const { name, remedy } = meaningOf(scope, { status, provider, field });
  const isOfAccount = name === providerRefusedAccount || name === providerRefusedKey;
  return {
    code: name,
    message: `${call} with ${status}${sentence(detail)} ${remedy}`,
    infrastructure: scope !== 'request',
    systemic: scope === 'model' || isOfAccount,
    ...(isOfAccount && { isOfAccount }),
  };
}

function meaningOf(
  scope: RefusalScope,
  { status, provider, field }: { status: number; provider: string; field: string },
): { name: string; remedy: string } {
  switch (scope) {
    case 'key':
      return { name: providerRefusedKey, remedy: `Check ${keySetting(provider)}, and start Ratchet again.` };
    case 'credit':
      return {
        name: providerRefusedAccount,
        remedy: 'Add credit at the provider, or raise the quota of your account.',
      };
    case 'account':
      return { name: providerRefusedAccount, remedy: 'Ask the provider to open your account again.' };
    case 'model':
      return { name: 'model_not_found', remedy: `Check ${field}, and ${urlSetting(provider)} if you set it.` };
    default:
  }
  if (status === 403) {
    return { name: 'provider_refused', remedy: `Check that the key in ${keySetting(provider)} may use this model.` };
  }
  if (isPushback(status) && status < 500) {
    return { name: 'provider_busy', remedy: 'Lower max_concurrent, or raise your limit at the provider.' };
  }
  if (scope === 'moment') return { name: 'provider_error', remedy: 'Try again later, or use another provider.' };
  return { name: 'provider_rejected', remedy: "Check the request in the rollout's trace." };
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Status, codes and words of a refusal by its body. */
export function refusalOf({
  status,
  text,
}: {
  status: number;
  text: string;
}): Pick<FailedCall, 'status' | 'code' | 'codes' | 'message'> {
  const { codes, message } = refusedCall(status, text);
  return { status, code: null, codes, message: message.trim() === '' ? null : message.trim() };
}
