import { expect } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { startFakeModel, type FakeModel, type ModelReply, type ModelRequest } from './model.js';
import { propose } from '../worlds/rules.js';

/**
 * Live traffic of a caller: each call passes the session's proxy under a correlation id, and its
 * reward is reported later. The model echoes its prompt, and the echo is scored.
 */
export interface Traffic {
  /** Every call that got an answer, in the order of these. */
  calls: LiveCall[];
  /** What was answered to each reward that was reported, in the order of these. */
  rewards: ReportedReward[];
  /** Makes no further call, and resolves when the last reward is reported. */
  stop(): Promise<void>;
}

export interface LiveCall {
  correlationId: string;
  seed: number | null;
  candidateId: string | null;
  rolloutId: string;
  prompt: string;
}

interface ReportedReward {
  correlationId: string;
  reward: number;
  status: number;
}

export interface TrafficOptions {
  /** Addresses of the service, used in turn; an unreachable address is retried. */
  urls: () => string[];
  apiKey: string;
  sessionId: string;
  /** Calls and rewards under way at once. */
  inFlight: number;
  /** The system message that calls carry of their own. */
  prompt?: string;
  /** Of the n-th call: the seed that it names. Default: none. */
  seed?: (n: number) => number;
  /** Reward and feedback of the n-th call, served with this prompt. */
  score: (prompt: string, n: number) => { reward: number; feedback: string };
  /** What becomes of the n-th call's reward, beside being reported once; in milliseconds. */
  fate?: (n: number) => { after?: number; never?: boolean; twice?: boolean };
}

/** Begins to call, `inFlight` at a time, until it is stopped. */
export function startTraffic(options: TrafficOptions): Traffic {
  const traffic: Traffic = { calls: [], rewards: [], stop };
  let stopped = false;
  let n = 0;
  const lanes = Array.from({ length: options.inFlight }, async () => {
    while (!stopped) await one(n++);
  });
  async function stop(): Promise<void> {
    stopped = true;
    await Promise.all(lanes);
  }

  async function one(at: number): Promise<void> {
    const correlationId = `call-${options.sessionId.slice(-6)}-${at}`;
    const seed = options.seed?.(at) ?? null;
    const answer = await send(at, correlationId, seed);
    if (!answer) return;
    traffic.calls.push(answer);
    const { after = 0, never = false, twice = false } = options.fate?.(at) ?? {};
    if (after > 0) await delay(after);
    if (never) return;
    const { reward, feedback } = options.score(answer.prompt, at);
    for (let time = 0; time < (twice ? 2 : 1); time++) {
      const status = await report(at + time, correlationId, reward, feedback);
      if (status !== null) traffic.rewards.push({ correlationId, reward, status });
    }
  }

  async function send(at: number, correlationId: string, seed: number | null): Promise<LiveCall | null> {
    const response = await post(at, `/api/gepa/v1/${options.sessionId}/${correlationId}/chat/completions`, {
      body: {
        messages: [
          ...(options.prompt === undefined ? [] : [{ role: 'system', content: options.prompt }]),
          { role: 'user', content: `question ${at}` },
        ],
      },
      headers: seed === null ? {} : { 'x-ratchet-seed': String(seed) },
    });
    if (!response) return null;
    const { choices } = response.json as { choices: { message: { content: string } }[] };
    return {
      correlationId,
      seed,
      candidateId: response.headers.get('x-gepa-candidate-id'),
      rolloutId: response.headers.get('x-gepa-rollout-id')!,
      prompt: choices[0]!.message.content,
    };
  }

  async function report(at: number, correlationId: string, reward: number, feedback: string): Promise<number | null> {
    const body = { correlation_id: correlationId, reward_info: { outcome_reward: reward, details: { feedback } } };
    const answer = await post(at, `/api/v1/online/sessions/${options.sessionId}/reward`, { body, any: true });
    return answer?.status ?? null;
  }

  /** Sends until there is an answer: a service that is away comes back. null: stopped before. */
  async function post(
    at: number,
    path: string,
    { body, headers = {}, any = false }: { body: unknown; headers?: Record<string, string>; any?: boolean },
  ) {
    for (let turn = at; ; turn++) {
      const urls = options.urls();
      try {
        const response = await fetch(urls[turn % urls.length]! + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${options.apiKey}`, 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        });
        const json: unknown = await response.json();
        if (response.ok || (any && response.status < 500)) {
          return { status: response.status, headers: response.headers, json };
        }
        if (response.status < 500) throw new Refused(`${path}: ${response.status} ${JSON.stringify(json)}`);
      } catch (error) {
        if (error instanceof Refused) throw error;
        // It was killed, or is about to come back.
      }
      if (stopped) return null;
      await delay(50);
    }
  }

  return traffic;
}

class Refused extends Error {}

/** A model that echoes, and settings under which the service knows it as the provider `fake`. */
export async function startLiveWorld(): Promise<{
  model: FakeModel;
  env: Record<string, string>;
  close(): Promise<void>;
}> {
  const model = await startFakeModel(echo);
  return { model, env: { RATCHET_PROVIDERS: 'fake', FAKE_BASE_URL: model.url }, close: model.close };
}

/** Echoes the prompt; as the model `proposer`, writes the rules that the feedback demands. */
export function echo(request: ModelRequest): ModelReply {
  if (request.body.model === 'proposer') return { text: propose(request) };
  const system = request.body.messages.find(({ role }) => role === 'system');
  return { text: system?.content ?? '' };
}

/** With demonstrations: also echoes them, and knows the rule of every third question. */
export function guess(request: ModelRequest, rules: number): ModelReply {
  const { messages } = request.body;
  const question = /^question (\d+)$/.exec(messages.at(-1)!.content)?.[1];
  if (question === undefined) return { text: propose(request) };
  const known = messages.filter(({ role }) => role !== 'user').map(({ content }) => content);
  return { text: `${known.join(' ')}${Number(question) % 3 === 0 ? ` rule-${Number(question) % rules}.` : ''}` };
}

/** Checks that demonstrations are well-scored calls of this traffic; returns these calls. */
export function callsShown(
  demos: readonly { input: string; output: string }[],
  { calls }: Traffic,
  score: TrafficOptions['score'],
): LiveCall[] {
  const callOf = new Map(calls.map((call) => [`question ${numberOf(call)}`, call]));
  return demos.map(({ input, output }) => {
    const call = callOf.get(input);
    expect({ input, output }).toEqual({ input, output: call?.prompt });
    expect(score(output, numberOf(call!)).reward).toBe(1);
    return call!;
  });
}

/** Of a call, which it was: what it asks is `question n`. */
export const numberOf = ({ correlationId }: LiveCall) => Number(correlationId.split('-').at(-1));
