import { DatabaseStartError } from './errors.js';

/** A URL of Postgres, read as libpq reads it. null: not in the URL. */
export interface DatabaseUrl {
  /** In the order in which they are tried; a host that begins with a slash is a socket's folder. */
  servers: Server[];
  user: string | null;
  password: string | null;
  database: string | null;
  options: string | null;
  applicationName: string | null;
  /** Binds the password's exchange to TLS where the server offers it. */
  channelBinding: boolean;
  tls: TlsParameters;
}

export interface Server {
  /** null: the driver's default, localhost. */
  host: string | null;
  port: number;
  /** Where `host` is, without a look-up of its name. */
  address: string | null;
}

/** Parameters of the URL about TLS, as libpq names them. */
export type TlsParameters = Partial<Record<(typeof tlsNames)[number], string>>;

const tlsNames = [
  ...(['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslpassword', 'sslcrl', 'sslnegotiation'] as const),
  ...(['ssl_min_protocol_version', 'ssl_max_protocol_version'] as const),
] as const;
/** Parameters of libpq that refuse servers, which the driver does not know. */
const unsupported = ['require_auth', 'requirepeer', 'sslcrldir', 'sslcertmode'];
/** Parameters that may hold an unencoded `@`; a password of others may have ended in them. */
const known: readonly string[] = [...tlsNames, 'user', 'password', 'host', 'hostaddr', 'port', 'dbname', 'options'];
const defaultPort = 5432;

/** The message shows no part of the URL: what looks like a host may be the end of a password. */
function refuse(problem: string): never {
  throw new DatabaseStartError(problem);
}
const encoded = 'percent-encode special characters of the password: @ is %40, / is %2F, % is %25, ? is %3F, # is %23';

/** The parts of a URL before they are decoded. */
interface Parts {
  credentials: string | null;
  hosts: string;
  database: string;
  parameters: [name: string, value: string][];
}

/** Reads a URL. Throws a DatabaseStartError, a sentence without subject or any part of the URL. */
export function readDatabaseUrl(url: string): DatabaseUrl {
  const { credentials, hosts, database, parameters } = split(url);
  const given = new Map(parameters.map(([name, value]) => [name, decode(value)]));
  const unknown = unsupported.find((name) => given.has(name));
  if (unknown !== undefined) refuse(`has the parameter ${unknown}, which is not supported: leave it out`);
  const colon = credentials?.indexOf(':') ?? -1;
  const user = colon < 0 ? credentials : credentials!.slice(0, colon);
  const password = colon < 0 ? null : credentials!.slice(colon + 1);
  return {
    servers: readServers(hosts, given),
    user: given.get('user') ?? (user ? decode(user) : null),
    password: given.get('password') ?? (password ? decode(password) : null),
    database: given.get('dbname') ?? (decode(database) || null),
    // Other libraries write a space as +, which no setting needs.
    options: given.get('options')?.replaceAll('+', ' ') ?? null,
    applicationName: given.get('application_name') ?? null,
    channelBinding: ['prefer', 'require'].includes(given.get('channel_binding') ?? ''),
    tls: readTls(given),
  };
}

/** The same URL with another user and password. */
export function urlAs(url: string, user: string, password: string): string {
  const { hosts, database, parameters } = split(url);
  const rest = parameters.filter(([name]) => name !== 'user' && name !== 'password');
  const query = rest.map(([name, value]) => `${name}=${value}`).join('&');
  const credentials = [user, password].map(encodeURIComponent).join(':');
  return `postgres://${credentials}@${hosts}/${database}${query && `?${query}`}`;
}

/** The servers of a URL as a message may show them. */
export function shownServers({ servers }: DatabaseUrl): string {
  return servers.map(({ host, port }) => (host?.startsWith('/') ? host : `${host ?? 'localhost'}:${port}`)).join(',');
}

function split(url: string): Parts {
  const [scheme] = /^postgres(?:ql)?:\/\//i.exec(url.trim()) ?? refuse('must be a postgres:// URL');
  const rest = url.trim().slice(scheme.length);
  // As in libpq: the first @ ends the password, unless the path begins before it.
  const at = /^[^@/]*@/.exec(rest)?.[0].length ?? 0;
  const [, hosts = '', database = '', query = ''] = /^([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s.exec(rest.slice(at)) ?? [];
  if (`${hosts}${database}`.includes('@')) refuse(`has more than one @ before its parameters: ${encoded}`);
  const parameters = query.split('&').filter(Boolean).map(readParameter);
  return { credentials: at > 0 ? rest.slice(0, at - 1) : null, hosts, database, parameters };
}

function readParameter(text: string): [name: string, value: string] {
  const equals = text.indexOf('=');
  const [name, value] = [text.slice(0, equals), text.slice(equals + 1)];
  if (equals < 1 || name.includes('@') || (value.includes('@') && !known.includes(name)))
    refuse(`has a parameter that is not name=value: ${encoded}`);
  return [name, value];
}

function decode(text: string): string {
  try {
    const decoded = decodeURIComponent(text);
    if (!decoded.includes('\0')) return decoded;
  } catch {
    // A % without two hexadecimal digits of UTF-8 after it.
  }
  return refuse(`has a % that encodes no character: ${encoded}`);
}

/** Hosts of the authority, which the parameters host, hostaddr and port replace. */
function readServers(authority: string, given: ReadonlyMap<string, string>): Server[] {
  const named = authority.split(',').map((text) => {
    const [, v6, name = '', port = ''] =
      /^(?:\[([^[\]]*)\]|([^:[\]]*))(?::(.*))?$/s.exec(text) ?? refuse(`names a host that is none: ${encoded}`);
    return { host: v6 ?? decode(name), port };
  });
  const list = (name: string) => given.get(name)?.split(',') ?? null;
  const addresses = list('hostaddr');
  const hosts = list('host') ?? (authority === '' && addresses ? addresses : named.map(({ host }) => host));
  const ports = list('port') ?? named.map(({ port }) => port);
  if ((ports.length !== 1 && ports.length !== hosts.length) || (addresses && addresses.length !== hosts.length))
    refuse('must have one port for all hosts, or one of each list for each host');
  return hosts.map((host, at) => ({
    host: host || null,
    port: readPort((ports.length === 1 ? ports[0] : ports[at])!),
    address: addresses?.[at] || null,
  }));
}

function readPort(text: string): number {
  if (text === '') return defaultPort;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) refuse(`has a port that is no number from 1 to 65535: ${encoded}`);
  return port;
}

function readTls(given: ReadonlyMap<string, string>): TlsParameters {
  const names = tlsNames.filter((name) => given.get(name));
  const tls: TlsParameters = Object.fromEntries(names.map((name) => [name, given.get(name)!]));
  // Forms of other drivers.
  const ssl = given.get('ssl');
  if (tls.sslmode !== undefined || ssl === undefined) return tls;
  return { ...tls, sslmode: ['true', '1'].includes(ssl) ? 'require' : ['false', '0'].includes(ssl) ? 'disable' : ssl };
}
