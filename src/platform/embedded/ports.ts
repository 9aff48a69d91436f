import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export const loopback = '127.0.0.1';

/** Below the ephemeral ports, so that no outgoing connection takes a stopped server's port. */
const range = { first: 20_000, count: 12_000 };

// Prevents two servers from choosing the same port before either listens.
const handedOut = new Set<number>();

/** The first free port of the list, else any free port, never returned twice. */
export async function firstFree(...wanted: (number | undefined)[]): Promise<number> {
  for (const port of wanted) {
    if (!port || port > 65_535 || !(await isFree(port))) continue;
    handedOut.add(port);
    return port;
  }
  for (let tries = 0; tries < 200; tries += 1) {
    const port = range.first + randomInt(range.count);
    if (handedOut.has(port)) continue;
    handedOut.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`there is no free port on ${loopback} between ${range.first} and ${range.first + range.count}`);
}

const patienceMs = 500;

/** Whether a loopback port is free; waits a moment for a server that has just stopped. */
export async function isFree(port: number): Promise<boolean> {
  const deadline = Date.now() + patienceMs;
  while (!(await canListen(port))) {
    if (Date.now() > deadline) return false;
    await sleep(20);
  }
  return true;
}

async function canListen(port: number): Promise<boolean> {
  const server = createServer().listen(port, loopback);
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
