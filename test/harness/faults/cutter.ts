import { connect, createServer } from 'node:net';
import { listen, type Listening } from '../../support/loopback.js';

/** A TCP proxy that breaks connections; `draw`: byte limit of the next one, Infinity for none. */
export async function startCutter(target: string, draw: () => number): Promise<Listening & { cuts(): number }> {
  let cuts = 0;
  const { hostname, port } = new URL(target);
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let left = draw();
    for (const socket of [client, upstream]) {
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
      });
      // The 'close' event follows.
      socket.on('error', () => undefined);
    }
    client.pipe(upstream);
    upstream.on('data', (bytes: Buffer) => {
      if (bytes.length < left) {
        left -= bytes.length;
        client.write(bytes);
        return;
      }
      // Bytes may still arrive after the cut.
      if (left < 0) return;
      const last = bytes.subarray(0, left);
      left = -1;
      cuts += 1;
      client.write(last, () => client.resetAndDestroy());
      upstream.destroy();
    });
    upstream.on('end', () => client.end());
  });
  return { ...(await listen(server)), cuts: () => cuts };
}
