import { Agent } from 'undici';
import { answerLocally } from './provider-local.js';
import { ProviderError, type ModelAnswer } from './provider-answer.js';
import { askEndpoint, type Endpoint } from './provider-http.js';

export { ProviderError } from './provider-answer.js';

/** A provider as users see it; `reason`: why it is not usable. */
export interface ProviderInfo {
  name: string;
  usable: boolean;
  reason: string | null;
}

export interface Providers {
  list(): ProviderInfo[];
  /** Why the provider is not usable (unknown, no key), or null. */
  check(name: string): string | null;
  /**
   * Sends a chat completion request unchanged; `signal` bounds the body too. `written`: the body's
   * JSON, if there is one already. Rejects with a ProviderError or the signal's reason.
   */
  send(
    name: string,
    body: Record<string, unknown>,
    signal: AbortSignal,
    written?: { readonly json: string },
  ): Promise<ModelAnswer>;
  close(): Promise<void>;
}

interface ProviderEndpoint {
  baseUrl: string;
  needsKey: boolean;
}

/** OpenAI-compatible endpoints, from the vendors' documentation. */
const known: Record<string, ProviderEndpoint> = {
  openai: { baseUrl: 'https://api.openai.com/v1', needsKey: true },
  anthropic: { baseUrl: 'https://api.anthropic.com/v1', needsKey: true },
  google: { baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai', needsKey: true },
  groq: { baseUrl: 'https://api.groq.com/openai/v1', needsKey: true },
  mistral: { baseUrl: 'https://api.mistral.ai/v1', needsKey: true },
  deepseek: { baseUrl: 'https://api.deepseek.com/v1', needsKey: true },
  openrouter: { baseUrl: 'https://openrouter.ai/api/v1', needsKey: true },
  ollama: { baseUrl: 'http://127.0.0.1:11434/v1', needsKey: false },
};

/** Whether a stream needs `stream_options` for usage. Mistral always sends usage and refuses it. */
export function usageMustBeAsked(provider: string): boolean {
  return provider !== 'mistral';
}

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

/**
 * Providers from the environment: `<NAME>_API_KEY` and `<NAME>_BASE_URL`, with `_` for `-`. Names
 * in `RATCHET_PROVIDERS` need a base URL; only a vendor's own address needs a key.
 */
export function createProviders(env: Record<string, string | undefined>): Providers {
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, maxResponseSize: 32 * 1024 * 1024 });
  const endpoints = new Map(providerNames(env).map((name) => [name, configure(name, env)]));
  const check = (name: string): string | null => {
    if (name === 'local') return null;
    const endpoint = endpoints.get(name);
    if (typeof endpoint === 'string') return endpoint;
    return endpoint ? null : `Provider "${name}" not found; use one of ${['local', ...endpoints.keys()].join(', ')}.`;
  };
  return {
    list: () =>
      ['local', ...endpoints.keys()].map((name) => ({ name, usable: check(name) === null, reason: check(name) })),
    check,
    async send(name, body, signal, written) {
      if (name === 'local') return answerLocally(body);
      const endpoint = endpoints.get(name);
      if (!endpoint || typeof endpoint === 'string')
        throw new ProviderError('provider_not_usable', check(name) ?? name);
      return askEndpoint(agent, endpoint, written?.json ?? JSON.stringify(body), body['stream'] === true, signal);
    },
    close: () => agent.close(),
  };
}

function providerNames(env: Record<string, string | undefined>): string[] {
  const configured = (env['RATCHET_PROVIDERS'] ?? '').split(',').map((name) => name.trim().toLowerCase());
  return [...new Set([...Object.keys(known), ...configured.filter((name) => name !== '' && name !== 'local')])];
}

/** The endpoint, or the reason for its absence. */
function configure(name: string, env: Record<string, string | undefined>): Endpoint | string {
  if (!/^[a-z][a-z0-9_-]*$/.test(name))
    return `"${name}" in RATCHET_PROVIDERS is not a name; use letters, digits, - and _.`;
  const prefix = prefixOf(name);
  const apiKey = env[keySetting(name)]?.trim() || null;
  const ownUrl = env[`${prefix}_BASE_URL`]?.trim().replace(/\/+$/, '') || null;
  const baseUrl = ownUrl ?? known[name]?.baseUrl;
  if (!baseUrl) return `The provider "${name}" has no address; set ${prefix}_BASE_URL.`;
  if (!URL.canParse(baseUrl) || !/^https?:/.test(baseUrl)) return `${prefix}_BASE_URL is not an http(s) URL.`;
  if (!apiKey && !ownUrl && known[name]?.needsKey)
    return `The provider "${name}" has no key; set ${keySetting(name)} and restart the service.`;
  return { name, url: `${baseUrl}/chat/completions`, apiKey };
}
