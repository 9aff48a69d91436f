import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** One address in front of several servers, as a load balancer is: each connection goes to the next one that takes it. */
export async function startFront(targets: () => string[]) {
  let turn = 0;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    open.add(near.on('error', () => near.destroy()).on('close', () => open.delete(near)));
    const attempt = (left: string[]) => {
      const [next, ...rest] = left;
      if (!next) return near.destroy();
      const { hostname, port } = new URL(next);
      const far = connect(Number(port), hostname);
      let connected = false;
      far.once('connect', () => {
        connected = true;
        near.pipe(far).pipe(near);
        near.once('close', () => far.destroy());
      });
      far.on('error', () => (connected ? near.destroy() : attempt(rest)));
    };
    const all = targets();
    turn += 1;
    attempt(all.map((_, i) => all[(turn + i) % all.length]!));
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
