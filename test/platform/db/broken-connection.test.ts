import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { connect } from '../../../src/platform/db/db.js';
import { isTransient } from '../../../src/platform/db/postgres-errors.js';

/** A message of Postgres's protocol. */
function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

test('a server that ends as it hands over a connection fails the query, not the process', async () => {
  const greeting = [message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))];
  const ending = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'));
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    // In one chunk: no microtask runs between the two.
    socket.once('data', () => socket.end(Buffer.concat([...greeting, ending])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const db = connect(`postgres://x:y@127.0.0.1:${port}/z`, pino({ level: 'silent' }), 1);
  try {
    const error = await db
      .worker((tx) => tx.query('select 1'))
      .then(
        () => null,
        (thrown: unknown) => thrown,
      );
    expect(isTransient(error)).toBe(true);
  } finally {
    await db.close();
    server.close();
  }
});
