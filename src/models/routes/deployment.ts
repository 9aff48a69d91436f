import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { z } from 'zod';
import type { ModelClient } from '../client/providers.js';
import { jobKinds } from '../../core/jobs/kinds.js';
import { resolveDeployment, type ServedDeployment } from '../../kinds/deployment/store/deployments.js';
import type { App } from '../../platform/http/deps.js';
import { DeploymentMeter } from './deployment-meter.js';
import { graphCall } from './graph-call.js';
import type { ForwardedCall, ProxyDeps } from './call.js';
import { Forwarder } from './forward.js';
import type { Recorder } from './record.js';
import { refusal, unknownModel } from './not-ready.js';
import { traceRequest } from '../../platform/http/server/request-span.js';
import { frozenRequest, readChatBody, requestedModel, type ChatBody } from './request.js';
import { inferenceSchema, namedCompletionRequest, unjudged } from './schema.js';
import { createServedSnapshots, type PreparedSnapshot } from './served-snapshots.js';
import { ApiError, refuse } from '../../platform/http/server/errors.js';
import { createSharedReads } from '../../util/shared-reads.js';

const bodyLimit = 10 * 1024 * 1024;
const params = z.object({ deployment_id: z.string().describe("A deployment's id, or the name that it serves.") });

/** A call of a deployment; `reply` shows whether the caller is still connected. */
interface DeploymentCall extends ForwardedCall {
  orgId: string;
  keyId: string | null;
  deploymentId: string;
  reply: FastifyReply;
}

const answers =
  'The frozen prompt and its demonstrations take the place of the request\'s system message; the frozen model answers; every other field goes to it as it is. A graph takes the last user message as its input, a JSON object as it is and any other text as its only field, else as {"input": text}, and answers with its output; parameters of model calls are 400. x-ratchet-deployment-id and x-ratchet-snapshot-id say what answered, x-ratchet-cost-usd what it cost where that is known.';
const notReady =
  'The deployment is being built: repeat the call after `retry-after`. Without that header it waits for a paused evaluation or has failed, and x-should-retry is false.';

const schema: FastifySchema = inferenceSchema(
  {
    tags: ['Inference'],
    summary: 'Ask a deployment, in the form of OpenAI chat completions',
    description: `By a deployment's id, or by a name: the deployment that serves it when the request comes. \`model\` is ignored. ${answers}`,
  },
  notReady,
);

const rootSchema: FastifySchema = {
  ...inferenceSchema(
    {
      tags: ['Inference'],
      summary: 'Ask the deployment that `model` names',
      description: `For OpenAI clients: the base URL is /v1, and \`model\` is a name of a deployment, or its id. ${answers}`,
    },
    notReady,
    { 404: 'No deployment of the organization serves this model (code model_not_found).' },
  ),
  body: namedCompletionRequest,
  operationId: 'createChatCompletion',
};

/** Registers the inference paths of deployments. */
export function registerDeploymentInference(app: App, deps: ProxyDeps): void {
  const { db, log, providers, tracing, bytes } = deps;
  const snapshots = createServedSnapshots(db);
  // Many requests arrive in bursts.
  const resolved = createSharedReads<ServedDeployment | null>();
  const meter = new DeploymentMeter({ db, log });
  const forwarder = new Forwarder<DeploymentCall>(deps, counting(meter), 'deployment');

  /** Answers for the deployment with this id or name. */
  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    ref: string,
    body: ChatBody,
    unknown: (ref: string) => ApiError = unknownDeployment,
  ) => {
    const { orgId, keyId } = request.caller;
    const found = await resolved(`${orgId} ${ref}`, () => db.orgApart(orgId, (tx) => resolveDeployment(tx, ref)));
    if (found) void reply.header('x-ratchet-deployment-id', found.id);
    if (!found || found.snapshotId === null) throw (await refusal(db, orgId, ref)) ?? unknown(ref);
    void reply.header('x-ratchet-snapshot-id', found.snapshotId);
    if (body.messages.length === 0) throw noMessages();
    const served = await snapshots.get(orgId, found.snapshotId);
    const trace = traceRequest(tracing, request, reply, {
      of: null,
      attributes: { 'ratchet.deployment.id': found.id, 'ratchet.snapshot.id': found.snapshotId },
    });
    const client = providers.forPayer({ orgId, keyId }, trace);
    await forwarder.forward(
      {
        client,
        ...callOf(client, served, body),
        orgId,
        keyId,
        deploymentId: found.id,
        reply,
        logged: { deployment_id: found.id },
        bytes: bytes.of(request),
        permit: request.permit,
      },
      reply,
    );
    return reply;
  };

  function callOf(client: ModelClient, served: PreparedSnapshot, body: ChatBody) {
    if (served.kind === 'graph') return graphCall(client, served.id, body, () => Promise.resolve(served));
    const { policy, content } = served;
    return { provider: policy.provider, upstream: frozenRequest(body, content, policy) };
  }

  const options = {
    bodyLimit,
    ...bytes.hooks,
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
        return answer(request, reply, ref, readChatBody(request.body));
      },
    );
  }
  app.post('/v1/chat/completions', { ...options, schema: rootSchema }, (request, reply) => {
    const body = readChatBody(request.body);
    return answer(request, reply, requestedModel(body), body, unknownModel);
  });
  app.addHook('onClose', async () => {
    await forwarder.settled();
    await meter.close();
  });
}

const unknownDeployment = (ref: string) => refuse.notFound(`deployment ${ref.slice(0, 100)}`);

function noMessages(): ApiError {
  const message = 'messages must hold at least one message.';
  return new ApiError(400, 'invalid_request', message, { errors: [{ pointer: '/messages', message }] });
}

/** Counts a finished call before its last byte is sent. */
function counting(meter: DeploymentMeter): Recorder<DeploymentCall> {
  return {
    async record(
      { orgId, keyId, deploymentId, reply },
      { httpStatus, latencyMs, promptTokens, completionTokens, costUsd },
    ) {
      const isGone = reply.raw.destroyed && !reply.raw.writableFinished;
      const outcome = isGone ? 'aborted' : httpStatus >= 400 ? 'error' : 'ok';
      await meter.count(
        { orgId, keyId, deploymentId },
        { outcome, latencyMs, promptTokens, completionTokens, costUsd },
      );
      return deploymentId;
    },
    takeBackUnlessDelivered: () => {},
  };
}
