/**
 * The process in which a benchmark's world lives: container and proposer for as many runs as are opened, each with its
 * ledger. Prints one line of JSON, `{"url"}`, and serves until it is ended.
 *
 *   POST /runs {world, rolloutMs, proposerMs}       -> {id}
 *   GET  /runs/ID/health, /runs/ID/task_info, POST /runs/ID/rollout     the container
 *   POST /v1/chat/completions, the model being ID   the proposer
 *   GET  /runs/ID/ledger                            -> Entry[]
 *   POST /runs/ID/truth {prompt}                    -> {reward}
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Entry, RunSetup } from './client.js';
import { baseline, rulesWorld, type RulesWorld } from './rules.js';

interface Run {
  setup: RunSetup;
  world: RulesWorld;
  ledger: Entry[];
}

interface RolloutBody {
  rollout_id: string;
  env: { seed: number };
  policy: { config: { prompt_template?: { sections: { role: string; content: string }[] } } };
}
interface ChatBody {
  model: string;
  messages: { content: string }[];
}

const runs = new Map<string, Run>();
const now = () => performance.timeOrigin + performance.now();

const server = createServer((request, response) => {
  serve(request).then(
    (answer) => reply(response, answer === null ? 404 : 200, answer ?? { detail: 'not served here' }),
    (error: unknown) => reply(response, 500, { detail: String(error) }),
  );
});
// A pause between two stages of an optimizer must not cost it its connections.
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })}\n`);
});

async function serve(request: IncomingMessage): Promise<unknown> {
  const at = `${request.method} ${request.url?.split('?', 1)[0]}`;
  const body = request.method === 'POST' ? await readJson(request) : null;
  if (at === 'POST /runs') {
    const setup = body as RunSetup;
    const id = `run-${runs.size + 1}`;
    runs.set(id, { setup, world: rulesWorld(setup.world), ledger: [] });
    return { id };
  }
  if (at === 'POST /v1/chat/completions') return propose(body as ChatBody);
  const [, method, id, route] = /^(\w+) \/runs\/([\w-]+)\/(\w+)$/.exec(at) ?? [];
  const run = runs.get(id ?? '');
  if (!run) return null;
  switch (`${method} ${route}`) {
    case 'GET health':
      return { status: 'healthy' };
    case 'GET task_info':
      return { initial_prompt: { messages: [{ role: 'system', content: baseline }] } };
    case 'POST rollout':
      return rollout(run, body as RolloutBody);
    case 'GET ledger':
      return run.ledger;
    case 'POST truth':
      return { reward: run.world.trueReward((body as { prompt: string }).prompt) };
    default:
      return null;
  }
}

async function rollout({ setup, world, ledger }: Run, body: RolloutBody): Promise<unknown> {
  const startedAt = now();
  if (setup.rolloutMs > 0) await delay(setup.rolloutMs);
  const sections = body.policy.config.prompt_template?.sections;
  const { reward, feedback } = world.score(sections?.[0]?.content ?? baseline, body.env.seed);
  ledger.push({ kind: 'rollout', startedAt, endedAt: now() });
  return { rollout_id: body.rollout_id, reward_info: { outcome_reward: reward, details: { feedback } } };
}

async function propose({ model, messages }: ChatBody): Promise<unknown> {
  const run = runs.get(model);
  if (!run) throw new Error(`no run ${model}`);
  const startedAt = now();
  if (run.setup.proposerMs > 0) await delay(run.setup.proposerMs);
  const content = run.world.reflect(messages.map((message) => message.content).join('\n'));
  run.ledger.push({ kind: 'proposal', startedAt, endedAt: now() });
  return {
    id: `chatcmpl-${run.ledger.length}`,
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString());
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}
