import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Connection } from '@temporalio/client';
import pg from 'pg';
import { pino } from 'pino';
import { connect, type Db } from '../../../src/platform/db/db.js';
import { InstallationClient } from '../../../src/platform/temporal/installation-client.js';
import { createReadiness } from '../../../src/platform/temporal/readiness.js';
import { anyWorker, thisWorker } from '../../../src/platform/temporal/worker-checks.js';
import { identityOf } from '../../../src/platform/temporal/pollers.js';
import { temporalAddress } from '../../support/environment.js';
import { createDatabase } from '../../support/servers/embedded.js';
import { until } from '../../support/until.js';

let connection: Connection;
let db: Db;
let admin: pg.Client;
beforeAll(async () => {
  const url = await createDatabase();
  connection = await Connection.connect({ address: temporalAddress() });
  db = connect(url, pino({ level: 'silent' }), 2);
  admin = new pg.Client({ connectionString: url });
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await db.close();
  await connection.close();
});
const installation = { id: 'one', taskQueue: 'nobody' };
const clientOf = () => new InstallationClient({ connection }, installation);
function create(workerEnds = () => 0, log = pino({ level: 'silent' })) {
  const client = clientOf();
  return createReadiness({
    db,
    client,
    explain: (cause) => Promise.resolve(cause),
    namespaceProblem: () => null,
    checkWorker: anyWorker({ db, client, workerEnds }),
    log,
  });
}

test('callers of one second share a look', async () => {
  const readiness = create();
  const describeNamespace = jest.spyOn(connection.workflowService, 'describeNamespace');
  const first = readiness();
  expect(readiness()).toBe(first);
  const checks = await first;
  expect(checks).toMatchObject([{ name: 'database', ok: true }, { name: 'migrations', ok: true }, {}, {}, {}]);
  expect(await readiness()).toBe(checks);
  expect(describeNamespace).toHaveBeenCalledTimes(1);
  await until('it looks again', async () => (await readiness()) !== checks);
  describeNamespace.mockRestore();
});

test('a database that cannot write is not ready, and the reason names what it is out of', async () => {
  await admin.query(`create function full_disk() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`);
  await admin.query('create trigger full_disk before update on write_probe execute function full_disk()');
  const [database] = await create()();
  expect(database).toEqual({ name: 'database', ok: false, detail: 'out of disk space: could not extend file' });
});

test('a worker that ends again and again is not ready', async () => {
  let ends = 2;
  const readiness = create(() => ends);
  const worker = async () => (await readiness()).find(({ name }) => name === 'worker')!;
  expect((await worker()).detail).not.toMatch(/2 times/);
  ends = 3;
  await until('it looks again', async () => /3 times/.test((await worker()).detail ?? ''));
  expect((await worker()).ok).toBe(false);
});

test('other failures than before are logged, once', async () => {
  const lines: { msg: string; checks: Record<string, { ok: boolean }> }[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) });
  const readiness = create(() => 0, log);
  const first = await readiness();
  await until('it looks again', async () => (await readiness()) !== first);
  expect(lines).toMatchObject([{ msg: 'not ready', checks: { worker: { ok: false } } }]);
});

test('a worker is ready while its own pollers poll, by its word and by that of Temporal', async () => {
  const describe = jest.spyOn(connection.workflowService, 'describeTaskQueue');
  const pollers = (identities: string[]) =>
    describe.mockImplementation((() =>
      Promise.resolve({ pollers: identities.map((identity) => ({ identity })) })) as never);
  const own = identityOf(installation);
  let isPolling = true;
  const check = thisWorker(clientOf(), () => isPolling);
  pollers([`1${own}`, own]);
  await check();
  pollers([`1${own}`]);
  await expect(check()).rejects.toThrow(own);
  pollers([own]);
  isPolling = false;
  await expect(check()).rejects.toThrow('stopped polling');
  describe.mockRestore();
});
