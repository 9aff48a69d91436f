import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP proxy that breaks each connection after so many bytes of the answer. */
export interface Cutter {
  url: string;
  close(): Promise<void>;
}

/** `draw`: how many bytes the next connection lives; Infinity for one that is left alone. */
export async function startCutter(target: string, draw: () => number): Promise<Cutter> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let left = draw();
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
      // Its 'close' follows.
      socket.on('error', () => undefined);
    }
    client.pipe(upstream);
    upstream.on('data', (bytes: Buffer) => {
      if (bytes.length < left) {
        left -= bytes.length;
        client.write(bytes);
        return;
      }
      const last = bytes.subarray(0, left);
      left = 0;
      client.write(last, () => client.resetAndDestroy());
      upstream.destroy();
    });
    upstream.on('end', () => client.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
