import type { FastifyReply } from 'fastify';
import type { LogSettings } from '../../../kinds/deployment/contract/settings.js';
import { asObject } from '../../../util/json.js';
import type { ForwardedCall } from '../call.js';
import { observe as observeCall } from '../observe.js';
import type { Recorder } from '../record.js';
import { countedCode } from './counted-code.js';
import { nameOf, type FailedTry } from './fallbacks.js';
import type { createTextKeeper, KeptRequest } from './kept-texts.js';
import { knownCost, type DeploymentMeter } from './meter.js';
import { redactTexts } from './redact.js';

/** A call of a deployment; `reply` shows whether the caller is still connected. */
export interface DeploymentCall extends ForwardedCall {
  orgId: string;
  keyId: string | null;
  deploymentId: string;
  served: { name: string; version: number };
  answerId: string;
  /** Of the episode that the call is a part of; null: none. */
  correlationId: string | null;
  /** Tries of other models, or of the same one, before the answer; filled while it is asked. */
  failedTries: FailedTry[];
  /** Subjects of limits for which its tokens and dollars count. */
  limited: readonly string[];
  /** The caller's request, if its texts are kept. */
  kept: KeptRequest | null;
  /** The same, if its answer is to be judged. */
  judged: KeptRequest | null;
  /** What is replaced in texts before they are stored. */
  redact: LogSettings['redact'];
  reply: FastifyReply;
}

/** A counted request, for metrics. Unknown tokens are null. */
export interface ObservedRequest {
  organization: string;
  /** The name that was served, and the version that answered. */
  deployment: string;
  version: number;
  outcome: 'ok' | 'error' | 'aborted';
  /** Of an error. */
  code: string | null;
  seconds: number;
  promptTokens: number | null;
  completionTokens: number | null;
  /** Known dollars of all tries. */
  costUsd: number;
}

/** Purpose of the calls in metrics and traces. */
export const purpose = 'deployment';

/** Counts a finished call before its last byte is sent. */
export function counting(
  meter: DeploymentMeter,
  textsOf: ReturnType<typeof createTextKeeper>,
  observe: (request: ObservedRequest) => void = () => undefined,
): Recorder<DeploymentCall> {
  return {
    async record(call, { httpStatus, response, latencyMs, promptTokens, completionTokens, costUsd }) {
      const { orgId, deploymentId, kept, judged, provider, upstream, reply } = call;
      const isGone = reply.raw.destroyed && !reply.raw.writableFinished;
      const outcome = isGone ? 'aborted' : httpStatus >= 400 ? 'error' : 'ok';
      const failure = outcome === 'error' ? await failureOf(call, httpStatus, response) : undefined;
      const read = kept && (await textsOf(orgId, kept, response));
      const texts = read && { provider, model: upstream.model, ...read };
      const toJudge = outcome === 'ok' && judged && ((await textsOf(orgId, judged, response)) ?? noTexts);
      for (const { model, status, code, latencyMs, cost } of call.failedTries) {
        const result = { httpStatus: status, response: { error: { code } }, latencyMs, ...cost };
        observeCall({ client: call.client, ...model }, result, purpose);
      }
      const failedTries = call.failedTries.map(({ model, cost }) => ({ model: nameOf(model), costUsd: cost.costUsd }));
      const models = { model: call.answeredBy ? null : nameOf(call), failedTries };
      const used = { latencyMs, promptTokens, completionTokens, costUsd };
      const request = {
        outcome,
        ...(failure && { failure }),
        ...used,
        ...models,
        ...(texts && { texts }),
        ...(toJudge && { toJudge }),
      } as const;
      const { name: deployment, version } = call.served;
      observe({
        ...{ organization: orgId, deployment, version, outcome, code: failure?.code ?? null },
        ...{ seconds: latencyMs / 1_000, promptTokens, completionTokens, costUsd: knownCost(request) },
      });
      await meter.count(call, request);
      return deploymentId;
    },
    takeBackUnlessDelivered: () => {},
  };
}

/** Of a sample without room. */
const noTexts = { request: null, answer: null };

const longestMessage = 500;

/** What the caller was told of a failed request, without what is redacted. */
async function failureOf({ redact }: DeploymentCall, status: number, response: unknown) {
  const { code, message } = asObject(asObject(response)?.['error']) ?? {};
  const [told = ''] = (await redactTexts([typeof message === 'string' ? message : ''], redact)) ?? [];
  return { status, code: countedCode(code, status), message: told.slice(0, longestMessage) };
}
