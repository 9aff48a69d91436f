import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listen } from '../loopback.js';

/** Proxies for a process's TCP connections to its servers, which can be cut all at once. */
export interface TcpProxies<Name extends string> {
  /** Address of each proxy, as host:port. */
  addresses: Record<Name, string>;
  /**
   * Cuts all connections at the `piece`-th piece sent to `proxy`; `through`: delivers the piece,
   * but not its answer. Resolves after the cut.
   */
  cutAt(proxy: Name, piece: number, through: boolean): Promise<void>;
  /** Drops further data sent over `proxy`. */
  mute(proxy: Name): void;
  cut(): void;
  /** Leaves the open connections without data for ever, as after a sleep; new ones work. */
  silence(): void;
  /** Reconnects after the servers have processed everything received before the cut. */
  mend(): Promise<void>;
  close(): Promise<void>;
}

interface Pair {
  near: Socket;
  far: Socket;
}

export async function startTcpProxies<Name extends string>(targets: Record<Name, string>): Promise<TcpProxies<Name>> {
  let isCut = false;
  let planned: { proxy: string; left: number; through: boolean; done: () => void } | null = null;
  const muted = new Set<string>();
  const pairs = new Set<Pair>();
  const silent = new WeakSet<Pair>();

  function passes(proxy: string): boolean {
    if (isCut) return false;
    if (planned?.proxy !== proxy || (planned.left -= 1) > 0) return !muted.has(proxy);
    isCut = true;
    planned.done();
    return planned.through;
  }

  function join(proxy: string, target: string, near: Socket): void {
    const [host, port] = target.split(':') as [string, string];
    const far = connect(Number(port), host);
    const pair = { near, far };
    pairs.add(pair);
    // The server still reads all sent data; 'close' follows an error.
    near.on('close', () => far.end()).on('error', () => undefined);
    far
      .on('close', () => {
        pairs.delete(pair);
        near.destroy();
      })
      .on('error', () => undefined);
    near.on('data', (piece) => !silent.has(pair) && passes(proxy) && far.write(piece));
    far.on('data', (piece) => !silent.has(pair) && !isCut && near.write(piece));
  }

  const servers = await Promise.all(
    Object.entries<string>(targets).map(async ([proxy, target]) => {
      const server = createServer((near) => (isCut ? near.destroy() : join(proxy, target, near)));
      return { proxy, ...(await listen(server)) };
    }),
  );
  return {
    addresses: Object.fromEntries(servers.map(({ proxy, url }) => [proxy, new URL(url).host])) as Record<Name, string>,
    async cutAt(proxy, piece, through) {
      await new Promise<void>((done) => (planned = { proxy, left: piece, through, done }));
    },
    mute(proxy) {
      muted.add(proxy);
    },
    cut() {
      isCut = true;
    },
    silence() {
      for (const pair of pairs) silent.add(pair);
    },
    async mend() {
      await Promise.all(
        [...pairs].map(async ({ near, far }) => {
          const closed = once(far, 'close');
          near.destroy();
          await closed;
        }),
      );
      planned = null;
      muted.clear();
      isCut = false;
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()));
      for (const { far } of pairs) far.destroy();
    },
  };
}
