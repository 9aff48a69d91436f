/** Asks a model again, and further models, while none has begun to answer. */
import type { FallbackSettings } from '../../../kinds/deployment/contract/settings.js';
import { retryAfterMs, sleep, TimeoutError } from '../../../clients/net/bounded.js';
import { isSpendRefusal, ProviderError, providerError, wasNotSent } from '../../client/answers/provider-answer.js';
import { begunStream } from '../../client/answers/read-answer.js';
import { countedCode } from './counted-code.js';
import { askProvider, type ProviderReply } from '../../client/ask-provider.js';
import { costOf, noCost, unknownCost, type CallCost } from '../../client/cost.js';
import type { ModelClient } from '../../client/providers.js';
import { judgeRefusal, refusedCall, type RefusalScope } from '../../client/refusals.js';
import type { AskedModel } from '../call.js';

type Model = AskedModel['model'];

export const nameOf = ({ provider, upstream }: Model) => `${provider}/${upstream.model}`;

const percent = (byte: number) => `%${byte.toString(16).padStart(2, '0')}`;

/** As a header takes it: anything but visible ASCII is encoded as in a URL. */
export const headerOf = (text: string) =>
  text.slice(0, 2_000).replaceAll(/[^\x20-\x7e]/gu, (character) => [...Buffer.from(character)].map(percent).join(''));

/** A try of a model that gave no answer. */
export interface FailedTry {
  model: Model;
  /** That of the provider, or of the fault. */
  status: number;
  code: string;
  latencyMs: number;
  cost: CallCost;
}

export interface Several {
  client: ModelClient;
  /** In their order, its own first; each is made when it is asked. */
  models: readonly (() => Model)[];
  settings: FallbackSettings;
  /** Bounds retries; another model is none. */
  budget: { take(): boolean };
  /** Failed tries, added as they fail; without the first one if its failure is the answer. */
  failed: FailedTry[];
  /** Called with each model before it is asked, and with the model whose failure is the answer. */
  onAsked: (model: Model) => void;
  /** Whether nobody waits for an answer: then no further try is bought. */
  isGone: () => boolean;
}

/** The first answer. If there is none, the failure of the first try: that of its own model. */
export async function askSeveral(
  several: Several,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<AskedModel> {
  const { client, models, settings, budget, failed } = several;
  let first: { model: Model; outcome: Outcome } | null = null;
  for (const [index, make] of models.entries()) {
    const model = make();
    several.onAsked(model);
    for (let retries = 0; ; retries += 1) {
      const startedAt = performance.now();
      const outcome = await tryModel(client, model, { settings, signal, onBytes });
      const failure = failureOf(model, outcome);
      // Its own model's refusal of the request is not sent on.
      if (!failure || (index === 0 && !failure.othersMayAnswer)) return answerOf(outcome, model);
      first ??= { model, outcome };
      const { status, code, cost } = failure;
      failed.push({ model, status, code, cost, latencyMs: performance.now() - startedAt });
      if (several.isGone()) return tellFirst(several, first);
      const waitMs = failure.mayPass ? waitBefore(retries, failure.retryAfter) : Infinity;
      if (retries >= settings.retries || waitMs > longestWaitMs || !budget.take()) break;
      await sleep(waitMs, signal);
    }
  }
  return tellFirst(several, first!);
}

function tellFirst({ failed, onAsked }: Several, { model, outcome }: { model: Model; outcome: Outcome }): AskedModel {
  failed.shift();
  onAsked(model);
  return answerOf(outcome, model);
}

/** The longest pause before a retry; after a longer advice the next model is asked. */
const longestWaitMs = 5_000;
const firstWaitMs = 200;

function waitBefore(retries: number, retryAfter: string | null): number {
  const advised = retryAfterMs(retryAfter, Date.now());
  // Half of it is drawn, so that callers do not come back together.
  return advised ?? firstWaitMs * 2 ** retries * (0.5 + Math.random() / 2);
}

type Outcome = { reply: ProviderReply } | { error: Error };

function answerOf(outcome: Outcome, model: Model): AskedModel {
  if ('error' in outcome) throw outcome.error;
  return { model, reply: outcome.reply };
}

interface Asking {
  settings: FallbackSettings;
  signal: AbortSignal;
  onBytes: (bytes: number) => void;
}

/** Rejects with the signal's reason, and with errors that are no provider's. */
async function tryModel(client: ModelClient, model: Model, { settings, signal, onBytes }: Asking): Promise<Outcome> {
  const { provider, upstream } = model;
  const { body, json, callers, stream } = upstream;
  const limitS = stream ? settings.first_byte_timeout : settings.timeout;
  const limit = new AbortController();
  const expire = () => limit.abort(new TimeoutError(`no ${stream ? 'first event' : 'answer'} within ${limitS} s`));
  const timer = limitS === null ? undefined : setTimeout(expire, limitS * 1_000);
  try {
    const either = AbortSignal.any([signal, limit.signal]);
    const reply = await askProvider(client, { provider, body, json, callers }, either, onBytes);
    if (reply.opened.kind !== 'stream') return { reply };
    return { reply: { ...reply, opened: await begunStream(reply.opened, provider) } };
  } catch (thrown) {
    signal.throwIfAborted();
    const error = providerError(provider, limit.signal.aborted ? limit.signal.reason : thrown);
    if (!(error instanceof ProviderError)) throw error;
    return { error };
  } finally {
    clearTimeout(timer);
  }
}

interface Failure {
  status: number;
  code: string;
  cost: CallCost;
  /** Whether it says nothing about another model. */
  othersMayAnswer: boolean;
  /** Whether the same model may answer a moment later, and when. */
  mayPass: boolean;
  retryAfter: string | null;
}

/** Refusals that are not of the request. */
const ofModel: ReadonlySet<RefusalScope> = new Set(['key', 'credit', 'account', 'model', 'moment']);

/** Null: an answer. */
function failureOf({ provider, upstream }: Model, outcome: Outcome): Failure | null {
  if ('error' in outcome) {
    const error = outcome.error as ProviderError;
    const { status, code, isLasting, retryAfterS } = error;
    const othersMayAnswer = !isSpendRefusal(code) && code !== 'upstream_answer_too_large';
    const cost = wasNotSent(error) ? noCost : unknownCost;
    const retryAfter = retryAfterS === null ? null : String(retryAfterS);
    return { status, code, cost, othersMayAnswer, mayPass: !isLasting, retryAfter };
  }
  const { opened } = outcome.reply;
  if (opened.kind === 'refused') {
    const { status, text, billed, retryAfter, shouldRetry } = opened;
    const refused = refusedCall(status, text);
    const { scope, mayPass } = judgeRefusal(refused, { shouldRetry });
    const cost = billed ? costOf(provider, upstream.model, billed) : noCost;
    const code = countedCode(refused.codes[0], status);
    // A 403 is of the key or of the model, unless it is of what was said.
    const isForbidden = status === 403 && !/moderat|flagged|content|safety|polic/i.test(refused.message);
    const othersMayAnswer = ofModel.has(scope) || mayPass || isForbidden;
    return { status, code, cost, othersMayAnswer, mayPass, retryAfter };
  }
  if (opened.kind === 'stream') return null;
  const choices = opened.completion?.['choices'];
  if (Array.isArray(choices) && choices.length > 0) return null;
  const cost = costOf(provider, upstream.model, opened.completion);
  const advice = { othersMayAnswer: true, mayPass: true, retryAfter: null };
  return { status: 502, code: 'upstream_answer_invalid', cost, ...advice };
}
