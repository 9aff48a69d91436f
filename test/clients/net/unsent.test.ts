import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { noCost } from '../../../src/models/client/cost.js';
import { completeChat } from '../../../src/models/client/complete-chat.js';
import { wasNotSent, type ProviderError } from '../../../src/models/client/answers/provider-answer.js';
import { createProviders, type ModelTry } from '../../../src/models/client/providers.js';
import { unsentFault } from '../../../src/clients/net/unsent.js';

const folder = mkdtempSync(join(tmpdir(), 'ratchet-tls-'));
const servers: Server[] = [];
const signal = new AbortController().signal;

afterAll(async () => {
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  rmSync(folder, { recursive: true });
});

const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });

/** A key and a certificate of `names`, signed by itself or by `ca`, valid from now for `days`. */
function certificate(name: string, names: string, { ca, expired }: { ca?: string; expired?: boolean } = {}) {
  openssl(
    'req',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.csr`,
    '-subj',
    `/CN=${name}`,
  );
  const by = ca ? ['-CA', `${ca}.crt`, '-CAkey', `${ca}.key`, '-CAcreateserial'] : ['-signkey', `${name}.key`];
  execFileSync('sh', ['-c', `printf 'subjectAltName=${names}' > ${name}.ext`], { cwd: folder });
  const days = expired ? ['-days', '-1'] : ['-days', '2'];
  openssl('x509', '-req', '-in', `${name}.csr`, ...by, '-out', `${name}.crt`, '-extfile', `${name}.ext`, ...days);
  return { key: readFileSync(join(folder, `${name}.key`)), cert: readFileSync(join(folder, `${name}.crt`)) };
}

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}

const tls = async (given: { key: Buffer; cert: Buffer }) =>
  `https://127.0.0.1:${await listening(createTlsServer(given, (socket) => socket.on('error', () => undefined)))}/v1`;

/** The error of one call to an address, and its tries. */
async function faultOf(url: string, env: Record<string, string> = {}) {
  const tries: ModelTry[] = [];
  const observer = { modelCall: (call: ModelTry) => void tries.push(call), retry: () => undefined };
  const providers = createProviders({ OPENAI_BASE_URL: url, OPENAI_API_KEY: 'k', ...env }, { observer });
  try {
    const sent = providers.send('openai', { model: 'm', messages: [] }, signal);
    const fault = (await sent.then(
      () => null,
      (error: unknown) => error,
    )) as ProviderError;
    const policy = { provider: 'openai', model: 'm', params: {} };
    const answer = await completeChat(providers, { policy, messages: [], signal, retryBaseMs: 1 });
    return { fault, answer, tries };
  } finally {
    await providers.close();
  }
}

describe('a fault before the first byte costs nothing and names its cause', () => {
  beforeAll(() => {
    certificate('authority', 'DNS:authority');
  });

  test.each<[string, RegExp, () => Promise<string>]>([
    [
      'a self-signed certificate',
      /DEPTH_ZERO_SELF_SIGNED_CERT.*NODE_EXTRA_CA_CERTS/,
      () => tls(certificate('own', 'IP:127.0.0.1')),
    ],
    [
      'an unknown authority',
      /UNABLE_TO_VERIFY_LEAF_SIGNATURE.*NODE_EXTRA_CA_CERTS/,
      () => tls(certificate('leaf', 'IP:127.0.0.1', { ca: 'authority' })),
    ],
    [
      'an expired certificate',
      /CERT_HAS_EXPIRED|certificate/,
      () => tls(certificate('old', 'IP:127.0.0.1', { ca: 'authority', expired: true })),
    ],
    [
      'an alert of TLS where none was asked',
      /speaks TLS.*https/,
      async () => {
        const alert = Buffer.from([0x15, 3, 1, 0, 2, 2, 0x46]);
        const server = createTcpServer((socket) => socket.once('data', () => socket.end(alert)));
        return `http://127.0.0.1:${await listening(server)}/v1`;
      },
    ],
    ['no TLS at all', /TLS handshake/, async () => `https://127.0.0.1:${await listening(createHttpServer())}/v1`],
  ])('%s', async (_name, expected, address) => {
    const { fault, answer, tries } = await faultOf(await address());
    expect(fault).toMatchObject({ code: 'upstream_unreachable', isLasting: true });
    expect(fault.message).toMatch(expected);
    expect(wasNotSent(fault)).toBe(true);
    // One try: no other one can succeed.
    expect(tries).toMatchObject([{ status: null, costUsd: noCost.costUsd }]);
    expect(answer).toMatchObject({ ok: false, code: 'upstream_unreachable', isLasting: true });
  });

  test.each<[string, RegExp, () => Promise<string>]>([
    [
      'a refused connection',
      /ECONNREFUSED/,
      async () => {
        const server = createTcpServer();
        const port = await listening(server);
        await new Promise((done) => server.close(done));
        servers.splice(servers.indexOf(server), 1);
        return `http://127.0.0.1:${port}/v1`;
      },
    ],
    ['an unknown name', /ENOTFOUND|EAI_AGAIN/, () => Promise.resolve('http://no-such-host.invalid/v1')],
    [
      'a connection that ends in the handshake',
      /TLS handshake/,
      async () =>
        `https://127.0.0.1:${await listening(createTcpServer((socket) => socket.once('data', () => socket.end())))}/v1`,
    ],
  ])('%s, which may pass', async (_name, expected, address) => {
    const { fault, tries } = await faultOf(await address());
    expect(fault).toMatchObject({ code: 'upstream_unreachable', isLasting: false });
    expect(fault.message).toMatch(expected);
    expect(tries.map(({ costUsd }) => costUsd)).toEqual([0, 0, 0]);
  });

  test.each([403, 407])('a proxy that refuses with %i', async (status) => {
    const proxy = createHttpServer();
    proxy.on('connect', (_request, socket) => socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`));
    const { fault } = await faultOf('https://models.test/v1', {
      https_proxy: `http://127.0.0.1:${await listening(proxy)}`,
    });
    expect(fault).toMatchObject({ code: 'upstream_unreachable', isLasting: true });
    expect(fault.message).toMatch(new RegExp(`proxy.*${status}`));
  });
});

test.each([
  ['CERT_HAS_EXPIRED', 'certificate', /clock/],
  ['CERT_NOT_YET_VALID', 'certificate', /clock/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate', /name/],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate', /NODE_EXTRA_CA_CERTS/],
  ['CERT_REVOKED', 'certificate', /NODE_EXTRA_CA_CERTS/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls', /TLS versions/],
  ['ENOTFOUND', 'address', null],
  ['ECONNREFUSED', 'connection', null],
])('%s is a fault of the %s with a remedy of its own', (code, cause, remedy) => {
  const fault = unsentFault(Object.assign(new Error('x'), { code }))!;
  expect(fault).toMatchObject({ cause, isLasting: remedy !== null });
  expect(fault.remedy ?? '').toMatch(remedy ?? /^$/);
});

test('a connection that breaks after the request has an unknown cost', async () => {
  const server = createTcpServer((socket) => socket.once('data', () => socket.destroy()));
  const { fault } = await faultOf(`http://127.0.0.1:${await listening(server)}/v1`);
  expect(fault).toMatchObject({ code: 'upstream_connection_lost' });
  expect(wasNotSent(fault)).toBe(false);
});
