import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, createSecureServer, type Http2SecureServer, type Http2Server } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createSilent } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectionFault } from '../../../src/platform/temporal/diagnosis.js';

let folder: string;
let crt: Buffer;
let key: Buffer;
const servers: (Http2SecureServer | Http2Server | Server)[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-diagnosis-'));
  const made = ['-keyout', 'key.pem', '-out', 'crt.pem', '-days', '2', '-subj', '/CN=localhost'];
  const names = ['-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...made, ...names], {
    cwd: folder,
    stdio: 'pipe',
  });
  crt = readFileSync(join(folder, 'crt.pem'));
  key = readFileSync(join(folder, 'key.pem'));
});
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true });
});

async function listening(server: Http2SecureServer | Http2Server | Server): Promise<string> {
  servers.push(server);
  server.on('sessionError', () => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const secure = (more = {}) => listening(createSecureServer({ cert: crt, key, ...more }));
const known = () => ({ serverRootCACertificate: crt });

test('a server that answers has no fault', async () => {
  expect(await connectionFault(await listening(createServer()), null)).toBeNull();
  expect(await connectionFault(await secure(), known())).toBeNull();
});

test('an address where nobody listens is the fault of the connection', async () => {
  const silent = createSilent();
  const address = await listening(silent);
  silent.close();
  await once(silent, 'close');
  expect(await connectionFault(address, null)).toContain('ECONNREFUSED');
  expect(await connectionFault(address, {})).toContain('ECONNREFUSED');
});

test('TLS on one side only names the setting', async () => {
  expect(await connectionFault(await secure(), null)).toContain('TEMPORAL_TLS=true');
  expect(await connectionFault(await listening(createServer()), {})).toContain('TEMPORAL_TLS=false');
});

test('an unknown authority, another name and a missing or refused client certificate are told apart', async () => {
  expect(await connectionFault(await secure(), {})).toContain('TEMPORAL_TLS_SERVER_CA_CERT_PATH');
  const named = { ...known(), serverNameOverride: 'other.example' };
  expect(await connectionFault(await secure(), named)).toContain('TEMPORAL_TLS_SERVER_NAME');
  const mutual = await secure({ ca: crt, requestCert: true, rejectUnauthorized: true });
  expect(await connectionFault(mutual, known())).toContain('set TEMPORAL_TLS_CLIENT_CERT_PATH');
  expect(await connectionFault(mutual, { ...known(), clientCertPair: { crt, key } })).toBeNull();
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'key2.pem', '-out', 'crt2.pem', '-subj', '/CN=other'],
    {
      cwd: folder,
      stdio: 'pipe',
    },
  );
  const [other, otherKey] = ['crt2.pem', 'key2.pem'].map((file) => readFileSync(join(folder, file)));
  const refused = { ...known(), clientCertPair: { crt: other!, key: otherKey! } };
  expect(await connectionFault(mutual, refused)).toContain('refuses the client certificate');
});
