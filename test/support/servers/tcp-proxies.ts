import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listen } from '../loopback.js';

/** TCP connections of a process to its servers, by name, that can be cut all at once. */
export interface Wires<Name extends string> {
  /** Where each of them begins, as host:port. */
  addresses: Record<Name, string>;
  /**
   * From the `piece`-th piece on that the process sends over `wire`, nothing passes any more, of none and in no direction;
   * `through`: that piece still does, its answer does not. Resolves when they are cut.
   */
  cutAt(wire: Name, piece: number, through: boolean): Promise<void>;
  /** What the process says over `wire` does not arrive any more. */
  mute(wire: Name): void;
  cut(): void;
  /** Makes way for another process, when the servers have done with all that reached them from the one before. */
  mend(): Promise<void>;
  close(): Promise<void>;
}

export async function startWires<Name extends string>(targets: Record<Name, string>): Promise<Wires<Name>> {
  let isCut = false;
  let planned: { wire: string; left: number; through: boolean; done: () => void } | null = null;
  const muted = new Set<string>();
  const pairs = new Set<{ near: Socket; far: Socket }>();

  function passes(wire: string): boolean {
    if (isCut) return false;
    if (planned?.wire !== wire || (planned.left -= 1) > 0) return !muted.has(wire);
    isCut = true;
    planned.done();
    return planned.through;
  }

  function join(wire: string, target: string, near: Socket): void {
    const [host, port] = target.split(':') as [string, string];
    const far = connect(Number(port), host);
    const pair = { near, far };
    pairs.add(pair);
    // What was sent is still read to its end there; 'close' follows an error.
    near.on('close', () => far.end()).on('error', () => undefined);
    far
      .on('close', () => {
        pairs.delete(pair);
        near.destroy();
      })
      .on('error', () => undefined);
    near.on('data', (piece) => passes(wire) && far.write(piece));
    far.on('data', (piece) => !isCut && near.write(piece));
  }

  const servers = await Promise.all(
    Object.entries<string>(targets).map(async ([wire, target]) => {
      const server = createServer((near) => (isCut ? near.destroy() : join(wire, target, near)));
      return { wire, ...(await listen(server)) };
    }),
  );
  return {
    addresses: Object.fromEntries(servers.map(({ wire, url }) => [wire, new URL(url).host])) as Record<Name, string>,
    async cutAt(wire, piece, through) {
      await new Promise<void>((done) => (planned = { wire, left: piece, through, done }));
    },
    mute(wire) {
      muted.add(wire);
    },
    cut() {
      isCut = true;
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
