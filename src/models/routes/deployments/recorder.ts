import type { FastifyReply } from 'fastify';
import { asObject } from '../../../util/json.js';
import type { ForwardedCall } from '../call.js';
import type { Recorder } from '../record.js';
import { nameOf, type FailedTry } from './fallbacks.js';
import type { createTextKeeper, KeptRequest } from './kept-texts.js';
import type { DeploymentMeter } from './meter.js';

/** A call of a deployment; `reply` shows whether the caller is still connected. */
export interface DeploymentCall extends ForwardedCall {
  orgId: string;
  keyId: string | null;
  deploymentId: string;
  answerId: string;
  /** Of the episode that the call is a part of; null: none. */
  correlationId: string | null;
  /** Tries of other models, or of the same one, before the answer; filled while it is asked. */
  failedTries: FailedTry[];
  /** Subjects of limits for which its tokens and dollars count. */
  limited: readonly string[];
  /** The caller's request, if its texts are kept. */
  kept: KeptRequest | null;
  reply: FastifyReply;
}

/** Counts a finished call before its last byte is sent. */
export function counting(
  meter: DeploymentMeter,
  textsOf: ReturnType<typeof createTextKeeper>,
): Recorder<DeploymentCall> {
  return {
    async record(call, { httpStatus, response, latencyMs, promptTokens, completionTokens, costUsd }) {
      const { kept, answeredBy, failedTries, provider, upstream, reply } = call;
      const isGone = reply.raw.destroyed && !reply.raw.writableFinished;
      const outcome = isGone ? 'aborted' : httpStatus >= 400 ? 'error' : 'ok';
      const failure = outcome === 'error' ? { failure: failureOf(httpStatus, response) } : {};
      const read = kept && (await textsOf(call.orgId, kept, response));
      const texts = read && { provider, model: upstream.model, ...read };
      const tries = failedTries.map(({ model, cost }) => ({ model: nameOf(model), costUsd: cost.costUsd }));
      const models = { model: answeredBy ? null : nameOf({ provider, upstream }), failedTries: tries };
      await meter.count(call, {
        outcome,
        ...failure,
        latencyMs,
        promptTokens,
        completionTokens,
        costUsd,
        ...models,
        ...(texts && { texts }),
      });
      return call.deploymentId;
    },
    takeBackUnlessDelivered: () => {},
  };
}

/** Codes that are counted; a provider may send any text. */
const codePattern = /^[A-Za-z0-9][\w.:-]{0,63}$/;
const longestMessage = 500;

/** What the caller was told of a failed request. */
function failureOf(status: number, response: unknown) {
  const { code, message } = asObject(asObject(response)?.['error']) ?? {};
  return {
    status,
    code: typeof code === 'string' && codePattern.test(code) ? code : `http_${status}`,
    message: typeof message === 'string' ? message.slice(0, longestMessage) : '',
  };
}
