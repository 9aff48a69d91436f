import { expect, test } from '@jest/globals';
import { serviceOfFile } from '../../../support/service-of-file.js';
import { until } from '../../../support/until.js';
import { operationsOf, Recorder, type Document } from './recorder.js';

// What /docs shows can be sent as it is, to a service that has nothing but the model `local`.

const on = serviceOfFile();

test('each example of a request is valid; those without an id are carried out', async () => {
  const document = (await (await fetch(`${on.service.url}/openapi.json`)).json()) as Document;
  const api = new Recorder(on.service, document);
  const isDeployed = () =>
    until('the deployment answers', async () => {
      const { data } = await api.peek<{ data: object[] }>('listModels');
      return data.length > 0;
    });
  const faults: string[] = [];
  // Deployments are made before they are asked.
  const order = ({ operation: { operationId } }: { operation: { operationId: string } }) =>
    operationId === 'createDeployment' ? 0 : 1;
  for (const { method, path, operation } of operationsOf(document).sort((a, b) => order(a) - order(b))) {
    const { operationId, parameters = [], requestBody } = operation;
    const given = (where: string) =>
      Object.fromEntries(
        parameters.flatMap(({ in: place, name, example }) =>
          place === where && example !== undefined ? [[name, String(example)]] : [],
        ),
      );
    const bodies = requestBody ? Object.entries(requestBody.content) : [[undefined, {}] as const];
    for (const [type, media] of bodies) {
      const body = 'example' in media ? media.example : undefined;
      const call = { path: given('path'), query: given('query'), body, ...(type !== undefined && { type }) };
      const response = await api.send(method, path, call);
      const mayBeMissing = parameters.some(({ in: place, required }) => place === 'path' || required);
      if (!response.ok && !(mayBeMissing && response.status === 404))
        faults.push(`${operationId}: ${response.status} ${(await response.text()).slice(0, 300)}`);
      else await response.body?.cancel();
    }
    if (operationId === 'createDeployment') await isDeployed();
  }
  expect(faults).toEqual([]);
}, 120_000);
