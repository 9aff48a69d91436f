import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

export const loopback = '127.0.0.1';

/**
 * Where free ports are looked for: below what Linux and macOS hand out to outgoing connections, which would otherwise take a
 * server's port while it restarts.
 */
const range = { first: 20_000, count: 12_000 };

/** The first of the ports that is free, else any free one. */
export async function firstFree(...wanted: (number | undefined)[]): Promise<number> {
  const others = Array.from({ length: 100 }, () => range.first + randomInt(range.count));
  for (const port of [...wanted, ...others]) if (port && port < 65_536 && (await isFree(port))) return port;
  throw new Error(`there is no free port on ${loopback} between ${range.first} and ${range.first + range.count}`);
}

/** Whether nobody listens on this loopback port now. */
export async function isFree(port: number): Promise<boolean> {
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
