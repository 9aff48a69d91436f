import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { findTemporalBinary } from '../../../src/platform/embedded/temporal-binary.js';
import { runTypeScript } from '../../support/children.js';
import { someOf } from '../../support/environment.js';
import { until } from '../../support/until.js';
import { freshFolder } from './folders.js';

const dead = 'http://127.0.0.1:1';
let real: string;

beforeAll(async () => {
  real = await findTemporalBinary(pino({ level: 'silent' }), join(homedir(), '.cache', 'ratchet'));
});

/** Starts and calls the server of a `temporal` on PATH, with an empty cache and without Go. */
async function call(script: string, variables: Record<string, string> = {}) {
  const folder = freshFolder();
  const bin = join(folder, 'ein Ordner für Programme');
  mkdirSync(bin);
  writeFileSync(join(bin, 'temporal'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, 'temporal'), 0o755);
  const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: folder, ...variables };
  const helper = join(import.meta.dirname, 'call-temporal.ts');
  const child = runTypeScript<{ address?: string; calls?: number; error?: string }>(
    helper,
    [join(folder, 'Daten für p'), join(folder, 'no cache')],
    { env },
  );
  const answer = await child.first;
  await child.ended;
  return answer;
}

const accepts = (address: string) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(Number(address.split(':')[1]), '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy());
  });

describe('the temporal on PATH', () => {
  test('may be a script that needs PATH and does not replace itself by its program', async () => {
    const { address, ...answer } = await call(`printf '' | cat; '${real}' "$@"; exit $?`);
    expect(answer).toEqual({ calls: 2 });
    await until('its program has ended, too', async () => !(await accepts(address!)));
  });

  test.each(
    someOf(
      [
        ['upper case', ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']],
        ['lower case', ['http_proxy', 'https_proxy', 'grpc_proxy', 'all_proxy']],
      ] as const,
      1,
    ),
  )('runs with an empty cache and is called beside dead proxies in %s', async (_, names) => {
    const proxies = Object.fromEntries(names.map((name) => [name, dead]));
    const answer = await call(`exec '${real}' "$@"`, { ...proxies, NODE_USE_ENV_PROXY: '1' });
    expect(answer).toEqual({ address: expect.any(String), calls: 2 });
  });
});
