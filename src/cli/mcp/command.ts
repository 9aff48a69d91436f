/** `ratchet mcp`: the service as tools for coding agents, over standard input and output. */
import { once } from 'node:events';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { withService } from '../service/connect.js';
import { createMcpServer } from './server.js';

/** Serves until the client closes standard input. */
export async function mcp(): Promise<void> {
  await withService(async (api) => {
    const closed = once(process.stdin, 'close');
    const server = serveStdio(() => createMcpServer(api));
    await closed;
    await server.close();
  });
}
