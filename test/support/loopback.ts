import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** Where a test's server listens. */
export interface Listening {
  url: string;
  /** Breaks what is connected and stops listening. */
  close(): Promise<void>;
}

/** Has a server, of TCP or HTTP, listen on loopback: on any free port, or on the one given. */
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
