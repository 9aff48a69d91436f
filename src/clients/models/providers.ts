import { Agent } from 'undici';
import { answerLocally } from './provider-local.js';
import { ProviderError, type ModelAnswer } from './provider-answer.js';
import { askEndpoint, type Endpoint } from './provider-http.js';

export { ProviderError } from './provider-answer.js';

/** A provider as callers see it; `reason` says what is missing when it is not usable. */
export interface ProviderInfo {
  name: string;
  usable: boolean;
  reason: string | null;
}

/** The model providers of this deployment. */
export interface Providers {
  list(): ProviderInfo[];
  /** Why this provider cannot be used (unknown, or without a key), or null when it can. */
  check(name: string): string | null;
  /**
   * Sends a chat completion request as it is. Resolves once the answer's head is there; `signal` bounds the body too.
   * Rejects with a ProviderError when there is no answer, or with the signal's reason.
   */
  send(name: string, body: Record<string, unknown>, signal: AbortSignal): Promise<ModelAnswer>;
  close(): Promise<void>;
}

interface Known {
  baseUrl: string;
  needsKey: boolean;
}

/** OpenAI-compatible endpoints, as their vendors document them. */
const known: Record<string, Known> = {
  openai: { baseUrl: 'https://api.openai.com/v1', needsKey: true },
  anthropic: { baseUrl: 'https://api.anthropic.com/v1', needsKey: true },
  google: { baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai', needsKey: true },
  groq: { baseUrl: 'https://api.groq.com/openai/v1', needsKey: true },
  mistral: { baseUrl: 'https://api.mistral.ai/v1', needsKey: true },
  deepseek: { baseUrl: 'https://api.deepseek.com/v1', needsKey: true },
  openrouter: { baseUrl: 'https://openrouter.ai/api/v1', needsKey: true },
  ollama: { baseUrl: 'http://127.0.0.1:11434/v1', needsKey: false },
};

/**
 * Whether usage in a stream must be asked for. Mistral sends it anyway and refuses a request with `stream_options`.
 */
export function usageMustBeAsked(provider: string): boolean {
  return provider !== 'mistral';
}

/** The setting that has a provider's key. */
export function keySetting(provider: string): string {
  return `${prefixOf(provider)}_API_KEY`;
}

/** What the names of a provider's settings begin with. */
function prefixOf(provider: string): string {
  return provider.toUpperCase().replaceAll('-', '_');
}

/**
 * The providers that the environment configures: `<NAME>_API_KEY` and `<NAME>_BASE_URL` for the known ones, and for
 * every other name in `RATCHET_PROVIDERS` (comma-separated), which needs a base URL; `-` in a name is `_` there. A key is
 * only required at a vendor's own address.
 */
export function createProviders(env: Record<string, string | undefined>): Providers {
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, maxResponseSize: 32 * 1024 * 1024 });
  const endpoints = new Map(providerNames(env).map((name) => [name, configure(name, env)]));
  const check = (name: string): string | null => {
    if (name === 'local') return null;
    const endpoint = endpoints.get(name);
    if (typeof endpoint === 'string') return endpoint;
    return endpoint
      ? null
      : `The provider "${name}" is not known; use one of ${['local', ...endpoints.keys()].join(', ')}.`;
  };
  return {
    list: () =>
      ['local', ...endpoints.keys()].map((name) => ({ name, usable: check(name) === null, reason: check(name) })),
    check,
    async send(name, body, signal) {
      if (name === 'local') return answerLocally(body);
      const endpoint = endpoints.get(name);
      if (!endpoint || typeof endpoint === 'string')
        throw new ProviderError('provider_not_usable', check(name) ?? name);
      return askEndpoint(agent, endpoint, body, signal);
    },
    close: () => agent.close(),
  };
}

function providerNames(env: Record<string, string | undefined>): string[] {
  const configured = (env['RATCHET_PROVIDERS'] ?? '').split(',').map((name) => name.trim().toLowerCase());
  return [...new Set([...Object.keys(known), ...configured.filter((name) => name !== '' && name !== 'local')])];
}

/** The endpoint, or why there is none. */
function configure(name: string, env: Record<string, string | undefined>): Endpoint | string {
  if (!/^[a-z][a-z0-9_-]*$/.test(name))
    return `"${name}" in RATCHET_PROVIDERS is not a name; use letters, digits, - and _.`;
  const prefix = prefixOf(name);
  const apiKey = env[keySetting(name)]?.trim() || null;
  const ownUrl = env[`${prefix}_BASE_URL`]?.trim().replace(/\/+$/, '') || null;
  const baseUrl = ownUrl ?? known[name]?.baseUrl;
  if (!baseUrl) return `The provider "${name}" has no address; set ${prefix}_BASE_URL.`;
  if (!URL.canParse(baseUrl) || !/^https?:/.test(baseUrl)) return `${prefix}_BASE_URL is not an http(s) URL.`;
  if (!apiKey && !ownUrl && known[name]?.needsKey) return `The provider "${name}" has no key; set ${keySetting(name)}.`;
  return { name, url: `${baseUrl}/chat/completions`, apiKey };
}
