import type { Endpoint } from '../connections/provider-http.js';
import { chatUrl } from './base-url.js';
import { keyHeaderOf, presets } from './presets.js';

/** A provider as users see it; `reason`: why it is not usable. */
export interface ProviderInfo {
  name: string;
  usable: boolean;
  reason: string | null;
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

/** The setting that switches the provider `local` off. */
const localSetting = 'RATCHET_ALLOW_LOCAL_PROVIDER';

/** The providers of an environment, and `local`. */
export class ConfiguredProviders {
  readonly #all: ReadonlyMap<string, Configured>;
  readonly #allowsLocal: boolean;

  constructor(env: Record<string, string | undefined>, allowsLocal: boolean) {
    this.#all = new Map(providerNames(env).map((name) => [name, configure(name, env)]));
    this.#allowsLocal = allowsLocal;
  }

  /** Null: it has no address. */
  endpointOf(name: string): Endpoint | null {
    return this.#all.get(name)?.endpoint ?? null;
  }

  /** Why the provider is not usable, or null; `own`: those with a key of the organization. */
  check(name: string, own?: ReadonlySet<string>): string | null {
    if (name === 'local')
      return this.#allowsLocal ? null : `The provider "local" is switched off by ${localSetting}=0; use another one.`;
    const configured = this.#all.get(name);
    if (!configured) return `Provider "${name}" not found; use one of ${this.#names().join(', ')}.`;
    return configured.endpoint && own?.has(name) ? null : configured.fault;
  }

  list(own?: ReadonlySet<string>): ProviderInfo[] {
    return this.#names().map((name) => {
      const reason = this.check(name, own);
      return { name, usable: reason === null, reason };
    });
  }

  addressOf(name: string): { host: string; port: number } | null {
    const endpoint = this.endpointOf(name);
    if (!endpoint) return null;
    const { hostname: host, port, protocol } = new URL(endpoint.url);
    return { host, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
  }

  #names(): string[] {
    return ['local', ...this.#all.keys()];
  }
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
  const fault = `The provider "${name}" has no key; set ${keys.join(' or ')} and start Ratchet again, or store a key of your organization: ratchet provider-keys set ${name} < key.txt`;
  return { endpoint, fault: lacksKey ? fault : null };
}
