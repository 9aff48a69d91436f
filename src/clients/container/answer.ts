import { isPushback, mayPass } from '../net/retry-advice.js';
import { boundDepth, cutErrorText, field, parseObject, TooManyValuesError } from '../net/untrusted.js';
import { asObject } from '../../util/json.js';
import type { EmptyReason } from '../../core/answers/ending.js';
import type { ErrorCode } from '../../contracts/errors/index.js';
import { closestName } from '../../contracts/close-names.js';
import type { RolloutRequest } from './request.js';
import { cutToBytes } from '../../util/text.js';

/** A rollout's outcome at the container. */
export type RolloutOutcome =
  | {
      kind: 'reward';
      reward: number;
      feedback: string | null;
      details: Record<string, unknown> | null;
      /** Why the service's own model call gave no answer; absent: it did. */
      empty?: EmptyReason;
    }
  /** The reward comes later, by a POST to the service. */
  | { kind: 'pending' }
  /**
   * `infrastructure`: not the candidate's fault, can be repeated. `connect`: no connection.
   * `systemic`: every rollout would fail this way.
   */
  | { kind: 'failed'; code: string; message: string; infrastructure: boolean; connect: boolean; systemic?: boolean }
  /** The container, or a provider, refuses the key, for this rollout and so for all. */
  | { kind: 'refused_key'; code: string; message: string }
  /** A quota refuses the model calls of this rollout, and so of all. */
  | { kind: 'quota_exceeded'; code: string; message: string };

/** A failed try. `retry`: three tries in all, until the deadline, or none. */
export interface Fault {
  kind: 'fault';
  retry: 'tries' | 'pushback' | 'none';
  retryAfter: string | null;
  failure: Extract<RolloutOutcome, { kind: 'failed' }>;
}

/** A complete HTTP answer. */
export interface Answer {
  status: number;
  retryAfter: string | null;
  /** `x-should-retry`; absent: the server does not say. */
  shouldRetry?: boolean | null;
  contentEncoding: string | null;
  text: string;
}

/** The server of a caller; its faults have codes such as `container_busy`. */
export type Peer = 'container' | 'scorer' | 'webhook';

/** Error code of a job whose container refuses its key. */
export const containerRefusedKey = 'container_refused_key';

export const maxFeedbackBytes = 16 * 1024;
const maxDetailsBytes = 256 * 1024;

export function fault(
  code: ErrorCode | `webhook_${string}`,
  message: string,
  { retry = 'none', infrastructure = false, connect = false, retryAfter = null }: Partial<FaultTraits> = {},
): Fault {
  return { kind: 'fault', retry, retryAfter, failure: { kind: 'failed', code, message, infrastructure, connect } };
}
interface FaultTraits {
  retry: Fault['retry'];
  infrastructure: boolean;
  connect: boolean;
  retryAfter: string | null;
}

/** Whether the container refuses the key: 401, 403, or 400 with `unauthorised` in the body. */
export function refusesKey({ status, text }: Answer): boolean {
  return status === 401 || status === 403 || (status === 400 && /unauthori[sz]ed/i.test(text));
}

/** The fault behind an answer with a status other than 2xx. */
export function faultOfStatus(answer: Answer, peer: Peer = 'container'): Fault {
  const { status, text, retryAfter, shouldRetry = null } = answer;
  const detail = text.trim() === '' ? 'with an empty body' : `with: ${cutErrorText(text.trim())}`;
  const message = `The ${peer} answered ${status} ${detail}`;
  const again = mayPass(status, { shouldRetry });
  if (isPushback(status)) {
    return fault(`${peer}_busy`, message, { retry: again ? 'pushback' : 'none', infrastructure: true, retryAfter });
  }
  if (again || mayPass(status, { shouldRetry: null })) {
    // The candidate's own answer may have provoked an exception in the container.
    const traits = { infrastructure: status !== 500, retryAfter };
    return fault(`${peer}_error`, message, { retry: again ? 'tries' : 'none', ...traits });
  }
  if (status >= 300 && status < 400) return fault(`${peer}_redirected`, `${message}. Redirects are not followed.`);
  return fault(`${peer}_rejected`, message);
}

/** Reads the answer to `POST /rollout` in the container contract's order of precedence. */
export function readRolloutAnswer(
  answer: Answer,
  request: Pick<RolloutRequest, 'rolloutId' | 'seed'>,
): RolloutOutcome | Fault {
  if (refusesKey(answer)) {
    return {
      kind: 'refused_key',
      code: containerRefusedKey,
      message: `The container refused the key with ${answer.status}: ${cutErrorText(answer.text)}`,
    };
  }
  if (answer.status < 200 || answer.status > 299) return faultOfStatus(answer);
  if (answer.status === 202) return { kind: 'pending' };
  const body = readJsonObject(answer);
  if ('kind' in body) return body;
  const { json } = body;
  const foreign = foreignAnswer(json, request);
  if (foreign) return foreign;
  if (json['status'] === 'pending') return { kind: 'pending' };
  const status = json['success_status'];
  if (status !== undefined && status !== null && !reportsSuccess(status)) {
    const detail = json['status_detail'] ?? json['error'] ?? '';
    return fault('rollout_failed', `The container reports success_status ${quote(status)}: ${quote(detail)}`);
  }
  return readReward(json);
}

const successWords = new Set(['success', 'succeeded', 'completed', 'ok']);

function reportsSuccess(status: unknown): boolean {
  return typeof status === 'string' && successWords.has(status.trim().toLowerCase());
}

/** The body as a JSON object, or the fault. */
export function readJsonObject(answer: Answer, peer: Peer = 'container'): { json: Record<string, unknown> } | Fault {
  if (answer.contentEncoding !== null && answer.contentEncoding.toLowerCase() !== 'identity') {
    return fault(
      `${peer}_answer_invalid`,
      `The ${peer} sent content-encoding ${quote(answer.contentEncoding)}, which was not asked for; answer without one.`,
    );
  }
  let json: Record<string, unknown> | null;
  try {
    json = parseObject(answer.text);
  } catch (error) {
    if (!(error instanceof TooManyValuesError)) throw error;
    return fault(`${peer}_answer_too_large`, `The ${peer} answered with ${error.message}; answer with fewer.`);
  }
  if (json) return { json };
  const start = answer.text.trim() === '' ? 'an empty body' : cutToBytes(answer.text, 512);
  return fault(
    `${peer}_answer_invalid`,
    `The ${peer} answered ${answer.status} with a body that is not a JSON object: ${start}`,
  );
}

function foreignAnswer(
  json: Record<string, unknown>,
  request: Pick<RolloutRequest, 'rolloutId' | 'seed'>,
): Fault | null {
  const id = json['rollout_id'];
  if (id !== undefined && id !== null && id !== request.rolloutId) {
    return fault(
      'container_answer_invalid',
      `The container answered for rollout ${quote(id)} instead of ${request.rolloutId}.`,
    );
  }
  const seed = json['seed'] ?? field(json['env'], 'seed');
  if (seed !== undefined && seed !== null && seed !== request.seed) {
    return fault(
      'container_answer_invalid',
      `The container answered for seed ${quote(seed)} instead of ${request.seed}.`,
    );
  }
  return null;
}

function readReward(json: Record<string, unknown>): RolloutOutcome | Fault {
  const info = json['reward_info'];
  const indexes: [string, unknown][] = [
    ['reward_info.outcome_reward', field(info, 'outcome_reward')],
    ['metrics.outcome_reward', field(json['metrics'], 'outcome_reward')],
    ['reward', field(json, 'reward')],
  ];
  const found = indexes.find(([, value]) => value !== undefined);
  if (!found) {
    const near = misnamed(json);
    const given = near === null ? '' : ` The answer has ${quote(near)} instead.`;
    return fault(
      'reward_missing',
      `The container gave no reward: expected reward_info.outcome_reward, or status "pending".${given}`,
    );
  }
  const [index, reward] = found;
  if (typeof reward !== 'number' || !Number.isFinite(reward)) {
    return fault('reward_invalid', `The container's ${index} is ${quote(reward)}; it must be a finite number.`);
  }
  const details = readDetails(field(info, 'details'));
  return { kind: 'reward', reward, feedback: readFeedback(json, details), details };
}

/** A field whose name is close to that of the reward; null: none. */
function misnamed(json: Record<string, unknown>): string | null {
  for (const part of [asObject(json['reward_info']), asObject(json['metrics']), json]) {
    const names = Object.keys(part ?? {}).filter((name) => name.length < 32);
    const found = closestName('outcome_reward', names.slice(0, 100));
    if (found !== null) return found;
  }
  return null;
}

export function readDetails(value: unknown): Record<string, unknown> | null {
  const details = asObject(boundDepth(value));
  if (!details) return null;
  const size = Buffer.byteLength(JSON.stringify(details));
  return size <= maxDetailsBytes
    ? details
    : { omitted: `${size} bytes, more than the ${maxDetailsBytes} that are kept` };
}

function readFeedback(json: Record<string, unknown>, details: Record<string, unknown> | null): string | null {
  const given = [field(details, 'feedback'), json['feedback'], field(json['summary'], 'feedback'), details];
  const found = given.find((value) => value !== undefined && value !== null);
  if (found === undefined) return null;
  return cutToBytes(typeof found === 'string' ? found : JSON.stringify(boundDepth(found)), maxFeedbackBytes);
}

function quote(value: unknown): string {
  // Numbers first: JSON.stringify turns Infinity (parsed from 1e400) into null.
  return cutToBytes(typeof value === 'number' ? String(value) : JSON.stringify(boundDepth(value)), 512);
}
