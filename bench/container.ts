/**
 * The bench's container, a separate process. `/NAME/delay/MS` gives reward 1 after MS, `/NAME/hold`
 * waits for release, `/NAME/rules/N/MS` requires `rule-K.` for seed s, K = s mod N;
 * `/NAME/asks/N` asks the model for it, through the proxy.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import type { RolloutBody } from '../test/support/fakes/container-answers.js';
import { ruleRow } from '../test/support/worlds/rows.js';
import { baseline } from '../test/support/worlds/rules.js';
import { serveChild } from './child.js';
import { now } from './clock.js';
import type { ContainerCount, HeldRollout } from './world.js';

interface Counted extends ContainerCount {
  inFlight: number;
  stamps: Map<string, number>;
  held: Map<string, HeldRollout & { release: () => void }>;
}

/** Kind, its number, milliseconds. */
type Behaviour = [kind: string, n: number, ms: number];

const counts = new Map<string, Counted>();

function counterOf(name: string): Counted {
  const known = counts.get(name);
  if (known) return known;
  const fresh: Counted = {
    calls: 0,
    maxConcurrent: 0,
    firstIn: 0,
    lastOut: 0,
    inFlight: 0,
    stamps: new Map(),
    held: new Map(),
  };
  counts.set(name, fresh);
  return fresh;
}

async function rollout(count: Counted, [kind, n, ms]: Behaviour, body: RolloutBody): Promise<unknown> {
  const { config } = body.policy;
  // Also at 0 ms, so that concurrent requests count as in flight.
  await (ms > 0 ? delay(ms) : setImmediate());
  if (kind === 'hold') {
    const { inference_url: url, inference_api_key: key } = config;
    await new Promise<void>((release) => count.held.set(body.rollout_id, { url, key, release }));
    count.held.delete(body.rollout_id);
  }
  const needed = `rule-${body.env.seed % n}.`;
  if (kind === 'asks') {
    const { question, answer } = ruleRow(body.env.seed, n);
    const reward = (await ask(config, question)) === answer ? 1 : 0;
    return { rollout_id: body.rollout_id, reward_info: { outcome_reward: reward, details: { feedback: answer } } };
  }
  const reward = kind !== 'rules' || config.prompt_template?.sections[0]?.content.includes(needed) ? 1 : 0;
  return {
    rollout_id: body.rollout_id,
    reward_info: { outcome_reward: reward, ...(kind === 'rules' && { details: { feedback: `needs ${needed}` } }) },
  };
}

async function ask(
  { inference_url: url, inference_api_key: key }: RolloutBody['policy']['config'],
  question: string,
): Promise<string> {
  const messages = [
    { role: 'system', content: baseline },
    { role: 'user', content: question },
  ];
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'rules', messages }),
  });
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  return choices[0]!.message.content;
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? '').split('/');
  const [, name = '', kind = '', n] = path;
  const what = path.at(-1);
  if (what === 'health') return void response.end('{"status":"ok"}');
  if (what === 'task_info')
    return void response.end(`{"initial_prompt":{"messages":[{"role":"system","content":"${baseline}"}]}}`);
  if (what !== 'rollout') return void response.writeHead(404).end('{"detail":"not served here"}');
  const behaviour: Behaviour = [
    kind,
    Number(n),
    Number(kind === 'delay' ? n : kind === 'rules' && path.length > 5 ? path[4] : 0),
  ];
  const count = counterOf(name);
  if (count.calls++ === 0) count.firstIn = now();
  count.inFlight += 1;
  count.maxConcurrent = Math.max(count.maxConcurrent, count.inFlight);
  response.once('close', () => (count.inFlight -= 1));
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as RolloutBody;
  const answer = JSON.stringify(await rollout(count, behaviour, body));
  count.lastOut = now();
  count.stamps.set(body.rollout_id, count.lastOut);
  response.setHeader('content-type', 'application/json');
  response.end(answer);
}

const server = createServer((request, response) => {
  handle(request, response).catch((error: Error) => response.destroy(error));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

serveChild(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, (question, name) => {
  const { calls, maxConcurrent, firstIn, lastOut, stamps, held } = counterOf(name);
  switch (question) {
    case 'count':
      return { calls, maxConcurrent, firstIn, lastOut } satisfies ContainerCount;
    case 'stamps':
      return stamps;
    case 'held':
      return [...held.values()].map(({ url, key }) => ({ url, key }));
    case 'release':
      for (const { release } of held.values()) release();
      return held.size;
    default:
      throw new Error(`unknown question "${question}"`);
  }
});
