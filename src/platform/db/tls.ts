import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { DatabaseStartError } from './errors.js';
import type { TlsParameters } from './url.js';

/** How to connect to a server: without TLS, or with it. */
export type Encryption = false | ConnectionOptions;

const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'] as const;
type Mode = (typeof modes)[number];

const unverified: ConnectionOptions = { rejectUnauthorized: false };

/**
 * What libpq tries for the parameters of a URL, in its order. Without a root certificate, `require`
 * verifies nothing, and `verify-ca` as much as `verify-full`, by the certificates that Node trusts.
 */
export function encryptions(tls: TlsParameters): Encryption[] {
  const mode = modeOf(tls);
  if (mode === 'disable') return [false];
  const own = { ...clientCertificate(tls), ...versions(tls) };
  const ca = tls.sslrootcert === undefined || tls.sslrootcert === 'system' ? null : readRoots(tls.sslrootcert);
  const any = { ...own, ...(ca && { ca }), ...unverified };
  if (mode === 'allow') return [false, any];
  if (mode === 'prefer') return [any, false];
  if (mode === 'no-verify' || (mode === 'require' && ca === null)) return [any];
  const crl = tls.sslcrl === undefined ? null : readFile('sslcrl', tls.sslcrl);
  const verified = { ...own, ...(ca && { ca }), ...(crl && { crl }) };
  return [mode === 'verify-full' || ca === null ? verified : { ...verified, checkServerIdentity: () => undefined }];
}

function modeOf({ sslmode, sslrootcert, sslnegotiation }: TlsParameters): Mode {
  const fallback = sslrootcert === 'system' ? 'verify-full' : sslnegotiation === 'direct' ? 'require' : 'prefer';
  const mode = modes.find((name) => name === (sslmode ?? fallback));
  if (mode === undefined) throw new DatabaseStartError(`must have an sslmode of ${modes.slice(0, -1).join(', ')}`);
  if (sslrootcert === 'system' && mode !== 'verify-full' && mode !== 'disable')
    throw new DatabaseStartError('must have sslmode=verify-full with sslrootcert=system');
  if (sslnegotiation === 'direct' && ['disable', 'allow', 'prefer'].includes(mode))
    throw new DatabaseStartError('must have sslmode=require or a stronger one with sslnegotiation=direct');
  return mode;
}

const protocols = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const;

function versions(tls: TlsParameters): ConnectionOptions {
  const read = (name: 'ssl_min_protocol_version' | 'ssl_max_protocol_version') => {
    const given = tls[name];
    const version = protocols.find((known) => known.toLowerCase() === given?.toLowerCase());
    if (given !== undefined && version === undefined)
      throw new DatabaseStartError(`must have an ${name} of ${protocols.join(', ')}`);
    return version;
  };
  const [minVersion, maxVersion] = [read('ssl_min_protocol_version'), read('ssl_max_protocol_version')];
  return { ...(minVersion && { minVersion }), ...(maxVersion && { maxVersion }) };
}

function readRoots(file: string): string {
  const roots = readFile('sslrootcert', file);
  try {
    new X509Certificate(roots);
  } catch (cause) {
    throw new DatabaseStartError(`names no certificate in PEM by its sslrootcert ${file}`, { cause });
  }
  return roots;
}

const clientCertificate = ({ sslcert, sslkey, sslpassword }: TlsParameters): ConnectionOptions => ({
  ...(sslcert !== undefined && { cert: readFile('sslcert', sslcert) }),
  ...(sslkey !== undefined && { key: readFile('sslkey', sslkey) }),
  ...(sslpassword !== undefined && { passphrase: sslpassword }),
});

function readFile(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new DatabaseStartError(`names a file that cannot be read by its ${name}: ${file} (${code ?? message})`, {
      cause,
    });
  }
}
