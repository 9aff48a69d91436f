/** `ratchet mcp`: the service as tools for coding agents, over standard input and output. */
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { join, parse } from 'node:path';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { ConfigError, readConfig, type Config } from '../../service/config.js';
import { withService } from '../service/connect.js';
import { filesIn } from '../task/files.js';
import { createMcpServer } from './server.js';
import { ToolService } from './service.js';

/** Serves until the client closes standard input; `folder` is the working folder. */
export async function mcp({ folder }: { folder?: string }): Promise<void> {
  if (folder !== undefined) enter(folder);
  const service = new ToolService(async (use) => {
    const config = toolConfig();
    await withService((client, { isPassing }) => use({ client, ends: isPassing ? endOf(config) : null }), config);
  });
  const closed = once(process.stdin, 'close');
  const server = serveStdio(() =>
    createMcpServer(
      service,
      filesIn(process.cwd(), () => [toolConfig().dataDir]),
    ),
  );
  await closed;
  await server.close();
  await service.close();
}

function enter(folder: string): void {
  try {
    process.chdir(folder);
  } catch (error) {
    throw new ConfigError(`--folder ${folder}: ${(error as Error).message}`);
  }
}

/** The settings; clients without a working folder start their servers in / or in a program's. */
function toolConfig(): Config {
  const config = readConfig();
  const hasFolder = process.cwd() !== parse(process.cwd()).root && isWritable(process.cwd());
  return hasFolder || config.userDataDir === null ? config : { ...config, dataDir: config.userDataDir };
}

/** When a service of this process ends, and how to keep it. */
function endOf({ dataDir, apiKey }: Config): string {
  const key = apiKey ? 'RATCHET_API_KEY' : `the key in ${join(dataDir, 'api-key')}`;
  const start = `RATCHET_DATA_DIR=${quoted(dataDir)} node ${quoted(process.argv[1]!)}`;
  return `The service runs inside this MCP server: the address answers, with ${key}, until the agent ends the server. To keep it, end the server, run "${start}" and leave it running; the tools then use that service, with the same jobs and deployments.`;
}

/** For a shell. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
