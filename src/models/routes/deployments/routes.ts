import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { z } from 'zod';
import type { ModelClient } from '../../client/providers.js';
import { jobKinds } from '../../../core/jobs/kinds.js';
import { AnswerIds } from '../../../kinds/deployment/store/answer-ids.js';
import { correlationPattern } from '../../../contracts/common.js';
import { resolveDeployment, type ServedDeployment } from '../../../kinds/deployment/store/deployments.js';
import type { App } from '../../../platform/http/deps.js';
import { DeploymentMeter } from './meter.js';
import { graphCall } from '../graph-call.js';
import type { ForwardedCall, ProxyDeps } from '../call.js';
import { Forwarder } from '../forward.js';
import type { Recorder } from '../record.js';
import { refusal, unknownModel } from './not-ready.js';
import { traceRequest } from '../../../platform/http/server/request-span.js';
import { inferenceForms, type InferenceForm } from '../form-shapes.js';
import { forGraph, type AnswerForm } from '../forms/form.js';
import { frozenRequest, readCall, requestedModel, type ChatBody } from '../request.js';
import { correlationHeader, deploymentHeaders, inferenceSchema, unjudged } from '../schema.js';
import { createServedSnapshots, type PreparedSnapshot } from '../served-snapshots.js';
import { ApiError, refuse } from '../../../platform/http/server/errors.js';
import { asObject } from '../../../util/json.js';
import { createSharedReads } from '../../../util/shared-reads.js';

const bodyLimit = 10 * 1024 * 1024;
const params = z.object({ deployment_id: z.string().describe("A deployment's id, or the name that it serves.") });

/** A call of a deployment; `reply` shows whether the caller is still connected. */
interface DeploymentCall extends ForwardedCall {
  orgId: string;
  keyId: string | null;
  deploymentId: string;
  answerId: string;
  /** Of the episode that the call is a part of; null: none. */
  correlationId: string | null;
  reply: FastifyReply;
}

const answers =
  'The frozen prompt and its demonstrations take the place of the request\'s system message; the frozen model answers; every other field goes to it as it is. A graph takes the last user message as its input, a JSON object as it is and any other text as its only field, else as {"input": text}, and answers with its output; parameters of model calls are 400. x-ratchet-deployment-id and x-ratchet-snapshot-id say what answered, x-ratchet-cost-usd what it cost where that is known. x-ratchet-answer-id and the `id` of the completion name the answer for feedback.';
const notReady =
  'The deployment is being built: repeat the call after `retry-after`. Without that header it waits for a paused evaluation or has failed, and x-should-retry is false.';

/** Documentation of a deployment's path. */
function schemaOf(shape: InferenceForm, operationId: string): FastifySchema {
  const summary = `Ask a deployment, in the form of ${shape.api}`;
  const description = `By a deployment's id, or by a name: the deployment that serves it when the request comes. \`model\` is ignored. ${answers}`;
  const documented = inferenceSchema({ summary, description }, notReady, {}, shape);
  return { ...documented, headers: deploymentHeaders, operationId, params };
}

/** Documentation of a path where `model` names the deployment. */
function rootSchemaOf(shape: InferenceForm): FastifySchema {
  const [, , operationId] = shape.operations;
  const inForm = shape.form === null ? '' : `, in the form of ${shape.api}`;
  const summary = `Ask the deployment that \`model\` names${inForm}`;
  const description = `${baseUrls[shape.form ?? 'chat']}, and \`model\` is a name of a deployment, or its id. ${answers}`;
  const unknown = { 404: 'No deployment of the organization serves this model (code model_not_found).' };
  const documented = inferenceSchema({ summary, description }, notReady, unknown, shape);
  return { ...documented, headers: deploymentHeaders, body: shape.named, operationId };
}

const baseUrls = {
  chat: 'For OpenAI clients: the base URL is /v1',
  responses: 'For OpenAI clients: the base URL is /v1',
  messages: 'For Anthropic clients: the base URL is that of the service',
};

type InferenceDeps = ProxyDeps & { secretKey: Buffer };

/** Registers the inference paths of deployments. */
export function registerDeploymentInference(app: App, deps: InferenceDeps): void {
  const { answer, close } = createAnswerer(deps);
  const options = {
    bodyLimit,
    ...deps.bytes.hooks,
    helmet: false,
    validatorCompiler: unjudged,
  } as const;
  for (const shape of inferenceForms) {
    const { form, path: end, operations } = shape;
    const config = { access: 'inference', ...(form && { form }) } as const;
    for (const [path, suffix] of [
      ['', ''],
      ['/v1', 'V1'],
    ] as const) {
      app.post(
        `${jobKinds.deployment.path}/:deployment_id${path}${end}`,
        { ...options, config, schema: schemaOf(shape, `${operations[1]}${suffix}`) },
        (request, reply) => {
          const { deployment_id: ref } = request.params as z.infer<typeof params>;
          return answer(request, reply, { ref, ...readCall(request), unknown: unknownDeployment });
        },
      );
    }
    app.post(`/v1${end}`, { ...options, config, schema: rootSchemaOf(shape) }, (request, reply) => {
      const call = readCall(request);
      return answer(request, reply, { ref: requestedModel(call.body), ...call, unknown: unknownModel });
    });
  }
  app.addHook('onClose', close);
}

interface Asked {
  /** The id or the name of a deployment. */
  ref: string;
  body: ChatBody;
  /** null: a chat completion. */
  form: AnswerForm | null;
  /** The refusal of a `ref` that names nothing. */
  unknown: (ref: string) => ApiError;
}

/** Answers for deployments, and counts their requests. */
function createAnswerer(deps: InferenceDeps) {
  const { db, log, providers, tracing, bytes } = deps;
  const answerIds = new AnswerIds(deps.secretKey);
  const snapshots = createServedSnapshots(db);
  // Many requests arrive in bursts.
  const resolved = createSharedReads<ServedDeployment | null>();
  const meter = new DeploymentMeter({ db, log });
  const forwarder = new Forwarder<DeploymentCall>(deps, counting(meter), 'deployment');

  const answer = async (request: FastifyRequest, reply: FastifyReply, { ref, body, form, unknown }: Asked) => {
    const { orgId, keyId } = request.caller;
    const found = await resolved(`${orgId} ${ref}`, () => db.orgApart(orgId, (tx) => resolveDeployment(tx, ref)));
    if (found) void reply.header('x-ratchet-deployment-id', found.id);
    if (!found || found.snapshotId === null) throw (await refusal(db, orgId, ref)) ?? unknown(ref);
    void reply.header('x-ratchet-snapshot-id', found.snapshotId);
    if (body.messages.length === 0) throw noMessages();
    const correlationId = correlationOf(request);
    const served = await snapshots.get(orgId, found.snapshotId);
    const answerId = answerIds.issue(found.id);
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
    await forwarder.forward(
      {
        client,
        form,
        ...callOf(client, served, forGraph(body, served.kind === 'graph' ? form : null)),
        orgId,
        keyId,
        deploymentId: found.id,
        answerId,
        correlationId,
        reply,
        logged: { deployment_id: found.id },
        bytes: bytes.of(request),
        permit: request.permit,
      },
      reply,
    );
    return reply;
  };

  const close = async () => {
    await forwarder.settled();
    await meter.close();
  };
  return { answer, close };
}

function callOf(client: ModelClient, served: PreparedSnapshot, body: ChatBody) {
  if (served.kind === 'graph') return graphCall(client, served.id, body, () => Promise.resolve(served));
  const { policy, content } = served;
  return { provider: policy.provider, upstream: frozenRequest(body, content, policy) };
}

const unknownDeployment = (ref: string) => refuse.notFound(`deployment ${ref.slice(0, 100)}`);

/** The episode that a caller names. */
function correlationOf({ headers }: FastifyRequest): string | null {
  const given = headers[correlationHeader];
  if (given === undefined) return null;
  if (typeof given === 'string' && correlationPattern.test(given)) return given;
  const message = `${correlationHeader} must be 1 to 256 visible ASCII characters.`;
  throw new ApiError(400, 'invalid_request', message, { errors: [{ pointer: '', message }] });
}

function noMessages(): ApiError {
  const message = 'messages must hold at least one message.';
  return new ApiError(400, 'invalid_request', message, { errors: [{ pointer: '/messages', message }] });
}

/** Counts a finished call before its last byte is sent. */
function counting(meter: DeploymentMeter): Recorder<DeploymentCall> {
  return {
    async record(
      { orgId, keyId, deploymentId, answerId, correlationId, reply },
      { httpStatus, response, latencyMs, promptTokens, completionTokens, costUsd },
    ) {
      const isGone = reply.raw.destroyed && !reply.raw.writableFinished;
      const outcome = isGone ? 'aborted' : httpStatus >= 400 ? 'error' : 'ok';
      const failure = outcome === 'error' ? { failure: failureOf(httpStatus, response) } : {};
      await meter.count(
        { orgId, keyId, deploymentId, answerId, correlationId },
        { outcome, ...failure, latencyMs, promptTokens, completionTokens, costUsd },
      );
      return deploymentId;
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
