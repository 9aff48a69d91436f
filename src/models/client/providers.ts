import type { Payer } from '../../core/jobs/payer.js';
import type { Question } from '../../core/question.js';
import { ConfiguredProviders, type ProviderInfo } from './addresses/configured.js';
import type { CallCost } from './cost.js';
import { createListedEnds, type ListedEnds } from './listed-ends.js';
import { createLocalThreads } from './local-threads.js';
import { ProviderError, type ModelAnswer } from './answers/provider-answer.js';
import { ProviderConnections } from './connections/connections.js';
import { modelsUrl } from './addresses/base-url.js';
import { answerLocally } from './provider-local.js';
import { createLessons, type Lessons } from './quirks/lessons.js';
import { requireQuota, type SpendCheck } from './spend.js';
import type { TraceCall } from './traced-call.js';

export { ProviderError } from './answers/provider-answer.js';

export type { ProviderInfo } from './addresses/configured.js';

/** A try of a model call; `status` null: no answer. */
export interface ModelTry extends Omit<CallCost, 'costSource'> {
  provider: string;
  model: string;
  purpose: string;
  status: number | null;
  /** Of its error; null: none. */
  code: string | null;
  seconds: number;
}

/** Receives every try of a model call. */
export interface ModelObserver {
  modelCall(call: ModelTry): void;
  /** Called before a try that follows a failed one. */
  retry(provider: string): void;
}

/** The same of all payers; null: the service itself. */
export interface CallObserver extends Pick<ModelObserver, 'retry'> {
  modelCall(call: ModelTry, payer: Payer | null): void;
}

/** Sends chat completion requests to providers. */
export interface ModelClient {
  readonly observer: ModelObserver;
  /** Null: calls are not traced. */
  readonly trace: TraceCall | null;
  /** What is known of a model of the provider; see `askProvider`. */
  lessonsOf(name: string, model: string): Lessons;
  /**
   * Sends a chat completion request as it is; `signal` bounds the body too. `json`: the body's
   * JSON, if there is one already. `question`: what it asks, as data; only `local` reads it.
   * Rejects with a ProviderError or the signal's reason.
   */
  send(
    name: string,
    body: Record<string, unknown>,
    signal: AbortSignal,
    more?: { readonly json?: string; readonly question?: Question },
  ): Promise<ModelAnswer>;
}

/** Sends with the keys of the environment. */
export interface Providers extends ModelClient {
  /** `own`: the providers for which an organization has its own key. */
  list(own?: ReadonlySet<string>): ProviderInfo[];
  /** Why the provider is not usable (unknown, no key), or null. */
  check(name: string, own?: ReadonlySet<string>): string | null;
  /**
   * Sends with the organization's own keys before those of the environment, within its quota of
   * spend.
   */
  forPayer(payer: Payer, trace?: TraceCall | null): ModelClient;
  /** The ends that a provider gives in its list of models, for an organization. */
  listedEnds: ListedEnds;
  /** Host and port of a provider; null: it has none. */
  addressOf(name: string): { host: string; port: number } | null;
  close(): Promise<void>;
}

/** Reads an organization's own key of a provider, or null; `fresh`: as of now. */
type ReadOwnKey = (orgId: string, provider: string, fresh: boolean) => Promise<string | null>;

export interface ProviderOptions {
  /** Whether `local` may be used; default true. */
  allowLocal?: boolean;
  /** Default: no organization has a key of its own. */
  readOwnKey?: ReadOwnKey;
  /** Called before each call of a payer. Default: no quota. */
  checkSpend?: (payer: Payer) => Promise<SpendCheck>;
  /** Default: none. */
  observer?: CallObserver;
  /** Of an answer without `stream`; default 8 MiB. */
  maxAnswerBytes?: number;
}

/**
 * Providers from the environment: `<NAME>_API_KEY` and `<NAME>_BASE_URL`, with `_` for `-`. Names
 * in `RATCHET_PROVIDERS` need a base URL; only a vendor's own address needs a key.
 */
export function createProviders(
  env: Record<string, string | undefined>,
  {
    allowLocal = true,
    readOwnKey = () => Promise.resolve(null),
    checkSpend = () => Promise.resolve({ isLimited: false, spent: null }),
    maxAnswerBytes = 8 * 1024 * 1024,
    observer = { modelCall: () => undefined, retry: () => undefined },
  }: ProviderOptions = {},
): Providers {
  const configured = new ConfiguredProviders(env, allowLocal);
  const connections = new ProviderConnections(env, maxAnswerBytes, (provider) => observer.retry(provider));
  const threads = createLocalThreads();
  const lessons = createLessons();
  const lessonsOf = (name: string, model: string) => lessons(configured.endpointOf(name)?.url ?? name, model);
  const sendWith = async (ownKey: string | null, ...[name, body, signal, more]: Parameters<ModelClient['send']>) => {
    const fault = configured.check(name, new Set(ownKey === null ? [] : [name]));
    if (fault !== null) throw new ProviderError('provider_not_usable', fault);
    const json = more?.json ?? JSON.stringify(body);
    if (name === 'local') return answerLocally(threads, body, { json, question: more?.question ?? null }, signal);
    const endpoint = configured.endpointOf(name)!;
    const used = ownKey === null ? endpoint : { ...endpoint, apiKey: ownKey };
    return connections.ask(used, { json, stream: body['stream'] === true }, signal);
  };
  const ownKeyOf = async (orgId: string, name: string): Promise<string | null> => {
    if (!configured.endpointOf(name)) return null;
    // Without another key, one that was just set decides.
    return readOwnKey(orgId, name, configured.check(name) !== null).catch((cause: unknown) => {
      const message = `The organization's key of the provider "${name}" cannot be read; set it again if this persists.`;
      throw new ProviderError('upstream_unreachable', message, cause);
    });
  };
  const listedEnds = createListedEnds(async (orgId, name, signal) => {
    const ownKey = await ownKeyOf(orgId, name);
    const fault = configured.check(name, new Set(ownKey === null ? [] : [name]));
    if (fault !== null) throw new ProviderError('provider_not_usable', fault);
    const endpoint = configured.endpointOf(name)!;
    const used = { ...endpoint, url: modelsUrl(endpoint.url), ...(ownKey !== null && { apiKey: ownKey }) };
    return connections.ask(used, { json: null, stream: false }, signal);
  });
  const observerOf = (payer: Payer | null): ModelObserver => ({
    modelCall: (call) => observer.modelCall(call, payer),
    retry: (provider) => observer.retry(provider),
  });
  return {
    observer: observerOf(null),
    trace: null,
    listedEnds,
    list: (own) => configured.list(own),
    check: (name, own) => configured.check(name, own),
    lessonsOf,
    send: (...call) => sendWith(null, ...call),
    forPayer: (payer, trace = null) => ({
      observer: observerOf(payer),
      trace,
      lessonsOf,
      send: async (name, ...call) => {
        // A call of `local` costs nothing.
        if (name !== 'local')
          await requireQuota(checkSpend, payer, { provider: name, model: String(call[0]['model']) });
        return sendWith(await ownKeyOf(payer.orgId, name), name, ...call);
      },
    }),
    addressOf: (name) => configured.addressOf(name),
    async close() {
      await Promise.all([connections.close(), threads.close()]);
    },
  };
}
