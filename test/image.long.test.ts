import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildImage, own, type Stage } from './support/image.js';
import { startCluster, type Cluster } from './support/servers/cluster.js';
import { ready } from './support/servers/tree.js';

// The image by the steps of its Dockerfile, without an engine: in empty folders, with only what
// .dockerignore passes, as the user of the image. Its Node and its Debian are this machine's.

const folder = mkdtempSync(join(tmpdir(), 'ratchet-image-'));
chmodSync(folder, 0o755);
const isRoot = process.getuid?.() === 0;
const started: ChildProcess[] = [];
let cluster: Cluster;
let image: Stage;

beforeAll(async () => {
  [cluster, image] = await Promise.all([startCluster(), buildImage(join(import.meta.dirname, '..'), folder)]);
}, 1_200_000);
afterAll(async () => {
  for (const child of started.filter(({ exitCode }) => exitCode === null)) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  await cluster?.close();
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

/** Starts a command of the image as its user; `node` of its base image has the id 1000. */
function start(command: string[], env: Record<string, string>): ChildProcess {
  const { PATH } = own();
  expect(image.user).toBe('node');
  const child = spawn(command[0]!, command.slice(1), {
    cwd: image.at(image.workdir),
    env: { ...image.env, HOME: '/nonexistent', ...env, PATH: `${image.at('/usr/local/bin')}:${PATH}` },
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(isRoot && { uid: 1000, gid: 1000 }),
  });
  started.push(child);
  return child;
}
const settings = () => ({ ...cluster.env, HOST: '127.0.0.1', PORT: '0' });

test('has the native part of its own system alone', () => {
  const releases = image.at('/app/node_modules/@temporalio/core-bridge/releases');
  expect(readdirSync(releases)).toEqual([`${process.arch === 'x64' ? 'x86_64' : 'aarch64'}-unknown-linux-gnu`]);
});

test('serves the dashboard and is healthy; its worker starts, too', async () => {
  const { url } = await ready(start([...image.entrypoint, ...image.cmd], settings()));
  const page = await fetch(url, { headers: { accept: 'text/html' } });
  expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
  const [, script] = /<script[^>]+src="([^"]+)"/.exec(await page.text())!;
  expect((await fetch(new URL(script!, url))).status).toBe(200);

  const health = start(image.healthcheck, { PORT: new URL(url).port });
  expect(await once(health, 'exit')).toEqual([0, null]);

  await ready(start([...image.entrypoint, 'worker'], { ...settings(), RATCHET_PUBLIC_URL: url }));
}, 180_000);
