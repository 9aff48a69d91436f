import { expect, test } from '@jest/globals';
import { Connection } from '@temporalio/client';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { pino } from 'pino';
import { connect } from '../../../src/platform/db/db.js';
import { InstallationClient } from '../../../src/platform/temporal/installation-client.js';
import { startReconciler } from '../../../src/platform/temporal/reconciler.js';
import { createDatabase } from '../../support/servers/embedded.js';
import { insertJob } from '../../support/job.js';

test('a Temporal that accepts connections without an answer does not delay the reconciler', async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket.resume().on('error', () => sockets.delete(socket))));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const said: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void said.push(line) });
  const db = connect(await createDatabase(), log, 2);
  const connection = Connection.lazy({ address: `127.0.0.1:${(silent.address() as AddressInfo).port}` });
  const never = 3_600_000;
  const client = new InstallationClient({ connection }, { id: 'one', taskQueue: 'one' });
  const reconciler = startReconciler({ client, db, log, everyMs: never });
  try {
    const { jobId } = await insertJob(db);
    await db.org('default', (tx) =>
      tx.query(`update jobs set created_at = now() - interval '1 minute', workflow_started = true where id = $1`, [
        jobId,
      ]),
    );
    await reconciler.sweep();
    expect(said.map((line) => JSON.parse(line) as object)).toMatchObject([
      { job_id: jobId, msg: 'job not checked; retrying at the next sweep' },
    ]);
    const [row] = await db.org('default', (tx) => tx.query('select status from jobs where id = $1', [jobId]));
    expect(row).toEqual({ status: 'running' });
  } finally {
    await reconciler.stop();
    for (const socket of sockets) socket.destroy();
    silent.close();
    await connection.close();
    await db.close();
  }
});
