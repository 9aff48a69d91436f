import { Agent, request } from 'undici';
import { rolloutBody, rolloutHeaders, type RolloutRequest } from '../src/clients/container/request.js';
import { now } from './clock.js';

/** The baseline without durability: the same rollouts in a loop. Total milliseconds. */
export async function plainClient(url: string, rollouts: number, atOnce: number): Promise<number> {
  const dispatcher = new Agent({ connections: atOnce, pipelining: 1 });
  const startedAt = now();
  let next = 0;
  const loop = async () => {
    while (next < rollouts) {
      const rolloutInput = rolloutRequest(url, next++);
      const answer = await request(`${url}/rollout`, {
        dispatcher,
        method: 'POST',
        headers: rolloutHeaders(rolloutInput),
        body: JSON.stringify(rolloutBody(rolloutInput)),
        signal: AbortSignal.timeout(60_000),
      });
      if (answer.statusCode !== 200) throw new Error(`the container answered ${answer.statusCode}`);
      JSON.parse(await answer.body.text());
    }
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
  const ms = now() - startedAt;
  await dispatcher.close();
  return ms;
}

function rolloutRequest(url: string, seed: number): RolloutRequest {
  return {
    url,
    apiKey: null,
    rolloutId: `rol_${String(seed).padStart(32, '0')}_${seed}`,
    seed,
    envName: 'bench',
    envConfig: {},
    policy: { provider: 'local', model: 'local', params: {} },
    inferenceUrl: 'http://127.0.0.1:8787/api/gepa/v1/none/none',
    inferenceApiKey: 'none',
    messages: null,
    tryTimeoutMs: 60_000,
    deadline: performance.now() + 60_000,
  };
}
