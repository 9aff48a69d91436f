/** Asks a version whose answers no caller sees, and counts them apart. */
import type { Logger } from 'pino';
import { withTimeout } from '../../../clients/net/bounded.js';
import { costOf } from '../../client/cost.js';
import type { AskedCall } from '../call.js';
import { answerOf, failureOf } from '../forward.js';
import { countedCode } from './counted-code.js';
import { nameOf } from './fallbacks.js';
import type { createTextKeeper, KeptRequest } from './kept-texts.js';
import type { CountedCall, CountedRequest, DeploymentMeter } from './meter.js';

/** Calls at a time in a process; beyond it requests are not asked again. */
const mostInFlight = 64;
const timeoutMs = 600_000;

type TextKeeper = ReturnType<typeof createTextKeeper>;

export interface ShadowCall {
  counted: CountedCall;
  /** What is kept for the judge, if the live answer is judged, too. */
  judged: KeptRequest | null;
}

export class Shadow {
  private readonly meter: DeploymentMeter;
  private readonly textsOf: TextKeeper;
  private readonly log: Logger;
  private readonly inFlight = new Set<Promise<void>>();
  private readonly closing = new AbortController();

  constructor(meter: DeploymentMeter, textsOf: TextKeeper, log: Logger) {
    this.meter = meter;
    this.textsOf = textsOf;
    this.log = log;
  }

  /** Whether a further call has room. */
  get hasRoom(): boolean {
    return this.inFlight.size < mostInFlight && !this.closing.signal.aborted;
  }

  /** Asks in the background; never rejects. */
  ask(asked: ShadowCall, make: () => Promise<AskedCall>): Promise<void> {
    const { counted } = asked;
    const done: Promise<void> = this.answer(asked, make)
      .catch((err: unknown) => this.log.error({ err, deployment_id: counted.deploymentId }, 'shadow call not counted'))
      .finally(() => this.inFlight.delete(done));
    this.inFlight.add(done);
    return done;
  }

  async close(): Promise<void> {
    this.closing.abort(new Error('the service shuts down'));
    await Promise.all(this.inFlight);
  }

  private async answer({ counted, judged }: ShadowCall, make: () => Promise<AskedCall>): Promise<void> {
    const call = await make();
    const startedAt = performance.now();
    const answered = await withTimeout(timeoutMs, this.closing.signal, (signal) => outcomeOf(call, signal)).catch(
      (error: unknown) => failedBy(call, error),
    );
    // A call that the shutdown cut short says nothing of the version.
    if (this.closing.signal.aborted) return;
    const latencyMs = performance.now() - startedAt;
    const model = call.answeredBy ? null : nameOf(call);
    if (model !== null) observe(call, answered, latencyMs);
    const { completion, ...outcome } = answered;
    const texts = judged && completion ? await this.textsOf(counted.orgId, judged, completion) : null;
    const request = { ...outcome, latencyMs, model, ...(texts && { toJudge: texts }) };
    await this.meter.count({ ...counted, isShadow: true }, request);
  }
}

function observe({ client, provider, upstream }: AskedCall, { failure, ...used }: Outcome, latencyMs: number): void {
  const { status = 200, code = null } = failure ?? {};
  const call = { provider, model: upstream.model, purpose: 'shadow', status, code, seconds: latencyMs / 1_000 };
  client.observer.modelCall({ ...call, ...used });
}

type Outcome = Omit<CountedRequest, 'latencyMs' | 'model'> & { completion?: Record<string, unknown> };

async function outcomeOf(call: AskedCall, signal: AbortSignal): Promise<Outcome> {
  const { opened } = (await answerOf(call, signal)).reply;
  const { provider, upstream } = call;
  if (opened.kind === 'refused') {
    const cost = opened.billed ? costOf(provider, upstream.model, opened.billed) : null;
    return error(opened.status, countedCode(null, opened.status), cost);
  }
  const completion = opened.kind === 'whole' ? opened.completion : null;
  const cost = costOf(provider, upstream.model, completion);
  const choices = completion?.['choices'];
  if (!Array.isArray(choices) || choices.length === 0) return error(502, 'upstream_answer_invalid', cost);
  return { outcome: 'ok', ...cost, completion: completion! };
}

function failedBy(call: AskedCall, thrown: unknown): Outcome {
  const failure = failureOf(call, thrown);
  if (!failure) throw thrown;
  const { status, code } = failure.reported;
  return error(status, countedCode(code, status), failure.cost);
}

function error(
  status: number,
  code: string,
  cost: Pick<Outcome, 'promptTokens' | 'completionTokens' | 'costUsd'> | null,
) {
  const { promptTokens, completionTokens, costUsd } = cost ?? { promptTokens: 0, completionTokens: 0, costUsd: 0 };
  const failure = { status, code, message: '' };
  return { outcome: 'error' as const, failure, promptTokens, completionTokens, costUsd };
}
