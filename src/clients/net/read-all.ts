import type { Readable } from 'node:stream';

/** All bytes of a stream. Rejects with its error, and if it closes before its end. */
export function readAll(stream: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.once('end', () => resolve(parts.length === 1 ? parts[0]! : Buffer.concat(parts)));
    stream.once('error', reject);
    stream.once('close', () => {
      if (!stream.readableEnded) reject(stream.errored ?? new Error('The stream closed before its end.'));
    });
  });
}
