/**
 * The worst world for a session's size, a separate process with container and proposer: each
 * version is slightly better on train seeds and random elsewhere, so all children are accepted.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { RolloutBody } from '../../test/support/fakes/container-answers.js';

/** Seeds from here on are train seeds. */
export const trainFrom = 1_000_000;

let proposals = 0;

function seedReward(version: number, seed: number): number {
  if (seed >= trainFrom) return 0.1 + version / 1_000 + 1e-17;
  let mixed = Math.imul(version + 1, 0x9e3779b1) ^ Math.imul(seed + 1, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return ((mixed ^ (mixed >>> 13)) >>> 0) / 2 ** 32 / 1.000000001;
}

function send(response: ServerResponse, answer: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
}

const server = createServer((request, response) => {
  text(request)
    .then((body) => {
      const path = request.url ?? '';
      if (path.startsWith('/rollout')) {
        const { rollout_id: id, env, policy } = JSON.parse(body) as RolloutBody;
        const prompt = policy.config.prompt_template?.sections[0]?.content ?? '';
        const version = Number(/^version (\d+)/.exec(prompt)?.[1] ?? 0);
        send(response, { rollout_id: id, reward_info: { outcome_reward: seedReward(version, env.seed) } });
      } else if (path.startsWith('/v1/chat/completions')) {
        proposals += 1;
        const message = { role: 'assistant', content: `\`\`\`\nversion ${proposals}\n\`\`\`` };
        send(response, { choices: [{ index: 0, message, finish_reason: 'stop' }] });
      } else if (path.startsWith('/task_info')) {
        send(response, { initial_prompt: { messages: [{ role: 'system', content: 'version 0' }] } });
      } else {
        send(response, { status: 'ok' });
      }
    })
    .catch((error: Error) => response.destroy(error));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)}\n`);
});
// The parent has ended.
process.on('disconnect', () => process.exit());
