import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

/** One call of `POST /rollout` as the fake container received it. */
export interface ReceivedRollout {
  seed: number;
  rolloutId: string;
  /** Number of the call with this rollout id, from 1. */
  attempt: number;
  headers: Record<string, string | string[] | undefined>;
  body: RolloutBody;
}

/** The parts of the request body that tests use. */
export interface RolloutBody {
  trace_correlation_id: string;
  rollout_id: string;
  env: { env_name: string | null; seed: number; config: Record<string, unknown> };
  policy: {
    policy_name: string;
    config: Record<string, unknown> & {
      model: string;
      provider: string;
      inference_url: string;
      inference_api_key: string;
      prompt_template?: { sections: { role: string; content: string; order: number; name?: string }[] };
    };
  };
  safety: { max_time_s: number };
}

/** Reaction of the fake container to a call; resolves after its last output. */
export type Behaviour = (call: ReceivedRollout, response: ServerResponse) => Promise<void> | void;

function send(response: ServerResponse, status: number, body: string | Buffer, headers: Record<string, string> = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body);
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.removeListener('drain', done).removeListener('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

/** Correct and faulty behaviours of containers, by name. */
export const answers = {
  reward: (reward: number, feedback?: string, details?: Record<string, unknown>): Behaviour =>
    answers.json((call) => ({
      rollout_id: call.rolloutId,
      trace_correlation_id: call.body.trace_correlation_id,
      reward_info: { outcome_reward: reward, ...(details || feedback ? { details: { ...details, feedback } } : {}) },
      success_status: 'success',
    })),
  /** Holds the call until `opened` resolves. */
  held:
    (opened: Promise<unknown>, then: Behaviour): Behaviour =>
    async (call, response) => {
      await opened;
      await then(call, response);
    },
  json:
    (make: (call: ReceivedRollout) => unknown, status = 200): Behaviour =>
    (call, response) =>
      send(response, status, JSON.stringify(make(call))),
  /** Raw text that JSON.stringify cannot write (NaN, Infinity, 1e400, half a document). */
  raw:
    (text: string | Buffer, status = 200, headers: Record<string, string> = {}): Behaviour =>
    (_call, response) =>
      send(response, status, text, headers),
  status: (status: number, body = '', headers: Record<string, string> = {}): Behaviour =>
    answers.raw(body, status, headers),
  busySeconds: (seconds: number | string, status = 429): Behaviour =>
    answers.status(status, 'busy', { 'retry-after': String(seconds) }),
  busyUntil:
    (at: () => Date, status = 429): Behaviour =>
    (_call, response) =>
      send(response, status, 'busy', { 'retry-after': at().toUTCString() }),
  redirect: (location: string): Behaviour => answers.status(307, '', { location }),
  halfJson: (): Behaviour => answers.raw('{"reward_info": {"outcome_re'),
  noContent: (): Behaviour => (_call, response) => void response.writeHead(204).end(),
  pending202: (): Behaviour => answers.status(202, '{}'),
  pendingStatus: (): Behaviour => answers.json(() => ({ status: 'pending', reward_info: { outcome_reward: null } })),
  wrongSeed: (): Behaviour => answers.json((call) => ({ seed: call.seed + 1, reward: 1 })),
  wrongRollout: (): Behaviour => answers.json(() => ({ rollout_id: 'rol_of_somebody_else', reward: 1 })),
  failedStatus: (detail: string): Behaviour =>
    answers.json(() => ({ success_status: 'error', status_detail: detail, reward_info: { outcome_reward: 1 } })),
  gzip: (): Behaviour => answers.raw(gzipSync(JSON.stringify({ reward: 1 })), 200, { 'content-encoding': 'gzip' }),
  /** A body of this many bytes, sent until the caller closes the connection. */
  huge:
    (bytes: number): Behaviour =>
    async (_call, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const piece = Buffer.alloc(64 * 1024, 'x');
      for (let sent = 0; sent < bytes && !response.destroyed; sent += piece.length) {
        if (!response.write(piece)) await drained(response);
      }
      response.end();
    },
  hang: (): Behaviour => () => new Promise(() => undefined),
  /** An endless body, one byte at a time. */
  drip:
    (everyMs = 1_000): Behaviour =>
    async (_call, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      while (!response.destroyed) {
        response.write(' ');
        await delay(everyMs);
      }
    },
  reset: (): Behaviour => (_call, response) => void response.socket?.resetAndDestroy(),
  /** Headers and part of a body, then a broken connection. */
  cut: (): Behaviour => (_call, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"reward"', () => response.socket?.resetAndDestroy());
  },
  garbage: (): Behaviour => (_call, response) => void response.socket?.end('this is not HTTP\r\n\r\n'),
  refuseKey: (status: 400 | 401 | 403): Behaviour => answers.status(status, '{"detail":"unauthorised"}'),
  /** Waits, then continues with `next`. */
  after:
    (ms: number, next: Behaviour): Behaviour =>
    async (call, response) => {
      await delay(ms);
      await next(call, response);
    },
  /** One behaviour per call of a rollout; the last one repeats. */
  inTurn:
    (...behaviours: [Behaviour, ...Behaviour[]]): Behaviour =>
    (call, response) =>
      (behaviours[call.attempt - 1] ?? behaviours.at(-1)!)(call, response),
  /** Calls the model through `inference_url`, as containers do, and scores its answer. */
  askModel:
    (
      input: (call: ReceivedRollout) => { system: string; user: string },
      score: (text: string, call: ReceivedRollout) => { reward: number; feedback?: string },
    ): Behaviour =>
    async (call, response) => {
      const reply = await modelSays(call, input(call));
      if (!reply.ok) return send(response, 500, `the model answered ${reply.status}: ${reply.text}`);
      const { reward, feedback } = score(reply.text, call);
      await answers.reward(reward, feedback)(call, response);
    },
};

/** The model's answer through a rollout's `inference_url`; `text` is the raw body unless ok. */
export async function modelSays(
  call: ReceivedRollout,
  { system, user }: { system: string; user: string },
): Promise<{ ok: boolean; status: number; text: string }> {
  const { inference_url: base, inference_api_key: key, model } = call.body.policy.config;
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ];
  const answer = await fetch(`${base}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, messages }),
  });
  const { ok, status } = answer;
  const raw = await answer.text();
  if (!ok) return { ok, status, text: raw };
  const completion = JSON.parse(raw) as { choices: { message: { content: string } }[] };
  return { ok, status, text: completion.choices[0]!.message.content };
}
