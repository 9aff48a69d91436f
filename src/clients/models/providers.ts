import { Agent } from 'undici';
import type { Payer } from '../../core/jobs/payer.js';
import type { Question } from '../../core/question.js';
import { readProxySettings } from '../../util/proxy.js';
import { tolerantConnector } from '../net/interim.js';
import { metDeadConnection } from '../net/kept-connection.js';
import { proxied } from '../net/proxied.js';
import { chatUrl } from './addresses/base-url.js';
import type { CallCost } from './cost.js';
import { createLocalThreads } from './local-threads.js';
import { answerLocally } from './provider-local.js';
import { ProviderError, type ModelAnswer } from './provider-answer.js';
import { askEndpoint, type Endpoint } from './provider-http.js';
import { keyHeaderOf, presets } from './addresses/presets.js';
import { createLessons, type Lessons } from './quirks/lessons.js';
import { requireQuota, type SpendCheck } from './spend.js';
import type { TraceCall } from './traced-call.js';

export { ProviderError } from './provider-answer.js';

/** A provider as users see it; `reason`: why it is not usable. */
export interface ProviderInfo {
  name: string;
  usable: boolean;
  reason: string | null;
}

/** A try of a model call; `status` null: no answer. */
export interface ModelTry extends Omit<CallCost, 'costSource'> {
  provider: string;
  model: string;
  purpose: string;
  status: number | null;
  seconds: number;
}

/** Receives every try of a model call. */
export interface ModelObserver {
  modelCall(call: ModelTry): void;
  /** Called before a try that follows a failed one. */
  retry(provider: string): void;
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
  /** Host and port of a provider; null: it has none. */
  addressOf(name: string): { host: string; port: number } | null;
  close(): Promise<void>;
}

/** Reads an organization's own key of a provider, or null; `fresh`: as of now. */
type ReadOwnKey = (orgId: string, provider: string, fresh: boolean) => Promise<string | null>;

/** The setting with a provider's key. */
export function keySetting(provider: string): string {
  return `${prefixOf(provider)}_API_KEY`;
}

/** The setting with a provider's address. */
export function urlSetting(provider: string): string {
  return `${prefixOf(provider)}_BASE_URL`;
}

function prefixOf(provider: string): string {
  return provider.toUpperCase().replaceAll('-', '_');
}

/** The setting that switches the provider `local` off. */
const localSetting = 'RATCHET_ALLOW_LOCAL_PROVIDER';

const mebibyte = 1024 * 1024;
const maxStreamBytes = 32 * mebibyte;

export interface ProviderOptions {
  /** Whether `local` may be used; default true. */
  allowLocal?: boolean;
  /** Default: no organization has a key of its own. */
  readOwnKey?: ReadOwnKey;
  /** Called before each call of a payer. Default: no quota. */
  checkSpend?: (payer: Payer) => Promise<SpendCheck>;
  /** Default: none. */
  observer?: ModelObserver;
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
    maxAnswerBytes = 8 * mebibyte,
    observer = { modelCall: () => undefined, retry: () => undefined },
  }: ProviderOptions = {},
): Providers {
  const { settings } = readProxySettings(env);
  const agentFor = (maxResponseSize: number, keeping: { pipelining?: 0 } = {}) => {
    const limits = { headersTimeout: 0, bodyTimeout: 0, maxResponseSize, ...keeping };
    return proxied(new Agent({ ...limits, connect: tolerantConnector() }), { settings, limits });
  };
  const agentsFor = (maxBytes: number) => ({ kept: agentFor(maxBytes), fresh: agentFor(maxBytes, { pipelining: 0 }) });
  const agents = { whole: agentsFor(maxAnswerBytes), streamed: agentsFor(maxStreamBytes) };
  const threads = createLocalThreads();
  const lessons = createLessons();
  const endpoints = new Map(providerNames(env).map((name) => [name, configure(name, env)]));
  const lessonsOf = (name: string, model: string) => lessons(endpoints.get(name)?.endpoint?.url ?? name, model);
  const check = (name: string, own?: ReadonlySet<string>): string | null => {
    if (name === 'local')
      return allowLocal ? null : `The provider "local" is switched off by ${localSetting}=0; use another one.`;
    const configured = endpoints.get(name);
    if (!configured) return `Provider "${name}" not found; use one of ${['local', ...endpoints.keys()].join(', ')}.`;
    return configured.endpoint && own?.has(name) ? null : configured.fault;
  };
  const sendWith = async (ownKey: string | null, ...[name, body, signal, more]: Parameters<ModelClient['send']>) => {
    const fault = check(name, new Set(ownKey === null ? [] : [name]));
    if (fault !== null) throw new ProviderError('provider_not_usable', fault);
    const json = more?.json ?? JSON.stringify(body);
    if (name === 'local') return answerLocally(threads, body, { json, question: more?.question ?? null }, signal);
    const endpoint = endpoints.get(name)!.endpoint!;
    const used = ownKey === null ? endpoint : { ...endpoint, apiKey: ownKey };
    const stream = body['stream'] === true;
    const { kept, fresh } = stream ? agents.streamed : agents.whole;
    const maxBytes = stream ? maxStreamBytes : maxAnswerBytes;
    return askEndpoint(kept, used, json, stream, maxBytes, signal).catch((error: unknown) => {
      if (!(error instanceof ProviderError) || !metDeadConnection(error.cause)) throw error;
      observer.retry(name);
      return askEndpoint(fresh, used, json, stream, maxBytes, signal);
    });
  };
  const ownKeyOf = async (orgId: string, name: string): Promise<string | null> => {
    if (!endpoints.get(name)?.endpoint) return null;
    // Without another key, one that was just set decides.
    return readOwnKey(orgId, name, check(name) !== null).catch((cause: unknown) => {
      const message = `The organization's key of the provider "${name}" cannot be read; set it again if this persists.`;
      throw new ProviderError('upstream_unreachable', message, cause);
    });
  };
  return {
    observer,
    trace: null,
    list: (own) =>
      ['local', ...endpoints.keys()].map((name) => ({
        name,
        usable: check(name, own) === null,
        reason: check(name, own),
      })),
    check,
    lessonsOf,
    send: (...call) => sendWith(null, ...call),
    forPayer: (payer, trace = null) => ({
      observer,
      trace,
      lessonsOf,
      send: async (name, ...call) => {
        // A call of `local` costs nothing.
        if (name !== 'local')
          await requireQuota(checkSpend, payer, { provider: name, model: String(call[0]['model']) });
        return sendWith(await ownKeyOf(payer.orgId, name), name, ...call);
      },
    }),
    addressOf(name) {
      const endpoint = endpoints.get(name)?.endpoint;
      if (!endpoint) return null;
      const { hostname: host, port, protocol } = new URL(endpoint.url);
      return { host, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
    },
    async close() {
      const all = [agents.whole, agents.streamed].flatMap(({ kept, fresh }) => [kept, fresh]);
      await Promise.all([...all.map((agent) => agent.close()), threads.close()]);
    },
  };
}

function providerNames(env: Record<string, string | undefined>): string[] {
  const configured = (env['RATCHET_PROVIDERS'] ?? '').split(',').map((name) => name.trim().toLowerCase());
  return [...new Set([...Object.keys(presets), ...configured.filter((name) => name !== '' && name !== 'local')])];
}

/** What is known of a provider; `fault`: why it is not usable without a key of the organization. */
interface Configured {
  endpoint: Endpoint | null;
  fault: string | null;
}

function configure(name: string, env: Record<string, string | undefined>): Configured {
  const unusable = (fault: string): Configured => ({ endpoint: null, fault });
  if (!/^[a-z][a-z0-9_-]*$/.test(name))
    return unusable(`"${name}" in RATCHET_PROVIDERS is not a name; use letters, digits, - and _.`);
  const preset = presets[name];
  const keys = [keySetting(name), ...(preset?.vendorKey ? [preset.vendorKey] : [])];
  const apiKey = keys.map((setting) => env[setting]?.trim()).find(Boolean) ?? null;
  const ownUrl = env[urlSetting(name)]?.trim() || null;
  const baseUrl = ownUrl ?? preset?.baseUrl;
  const form = preset?.form ? ` to ${preset.form}` : '';
  if (!baseUrl) return unusable(`The provider "${name}" has no address; set ${urlSetting(name)}${form}.`);
  const address = chatUrl(baseUrl);
  if ('problem' in address) return unusable(`${urlSetting(name)} ${address.problem}.`);
  const endpoint = { name, url: address.url, apiKey, keyHeader: keyHeaderOf(name, address.url) };
  const lacksKey = !apiKey && !ownUrl && preset?.needsKey;
  const fault = `The provider "${name}" has no key; set ${keys.join(' or ')} and start Ratchet again, or set a key of your organization.`;
  return { endpoint, fault: lacksKey ? fault : null };
}
