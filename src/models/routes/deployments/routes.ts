import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { z } from 'zod';
import type { ModelClient } from '../../client/providers.js';
import { jobKinds } from '../../../core/jobs/kinds.js';
import { AnswerIds } from '../../../kinds/deployment/store/answer-ids.js';
import { correlationPattern } from '../../../contracts/common.js';
import { longestRef } from '../../../core/deployments/ref.js';
import { resolveDeployment, type ServedDeployment } from '../../../kinds/deployment/store/resolve.js';
import { whatNameHas } from './unknown-ref.js';
import type { App } from '../../../platform/http/deps.js';
import { DeploymentMeter } from './meter.js';
import { graphCall } from '../graph-call.js';
import type { ForwardedCall, ProxyDeps } from '../call.js';
import { Forwarder } from '../forward.js';
import type { Recorder } from '../record.js';
import { refusal, unknownModel } from './not-ready.js';
import { traceRequest } from '../../../platform/http/server/request-span.js';
import { frozenRequest, readChatBody, requestedModel, type ChatBody } from '../request.js';
import { correlationHeader, deploymentHeaders, inferenceSchema, namedCompletionRequest, unjudged } from '../schema.js';
import { createServedSnapshots, type PreparedSnapshot } from '../served-snapshots.js';
import { ApiError } from '../../../platform/http/server/errors.js';
import { asObject } from '../../../util/json.js';
import { createSharedReads } from '../../../util/shared-reads.js';

const bodyLimit = 10 * 1024 * 1024;
const params = z.object({
  deployment_id: z.string().describe("A deployment's id, the name that it serves, NAME@LABEL or NAME@VERSION."),
});

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
  'The frozen prompt and its demonstrations take the place of the request\'s system message; the frozen model answers; every other field goes to it as it is. A graph takes the last user message as its input, a JSON object as it is and any other text as its only field, else as {"input": text}, and answers with its output; parameters of model calls are 400. x-ratchet-deployment-id, x-ratchet-version and x-ratchet-snapshot-id say what answered, x-ratchet-cost-usd what it cost where that is known. x-ratchet-answer-id and the `id` of the completion name the answer for feedback.';
const notReady =
  'The deployment is being built: repeat the call after `retry-after`. Without that header it waits for a paused evaluation or has failed, and x-should-retry is false.';

const schema: FastifySchema = {
  ...inferenceSchema(
    {
      tags: ['Inference'],
      summary: 'Ask a deployment, in the form of OpenAI chat completions',
      description: `By a deployment's id, or by a name (also NAME@LABEL, NAME@VERSION): the deployment that serves it when the request comes. \`model\` is ignored. ${answers}`,
    },
    notReady,
  ),
  headers: deploymentHeaders,
};

const rootSchema: FastifySchema = {
  ...inferenceSchema(
    {
      tags: ['Inference'],
      summary: 'Ask the deployment that `model` names',
      description: `For OpenAI clients: the base URL is /v1, and \`model\` is a name of a deployment, NAME@LABEL, NAME@VERSION, or its id. ${answers}`,
    },
    notReady,
    { 404: 'No deployment of the organization serves this model (code model_not_found).' },
  ),
  headers: deploymentHeaders,
  body: namedCompletionRequest,
  operationId: 'createChatCompletion',
};

type InferenceDeps = ProxyDeps & { secretKey: Buffer };

/** Registers the inference paths of deployments. */
export function registerDeploymentInference(app: App, deps: InferenceDeps): void {
  const { answer, close } = createAnswerer(deps);
  const options = {
    bodyLimit,
    ...deps.bytes.hooks,
    helmet: false,
    config: { access: 'inference' },
    validatorCompiler: unjudged,
  } as const;
  for (const [path, operationId] of [
    ['', 'callDeployment'],
    ['/v1', 'callDeploymentV1'],
  ] as const) {
    app.post(
      `${jobKinds.deployment.path}/:deployment_id${path}/chat/completions`,
      { ...options, schema: { ...schema, operationId, params } },
      (request, reply) => {
        const { deployment_id: ref } = request.params as z.infer<typeof params>;
        return answer(request, reply, { ref, body: readChatBody(request.body), unknown: unknownDeployment });
      },
    );
  }
  app.post('/v1/chat/completions', { ...options, schema: rootSchema }, (request, reply) => {
    const body = readChatBody(request.body);
    return answer(request, reply, { ref: requestedModel(body), body, unknown: unknownModel });
  });
  app.addHook('onClose', close);
}

interface Asked {
  /** The id or the name of a deployment. */
  ref: string;
  body: ChatBody;
  /** The refusal of a `ref` that names nothing; `known`: what its name has. */
  unknown: (ref: string, known: string) => ApiError;
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

  const answer = async (request: FastifyRequest, reply: FastifyReply, { ref, body, unknown }: Asked) => {
    const { orgId, keyId } = request.caller;
    const found = await resolved(`${orgId} ${ref}`, () => db.orgApart(orgId, (tx) => resolveDeployment(tx, ref)));
    if (found) void reply.headers({ 'x-ratchet-deployment-id': found.id, 'x-ratchet-version': String(found.version) });
    if (!found || found.snapshotId === null) {
      throw (await refusal(db, orgId, ref)) ?? unknown(ref, await db.org(orgId, (tx) => whatNameHas(tx, ref)));
    }
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
        ...callOf(client, served, body),
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

const unknownDeployment = (ref: string, known: string) =>
  new ApiError(404, 'not_found', `No deployment ${ref.slice(0, longestRef)} found for this key. ${known}`.trim());

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
