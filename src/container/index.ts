/**
 * `ratchet-prompts-client/container` makes a container of a function. A container is a server that
 * runs a task with a prompt and scores the answer. Example:
 *
 *     const container = createContainer({
 *       name: 'capitals',
 *       tasks: [{ country: 'France', capital: 'Paris' }, { country: 'Peru', capital: 'Lima' }],
 *       initialPrompt: 'Answer with one word.',
 *       async rollout(task, model, { prompt }) {
 *         const answer = await model([
 *           { role: 'system', content: prompt },
 *           { role: 'user', content: `The capital of ${task.country}?` },
 *         ]);
 *         const right = answer.includes(task.capital);
 *         return { reward: right ? 1 : 0, feedback: right ? 'Correct.' : `Expected ${task.capital},
 *         got ${answer}.` };
 *       },
 *     });
 *     const { url, close } = await container.listen(8900);
 *
 * Served: GET /health, /info, /task_info and POST /rollout.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isLoopback } from '../util/loopback.js';
import { accessCheck } from './access.js';
import { json, problem, type Answer } from './answer.js';
import { once } from './once.js';
import type { ContainerOptions } from './options.js';
import { BadRequest, readJsonBody, readRollout } from './request.js';
import { run } from './run.js';

export { ModelError, type ChatMessage, type Model } from './model.js';
export type { ContainerOptions, RolloutContext, Score } from './options.js';

export interface RunningContainer {
  url: string;
  close: () => Promise<void>;
}

/**
 * Creates a container; throws if `tasks` is empty. `listen(0)` takes any free port; another host
 * than loopback requires an `apiKey`.
 */
export function createContainer<Task>(options: ContainerOptions<Task>): {
  listen: (port?: number, host?: string) => Promise<RunningContainer>;
} {
  const { tasks, apiKey, initialPrompt } = options;
  if (typeof tasks !== 'function' && tasks.length === 0)
    throw new Error('tasks is empty: a container needs at least one');
  const initial = { messages: promptMessages(initialPrompt) };
  if (initial.messages.length === 0) throw new Error('initialPrompt is empty: a container needs at least one prompt');
  const initialPrompts = typeof initialPrompt === 'string' ? { system: initialPrompt } : { ...initialPrompt };
  const created = { options, tasks, initialPrompts };
  const refusalOf = accessCheck(apiKey);
  const answered = once<Answer>();

  async function answer(request: IncomingMessage, signal: AbortSignal): Promise<Answer> {
    const [path, query] = (request.url ?? '/').split('?', 2);
    const refusal = refusalOf(request.headers);
    if (refusal) return problem(refusal.status, refusal.message);
    const route = `${request.method} ${path}`;
    if (route === 'GET /health') return json(200, { status: 'healthy' });
    if (route === 'GET /info') return json(200, { service: { name: options.name }, initial_prompt: initial });
    if (route === 'GET /task_info') {
      const seed = new URLSearchParams(query).get('seed');
      const count = typeof tasks === 'function' ? {} : { dataset: { num_tasks: tasks.length } };
      return json(200, { task: { name: options.name, seed }, ...count, initial_prompt: initial });
    }
    if (route !== 'POST /rollout') return problem(404, `Unknown route ${route}; see GET /info`);
    const rollout = readRollout(await readJsonBody(request));
    const key = request.headers['idempotency-key'];
    if (typeof key !== 'string') return run(created, rollout, signal);
    return answered(key, signal, (shared) => run(created, rollout, shared));
  }

  return {
    listen: async (port = 0, host = '127.0.0.1') => {
      if (apiKey === undefined && !isLoopback(host))
        throw new Error(`apiKey is missing: without a key a container listens on 127.0.0.1 only, not on ${host}`);
      return listen(
        createServer((request, response) => void serve(request, response, answer)),
        port,
        host,
      );
    },
  };
}

function promptMessages(prompt: ContainerOptions<never>['initialPrompt']) {
  if (typeof prompt === 'string') return [{ role: 'system', content: prompt }];
  return Object.entries(prompt).map(([name, content]) => ({ role: 'system', name, content }));
}

async function listen(server: Server, port: number, host: string): Promise<RunningContainer> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  const { port: bound } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`, close };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (request: IncomingMessage, gone: AbortSignal) => Promise<Answer>,
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort(new Error('the caller disconnected')));
  const { status, body, retryAfter } = await answer(request, gone.signal).catch((error: unknown) =>
    error instanceof BadRequest ? problem(error.status, error.message) : problem(500, String(error)),
  );
  if (typeof retryAfter === 'string') response.setHeader('retry-after', retryAfter);
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}
