import type { Message, PolicySpec } from '../contracts/spec.js';
import { pause, retryAfterMs, within } from './bounded.js';
import { costOf, type CallCost } from './cost.js';
import { providerError, ProviderError } from './provider-answer.js';
import type { Providers } from './providers.js';
import { cutText, field, parseObject } from './untrusted.js';

/** What the proposer is asked. */
export interface ProposerRequest {
  policy: PolicySpec;
  messages: Message[];
  signal: AbortSignal;
  /** First wait between tries; it doubles. */
  retryBaseMs?: number;
  /** How long one try may take. */
  tryTimeoutMs?: number;
}

/** Its answer; `ok` false with the reason when three tries gave none, or one that no retry mends. */
export type ProposerAnswer =
  | ({ ok: true; text: string; finishReason: string | null; latencyMs: number } & CallCost)
  | { ok: false; code: string; message: string };

type Failure = Extract<ProposerAnswer, { ok: false }>;
interface Retryable {
  failure: Failure;
  retryAfter: string | null;
}

const maxTries = 3;
const maxWaitMs = 60_000;

/**
 * One completion for our own proposer, by the same providers as everybody's calls. 429, 5xx, time-outs and broken
 * connections are tried three times, after `Retry-After` where it is given. Rejects only with the signal's reason.
 */
export async function proposerCall(providers: Providers, asked: ProposerRequest): Promise<ProposerAnswer> {
  const { signal, retryBaseMs = 500, tryTimeoutMs = 300_000 } = asked;
  for (let tries = 1; ; tries += 1) {
    const result = await once(providers, asked, tryTimeoutMs);
    if ('ok' in result) return result;
    const wait = Math.max(retryBaseMs * 2 ** (tries - 1), retryAfterMs(result.retryAfter, Date.now()) ?? 0);
    if (tries >= maxTries || wait > maxWaitMs) return result.failure;
    await pause(wait, signal);
  }
}

async function once(
  providers: Providers,
  { policy, messages, signal }: ProposerRequest,
  tryTimeoutMs: number,
): Promise<ProposerAnswer | Retryable> {
  const body = { ...policy.params, model: policy.model, messages, stream: false };
  const startedAt = performance.now();
  let status: number;
  let retryAfter: string | null;
  let text: string;
  try {
    ({ status, retryAfter, text } = await within(tryTimeoutMs, signal, async (bounded) => {
      const answer = await providers.send(policy.provider, body, bounded);
      const parts = await answer.body.toArray();
      return { ...answer, text: Buffer.concat(parts.map((part: Uint8Array) => Buffer.from(part))).toString() };
    }));
  } catch (error) {
    signal.throwIfAborted();
    const fault = providerError(policy.provider, error);
    if (!(fault instanceof ProviderError)) throw fault;
    const failure: Failure = { ok: false, code: fault.code, message: fault.message };
    return fault.code === 'provider_not_usable' ? failure : { failure, retryAfter: null };
  }
  if (status === 200) return read(policy, text, performance.now() - startedAt);
  const message = `The provider "${policy.provider}" answered the proposer with ${status}: ${cutText(text, 1_024)}`;
  const failure: Failure = { ok: false, code: 'proposer_refused', message };
  return status === 429 || status >= 500 ? { failure, retryAfter } : failure;
}

function read({ provider, model }: PolicySpec, text: string, latencyMs: number): ProposerAnswer {
  const completion = parseObject(text);
  const choices = field(completion, 'choices');
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const content = field(field(choice, 'message'), 'content');
  if (typeof content !== 'string') {
    const message = `The provider "${provider}" gave the proposer no text: ${cutText(text, 1_024)}`;
    return { ok: false, code: 'proposer_answer_invalid', message };
  }
  const finish = field(choice, 'finish_reason');
  const finishReason = typeof finish === 'string' ? finish : null;
  return { ok: true, text: content, finishReason, latencyMs, ...costOf(provider, model, completion) };
}
