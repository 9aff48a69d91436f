import type { FastifyReply, FastifyRequest } from 'fastify';
import { correlationPattern } from '../../../contracts/common.js';
import { policyFromSnapshot } from '../../../kinds/deployment/contract/snapshot.js';
import { isInSample } from '../../../core/deployments/sampling.js';
import { AnswerIds } from '../../../kinds/deployment/store/answer-ids.js';
import {
  resolveDeployment,
  type ServedCanary,
  type ServedDeployment,
} from '../../../kinds/deployment/store/resolve.js';
import { ApiError } from '../../../platform/http/server/errors.js';
import { traceRequest } from '../../../platform/http/server/request-span.js';
import { createSharedReads } from '../../../util/shared-reads.js';
import type { ModelClient } from '../../client/providers.js';
import type { ForwardedCall, ProxyDeps } from '../call.js';
import { forGraph, type AnswerForm } from '../forms/form.js';
import { Forwarder } from '../forward.js';
import { graphCall } from '../graph-call.js';
import { frozenRequest, type ChatBody } from '../request.js';
import { correlationHeader, tagHeader, tagPattern } from '../schema.js';
import { createServedSnapshots, type PreparedSnapshot } from '../served-snapshots.js';
import { askSeveral, headerOf, nameOf, type Several } from './fallbacks.js';
import { createTextKeeper } from './kept-texts.js';
import { DeploymentLimits } from './limits.js';
import { DeploymentMeter } from './meter.js';
import { refusal } from './not-ready.js';
import { counting, purpose, type DeploymentCall, type ObservedRequest } from './recorder.js';
import { RetryBudget } from './retry-budget.js';
import { Shadow } from './shadow.js';
import { splitRequest, stickyKey } from './split.js';
import { whatNameHas } from './unknown-ref.js';

export interface InferenceDeps extends ProxyDeps {
  secretKey: Buffer;
  /** Called for each request that is counted. */
  observe?: (request: ObservedRequest) => void;
}

interface Asked {
  /** The id or the name of a deployment. */
  ref: string;
  body: ChatBody;
  /** null: a chat completion. */
  form: AnswerForm | null;
  /** The refusal of a `ref` that names nothing; `known`: what its name has. */
  unknown: (ref: string, known: string) => ApiError;
}

/** A call whose deployment is found. */
interface Answering {
  client: ModelClient;
  found: ServedDeployment;
  served: PreparedSnapshot;
  body: ChatBody;
  form: AnswerForm | null;
  reply: FastifyReply;
}

interface Fallible {
  found: ServedDeployment;
  served: Extract<PreparedSnapshot, { kind: 'messages' }>;
  body: ChatBody;
}

/** Answers for deployments, and counts their requests. */
export class DeploymentAnswerer {
  private readonly deps: InferenceDeps;
  private readonly answerIds: AnswerIds;
  private readonly snapshots;
  /** Many requests arrive in bursts. */
  private readonly resolved = createSharedReads<ServedDeployment | null>();
  private readonly meter: DeploymentMeter;
  private readonly limits: DeploymentLimits;
  private readonly shadow: Shadow;
  private readonly budgets = new RetryBudget();
  private readonly forwarder: Forwarder<DeploymentCall>;

  constructor(deps: InferenceDeps) {
    this.deps = deps;
    this.answerIds = new AnswerIds(deps.secretKey);
    this.snapshots = createServedSnapshots(deps.db);
    this.meter = new DeploymentMeter(deps);
    const textsOf = createTextKeeper(deps);
    this.shadow = new Shadow(this.meter, textsOf, deps.log);
    this.limits = new DeploymentLimits(deps);
    this.forwarder = new Forwarder<DeploymentCall>(deps, counting(this.meter, textsOf, deps.observe), purpose);
  }

  async answer(
    request: FastifyRequest,
    reply: FastifyReply,
    { ref, body, form, unknown }: Asked,
  ): Promise<FastifyReply> {
    const { db, providers, tracing, bytes } = this.deps;
    const { orgId, keyId } = request.caller;
    const tag = tagOf(request);
    const read = () => db.orgApart(orgId, (tx) => resolveDeployment(tx, ref));
    const early = this.limits.foresee({ orgId, keyId, tag, ref });
    const named = await this.resolved(`${orgId} ${ref}`, read);
    const correlationId = correlationOf(request);
    const unit = this.answerIds.unitOf(stickyKey(request, correlationId, named?.canary?.stickyBy ?? null));
    const { found, shadow } = named ? splitRequest(named, unit) : { found: null, shadow: null };
    if (found) void reply.headers({ 'x-ratchet-deployment-id': found.id, 'x-ratchet-version': String(found.version) });
    if (!found || found.snapshotId === null)
      throw (await refusal(db, orgId, ref)) ?? unknown(ref, await db.org(orgId, (tx) => whatNameHas(tx, ref)));
    void reply.header('x-ratchet-snapshot-id', found.snapshotId);
    if (body.messages.length === 0) throw noMessages();
    const served = await this.snapshots.get(orgId, found.snapshotId);
    const models = modelsOf(served, found);
    const limited = await this.limits.admit({ orgId, keyId, tag, ref, deployment: found, models }, reply, early);
    const answerId = this.answerIds.issue(found.id, unit);
    void reply.header('x-ratchet-answer-id', answerId);
    const trace = traceRequest(tracing, request, reply, {
      of: null,
      attributes: {
        'ratchet.deployment.id': found.id,
        'ratchet.snapshot.id': found.snapshotId,
        'ratchet.answer.id': answerId,
      },
    });
    const client = providers.forPayer({ orgId, keyId }, trace);
    const { log, judge } = found.settings;
    const sampledBy = correlationId ?? answerId;
    const call: DeploymentCall = {
      client,
      form,
      ...this.modelOf({ found, served, body, form, reply, client }),
      orgId,
      keyId,
      deploymentId: found.id,
      served: { name: found.name, version: found.version },
      answerId,
      correlationId,
      failedTries: [],
      limited,
      kept: log && isInSample('log', sampledBy, log.sample_rate) ? { body, redact: log.redact } : null,
      // A judge reads what was said; its texts are deleted with its score.
      judged: judge && isInSample('judge', sampledBy, judge.sample_rate) ? { body, redact: [] } : null,
      redact: log?.redact ?? [],
      reply,
      logged: { deployment_id: found.id },
      bytes: bytes.of(request),
      permit: request.permit,
    };
    if (served.kind === 'messages') this.addFallbacks(call, { found, served, body });
    const trial = shadow && this.shadow.hasRoom ? { shadow, release: call.bytes.keep() } : null;
    try {
      await this.forwarder.forward(call, reply);
    } finally {
      if (trial) void this.askShadow(call, trial.shadow, body).finally(trial.release);
    }
    return reply;
  }

  async close(): Promise<void> {
    await Promise.all([this.forwarder.settled(), this.shadow.close()]);
    await Promise.all([this.meter.close(), this.limits.close()]);
  }

  /** Asks a version that is on trial what the caller asked. */
  private askShadow(call: DeploymentCall, { id, snapshotId }: ServedCanary, body: ChatBody): Promise<void> {
    const { client, orgId, keyId, bytes, form, judged } = call;
    const { stream: _streamed, stream_options: _options, ...fields } = body;
    const whole = { ...fields, messages: body.messages };
    const { unit } = this.answerIds.read(call.answerId)!;
    const counted = { orgId, keyId, deploymentId: id, answerId: this.answerIds.issue(id, unit), correlationId: null };
    return this.shadow.ask({ counted, judged }, async () => {
      const served = await this.snapshots.get(orgId, snapshotId);
      if (served.kind === 'graph')
        return { client, bytes, ...graphCall(client, served.id, forGraph(whole, form), () => Promise.resolve(served)) };
      const { policy, content } = served;
      return { client, bytes, provider: policy.provider, upstream: frozenRequest(whole, content, policy) };
    });
  }

  /** What answers a call: a graph, or its own model. */
  private modelOf({
    client,
    served,
    body,
    form,
    reply,
  }: Answering): Pick<ForwardedCall, 'provider' | 'upstream' | 'answeredBy'> {
    if (served.kind === 'graph')
      return graphCall(client, served.id, forGraph(body, form), () => Promise.resolve(served));
    const { policy, content } = served;
    const own = { provider: policy.provider, upstream: frozenRequest(body, content, policy) };
    void reply.header('x-ratchet-model', headerOf(nameOf(own)));
    return own;
  }

  /** Lets further models answer a call, if the name has fallbacks. */
  private addFallbacks(call: DeploymentCall, { found, served, body }: Fallible): void {
    const { fallbacks: settings } = found.settings;
    if (!settings) return;
    const { client, provider, upstream, reply, failedTries: failed } = call;
    const { policy, content } = served;
    const others = settings.models.map(policyFromSnapshot).map(({ provider, model, params }) => () => {
      const upstream = frozenRequest(body, content, { provider, model, params: { ...policy.params, ...params } });
      return { provider, upstream };
    });
    const several: Several = {
      client,
      models: [() => ({ provider, upstream }), ...others],
      settings,
      budget: this.budgets.of(found.id, settings.retry_budget),
      failed,
      onAsked: (model) => Object.assign(call, model),
      isGone: () => reply.raw.destroyed,
    };
    call.askSeveral = async (signal, onBytes) => {
      const asked = await askSeveral(several, signal, onBytes);
      void reply.header('x-ratchet-model', headerOf(nameOf(asked.model)));
      const tried = failed.map(({ model, code }) => `${nameOf(model)} ${code}`).join(', ');
      if (tried !== '') void reply.header('x-ratchet-tried', headerOf(tried));
      return asked;
    };
  }
}

/** The models that may answer. */
function modelsOf(served: PreparedSnapshot, { settings }: ServedDeployment) {
  return served.kind === 'graph' ? served.policies : [served.policy, ...(settings.fallbacks?.models ?? [])];
}

/** The episode that a caller names. */
function correlationOf({ headers }: FastifyRequest): string | null {
  const given = headers[correlationHeader];
  if (given === undefined) return null;
  if (typeof given === 'string' && correlationPattern.test(given)) return given;
  throw invalidHeader(`${correlationHeader} must be 1 to 256 visible ASCII characters.`);
}

/** For whom a caller asks; empty: no one in particular. */
function tagOf({ headers }: FastifyRequest): string {
  const given = headers[tagHeader];
  if (given === undefined) return '';
  if (typeof given === 'string' && tagPattern.test(given)) return given;
  throw invalidHeader(`${tagHeader} must be 1 to 64 visible ASCII characters.`);
}

function invalidHeader(message: string): ApiError {
  return new ApiError(400, 'invalid_request', message, { errors: [{ pointer: '', message }] });
}

function noMessages(): ApiError {
  const message = 'messages must hold at least one message.';
  return new ApiError(400, 'invalid_request', message, { errors: [{ pointer: '/messages', message }] });
}
