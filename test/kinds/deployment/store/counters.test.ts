import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import {
  maxCounted,
  readPeriods,
  writeCounters,
  type DeploymentCounter,
} from '../../../../src/kinds/deployment/store/counters.js';
import { counterOf, readTotals } from '../../../support/counters.js';
import { databaseOfFile } from '../../../support/database-of-file.js';

// Invariant: totals are the sums of the latest states of counters, in any order of writes.

const db = databaseOfFile(4);

const write = (...counters: DeploymentCounter[]) =>
  db.orgApart('default', (tx) => writeCounters(tx, 'default', { counters }));
const read = (deploymentId: string, orgId = 'default') => db.org(orgId, (tx) => readTotals(tx, deploymentId));
const newId = () => `dep_${randomUUID()}`;
const nothing = {
  requests: 0,
  errors: 0,
  aborted: 0,
  promptTokens: 0,
  completionTokens: 0,
  costUsd: 0,
  costSquares: 0,
  withoutCost: 0,
  latencies: {},
  errorCodes: {},
  models: {},
};

test('a deployment without a request has totals of 0', async () => {
  expect(await read(newId())).toEqual(nothing);
});

test('adds the counts of two processes, bucket by bucket, for each deployment', async () => {
  const [firstId, secondId] = [newId(), newId()];
  const first = {
    requests: 5,
    errors: 1,
    aborted: 1,
    promptTokens: 2 ** 40,
    completionTokens: 7,
    costUsd: 0.1,
    costSquares: 0.01,
    withoutCost: 2,
    latencies: { '-3': 1, '200': 2 },
    errorCodes: { a: 1 },
    models: { 'p/m': { tries: 5, failed: 1 } },
  };
  const second = {
    requests: 3,
    errors: 1,
    aborted: 0,
    promptTokens: 2 ** 40,
    completionTokens: 1,
    costUsd: 0.2,
    costSquares: 0.25,
    withoutCost: 1,
    latencies: { '200': 1, '201': 1 },
    errorCodes: { b: 1 },
    models: { 'p/m': { tries: 3, failed: 1 }, 'p/constructor': { tries: 1, failed: 0 } },
  };
  await write(
    counterOf({ deploymentId: firstId, counterId: 'a', ...first }),
    counterOf({ deploymentId: secondId, counterId: 'a', requests: 1, errors: 1 }),
  );
  await write(counterOf({ deploymentId: firstId, counterId: 'b', ...second }));
  expect(await read(firstId)).toEqual({
    requests: 8,
    errors: 2,
    aborted: 1,
    promptTokens: 2 ** 41,
    completionTokens: 8,
    withoutCost: 3,
    costUsd: 0.1 + 0.2,
    costSquares: 0.26,
    latencies: { '-3': 1, '200': 3, '201': 1 },
    errorCodes: { a: 1, b: 1 },
    models: { 'p/m': { tries: 8, failed: 2 }, 'p/constructor': { tries: 1, failed: 0 } },
  });
  expect(await read(secondId)).toEqual({ ...nothing, requests: 1, errors: 1 });
  expect(await read(firstId, 'another')).toEqual(nothing);
});

test('adds the counts of all processes that ever were, and goes on behind a period that they fill', async () => {
  const deploymentId = newId();
  const start = '2026-03-04T10:00:00.000Z';
  const processes = Array.from({ length: 1_200 }, (_, process) => ({
    deploymentId,
    counterId: `p${process}`,
    requests: 1,
  }));
  await write(...processes.map(counterOf));
  await write(...processes.map((counter) => counterOf({ ...counter, width: 'hour', start })));
  expect((await read(deploymentId)).requests).toBe(1_200);
  const range = { from: new Date(start), to: new Date('2026-03-04T23:00:00Z') };
  const { next } = await db.org('default', (tx) => readPeriods(tx, [deploymentId], 'hour', range));
  expect(next).toEqual(new Date('2026-03-04T11:00:00Z'));
});

test('a repeated state writes no row', async () => {
  const deploymentId = newId();
  const versions = () =>
    db.org('default', (tx) =>
      tx.query('select xmin::text, ctid::text from deployment_counters where deployment_id = $1', [deploymentId]),
    );
  await write(counterOf({ deploymentId, requests: 2, errors: 2 }));
  const before = await versions();
  await write(counterOf({ deploymentId, requests: 2, errors: 2 }));
  expect(await versions()).toEqual(before);
});

test('sums stop at the largest integer, whatever providers report', async () => {
  const deploymentId = newId();
  const huge = { promptTokens: maxCounted, completionTokens: maxCounted, costUsd: maxCounted };
  for (const counterId of ['a', 'b']) await write(counterOf({ deploymentId, counterId, requests: 1, ...huge }));
  const { promptTokens, completionTokens } = await read(deploymentId);
  expect([promptTokens, completionTokens]).toEqual([maxCounted, maxCounted]);
  expect(Number.isSafeInteger(promptTokens + completionTokens)).toBe(true);
});

test('the latest state of each counter counts, in any order, repeated and late', async () => {
  const written = fc.record({ counter: fc.constantFrom('a', 'b', 'c'), requests: fc.integer({ min: 1, max: 6 }) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uniqueArray(written, { selector: ({ counter }) => counter, minLength: 1 })),
      async (batches) => {
        const deploymentId = newId();
        const state = ({ counter, requests }: { counter: string; requests: number }) =>
          counterOf({
            deploymentId,
            counterId: counter,
            requests,
            errors: requests - 1,
            aborted: requests * 2,
            promptTokens: requests * 10,
            completionTokens: requests,
            costUsd: requests / 4,
            costSquares: requests / 16,
            withoutCost: requests,
            latencies: { 7: requests },
            errorCodes: { code: requests },
            models: { constructor: { tries: requests, failed: 0 } },
          });
        for (const batch of batches) await write(...batch.map(state));
        const latest = new Map<string, number>();
        for (const { counter, requests } of batches.flat())
          latest.set(counter, Math.max(requests, latest.get(counter) ?? 0));
        const sum = [...latest.values()].reduce((left, right) => left + right, 0);
        expect(await read(deploymentId)).toEqual({
          requests: sum,
          errors: sum - latest.size,
          aborted: sum * 2,
          promptTokens: sum * 10,
          completionTokens: sum,
          costUsd: sum / 4,
          costSquares: sum / 16,
          withoutCost: sum,
          latencies: sum > 0 ? { 7: sum } : {},
          errorCodes: sum > 0 ? { code: sum } : {},
          models: sum > 0 ? { constructor: { tries: sum, failed: 0 } } : {},
        });
      },
    ),
    { numRuns: 40 },
  );
});
