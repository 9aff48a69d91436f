import type { FastifySchema } from 'fastify';
import { z } from 'zod';
import { jobKinds } from '../../../core/jobs/kinds.js';
import type { App } from '../../../platform/http/deps.js';
import { longestRef } from '../../../core/deployments/ref.js';
import { ApiError } from '../../../platform/http/server/errors.js';
import { inferenceForms, type InferenceForm } from '../form-shapes.js';
import { readCall, requestedModel } from '../request.js';
import { deploymentHeaders, inferenceSchema, unjudged } from '../schema.js';
import { DeploymentAnswerer, type InferenceDeps } from './answerer.js';
import { unknownModel } from './not-ready.js';

const bodyLimit = 10 * 1024 * 1024;
const params = z.object({
  deployment_id: z.string().describe("A deployment's id, the name that it serves, NAME@LABEL or NAME@VERSION."),
});

const answers =
  'The frozen prompt and its demonstrations take the place of the request\'s system message; the frozen model answers; every other field goes to it as it is. A graph takes the last user message as its input, a JSON object as it is and any other text as its only field, else as {"input": text}, and answers with its output; parameters of model calls are 400. x-ratchet-deployment-id, x-ratchet-version, x-ratchet-snapshot-id and x-ratchet-model say what answered, x-ratchet-cost-usd what it cost where that is known. x-ratchet-answer-id and the `id` of the completion name the answer for feedback.';
const notReady =
  'The deployment is being built: repeat the call after `retry-after`. Without that header it waits for a paused evaluation or has failed, and x-should-retry is false.';

/** Documentation of a deployment's path. */
function schemaOf(shape: InferenceForm, operationId: string): FastifySchema {
  const summary = `Ask a deployment, in the form of ${shape.api}`;
  const description = `By a deployment's id, or by a name (also NAME@LABEL, NAME@VERSION): the deployment that serves it when the request comes. \`model\` is ignored. ${answers}`;
  const documented = inferenceSchema({ summary, description }, notReady, {}, shape);
  return { ...documented, headers: deploymentHeaders, operationId, params };
}

/** Documentation of a path where `model` names the deployment. */
function rootSchemaOf(shape: InferenceForm): FastifySchema {
  const [, , operationId] = shape.operations;
  const inForm = shape.form === null ? '' : `, in the form of ${shape.api}`;
  const summary = `Ask the deployment that \`model\` names${inForm}`;
  const description = `${baseUrls[shape.form ?? 'chat']}, and \`model\` is a name of a deployment, NAME@LABEL, NAME@VERSION, or its id. ${answers}`;
  const unknown = { 404: 'No deployment of the organization serves this model (code model_not_found).' };
  const documented = inferenceSchema({ summary, description }, notReady, unknown, shape);
  return { ...documented, headers: deploymentHeaders, body: shape.named, operationId };
}

const baseUrls = {
  chat: 'For OpenAI clients: the base URL is /v1',
  responses: 'For OpenAI clients: the base URL is /v1',
  messages: 'For Anthropic clients: the base URL is that of the service',
};

/** Registers the inference paths of deployments. */
export function registerDeploymentInference(app: App, deps: InferenceDeps): void {
  const deployments = new DeploymentAnswerer(deps);
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
          return deployments.answer(request, reply, { ref, ...readCall(request), unknown: unknownDeployment });
        },
      );
    }
    app.post(`/v1${end}`, { ...options, config, schema: rootSchemaOf(shape) }, (request, reply) => {
      const call = readCall(request);
      return deployments.answer(request, reply, { ref: requestedModel(call.body), ...call, unknown: unknownModel });
    });
  }
  app.addHook('onClose', () => deployments.close());
}

const unknownDeployment = (ref: string, known: string) =>
  new ApiError(404, 'not_found', `No deployment ${ref.slice(0, longestRef)} found for this key. ${known}`.trim());
