import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { firstFree } from '../../../src/platform/embedded/ports.js';
import type { Target } from '../../inference-load.js';
import { installOnce } from '../npm.js';

/** The peer's version. */
export const portkeyVersion = '1.15.2';

const startMs = 30_000;

/** Portkey's gateway in its own process. */
export interface PortkeyGateway extends Target {
  pid: number;
  stop(): Promise<void>;
}

/** Installs the gateway below `folder` once and starts it for a model; rejects if it cannot. */
export async function startPortkey(folder: string, modelUrl: string): Promise<PortkeyGateway> {
  const home = join(folder, `portkey-${portkeyVersion}`);
  await installOnce(home, { '@portkey-ai/gateway': portkeyVersion });
  const server = join(home, 'node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js');
  const port = await firstFree();
  const args = ['--import', join(import.meta.dirname, 'loopback.mjs'), server, '--headless', `--port=${port}`];
  const child = spawn(process.execPath, args, {
    env: { NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-2_000)));
  const ended = once(child, 'close');
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  const base = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + startMs;
  while (!(await isUp(base))) {
    if (child.exitCode === null && Date.now() < deadline) await delay(100);
    else {
      await stop();
      throw new Error(`Portkey's gateway did not start: ${errors}`);
    }
  }
  const headers = () => ({ 'x-portkey-provider': 'openai', 'x-portkey-custom-host': modelUrl });
  return { url: `${base}/v1`, key: 'none', headers, pid: child.pid!, stop };
}

async function isUp(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
    () => true,
    () => false,
  );
}
