import { componentName, maxComponents } from '../../core/prompts/components.js';
import type { Message } from '../../core/prompts/message.js';
import { containerRefusedKey, faultOfStatus, readJsonObject, readRolloutAnswer, refusesKey } from './answer.js';
import type { Answer, Fault, RolloutOutcome } from './answer.js';
import { createCaller, isFault, rolloutWindowMs } from './retry.js';
import { containerHeaders, rolloutBody, rolloutHeaders, type RolloutRequest } from './request.js';
import { createEgressAgent, type EgressPolicy } from '../net/egress.js';
import { Redactor } from '../net/redact.js';
import { asObject } from '../../util/json.js';
import { cutToBytes, trimEndOf } from '../../util/text.js';

export type { RolloutRequest } from './request.js';
export type { RolloutOutcome } from './answer.js';
export { rolloutWindowMs } from './retry.js';

/** The container cannot serve the job at all. The message becomes the job's `error`. */
export class ContainerError extends Error {
  override readonly name = 'ContainerError';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The caller's container. Every method rejects with the signal's reason when the signal fires. */
export interface ContainerClient {
  /** `GET /health`. Rejects with a ContainerError: unreachable, unhealthy, or key refused. */
  health(url: string, apiKey: string | null, signal: AbortSignal): Promise<void>;
  /** The prompt from the optional `GET /task_info`, or null. Rejects like `health`. */
  taskInfo(url: string, apiKey: string | null, signal: AbortSignal): Promise<{ initialPrompt: Message[] | null }>;
  /** `POST /rollout` with its retries. A fault of the container is an outcome, not a rejection. */
  rollout(request: RolloutRequest, signal: AbortSignal): Promise<RolloutOutcome>;
  close(): Promise<void>;
}

export interface ContainerClientOptions {
  egress: EgressPolicy;
  /** First wait between tries, in milliseconds; doubles each time. */
  retryBaseMs?: number;
  /** Time limit of one try of `health` and `taskInfo`, in milliseconds. */
  probeTimeoutMs?: number;
}

export function createContainerClient(options: ContainerClientOptions): ContainerClient {
  const { egress, retryBaseMs = 500, probeTimeoutMs = 10_000 } = options;
  const agent = createEgressAgent(egress);
  const call = createCaller(agent, retryBaseMs);

  async function probe(url: string, apiKey: string | null, signal: AbortSignal): Promise<Answer> {
    const redactor = new Redactor([apiKey]);
    const what = { method: 'GET' as const, url, headers: containerHeaders(apiKey), redactor };
    const limits = { tryTimeoutMs: probeTimeoutMs, deadline: performance.now() + rolloutWindowMs(probeTimeoutMs) };
    const result = await call<Answer>(readProbe, what, limits, signal);
    if (isFault(result)) throw new ContainerError(result.failure.code, `GET ${url}: ${result.failure.message}`);
    if (!refusesKey(result)) return result;
    const reason = cutToBytes(result.text, 512);
    throw new ContainerError(
      containerRefusedKey,
      `GET ${url}: the container refused the key (${result.status}): ${reason}`,
    );
  }

  return {
    async health(url, apiKey, signal) {
      const at = endpoint(url, '/health');
      if ((await probe(at, apiKey, signal)).status !== 404) return;
      const base = url.replace(/\/rollout\/*$/, '');
      const remedy = base === url ? "check that container_url is the container's base" : `set container_url to ${base}`;
      throw new ContainerError('container_rejected', `GET ${at} answered 404; ${remedy}.`);
    },

    async taskInfo(url, apiKey, signal) {
      const at = endpoint(url, '/task_info');
      const answer = await probe(at, apiKey, signal);
      if (answer.status === 404) return { initialPrompt: null };
      const body = readJsonObject(answer);
      if (isFault(body)) throw new ContainerError(body.failure.code, `GET ${at}: ${body.failure.message}`);
      return { initialPrompt: readPrompt(at, body.json['initial_prompt']) };
    },

    async rollout(request, signal) {
      const what = {
        method: 'POST' as const,
        url: endpoint(request.url, '/rollout'),
        headers: rolloutHeaders(request),
        body: JSON.stringify(rolloutBody(request)),
        redactor: new Redactor([request.apiKey, request.inferenceApiKey]),
      };
      const read = (answer: Answer) => readRolloutAnswer(answer, request);
      const result = await call<RolloutOutcome>(read, what, request, signal);
      return isFault(result) ? result.failure : result;
    },

    close: () => agent.close(),
  };
}

function readProbe(answer: Answer): Answer | Fault {
  const { status } = answer;
  return refusesKey(answer) || status === 404 || (status >= 200 && status < 300) ? answer : faultOfStatus(answer);
}

function endpoint(base: string, path: string): string {
  return `${trimEndOf(base, '/')}${path}`;
}

const roles = new Set(['system', 'user', 'assistant']);

function readPrompt(at: string, value: unknown): Message[] | null {
  if (value === undefined || value === null) return null;
  const refuse = (message: string) => new ContainerError('container_answer_invalid', `GET ${at}: ${message}`);
  const given = asObject(value)?.['messages'];
  const messages: unknown[] = Array.isArray(given) ? given : [];
  const valid = messages.flatMap((item): Message[] => {
    const { role, content, name } = asObject(item) ?? {};
    if (typeof role !== 'string' || !roles.has(role) || typeof content !== 'string') return [];
    const message = { role: role as Message['role'], content };
    if (name === undefined || name === null) return [message];
    if (typeof name === 'string' && componentName.test(name)) return [{ ...message, name }];
    throw refuse(
      `initial_prompt has a message named ${cutToBytes(JSON.stringify(name), 100)}; a name must be 1 to 64 letters, digits, _ or -, and begin with a letter.`,
    );
  });
  if (valid.length === 0 || valid.length < messages.length) {
    throw refuse('initial_prompt must be {messages: [{role, content, name?}, …]}; content must be a string.');
  }
  const names = valid.flatMap(({ name }) => name ?? []);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw refuse(`initial_prompt has two messages named "${twice}"; rename one.`);
  if (names.length > maxComponents) {
    throw refuse(`initial_prompt has ${names.length} messages with a name; at most ${maxComponents} can be optimized.`);
  }
  return valid;
}
