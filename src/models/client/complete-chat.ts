import { answerIn } from '../../core/answers/completion.js';
import type { PolicySpec } from '../../core/jobs/policy.js';
import { sleep, retryAfterMs, withTimeout } from '../../clients/net/bounded.js';
import type { Asker, ChatRequest, ChatResult } from './chat.js';
import { costOf, noCost, unknownCost, type CallCost } from './cost.js';
import { providerError, ProviderError, wasNotSent } from './answers/provider-answer.js';
import { judgeRefusal, providerRefusedAccount, providerRefusedKey, refusedCall } from './refusals.js';
import { keySetting } from './addresses/configured.js';
import type { ModelClient } from './providers.js';
import { askProvider, type ProviderReply } from './ask-provider.js';
import { StreamedError } from './answers/read-answer.js';
import { readStream } from './answers/streamed-text.js';
import { isPushback } from '../../clients/net/retry-advice.js';
import { boundDepth, cutErrorText, field } from '../../clients/net/untrusted.js';
import { asObject } from '../../util/json.js';
import { cutToBytes } from '../../util/text.js';
import { tracedChat } from './traced-call.js';
import { endedByUs } from './try-outcome.js';

type Failure = Extract<ChatResult, { ok: false }>;
interface Retryable {
  failure: Failure;
  retryAfter: string | null;
}

const maxTries = 3;
const maxWaitMs = 60_000;

/**
 * Requests one completion for the service itself. Tries three times on refusals that may pass,
 * time-outs and broken connections, after `Retry-After` if given. Rejects only with the signal's
 * reason.
 */
export function completeChat(providers: ModelClient, request: ChatRequest): Promise<ChatResult> {
  const ask = () => askUntilAnswered(providers, request);
  return providers.trace ? tracedChat(providers.trace, request, ask) : ask();
}

async function askUntilAnswered(providers: ModelClient, request: ChatRequest): Promise<ChatResult> {
  const { signal, retryBaseMs = 500, tryTimeoutMs = 300_000, deadline = Infinity, onText } = request;
  let hasBegun = false;
  const observed = onText ? { ...request, onText: (piece: string) => ((hasBegun = true), onText(piece)) } : request;
  for (let tries = 1; ; tries += 1) {
    const left = Math.max(1, deadline - performance.now());
    const result = await tryOnce(providers, observed, Math.min(tryTimeoutMs, left));
    if ('ok' in result) return result;
    if (hasBegun) return result.failure;
    const wait = Math.max(retryBaseMs * 2 ** (tries - 1), retryAfterMs(result.retryAfter, Date.now()) ?? 0);
    if (tries >= maxTries || wait > maxWaitMs || performance.now() + wait >= deadline) return result.failure;
    await waiting(request, () => sleep(wait, signal));
    providers.observer.retry(request.policy.provider);
  }
}

async function waiting<T>({ onWait }: ChatRequest, wait: () => Promise<T>): Promise<T> {
  const over = onWait?.();
  try {
    return await wait();
  } finally {
    over?.();
  }
}

async function tryOnce(
  providers: ModelClient,
  request: ChatRequest,
  tryTimeoutMs: number,
): Promise<ChatResult | Retryable> {
  const { policy, messages, question, added = [], signal, meter, asker = 'proposer', onPushback, onText } = request;
  const body = { ...policy.params, model: policy.model, messages, stream: onText !== undefined };
  const allowed = meter ? await waiting(request, () => meter.open(body)) : { body };
  if ('message' in allowed) {
    return { ok: false, code: 'cost_not_bounded', message: allowed.message, infrastructure: false };
  }
  const startedAt = performance.now();
  const settle = async (status: number | null, cost: CallCost, code: string | null): Promise<void> => {
    const seconds = (performance.now() - startedAt) / 1_000;
    providers.observer.modelCall({ ...policy, purpose: asker, status, code, seconds, ...cost });
    await meter?.close(cost);
  };
  const asked = { provider: policy.provider, added, ...(question && { question }) };
  let sent: ChatReply;
  try {
    sent = await withTimeout(tryTimeoutMs, signal, async (bounded) =>
      readSent(await askProvider(providers, { ...asked, body: allowed.body }, bounded), onText),
    );
  } catch (error) {
    if (error instanceof StreamedError && !signal.aborted) {
      await settle(null, unknownCost, null);
      const message = `The provider "${policy.provider}" ended its answer to the ${asker} with an error: ${cutErrorText(error.message, 1_024)}`;
      return { failure: { ok: false, code: `${asker}_refused`, message, infrastructure: true }, retryAfter: null };
    }
    const fault = signal.aborted ? null : providerError(policy.provider, error);
    const unsent = fault instanceof ProviderError && wasNotSent(fault);
    const code = signal.aborted ? endedByUs : fault instanceof ProviderError ? fault.code : null;
    await settle(null, unsent ? noCost : unknownCost, code);
    signal.throwIfAborted();
    if (!(fault instanceof ProviderError)) throw error;
    const { message, retryAfterS, isLasting, unsent: cause } = fault;
    const later = retryAfterS !== null && { retryAfterS };
    const failure: Failure = {
      ok: false,
      code: fault.code,
      message,
      infrastructure: true,
      ...(isLasting && { isLasting }),
      ...(cause !== null && { unsent: cause }),
      ...later,
    };
    return isLasting ? failure : { failure, retryAfter: null };
  }
  const { status, retryAfter, shouldRetry, text, completion } = sent;
  if (status < 300) {
    await settle(status, costOf(policy.provider, policy.model, completion), null);
    return read(policy, asker, sent, performance.now() - startedAt);
  }
  const call = refusedCall(status, text);
  const cost = completion ? costOf(policy.provider, policy.model, completion) : noCost;
  await settle(status, cost, call.codes[0] ?? null);
  const cut = cutErrorText(text, 1_024);
  const message = `The provider "${policy.provider}" answered the ${asker} with ${status}: ${cut}`;
  const judged = judgeRefusal(call, { shouldRetry });
  const infrastructure = judged.scope !== 'request';
  const refused = { ...judged, status, retryAfter, text: cut };
  if (judged.scope === 'key') {
    const check = `${message}. Check ${keySetting(policy.provider)}.`;
    return { ok: false, code: providerRefusedKey, message: check, infrastructure: true, refused };
  }
  const isOfAccount = judged.scope === 'credit' || judged.scope === 'account';
  const code = isOfAccount ? providerRefusedAccount : `${asker}_refused`;
  const failure: Failure = { ok: false, code, message, infrastructure, refused };
  if (!judged.mayPass) return failure;
  if (isPushback(status)) onPushback?.(message);
  return { failure, retryAfter };
}

/** `text`: the body; for a stream, the equivalent completion. Of a refusal: what it cost. */
interface ChatReply {
  status: number;
  retryAfter: string | null;
  shouldRetry: boolean | null;
  text: string;
  completion: Record<string, unknown> | null;
  left: string[];
}

async function readSent(reply: ProviderReply, onText: ChatRequest['onText']): Promise<ChatReply> {
  const { status, retryAfter, shouldRetry = null, opened, left } = reply;
  if (opened.kind === 'refused') return { ...opened, completion: opened.billed, left };
  const head = { status, retryAfter, shouldRetry, left };
  if (opened.kind === 'whole') return { ...head, text: opened.text, completion: bounded(opened.completion) };
  const completion = await readStream(opened.bytes, onText ?? (() => undefined));
  return { ...head, text: JSON.stringify(completion), completion };
}

function bounded(completion: Record<string, unknown> | null): Record<string, unknown> | null {
  return asObject(boundDepth(completion));
}

function read(
  { provider, model }: PolicySpec,
  asker: Asker,
  { text, completion, left }: ChatReply,
  latencyMs: number,
): ChatResult {
  const answer = answerIn(completion);
  if (!answer) {
    const noText = `The provider "${provider}" gave the ${asker} no text: ${cutToBytes(text, 1_024)}`;
    return { ok: false, code: `${asker}_answer_invalid`, message: noText, infrastructure: true };
  }
  const { text: said, thoughts, refusal, finishReason } = answer;
  const answered = field(completion, 'model');
  return {
    ok: true,
    text: said,
    thoughts,
    refusal,
    finishReason,
    responseModel: typeof answered === 'string' ? answered : null,
    latencyMs,
    left,
    ...costOf(provider, model, completion),
  };
}
