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
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isLoopback } from '../util/loopback.js';
import { accessCheck } from './access.js';
import { callModel, ModelError, type Model } from './model.js';
import { once } from './once.js';
import { BadRequest, readJsonBody, readRollout, type Rollout } from './request.js';

export { ModelError, type ChatMessage, type Model } from './model.js';

/**
 * Context of a rollout. `prompt`: the candidate's system prompt, else `initialPrompt`; several are
 * joined. `prompts`: each prompt by its name, a single one as `system`.
 */
export interface RolloutContext {
  prompt: string;
  prompts: Record<string, string>;
  seed: number;
  rolloutId: string;
  env: { name: string | null; config: Record<string, unknown> };
  /** Aborted on time-out or when the caller disconnects; model calls obey it already. */
  signal: AbortSignal;
}

/**
 * A finite reward (best: 1 by convention) and feedback for the next prompt. `details.expected`: the
 * correct answer, which a session may show as an example in other rollouts.
 */
export interface Score {
  reward: number;
  feedback?: string;
  details?: Record<string, unknown>;
}

export interface ContainerOptions<Task> {
  name: string;
  /** The tasks (index: seed modulo their number), or a function from seed to task. */
  tasks: readonly Task[] | ((seed: number) => Task | Promise<Task>);
  /** The initial prompt, or several by name, all optimized: `{plan: '…', answer: '…'}`. */
  initialPrompt: string | Readonly<Record<string, string>>;
  /** Runs and scores a task. An exception fails the rollout; failed model calls are retried. */
  rollout: (task: Task, model: Model, context: RolloutContext) => Score | Promise<Score>;
  /** If set, every request must send it as `X-API-Key`; else only this machine gets in. */
  apiKey?: string | undefined;
}

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
  const { tasks, initialPrompt, apiKey } = options;
  if (typeof tasks !== 'function' && tasks.length === 0)
    throw new Error('tasks is empty: a container needs at least one');
  const initialPrompts = typeof initialPrompt === 'string' ? { system: initialPrompt } : initialPrompt;
  const initial = { messages: promptMessages(initialPrompt) };
  if (initial.messages.length === 0) throw new Error('initialPrompt is empty: a container needs at least one prompt');
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
    if (typeof key !== 'string') return run(rollout, signal);
    return answered(key, signal, (shared) => run(rollout, shared));
  }

  /** Runs a rollout. 5xx: a retry may help; a permanent fault is a failed rollout. */
  async function run(rollout: Rollout, gone: AbortSignal): Promise<Answer> {
    const { seed, rolloutId, env, maxTimeS } = rollout;
    const timeUp = new AbortController();
    const timer = setTimeout(() => timeUp.abort(new Error('the time is up')), maxTimeS * 1000);
    const signal = AbortSignal.any([gone, timeUp.signal]);
    const model: Model = (messages, params) => callModel(rollout, messages, params ?? {}, signal);
    const work = async () => {
      const prompt = rollout.systemPrompt ?? Object.values(initialPrompts).join('\n\n');
      const prompts = { ...initialPrompts, ...rollout.prompts };
      const context = { prompt, prompts, seed, rolloutId, env, signal };
      const { reward, feedback, details } = await options.rollout(await taskForSeed(seed), model, context);
      if (!Number.isFinite(reward))
        throw new Error(`rollout() returned the reward ${String(reward)}, which is not a finite number`);
      return outcome(rollout, 'success', reward, feedback === undefined ? { ...details } : { ...details, feedback });
    };
    try {
      return await Promise.race([work(), aborted(signal)]);
    } catch (error) {
      if (error instanceof ModelError && error.retryStatus !== null && !signal.aborted) {
        return { ...problem(error.retryStatus, error.message), retryAfter: error.retryAfter };
      }
      const message = error instanceof Error ? error.message : String(error);
      const feedback = timeUp.signal.aborted ? `the rollout took longer than ${maxTimeS} s` : message;
      const status = timeUp.signal.aborted ? 'timeout' : 'error';
      return outcome(rollout, status, 0, { feedback }, { status_detail: feedback });
    } finally {
      clearTimeout(timer);
    }
  }

  function taskForSeed(seed: number): Task | Promise<Task> {
    return typeof tasks === 'function' ? tasks(seed) : tasks.at(seed % tasks.length)!;
  }

  return {
    listen: async (port = 0, host = '127.0.0.1') => {
      if (apiKey === undefined && !isLoopback(host))
        throw new Error(`apiKey is missing: without a key a container listens on 127.0.0.1 only, not on ${host}`);
      const server = createServer((request, response) => void serve(request, response, answer));
      await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
      const { port: bound } = server.address() as AddressInfo;
      const close = () =>
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        });
      return { url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`, close };
    },
  };
}

function promptMessages(prompt: ContainerOptions<never>['initialPrompt']) {
  if (typeof prompt === 'string') return [{ role: 'system', content: prompt }];
  return Object.entries(prompt).map(([name, content]) => ({ role: 'system', name, content }));
}

/** A response; `body` is serialized early, so that a failure shows at its source. */
interface Answer {
  status: number;
  body: string;
  retryAfter?: string | null;
}

function json(status: number, body: Record<string, unknown>): Answer {
  return { status, body: JSON.stringify(body) };
}

function problem(status: number, detail: string): Answer {
  return json(status, { detail, error: { message: detail } });
}

function outcome(
  rollout: Rollout,
  status: string,
  reward: number,
  details: Record<string, unknown>,
  more: { status_detail?: string } = {},
): Answer {
  return json(200, {
    trace_correlation_id: rollout.correlationId,
    rollout_id: rollout.rolloutId,
    reward_info: { outcome_reward: reward, details },
    success_status: status,
    ...more,
    inference_url: rollout.inferenceUrl,
  });
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

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const refuse = () => reject(signal.reason instanceof Error ? signal.reason : new Error('the rollout was stopped'));
    if (signal.aborted) refuse();
    else signal.addEventListener('abort', refuse, { once: true });
  });
}
