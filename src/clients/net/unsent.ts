/** Faults before the first byte of a request: by code, one rule for all peers. */
import { errorCode } from './untrusted.js';

/** What failed before the first byte; the last three have a remedy of their own. */
export type UnsentCause = 'address' | 'connection' | 'certificate' | 'tls' | 'proxy';

/** The reason why a request was not sent. `isLasting`: a retry fails until the set-up changes. */
export interface UnsentFault {
  cause: UnsentCause;
  /** A phrase such as `its certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)`. */
  reason: string;
  /** A sentence with the remedy; null: none of its own. */
  remedy: string | null;
  isLasting: boolean;
}

const dns: Record<string, string> = {
  ENOTFOUND: 'its name has no address',
  ENODATA: 'its name has no address',
  EAI_NODATA: 'its name has no address',
  EAI_NONAME: 'its name has no address',
  EAI_AGAIN: 'the name server gave no answer',
  EAI_FAIL: 'the name server failed',
  ESERVFAIL: 'the name server failed',
  EREFUSED: 'the name server refused the question',
  ETIMEOUT: 'the name server gave no answer',
};

const connection: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  EHOSTDOWN: 'the host is down',
  ENETDOWN: 'the network is down',
  EADDRNOTAVAIL: 'no local address is free',
  EAFNOSUPPORT: 'its kind of address is not supported here',
  UND_ERR_CONNECT_TIMEOUT: 'the connection was not accepted in time',
  ERR_SOCKET_CONNECTION_TIMEOUT: 'the connection was not accepted in time',
  EMFILE: 'this process has no free file descriptor',
  ENFILE: 'this machine has no free file descriptor',
};

/** Codes that also occur on an open connection; before it is open they name the system call. */
const whileConnecting = new Set(['ETIMEDOUT', 'ECONNRESET', 'ECONNABORTED', 'EACCES', 'EPERM', 'ENOENT', 'EINVAL']);

const ownAuthority = 'Set NODE_EXTRA_CA_CERTS to the file of its authority, and start Ratchet again.';

const certificates: Record<string, [reason: string, remedy: string]> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: ['its certificate is self-signed', ownAuthority],
  SELF_SIGNED_CERT_IN_CHAIN: ['its certificate is of an authority that is not trusted here', ownAuthority],
  UNABLE_TO_GET_ISSUER_CERT: ['its certificate is of an authority that is not known here', ownAuthority],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ['its certificate is of an authority that is not known here', ownAuthority],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['its certificate is of an authority that is not known here', ownAuthority],
  CERT_UNTRUSTED: ['its certificate is of an authority that is not trusted here', ownAuthority],
  CERT_HAS_EXPIRED: ['its certificate has expired', 'Renew the certificate, and check the clock of this machine.'],
  CERT_NOT_YET_VALID: ['its certificate is not valid yet', 'Check the clock of this machine.'],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'its certificate is of another host name',
    'Use a name that the certificate has in the URL.',
  ],
  HOSTNAME_MISMATCH: ['its certificate is of another host name', 'Use a name that the certificate has in the URL.'],
};

const otherCertificate =
  /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_(CA|PURPOSE)|CRL_|PATH_LENGTH|ERROR_IN_C)/;
/** A record that cannot be read comes on an open connection. */
const handshake = /^(EPROTO|ERR_TLS_|ERR_SSL_(?!DECRYPTION|BAD_RECORD)|UND_ERR_PRX_TLS)/;
const tunnel = /^Proxy (?:response|Authentication Required) \((\d+)\)/;
/** Node's words for a connection that ended in the handshake, with the code of a reset. */
const beforeTls = /before secure TLS connection was established/;

/** The fault, if it came before the first byte; null: the request may have arrived. */
export function unsentFault(error: unknown): UnsentFault | null {
  for (const one of withCauses(error)) {
    const found = faultOf(one);
    if (found) return found;
  }
  return null;
}

/** An error, its causes and its parts: an attempt at several addresses has several. */
function* withCauses(error: unknown, depth = 0): Generator<Error> {
  if (errorCode(error) === null || depth > 4) return;
  const one = error as Error & { errors?: unknown };
  yield one;
  for (const part of Array.isArray(one.errors) ? one.errors : []) yield* withCauses(part, depth + 1);
  yield* withCauses(one.cause, depth + 1);
}

function faultOf(error: Error): UnsentFault | null {
  const code = errorCode(error) ?? '';
  const named = (cause: UnsentCause, reason: string, remedy: string | null = null): UnsentFault => ({
    cause,
    reason: `${reason} (${code})`,
    remedy,
    isLasting: remedy !== null,
  });
  if ('data' in error && /^\x15\x03/.test(String(error.data))) {
    return { cause: 'tls', reason: 'its port speaks TLS', remedy: 'Use https in the URL.', isLasting: true };
  }
  const refusal = tunnel.exec(error.message)?.[1];
  if (refusal !== undefined) return refusedByProxy(Number(refusal));
  if (dns[code] !== undefined) return named('address', dns[code]);
  if (connection[code] !== undefined) return named('connection', connection[code]);
  const certificate = certificates[code];
  if (certificate) return named('certificate', ...certificate);
  if (otherCertificate.test(code)) return named('certificate', 'its certificate is not accepted', ownAuthority);
  const tls = 'Check the scheme, the port and the TLS versions of the URL.';
  if (handshake.test(code)) return named('tls', 'the TLS handshake failed', tls);
  if (beforeTls.test(error.message)) return named('connection', 'the connection ended in the TLS handshake');
  const call = 'syscall' in error ? error.syscall : undefined;
  if (whileConnecting.has(code) && call === 'connect') return named('connection', 'the connection could not be made');
  return call === 'getaddrinfo' ? named('address', 'its name cannot be resolved') : null;
}

function refusedByProxy(status: number): UnsentFault {
  const isLasting = status < 500;
  const remedy =
    status === 407
      ? 'Give the user and the password of the proxy in its URL (http_proxy, https_proxy), or add the host to no_proxy.'
      : 'Ask the operator of the proxy to allow the host, or add it to no_proxy.';
  const reason = `the proxy refused the connection with ${status}`;
  return { cause: 'proxy', reason, remedy, isLasting };
}
