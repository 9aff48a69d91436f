/** Why Temporal does not answer at its address: gRPC's own errors do not say. */
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';

/** The part of Temporal's TLS settings that a handshake depends on. */
export interface TlsSettings {
  serverNameOverride?: string;
  serverRootCACertificate?: Uint8Array;
  clientCertPair?: { crt: Uint8Array; key: Uint8Array };
}

interface Server {
  host: string;
  port: number;
}

const answerMs = 1_000;
/** The preface of HTTP/2 with empty settings: any gRPC server answers with its own. */
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');
/** The type of an alert of TLS, which a server of TLS answers to anything else. */
const tlsAlert = 0x15;

/** The cause with its setting as a part of a sentence; null: the server answers, or too late. */
export async function connectionFault(address: string, tls: TlsSettings | null): Promise<string | null> {
  const server = serverOf(address);
  const { error, answer } = await ask(() => (tls ? connectTls(tlsOptions(server, tls)) : connectPlain(server)));
  if (error) return tls ? tlsFault(error, tls) : plainFault(error, server);
  // A server that waits for a handshake closes, or sends an alert.
  const isPlain = answer === null || (answer.length > 0 && answer[0] !== tlsAlert);
  return isPlain ? null : tls ? refusedCertificate(tls) : plainFault(null, server);
}

function serverOf(address: string): Server {
  const { hostname, port } = new URL(`temporal://${address.replace(/^\w+:\/+/, '')}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || 7233 };
}

function tlsOptions({ host, port }: Server, tls: TlsSettings): ConnectionOptions {
  const { serverNameOverride, serverRootCACertificate, clientCertPair } = tls;
  const servername = serverNameOverride ?? (isIP(host) ? undefined : host);
  return {
    host,
    port,
    ALPNProtocols: ['h2'],
    ...(servername !== undefined && { servername }),
    ...(serverRootCACertificate && { ca: Buffer.from(serverRootCACertificate) }),
    ...(clientCertPair && { cert: Buffer.from(clientCertPair.crt), key: Buffer.from(clientCertPair.key) }),
  };
}

/** The first bytes of the server, empty where it closes; null: none in time. */
interface Answer {
  error: NodeJS.ErrnoException | null;
  answer: Buffer | null;
}

function ask(open: () => Socket): Promise<Answer> {
  return new Promise((resolve) => {
    let socket: Socket | null = null;
    const end = (result: Answer) => {
      clearTimeout(timer);
      socket?.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => end({ error: null, answer: null }), answerMs);
    try {
      socket = open();
    } catch (error) {
      // A certificate or key that cannot be read.
      return end({ error: error as Error, answer: null });
    }
    socket.on('error', (error) => end({ error, answer: null }));
    socket.on('data', (answer: Buffer) => end({ error: null, answer }));
    socket.on('close', () => end({ error: null, answer: Buffer.alloc(0) }));
    socket.write(preface);
  });
}

async function plainFault(error: NodeJS.ErrnoException | null, server: Server): Promise<string | null> {
  if (error && error.code !== 'ECONNRESET' && error.code !== 'EPIPE') return error.message;
  const handshake = { ...tlsOptions(server, {}), rejectUnauthorized: false };
  const secure = await ask(() => connectTls(handshake));
  if (!isNoTls(secure.error)) return 'it requires TLS: set TEMPORAL_TLS=true, or a certificate';
  return error?.message ?? 'it closes the connection';
}

const isNoTls = (error: NodeJS.ErrnoException | null) =>
  error?.code === 'ECONNRESET' || /wrong.version.number|packet.length.too.long/i.test(error?.message ?? '');

function tlsFault(error: NodeJS.ErrnoException, tls: TlsSettings): string {
  const { code = '', message } = error;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `${message}: set TEMPORAL_TLS_SERVER_NAME`;
  if (/SELF_SIGNED|ISSUER|VERIFY_LEAF/.test(code)) {
    return `${message}: name the authority of its certificate in TEMPORAL_TLS_SERVER_CA_CERT_PATH`;
  }
  if (/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/.test(code)) return `the server's certificate is not valid now: ${message}`;
  if (/^E(CONNREFUSED|NOTFOUND|HOSTUNREACH|NETUNREACH|TIMEDOUT|AI_AGAIN)$/.test(code)) return message;
  if (isNoTls(error)) return code === 'ECONNRESET' ? refusedCertificate(tls) : 'it uses no TLS: set TEMPORAL_TLS=false';
  if (/ALERT/.test(code)) return refusedCertificate(tls);
  return `${message}: check TEMPORAL_TLS_CLIENT_CERT_PATH, TEMPORAL_TLS_CLIENT_KEY_PATH and TEMPORAL_TLS_SERVER_CA_CERT_PATH`;
}

function refusedCertificate({ clientCertPair }: TlsSettings): string {
  return clientCertPair
    ? 'it refuses the client certificate of TEMPORAL_TLS_CLIENT_CERT_PATH'
    : 'it requires a client certificate: set TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH';
}
