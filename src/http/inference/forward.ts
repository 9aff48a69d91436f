import { setMaxListeners } from 'node:events';
import type { FastifyReply } from 'fastify';
import { TimeoutError, withTimeout } from '../../clients/net/bounded.js';
import { costOf, noCost, unknownCost, type CallCost } from '../../clients/models/cost.js';
import {
  ProviderError,
  providerError,
  wasNotSent,
  type ModelAnswer,
} from '../../clients/models/answers/provider-answer.js';
import { askProvider, type ProviderReply } from '../../clients/models/ask-provider.js';
import { isMediaType, openAnswer, type OpenedAnswer } from '../../clients/models/answers/read-answer.js';
import { boundDepth, cutErrorText, parseObject } from '../../clients/net/untrusted.js';
import { tracedAnswer } from '../../clients/models/traced-call.js';
import { JsonText, mayEscapeUnstorable } from '../../storage/db/json.js';
import { ApiError, openAiError } from '../server/errors.js';
import { GraphFailure } from './graph-failure.js';
import { OverCapacityError } from './bytes-in-flight.js';
import type { ForwardedCall, ProxyDeps } from './call.js';
import type { CallResult, Recorder } from './record.js';
import { pumpStream } from './stream.js';
import { noAnswer, passError } from './upstream-error.js';

/** Sends a call to its provider, forwards the answer and records it before the last byte. */
export interface Forward<Call extends ForwardedCall> {
  (call: Call, reply: FastifyReply): Promise<void>;
  /** Stops reading for disconnected callers; resolves when no call is in flight. */
  settled(): Promise<void>;
}

export function createForward<Call extends ForwardedCall>(
  deps: Pick<ProxyDeps, 'log' | 'callTimeoutMs' | 'lingerMs'>,
  given: Recorder<Call>,
  purpose: string,
): Forward<Call> {
  const { log, callTimeoutMs = 600_000, lingerMs = 60_000 } = deps;
  const recorder: Recorder<Call> = {
    ...given,
    record: (call, result) => {
      call.permit.resume();
      // The steps of a graph are calls of their own.
      if (!call.answeredBy) observe(call, result, purpose);
      return given.record(call, result);
    },
  };
  const inFlight = new Set<Promise<unknown>>();
  const closing = new AbortController();
  // One listener per call in flight.
  setMaxListeners(0, closing.signal);

  async function forward(call: Call, reply: FastifyReply): Promise<void> {
    const startedAt = performance.now();
    const elapsed = () => performance.now() - startedAt;
    const watch = lingering(reply, lingerMs, closing.signal);
    try {
      await withTimeout(callTimeoutMs, watch.signal, async (signal) => {
        const { client, provider, answeredBy } = call;
        call.permit.pause();
        const answer = await upstream(
          call,
          answeredBy
            ? answered(await answeredBy(signal), call)
            : askProvider(client, { provider, ...sentBy(call) }, signal, call.bytes.add),
        );
        const { status, opened, left } = answer;
        if (left.length > 0) {
          void reply.header('x-ratchet-left-out', left.join(', '));
          call.onLeft?.(left);
        }
        if (opened.kind === 'refused') await refused(call, opened, reply, elapsed);
        else if (opened.kind === 'stream')
          await pumpStream({ call, answer: { ...opened, status }, reply, recorder, log, elapsed });
        else await whole(call, { ...opened, status, contentType: answer.contentType }, reply, elapsed);
      });
    } catch (error) {
      const fault = error instanceof TimeoutError ? providerError(call.provider, error) : error;
      const isOverCapacity = fault instanceof OverCapacityError;
      // Any other ApiError is that of a graph.
      const isOurs = isOverCapacity || (fault instanceof ApiError && call.answeredBy !== undefined);
      if (!(fault instanceof ProviderError || isOurs)) throw error;
      const reported = fault instanceof ProviderError ? noAnswer(fault) : fault;
      const cost = fault instanceof ProviderError ? spentOn(fault) : spentOnOurs(fault);
      const { error: said } = openAiError(reported);
      // The record says more than the answer: by it a failed rollout is explained.
      const unsent = fault instanceof ProviderError && fault.unsent !== null && { unsent: fault.unsent };
      const response = { error: { ...said, ...unsent } };
      await note(call, { httpStatus: reported.status, response, latencyMs: elapsed(), ...cost });
      throw reported;
    } finally {
      watch.end();
    }
  }

  /** Forwards a provider's refusal. */
  async function refused(call: Call, answer: Refused, reply: FastifyReply, elapsed: () => number): Promise<void> {
    const passed = passError(call.provider, answer.status, answer.text, answer);
    const cost = answer.billed ? costOf(call.provider, call.upstream.model, answer.billed) : noCost;
    // The record keeps the provider's status, by which a failed rollout is explained.
    await note(call, { httpStatus: passed.recorded, response: passed.body, latencyMs: elapsed(), ...cost });
    void reply
      .code(passed.status)
      .headers(passed.headers)
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(passed.body));
  }

  /** Forwards a whole answer unchanged, after recording it. */
  async function whole(call: Call, answer: Whole, reply: FastifyReply, elapsed: () => number): Promise<void> {
    const { bytes, text, completion, isOurs } = answer;
    const cost: CallCost = costOf(call.provider, call.upstream.model, completion);
    const choices = completion?.['choices'];
    if (!Array.isArray(choices) || choices.length === 0) {
      const said = text.trim() === '' ? '' : `: ${cutErrorText(text.trim(), 512)}`;
      const message = `The provider "${call.provider}" answered ${answer.status} with a body that is not a chat completion in JSON${said}`;
      const fault = new ApiError(502, 'upstream_answer_invalid', message);
      await note(call, { httpStatus: 502, response: openAiError(fault), latencyMs: elapsed(), ...cost });
      throw fault;
    }
    // Postgres refuses deep nesting.
    const bounded = boundDepth(completion);
    const isStorable = bounded === completion && !mayEscapeUnstorable(text);
    const response = isStorable ? new JsonText(text) : bounded;
    const result = { httpStatus: answer.status, response, latencyMs: elapsed(), ...cost };
    const id = await recorder.record(call, result);
    recorder.takeBackUnlessDelivered(call, id, reply);
    if (cost.costUsd !== null) void reply.header('x-ratchet-cost-usd', String(cost.costUsd));
    return reply
      .code(answer.status)
      .type(
        !isOurs && isMediaType(answer.contentType, 'application/json')
          ? answer.contentType!
          : 'application/json; charset=utf-8',
      )
      .send(bytes);
  }

  /** Records a failed call; the caller gets the fault in any case. */
  async function note(call: Call, result: CallResult): Promise<void> {
    try {
      await recorder.record(call, result);
    } catch (error) {
      log.error({ err: error, ...call.logged }, 'could not record a failed model call');
    }
  }

  const tracked = (call: Call, reply: FastifyReply): Promise<void> => {
    const release = call.bytes.keep();
    const work = forward(call, reply).finally(() => {
      release();
      call.permit.release();
    });
    const done: Promise<unknown> = work.then(forget, forget);
    inFlight.add(done);
    function forget(): void {
      inFlight.delete(done);
    }
    return work;
  };
  return Object.assign(tracked, {
    async settled() {
      closing.abort(new TimeoutError('no answer before the service shut down'));
      await Promise.all(inFlight);
    },
  });
}

/** The answer of a graph, which is asked in one form. */
async function answered(answer: ModelAnswer, { upstream, bytes }: ForwardedCall): Promise<ProviderReply> {
  const { status, contentType, retryAfter } = answer;
  return { status, contentType, retryAfter, opened: await openAnswer(answer, upstream.stream, bytes.add), left: [] };
}

function sentBy({ upstream: { body, json, callers } }: ForwardedCall) {
  return { body, json, callers };
}

type Refused = Extract<OpenedAnswer, { kind: 'refused' }>;
type Whole = Extract<OpenedAnswer, { kind: 'whole' }> & Pick<ModelAnswer, 'status' | 'contentType'>;

/** Counts and traces a call to a model. */
function observe({ client, provider, upstream }: ForwardedCall, result: CallResult, purpose: string): void {
  const { httpStatus: status, latencyMs, response } = result;
  client.observer.modelCall({
    ...result,
    ...{ provider, model: upstream.model, purpose, status, seconds: latencyMs / 1_000 },
  });
  client.trace?.({
    ...{ provider, purpose, request: upstream.body, startedAt: Date.now() - latencyMs, cost: result },
    error: status >= 300 ? String(status) : null,
    answer: tracedAnswer(response instanceof JsonText ? parseObject(response.text) : response),
  });
}

/** A fault before the provider got the request costs nothing; any other cost is unknown. */
function spentOn(fault: ProviderError): CallCost {
  return wasNotSent(fault) ? noCost : unknownCost;
}

/** The cost of a call that we ended. */
function spentOnOurs(fault: ApiError): CallCost {
  if (fault instanceof OverCapacityError) return unknownCost;
  return fault instanceof GraphFailure ? fault.spent : noCost;
}

/** Distinguishes faults of the provider from our own. */
async function upstream<T>({ provider }: ForwardedCall, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ApiError ? error : providerError(provider, error);
  }
}

/** Fires `ms` after the caller has disconnected: a paid answer is still read and recorded. */
function lingering(reply: FastifyReply, ms: number, closing: AbortSignal) {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const gone = () => {
    timer = setTimeout(() => controller.abort(new TimeoutError('no answer before the caller disconnected')), ms);
  };
  const close = () => {
    if (timer) controller.abort(closing.reason);
  };
  if (reply.raw.destroyed) gone();
  else reply.raw.once('close', gone);
  closing.addEventListener('abort', close, { once: true });
  return {
    signal: controller.signal,
    end: () => {
      clearTimeout(timer);
      reply.raw.removeListener('close', gone);
      closing.removeEventListener('abort', close);
    },
  };
}
