import { expect } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { startFakeModel, type FakeModel, type ModelReply, type ModelRequest } from './model.js';
import { propose } from '../worlds/rules.js';

/**
 * Live traffic of a caller: calls go through the session's proxy with a correlation id, and rewards
 * are reported later. The model echoes its prompt, and `score` scores the echo.
 */
export interface Traffic {
  /** Answered calls, in the order of their answers. */
  calls: LiveCall[];
  /** Responses to reported rewards, in their order. */
  rewards: ReportedReward[];
  /** Stops new calls; resolves after the last report. */
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
  /** Maximum of concurrent calls and reports. */
  inFlight: number;
  /** System message of the calls themselves. */
  prompt?: string;
  /** Seed of the n-th call. Default: none. */
  seed?: (n: number) => number;
  /** Reward and feedback of the n-th call, served with this prompt. */
  score: (prompt: string, n: number) => { reward: number; feedback: string };
  /** Report of the n-th call's reward: delay in milliseconds, never, or twice. Default: once. */
  fate?: (n: number) => { after?: number; never?: boolean; twice?: boolean };
}

/** Makes calls, `inFlight` at a time, until stopped. */
export function startTraffic(options: TrafficOptions): Traffic {
  const traffic: Traffic = { calls: [], rewards: [], stop };
  let stopped = false;
  let n = 0;
  const lanes = Array.from({ length: options.inFlight }, async () => {
    while (!stopped) await makeCall(n++);
  });
  async function stop(): Promise<void> {
    stopped = true;
    await Promise.all(lanes);
  }

  async function makeCall(at: number): Promise<void> {
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

  /** Retries until there is an answer, also across restarts. null: stopped before. */
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
        // The service was killed or restarts.
      }
      if (stopped) return null;
      await delay(50);
    }
  }

  return traffic;
}

class Refused extends Error {}

/** An echoing model, with the settings that make it the provider `fake`. */
export async function startLiveWorld(): Promise<{
  model: FakeModel;
  env: Record<string, string>;
  close(): Promise<void>;
}> {
  const model = await startFakeModel(echo);
  return { model, env: { RATCHET_PROVIDERS: 'fake', FAKE_BASE_URL: model.url }, close: model.close };
}

/** Echoes the prompt; the model `proposer` adds the rules of the feedback. */
export function echo(request: ModelRequest): ModelReply {
  if (request.body.model === 'proposer') return { text: propose(request) };
  const system = request.body.messages.find(({ role }) => role === 'system');
  return { text: system?.content ?? '' };
}

/** Echoes system prompt and demonstrations, and knows the rule of every third question. */
export function guess(request: ModelRequest, rules: number): ModelReply {
  const { messages } = request.body;
  const question = /^question (\d+)$/.exec(messages.at(-1)!.content)?.[1];
  if (question === undefined) return { text: propose(request) };
  const known = messages.filter(({ role }) => role !== 'user').map(({ content }) => content);
  return { text: `${known.join(' ')}${Number(question) % 3 === 0 ? ` rule-${Number(question) % rules}.` : ''}` };
}

/** Asserts that demonstrations are calls of this traffic with reward 1; returns these calls. */
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

/** The number n of a call, whose user message is `question n`. */
export const numberOf = ({ correlationId }: LiveCall) => Number(correlationId.split('-').at(-1));
