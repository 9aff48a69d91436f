import { maxFeedbackBytes, readDetails, readJsonObject, faultOfStatus, fault } from '../../clients/container/answer.js';
import type { Answer, Fault } from '../../clients/container/answer.js';
import { containerHeaders } from '../../clients/container/request.js';
import { createCaller, isFault, rolloutWindowMs } from '../../clients/container/retry.js';
import { createEgressAgent, type EgressPolicy } from '../../clients/net/egress.js';
import { Redactor } from '../../clients/net/redact.js';
import { boundDepth } from '../../clients/net/untrusted.js';
import { cutToBytes } from '../../util/text.js';
import type { ScorerInput } from './input.js';
import { createSandbox, type Sandbox } from './javascript.js';

/** `infrastructure`: the scorer failed for a reason unrelated to the output. */
export type ScorerAnswer =
  | { ok: true; reward: number; feedback: string | null; details: Record<string, unknown> | null }
  | { ok: false; code: string; message: string; infrastructure: boolean };

export interface UrlScoring {
  url: string;
  /** Time limit of one try, in milliseconds. */
  tryTimeoutMs: number;
  /** Called on 429, 503 and time-out. */
  onPushback?: (because: string) => void;
}

/** A function of an organization's job. */
export interface FunctionScoring {
  orgId: string;
  code: string;
}

/** Scorers of the caller. Every method rejects with the signal's reason when the signal fires. */
export interface ScorerClient {
  /** POSTs the input, with the retries of rollouts at containers but after a time-out. */
  askUrl(scoring: UrlScoring, input: ScorerInput, signal: AbortSignal): Promise<ScorerAnswer>;
  /** Runs a function in a process of its own for at most `timeMs`, if the operator allows it. */
  runFunction(
    scoring: FunctionScoring,
    input: ScorerInput,
    signal: AbortSignal,
    timeMs?: number,
  ): Promise<ScorerAnswer>;
  close(): Promise<void>;
}

export interface ScorerClientOptions {
  egress: EgressPolicy;
  /** Organizations that may bring functions; `*`: all. */
  javascriptOrgs: readonly string[];
  /** First wait between tries, in milliseconds; doubles each time. */
  retryBaseMs?: number;
  sandbox?: Sandbox;
}

export const javascriptRefused =
  'JavaScript scorers are not allowed here; the operator allows them to organizations by RATCHET_ALLOW_JAVASCRIPT_SCORERS.';

export function allowsJavascript(orgs: readonly string[], orgId: string): boolean {
  return orgs.includes('*') || orgs.includes(orgId);
}

export function createScorerClient(options: ScorerClientOptions): ScorerClient {
  const { egress, javascriptOrgs, retryBaseMs = 500, sandbox = createSandbox() } = options;
  const agent = createEgressAgent(egress);
  const call = createCaller(agent, retryBaseMs, 'scorer');

  return {
    async askUrl({ url, tryTimeoutMs, onPushback }, input, signal) {
      const headers = { ...containerHeaders(null), 'content-type': 'application/json' };
      const limits = {
        tryTimeoutMs,
        deadline: performance.now() + rolloutWindowMs(tryTimeoutMs),
        ...(onPushback && { onPushback }),
        // It may still work on the first.
        mayRetry: (timedOut: boolean) => !timedOut,
      };
      const redactor = new Redactor(tokensIn(url));
      const what = { method: 'POST' as const, url, headers, body: JSON.stringify(input), redactor };
      const result = await call<ScorerAnswer>(readAnswer, what, limits, signal);
      if (!isFault(result)) return result;
      const { code, message, infrastructure } = result.failure;
      // Unlike a container, a scorer calls no model: its time does not depend on the prompt.
      return { ok: false, code, message, infrastructure: infrastructure || code === 'scorer_timeout' };
    },

    async runFunction({ orgId, code }, input, signal, timeMs) {
      if (!allowsJavascript(javascriptOrgs, orgId)) return failed('scorer_not_allowed', javascriptRefused);
      const ran = await sandbox.run(code, input, signal, timeMs);
      if (!ran.ok) return failed(ran.code, ran.message);
      const read = readScore(ran.value);
      return isFault(read) ? failed(read.failure.code, read.failure.message) : read;
    },

    async close() {
      sandbox.close();
      await agent.close();
    },
  };
}

/** The parts of a scorer's URL that are secrets: values of its query, and long random names. */
function tokensIn(url: string): string[] {
  const { pathname, searchParams } = new URL(url);
  const names = pathname.split('/').filter((name) => name.length >= 16 && /\d/.test(name) && /[a-z]/i.test(name));
  return [...names, ...searchParams.values()];
}

function readAnswer(answer: Answer): ScorerAnswer | Fault {
  if (answer.status < 200 || answer.status > 299) return faultOfStatus(answer, 'scorer');
  const body = readJsonObject(answer, 'scorer');
  return isFault(body) ? body : readScore(body.json);
}

/** What sums of weights may miss 0 or 1 by. */
const rounding = 1e-9;

/** A reward from 0 to 1; true is 1, as a comparison returns it. Null: none. */
function rewardOf(given: unknown): number | null {
  const reward = typeof given === 'boolean' ? Number(given) : given;
  if (typeof reward !== 'number' || !(reward >= -rounding && reward <= 1 + rounding)) return null;
  return Math.min(1, Math.max(0, reward));
}

/** Reads a reward from 0 to 1, or an object that holds it. */
function readScore(value: unknown): ScorerAnswer | Fault {
  const {
    reward: given,
    feedback,
    details,
  } = (typeof value === 'object' && value !== null ? value : { reward: value }) as Record<string, unknown>;
  const reward = rewardOf(given);
  if (reward === null) {
    const shown = given === undefined ? 'nothing' : cutToBytes(JSON.stringify(boundDepth(given)) ?? 'nothing', 512);
    return fault('scorer_reward_invalid', `The scorer gave ${shown} as reward; it must be a number from 0 to 1.`);
  }
  const isAbsent = feedback === undefined || feedback === null;
  const text = isAbsent ? null : typeof feedback === 'string' ? feedback : JSON.stringify(boundDepth(feedback));
  return {
    ok: true,
    reward,
    details: readDetails(details),
    feedback: text === null ? null : cutToBytes(text, maxFeedbackBytes),
  };
}

function failed(code: string, message: string): ScorerAnswer {
  return { ok: false, code, message, infrastructure: false };
}
