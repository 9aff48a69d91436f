import { lookup as dnsLookup, type LookupAddress, type LookupAllOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { noProxy, type ProxySettings } from '../../util/proxy.js';
import { classifyAddress, hostAddress } from './addresses.js';
import { tolerantConnector } from './interim.js';
import { proxied } from './proxied.js';

/** `dev` also allows loopback and private addresses, `allowlist` only listed hosts. */
export type EgressMode = 'dev' | 'public' | 'allowlist';

/**
 * An `allowlist` entry is `host`, `host:port` or `*.domain`; a host listed by name may be private,
 * a host matched by a wildcard must be public.
 */
export interface EgressPolicy {
  mode: EgressMode;
  allowlist: string[];
  /** Default: none. A proxy resolves names itself: only names and literal addresses are checked. */
  proxy?: ProxySettings;
}

/** The address behind a name is not allowed; checked at connect, against DNS tricks. */
export class EgressError extends Error {
  override readonly name = 'EgressError';
}

const connectTimeoutMs = 5_000;
const maxAnswerBytes = 10 * 1024 * 1024;
const maxUrlLength = 2_048;

/** Why the service may not call this `container_url`, or null; the agent below checks addresses. */
export function checkContainerUrl(url: string, mode: EgressMode, allowlist: string[]): string | null {
  const reason = formProblem(url, 'send the key as container_api_key');
  if (reason !== null) return reason;
  const { search, hash } = new URL(url);
  if (search || hash)
    return 'A query or fragment is not supported; give the base that /health and /rollout are appended to.';
  return hostRefusal(url, { mode, allowlist });
}

/** Why the service may not call this `webhook_url`, or null. A query is allowed. */
export function checkWebhookUrl(url: string, mode: EgressMode, allowlist: string[]): string | null {
  return formProblem(url, 'verify the signature instead') ?? hostRefusal(url, { mode, allowlist });
}

function formProblem(url: string, insteadOfCredentials: string): string | null {
  if (url.length > maxUrlLength) return `The URL is longer than ${maxUrlLength} characters.`;
  if (!URL.canParse(url))
    return 'This is not a URL; give one like http://127.0.0.1:8000 or https://container.example.com.';
  const { protocol, username, password } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:')
    return `The scheme ${protocol} is not supported; use http: or https:.`;
  if (username || password) return `Credentials in the URL are not supported; ${insteadOfCredentials}.`;
  return null;
}

function hostRefusal(url: string, policy: EgressPolicy): string | null {
  const { protocol, hostname, port } = new URL(url);
  return refusal(policy, hostname, port || (protocol === 'https:' ? '443' : '80'), hostAddress(hostname));
}

/** Each call has its own total time-out; the agent's would cut off long rollouts. */
const limits = { maxResponseSize: maxAnswerBytes, headersTimeout: 0, bodyTimeout: 0 };

/**
 * HTTP agent for containers: checks the resolved address of every direct connection, follows no
 * redirects, connects within 5 s, limits an answer to 10 MiB.
 */
export function createEgressAgent(policy: EgressPolicy, resolve: typeof dnsLookup = dnsLookup): Dispatcher {
  const direct = new Agent({
    ...limits,
    connect: (target, callback) => {
      const port = target.port || (target.protocol === 'https:' ? '443' : '80');
      const reason = refusal(policy, target.hostname, port, hostAddress(target.hostname));
      if (reason !== null) {
        callback(new EgressError(reason), null);
        return;
      }
      const lookup = checkedLookup(policy, port, resolve);
      tolerantConnector({ timeout: connectTimeoutMs, lookup })(target, callback);
    },
  });
  const check = (origin: string) => {
    const reason = hostRefusal(origin, policy);
    if (reason !== null) throw new EgressError(reason);
  };
  return proxied(direct, { settings: policy.proxy ?? noProxy, limits, check });
}

/** DNS look-up under the policy: one refused address refuses the name. */
function checkedLookup(policy: EgressPolicy, port: string, resolve: typeof dnsLookup): LookupFunction {
  return (hostname, options, callback) => {
    const all: LookupAllOptions = { ...options, all: true } as LookupAllOptions;
    resolve(hostname, all, (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => {
      const refused = (found ?? [])
        .map(({ address }) => refusal(policy, hostname, port, address))
        .find((r) => r !== null);
      const [first] = found ?? [];
      if (error) callback(error, '');
      else if (refused) callback(new EgressError(refused), '');
      else if (options.all) callback(null, found);
      else callback(null, first?.address ?? '', first?.family);
    });
  };
}

/** Why a host is refused, without the address behind a name: that is the internal DNS. */
function refusal(
  { mode, allowlist }: EgressPolicy,
  hostname: string,
  port: string,
  address: string | null,
): string | null {
  const host = hostname.toLowerCase().replace(/\.$/, '');
  const kind = address === null ? namedKind(host) : classifyAddress(address);
  const listed = mode === 'allowlist' ? matchAllowlist(allowlist, host, port) : null;
  if (kind === 'forbidden')
    return `${host} leads to a link-local, metadata or reserved address, which is never called.`;
  if (mode === 'allowlist' && listed === null) {
    return `${host} is not on this deployment's allowlist; ask its operator to add it to RATCHET_EGRESS_ALLOW.`;
  }
  if (kind === 'private' && mode !== 'dev' && listed !== 'exact') {
    return `${host} leads to a loopback or private address, which RATCHET_EGRESS=${mode} does not allow.`;
  }
  return null;
}

/** Names with a fixed meaning; other names are judged by their addresses. */
function namedKind(host: string): 'private' | 'unknown' {
  return host === 'localhost' || host.endsWith('.localhost') ? 'private' : 'unknown';
}

function matchAllowlist(allowlist: string[], host: string, port: string): 'exact' | 'wildcard' | null {
  const entries = allowlist.map((entry) => entry.trim().toLowerCase());
  if (entries.some((entry) => entry === host || entry === `${host}:${port}`)) return 'exact';
  return entries.some((entry) => entry.startsWith('*.') && host.endsWith(entry.slice(1))) ? 'wildcard' : null;
}
