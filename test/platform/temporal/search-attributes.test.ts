import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import {
  missingAttributes,
  registerSearchAttributes,
  watchSearchAttributes,
} from '../../../src/platform/temporal/search-attributes.js';
import { temporalAddress } from '../../support/environment.js';
import { createNamespace } from '../../support/service.js';
import { until } from '../../support/until.js';

let connection: Connection;
let client: Client;
beforeAll(async () => {
  connection = await Connection.connect({ address: temporalAddress() });
});
afterAll(() => connection.close());
beforeEach(async () => {
  jest.restoreAllMocks();
  const namespace = `attributes-${randomUUID().slice(0, 8)}`;
  await createNamespace(connection, namespace);
  client = new Client({ connection, namespace });
});

/** As Temporal Cloud answers calls of the operator service. */
function refuseOperator(): void {
  const denied = Object.assign(new Error('7 PERMISSION_DENIED: Request unauthorized.'), {
    code: 7,
    details: 'Request unauthorized.',
    metadata: {},
  });
  for (const method of ['addSearchAttributes', 'listSearchAttributes'] as const) {
    jest.spyOn(connection.operatorService, method).mockImplementation((() => Promise.reject(denied)) as never);
  }
}
const log = pino({ level: 'silent' });

test('attributes are registered, and visible afterwards', async () => {
  expect((await missingAttributes(client)).length).toBeGreaterThan(3);
  await registerSearchAttributes(client);
  expect(await missingAttributes(client)).toEqual([]);
});

test('where the operator service is denied, attributes that exist are found', async () => {
  await registerSearchAttributes(client);
  refuseOperator();
  await registerSearchAttributes(client);
});

test('where it is denied, missing ones are named with the commands of both', async () => {
  refuseOperator();
  const { message } = (await registerSearchAttributes(client).catch((error: Error) => error)) as Error;
  expect(message).toContain('RatchetStatus');
  expect(message).toContain('temporal operator search-attribute create --namespace');
  expect(message).toContain(`tcld namespace search-attributes add --namespace ${client.options.namespace}`);
});

test('Keyword columns that others use are named', async () => {
  const names = ['App0', 'App1', 'App2', 'App3', 'App4', 'App5', 'App6', 'App7', 'App8', 'App9'];
  await connection.operatorService.addSearchAttributes({
    namespace: client.options.namespace,
    searchAttributes: Object.fromEntries(names.map((name) => [name, 2])),
  });
  const { message } = (await registerSearchAttributes(client).catch((error: Error) => error)) as Error;
  expect(message).toContain('cannot have more than');
  expect(message).toContain('App0');
});

test('a watch reports what is missing until it is there', async () => {
  refuseOperator();
  const watch = watchSearchAttributes(client, log, 50);
  try {
    expect(await watch.current()).toContain('RatchetOrg');
    jest.restoreAllMocks();
    await until('nothing is missing', () => watch.problem() === null);
  } finally {
    await watch.stop();
  }
});
