import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export const loopback = '127.0.0.1';

/** Below the ephemeral ports, so that no outgoing connection takes a stopped server's port. */
const range = { first: 20_000, count: 12_000 };

// Prevents two servers from choosing the same port before either listens.
const handedOut = new Set<number>();

/** A port of the loopback address at which this process listens, and closes what connects. */
export interface ReservedPort {
  port: number;
  /** Frees the port for the server that it is for. */
  release(): Promise<void>;
}

/** The first free port of the list, else any free port, never returned twice. */
export async function firstFree(...wanted: (number | undefined)[]): Promise<number> {
  const { port, release } = await reserveFree(...wanted);
  await release();
  return port;
}

/** The same port, taken: no other process chooses it, and no outgoing connection gets it. */
export async function reserveFree(...wanted: (number | undefined)[]): Promise<ReservedPort> {
  for (const port of wanted) {
    const reserved = port && port <= 65_535 ? await reserveSoon(port) : null;
    if (!reserved) continue;
    handedOut.add(reserved.port);
    return reserved;
  }
  for (let tries = 0; tries < 200; tries += 1) {
    const port = range.first + randomInt(range.count);
    if (handedOut.has(port)) continue;
    handedOut.add(port);
    const reserved = await reserve(port);
    if (reserved) return reserved;
  }
  throw new Error(`there is no free port on ${loopback} between ${range.first} and ${range.first + range.count}`);
}

/** Whether a loopback port is free; waits a moment for a server that has just stopped. */
export async function isFree(port: number): Promise<boolean> {
  const reserved = await reserveSoon(port);
  await reserved?.release();
  return reserved !== null;
}

const patienceMs = 500;

async function reserveSoon(port: number): Promise<ReservedPort | null> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const reserved = await reserve(port);
    if (reserved || Date.now() > deadline) return reserved;
    await sleep(20);
  }
}

/** Null: the port is in use. */
async function reserve(port: number): Promise<ReservedPort | null> {
  const server = createServer((socket) => socket.destroy()).listen(port, loopback);
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return null;
    throw error;
  }
  // Without a listener, a connection that cannot be accepted would end the process.
  server.on('error', () => undefined);
  return {
    port,
    async release() {
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}
