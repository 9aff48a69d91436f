import { setMaxListeners } from 'node:events';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { TimeoutError, withTimeout } from '../../clients/net/bounded.js';
import { costOf, noCost, unknownCost, type CallCost } from '../client/cost.js';
import { ProviderError, providerError, wasNotSent, type ModelAnswer } from '../client/answers/provider-answer.js';
import { askProvider, type ProviderReply } from '../client/ask-provider.js';
import { isMediaType, openAnswer, type OpenedAnswer } from '../client/answers/read-answer.js';
import { boundDepth, cutErrorText } from '../../clients/net/untrusted.js';
import { withId } from '../client/answers/own-id.js';
import { JsonText, mayBeUnstorable } from '../../platform/db/json.js';
import { ApiError, openAiError } from '../../platform/http/server/errors.js';
import { GraphFailure } from './graph-failure.js';
import { OverCapacityError } from './bytes-in-flight.js';
import type { AskedCall, ForwardedCall, ProxyDeps } from './call.js';
import { observe } from './observe.js';
import type { CallResult, Recorder } from './record.js';
import { pumpStream } from './stream.js';
import { noAnswer, passError } from './upstream-error.js';

/** A call that is being answered. */
interface Exchange<Call extends ForwardedCall> {
  call: Call;
  reply: FastifyReply;
  /** Milliseconds since the call came. */
  elapsed: () => number;
}

type Refused = Extract<OpenedAnswer, { kind: 'refused' }>;
type Whole = Extract<OpenedAnswer, { kind: 'whole' }> & Pick<ModelAnswer, 'status' | 'contentType'>;

/** Sends a call to its provider, forwards the answer and records it before the last byte. */
export class Forwarder<Call extends ForwardedCall> {
  private readonly log: Logger;
  private readonly callTimeoutMs: number;
  private readonly lingerMs: number;
  private readonly recorder: Recorder<Call>;
  private readonly inFlight = new Set<Promise<unknown>>();
  private readonly closing = new AbortController();

  constructor(
    { log, callTimeoutMs = 600_000, lingerMs = 60_000 }: Pick<ProxyDeps, 'log' | 'callTimeoutMs' | 'lingerMs'>,
    recorder: Recorder<Call>,
    purpose: string,
  ) {
    this.log = log;
    this.callTimeoutMs = callTimeoutMs;
    this.lingerMs = lingerMs;
    this.recorder = observed(recorder, purpose);
    // One listener per call in flight.
    setMaxListeners(0, this.closing.signal);
  }

  forward(call: Call, reply: FastifyReply): Promise<void> {
    const release = call.bytes.keep();
    const startedAt = performance.now();
    const elapsed = () => performance.now() - startedAt;
    const work = this.exchange({ call, reply, elapsed }).finally(() => {
      release();
      call.permit.release();
    });
    const done: Promise<unknown> = work.catch(() => undefined).then(() => this.inFlight.delete(done));
    this.inFlight.add(done);
    return work;
  }

  /** Stops reading for disconnected callers; resolves when no call is in flight. */
  async settled(): Promise<void> {
    this.closing.abort(new TimeoutError('no answer before the service shut down'));
    await Promise.all(this.inFlight);
  }

  private async exchange(exchange: Exchange<Call>): Promise<void> {
    const { call, reply } = exchange;
    const watch = lingering(reply, this.lingerMs, this.closing.signal);
    try {
      await withTimeout(this.callTimeoutMs, watch.signal, async (signal) => {
        call.permit.pause();
        const { answered, reply: answer } = await answerOf(call, signal);
        await this.pass({ ...exchange, call: answered }, answer);
      });
    } catch (error) {
      await this.fail(exchange, error);
    } finally {
      watch.end();
    }
  }

  /** Forwards an answer in its form. */
  private async pass(exchange: Exchange<Call>, { status, contentType, opened, left }: ProviderReply): Promise<void> {
    const { call, reply } = exchange;
    if (left.length > 0) {
      void reply.header('x-ratchet-left-out', left.join(', '));
      call.onLeft?.(left);
    }
    if (opened.kind === 'refused') await this.refuse(exchange, opened);
    else if (opened.kind === 'whole') await this.passWhole(exchange, { ...opened, status, contentType });
    else await pumpStream({ ...exchange, answer: { ...opened, status }, recorder: this.recorder, log: this.log });
  }

  /** Forwards a provider's refusal. */
  private async refuse({ call, reply, elapsed }: Exchange<Call>, answer: Refused): Promise<void> {
    const passed = passError(call.provider, answer.status, answer.text, answer);
    const cost = answer.billed ? costOf(call.provider, call.upstream.model, answer.billed) : noCost;
    // The record keeps the provider's status, by which a failed rollout is explained.
    await this.note(call, { httpStatus: passed.recorded, response: passed.body, latencyMs: elapsed(), ...cost });
    void reply
      .code(passed.status)
      .headers(passed.headers)
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(call.form ? call.form.error(passed.status, passed.body.error) : passed.body));
  }

  /** Forwards a whole answer unchanged, after recording it. */
  private async passWhole({ call, reply, elapsed }: Exchange<Call>, answer: Whole): Promise<void> {
    const { bytes, text, completion, isOurs } = answer;
    const cost: CallCost = costOf(call.provider, call.upstream.model, completion);
    const choices = completion?.['choices'];
    if (!Array.isArray(choices) || choices.length === 0) {
      const said = text.trim() === '' ? '' : `: ${cutErrorText(text.trim(), 512)}`;
      const message = `The provider "${call.provider}" answered ${answer.status} with a body that is not a chat completion in JSON${said}`;
      const fault = new ApiError(502, 'upstream_answer_invalid', message);
      await this.note(call, { httpStatus: 502, response: openAiError(fault), latencyMs: elapsed(), ...cost });
      throw fault;
    }
    // Postgres refuses deep nesting and long numbers.
    const bounded = boundDepth(completion);
    const isStorable = bounded === completion && !mayBeUnstorable(text);
    const response = isStorable ? new JsonText(text) : bounded;
    const result = { httpStatus: answer.status, response, latencyMs: elapsed(), ...cost };
    const id = await this.recorder.record(call, result);
    this.recorder.takeBackUnlessDelivered(call, id, reply);
    if (cost.costUsd !== null) void reply.header('x-ratchet-cost-usd', String(cost.costUsd));
    if (call.form) {
      const own = call.form.whole(completion!, call.answerId ?? null);
      return reply.code(200).type('application/json; charset=utf-8').send(JSON.stringify(own));
    }
    return reply
      .code(answer.status)
      .type(
        !isOurs && isMediaType(answer.contentType, 'application/json')
          ? answer.contentType!
          : 'application/json; charset=utf-8',
      )
      .send(call.answerId === undefined ? bytes : withId(text, call.answerId));
  }

  /** Records a call without an answer; throws the error for its caller. */
  private async fail({ call, elapsed }: Exchange<Call>, error: unknown): Promise<never> {
    const failure = failureOf(call, error);
    if (failure === null) throw error;
    const { reported, unsent, cost } = failure;
    // The record says more than the answer: by it a failed rollout is explained.
    const response = { error: { ...openAiError(reported).error, ...(unsent !== null && { unsent }) } };
    await this.note(call, { httpStatus: reported.status, response, latencyMs: elapsed(), ...cost });
    throw reported;
  }

  /** Records a failed call; the caller gets the fault in any case. */
  private async note(call: Call, result: CallResult): Promise<void> {
    try {
      await this.recorder.record(call, result);
    } catch (error) {
      this.log.error({ err: error, ...call.logged }, 'could not record a failed model call');
    }
  }
}

/** Records calls that are counted and traced. */
function observed<Call extends ForwardedCall>(recorder: Recorder<Call>, purpose: string): Recorder<Call> {
  return {
    ...recorder,
    record: (call, result) => {
      call.permit.resume();
      // The steps of a graph are calls of their own.
      if (!call.answeredBy) observe(call, result, purpose);
      return recorder.record(call, result);
    },
  };
}

/**
 * The answer of a graph, of the call's model or of one of several, and the call as it was answered.
 * The faults of a provider have its name.
 */
export async function answerOf<Call extends AskedCall>(
  call: Call,
  signal: AbortSignal,
): Promise<{ answered: Call; reply: ProviderReply }> {
  const { client, provider, upstream, bytes } = call;
  if (call.askSeveral) {
    const { model, reply } = await call.askSeveral(signal, bytes.add);
    return { answered: { ...call, ...model }, reply };
  }
  const ofGraph = await call.answeredBy?.(signal);
  try {
    if (ofGraph) return { answered: call, reply: await openedOf(ofGraph, call) };
    const { body, json, callers } = upstream;
    return { answered: call, reply: await askProvider(client, { provider, body, json, callers }, signal, bytes.add) };
  } catch (error) {
    throw error instanceof ApiError ? error : providerError(provider, error);
  }
}

/** The answer of a graph, which is asked in one form. */
async function openedOf(answer: ModelAnswer, { upstream, bytes }: AskedCall): Promise<ProviderReply> {
  const { status, contentType, retryAfter } = answer;
  return { status, contentType, retryAfter, opened: await openAnswer(answer, upstream.stream, bytes.add), left: [] };
}

interface Failure {
  reported: ApiError;
  unsent: ProviderError['unsent'];
  cost: CallCost;
}

/** Why a call has no answer; null: an error that is no answer of a provider or a graph. */
export function failureOf({ provider, answeredBy }: AskedCall, error: unknown): Failure | null {
  const fault = error instanceof TimeoutError ? providerError(provider, error) : error;
  if (fault instanceof ProviderError) {
    const cost = wasNotSent(fault) ? noCost : unknownCost;
    return { reported: noAnswer(fault), unsent: fault.unsent, cost };
  }
  if (fault instanceof OverCapacityError) return { reported: fault, unsent: null, cost: unknownCost };
  // Any other ApiError is that of a graph.
  if (!(fault instanceof ApiError && answeredBy)) return null;
  return { reported: fault, unsent: null, cost: fault instanceof GraphFailure ? fault.spent : noCost };
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
