import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A listening test server. */
export interface Listening {
  url: string;
  /** Closes all connections and stops listening. */
  close(): Promise<void>;
}

/** Starts a TCP or HTTP server on loopback, by default on a free port. */
export async function listen(server: Server, port = 0): Promise<Listening> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
