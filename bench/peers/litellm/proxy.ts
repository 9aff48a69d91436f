import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { firstFree } from '../../../src/platform/embedded/ports.js';
import type { Target } from '../../inference-load.js';

const startMs = 120_000;

/** LiteLLM's proxy in its own process. */
export interface LitellmProxy extends Target {
  pid: number;
  stop(): Promise<void>;
}

/**
 * Starts LiteLLM's proxy for a model, `fake-1`: one worker, a master key, no database. Rejects if
 * it does not start.
 */
export async function startLitellm(python: string, modelUrl: string): Promise<LitellmProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'ratchet-litellm-'));
  const config = join(folder, 'config.yaml');
  const key = 'sk-bench';
  await writeFile(
    config,
    // JSON is YAML.
    JSON.stringify({
      model_list: [
        { model_name: 'fake-1', litellm_params: { model: 'openai/fake-1', api_base: modelUrl, api_key: 'none' } },
      ],
      general_settings: { master_key: key },
    }),
  );
  const port = await firstFree();
  const args = ['--config', config, '--host', '127.0.0.1', '--port', String(port), '--telemetry', 'False'];
  const child = spawn(python, ['-m', 'litellm.proxy.proxy_cli', ...args], {
    cwd: folder,
    env: {
      PATH: dirname(python),
      HOME: folder,
      LITELLM_MODE: 'PRODUCTION',
      LITELLM_LOG: 'ERROR',
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-2_000)));
  const ended = once(child, 'close');
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + startMs;
  while (!(await isUp(url))) {
    if (child.exitCode === null && Date.now() < deadline) await delay(250);
    else {
      await stop();
      throw new Error(`LiteLLM's proxy did not start: ${errors}`);
    }
  }
  return { url, key, pid: child.pid!, stop };
}

async function isUp(url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(5_000);
  return fetch(`${url}/health/liveliness`, { signal }).then(
    ({ ok }) => ok,
    () => false,
  );
}
