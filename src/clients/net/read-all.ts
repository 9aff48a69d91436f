import type { Readable } from 'node:stream';

/**
 * All bytes of a stream. Rejects with its error, if it closes before its end, and with what
 * `onBytes` throws for the size of a part.
 */
export function readAll(stream: Readable, onBytes: (bytes: number) => void = () => undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    stream.on('data', (part: Buffer) => {
      try {
        onBytes(part.length);
        parts.push(part);
      } catch (error) {
        reject(error as Error);
        stream.destroy();
      }
    });
    stream.once('end', () => resolve(parts.length === 1 ? parts[0]! : Buffer.concat(parts)));
    stream.once('error', reject);
    stream.once('close', () => {
      if (!stream.readableEnded) reject(stream.errored ?? new Error('The stream closed before its end.'));
    });
  });
}
