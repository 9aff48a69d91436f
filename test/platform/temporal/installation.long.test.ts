import { expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { identifyInstallation } from '../../../src/platform/temporal/installation.js';
import { createDatabase } from '../../support/servers/embedded.js';
import { copied, identify, log, open, rowOf, started } from './copies.js';

test('a copy does not start while Temporal is away', async () => {
  const url = await createDatabase();
  const db = open(url);
  await identify(db);
  await started(db);
  await copied(url);
  const away = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) });
  await expect(identifyInstallation(away, db, log, null)).rejects.toThrow();
  await expect(identify(db)).resolves.toBeDefined();
}, 60_000);

test.each(['with', 'without'])('a restored database %s open jobs goes on as before', async (jobs) => {
  const url = await createDatabase();
  const db = open(url);
  const original = await identify(db);
  const job = jobs === 'with' ? await started(db) : null;
  await copied(url);
  expect(await identify(db)).toEqual(original);
  if (job) expect(await rowOf(db, job.jobId)).toEqual({ id: `evaluation-${job.jobId}`, webhooks: 1 });
});
