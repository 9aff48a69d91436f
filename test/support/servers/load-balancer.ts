import { connect, createServer } from 'node:net';
import { listen } from '../loopback.js';

/** A load balancer: forwards each connection to the next server that accepts it. */
export async function startFront(targets: () => string[]) {
  let turn = 0;
  const server = createServer((near) => {
    near.on('error', () => near.destroy());
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
  return listen(server);
}
