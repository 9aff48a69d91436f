import { expect, test } from '@jest/globals';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { discardRest } from '../../../src/datasets/routes/upload.js';

/** Takes a turn of the event loop for each chunk, as the reader of a file does. */
async function* slowly(chunks: AsyncIterable<Uint8Array>) {
  for await (const chunk of chunks) {
    await turn();
    yield chunk;
  }
}

test.each([
  ['has ended', (reader: AsyncGenerator) => reader.return(undefined)],
  ['holds a chunk', () => {}],
  ['waits for more', (reader: AsyncGenerator) => void reader.next()],
])('the rest of a body whose reader %s is read', async (_state, leave) => {
  const body = new Readable({ read() {} });
  const ended = once(body, 'end');
  const reader = slowly(body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>);
  body.push(Buffer.alloc(1_000));
  await reader.next();
  await leave(reader);
  void reader.throw(new Error('A faulty row')).catch(() => {});
  discardRest(body);
  await turn();
  for (let chunk = 0; chunk < 200; chunk += 1) {
    await turn();
    body.push(Buffer.alloc(1_000));
  }
  body.push(null);
  await ended;
  expect(body.readableLength).toBe(0);
});
