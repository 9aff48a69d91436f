import type { z } from 'zod';
import type { deploymentSchema } from '../../src/kinds/deployment/contract/deployment.js';
import type { Api } from './api.js';
import { deployments } from './jobs-over-http.js';
import { until } from './until.js';

/** A deployment as in the response of its status route. */
export type Deployment = z.output<typeof deploymentSchema>;

interface Served {
  url: string;
  apiKey: string;
  api: Api;
}

/** Creates a deployment; returns its id. */
export async function deploy({ api }: Served, body: object): Promise<string> {
  return (await api.call<{ id: string }>('POST', deployments, body)).id;
}

export function readDeployment({ api }: Served, id: string): Promise<Deployment> {
  return api.call<Deployment>('GET', `${deployments}/${id}/status`);
}

/** Waits until a deployment is ready or has failed. */
export function built(served: Served, id: string, seconds = 60): Promise<Deployment> {
  return until(
    `${id} is built`,
    async () => {
      const deployment = await readDeployment(served, id);
      return ['ready', 'failed'].includes(deployment.status) && deployment;
    },
    seconds,
  );
}

/** A deployment source of given messages with a system message. */
export const saying = (text: string, policy: object = { provider: 'fake', model: 'frozen-model' }) => ({
  messages: [{ role: 'system', content: text }],
  policy,
});

/** Sends a request to a deployment, by id or name; a string body is sent unchanged. */
export function ask(
  { url, apiKey }: Pick<Served, 'url' | 'apiKey'>,
  ref: string,
  body: object | string,
  { path = '/chat/completions', headers = {} }: { path?: string; headers?: Record<string, string> } = {},
): Promise<Response> {
  return fetch(`${url}${deployments}/${ref}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}
