import type { FastifySchema } from 'fastify';
import { z } from 'zod';
import { jobKinds } from '../../../core/jobs/kinds.js';
import type { App } from '../../../platform/http/deps.js';
import { refuse } from '../../../platform/http/server/errors.js';
import { readChatBody, requestedModel } from '../request.js';
import { deploymentHeaders, inferenceSchema, namedCompletionRequest, unjudged } from '../schema.js';
import { DeploymentAnswerer, type InferenceDeps } from './answerer.js';
import { unknownModel } from './not-ready.js';

const bodyLimit = 10 * 1024 * 1024;
const params = z.object({ deployment_id: z.string().describe("A deployment's id, or the name that it serves.") });

const answers =
  'The frozen prompt and its demonstrations take the place of the request\'s system message; the frozen model answers; every other field goes to it as it is. A graph takes the last user message as its input, a JSON object as it is and any other text as its only field, else as {"input": text}, and answers with its output; parameters of model calls are 400. x-ratchet-deployment-id, x-ratchet-snapshot-id and x-ratchet-model say what answered, x-ratchet-cost-usd what it cost where that is known. x-ratchet-answer-id and the `id` of the completion name the answer for feedback.';
const notReady =
  'The deployment is being built: repeat the call after `retry-after`. Without that header it waits for a paused evaluation or has failed, and x-should-retry is false.';

const schema: FastifySchema = {
  ...inferenceSchema(
    {
      tags: ['Inference'],
      summary: 'Ask a deployment, in the form of OpenAI chat completions',
      description: `By a deployment's id, or by a name: the deployment that serves it when the request comes. \`model\` is ignored. ${answers}`,
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
      description: `For OpenAI clients: the base URL is /v1, and \`model\` is a name of a deployment, or its id. ${answers}`,
    },
    notReady,
    { 404: 'No deployment of the organization serves this model (code model_not_found).' },
  ),
  headers: deploymentHeaders,
  body: namedCompletionRequest,
  operationId: 'createChatCompletion',
};

/** Registers the inference paths of deployments. */
export function registerDeploymentInference(app: App, deps: InferenceDeps): void {
  const deployments = new DeploymentAnswerer(deps);
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
        return deployments.answer(request, reply, {
          ref,
          body: readChatBody(request.body),
          unknown: unknownDeployment,
        });
      },
    );
  }
  app.post('/v1/chat/completions', { ...options, schema: rootSchema }, (request, reply) => {
    const body = readChatBody(request.body);
    return deployments.answer(request, reply, { ref: requestedModel(body), body, unknown: unknownModel });
  });
  app.addHook('onClose', () => deployments.close());
}

const unknownDeployment = (ref: string) => refuse.notFound(`deployment ${ref.slice(0, 100)}`);
