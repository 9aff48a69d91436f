import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export const loopback = '127.0.0.1';

/**
 * Where free ports are looked for: below what Linux and macOS hand out to outgoing connections, which would otherwise take a
 * server's port while it restarts.
 */
const range = { first: 20_000, count: 12_000 };

// Two servers that start together must not choose the same port before either listens.
const handedOut = new Set<number>();

/** The first of the ports that is free, else any free one, which is never handed out twice. */
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

/** Whether nobody listens on this loopback port: one whose server was just ended is given a moment to let go of it. */
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
