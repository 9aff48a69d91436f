import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Connection } from '@temporalio/client';
import { InstallationClient } from '../../../src/platform/temporal/installation-client.js';
import { createPollers, identityOf } from '../../../src/platform/temporal/pollers.js';
import { temporalAddress } from '../../support/environment.js';

let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: temporalAddress() });
});
afterAll(() => connection.close());

const installation = { id: 'one', taskQueue: 'shared' };
/** A look at workers, each with the second of its last poll, by Temporal's clock. */
function look(polls: () => Record<string, number>) {
  jest.spyOn(connection.workflowService, 'describeTaskQueue').mockImplementation((() =>
    Promise.resolve({
      pollers: Object.entries(polls()).map(([identity, seconds]) => ({ identity, lastAccessTime: { seconds } })),
    })) as never);
  return createPollers(new InstallationClient({ connection }, installation));
}
const own = identityOf(installation);

test('only workers of the installation are its own; others that poll are named', async () => {
  const other = identityOf({ ...installation, id: 'two' });
  const { own: mine, foreign } = await look(() => ({ [own]: 5, [other]: 6, 'somebody@host': 7 }))();
  expect(mine.map(({ identity }) => identity)).toEqual([own]);
  expect(foreign).toEqual(['two']);
});

test('a worker polls while the time of its last poll changes, whatever the clocks say', async () => {
  let seconds = 1;
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const pollers = look(() => ({ [own]: seconds }));
  const count = async () => (await pollers()).own.length;
  expect(await count()).toBe(1);
  now += 129_000;
  expect(await count()).toBe(1);
  now += 2_000;
  expect(await count()).toBe(0);
  seconds += 1;
  expect(await count()).toBe(1);
});
