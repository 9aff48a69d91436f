import ipaddr from 'ipaddr.js';
import { isLoopback } from './loopback.js';

/** The proxies of the environment; URLs with the scheme http or https. */
export interface ProxySettings {
  http: string | null;
  https: string | null;
  /** Hosts that are called directly: names, domains, addresses, CIDR blocks, or `*`. */
  direct: string[];
}

export const noProxy: ProxySettings = { http: null, https: null, direct: [] };

/** Channel option of gRPC, which otherwise reads proxies from the environment, for loopback too. */
export const directGrpc = { 'grpc.enable_http_proxy': 0 };

type Variable = 'http_proxy' | 'https_proxy';

/**
 * Reads `http_proxy`, `https_proxy` and `no_proxy`, in lower case before upper case. As curl does,
 * takes a proxy without a scheme for http. `problems` names values that cannot be used.
 */
export function readProxySettings(env: Record<string, string | undefined>): {
  settings: ProxySettings;
  problems: string[];
} {
  const problems: string[] = [];
  const valueOf = (name: string) => env[name] || env[name.toUpperCase()] || '';
  const read = (name: Variable): string | null => {
    const value = valueOf(name).trim();
    if (value === '') return null;
    const url = value.includes('://') ? value : `http://${value}`;
    if (URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol)) return url;
    problems.push(`${name} is no http:// or https:// URL and is not used`);
    return null;
  };
  const [http, https] = [read('http_proxy'), read('https_proxy')];
  const direct = valueOf('no_proxy')
    .split(/[,\s]+/)
    .filter(Boolean);
  return { settings: { http, https, direct }, problems };
}

/**
 * The proxy for a URL; null: none. This machine is always called directly. Without `https_proxy`
 * the one of `http_proxy` serves https, too.
 */
export function proxyFor({ http, https, direct }: ProxySettings, url: string): string | null {
  const { protocol, hostname, port } = new URL(url);
  const proxy = protocol === 'http:' ? http : (https ?? http);
  const host = hostname.toLowerCase().replace(/^\[|\]$/g, '');
  if (proxy === null || isThisMachine(host)) return null;
  const actual = port || (protocol === 'http:' ? '80' : '443');
  return direct.some((entry) => covers(entry.toLowerCase(), host, actual)) ? null : proxy;
}

function isThisMachine(host: string): boolean {
  return isLoopback(host) || host.endsWith('.localhost') || host === '0.0.0.0' || host === '::';
}

function covers(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  if (entry.includes('/')) return isInBlock(entry, host);
  const [, name = entry, onPort] = /^(.+?)(?::(\d+))?$/.exec(ipaddr.isValid(entry) ? `[${entry}]` : entry) ?? [];
  if (onPort !== undefined && onPort !== port) return false;
  const domain = name.replace(/^\*?\./, '').replace(/^\[|\]$/g, '');
  return host === domain || host.endsWith(`.${domain}`);
}

function isInBlock(block: string, host: string): boolean {
  if (!ipaddr.isValid(host) || !ipaddr.isValidCIDR(block)) return false;
  const address = ipaddr.process(host);
  const [base, bits] = ipaddr.parseCIDR(block);
  return address.kind() === base.kind() && address.match(base, bits);
}
