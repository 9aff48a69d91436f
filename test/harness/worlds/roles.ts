import { firstFree } from '../../../src/platform/embedded/ports.js';
import { startTree, type TreeOptions } from '../../support/servers/tree.js';
import { Restartable } from './restartable.js';

/** An API at an address that outlives it, and a worker beside it; none is started yet. */
export interface Roles {
  url: string;
  api: Restartable;
  worker: Restartable;
}

/** The roles of an installation with these settings; `serve`: the command of its API. */
export async function rolesOf(
  env: Record<string, string>,
  { serve = 'serve', logFile }: { serve?: TreeOptions['command']; logFile?: string } = {},
): Promise<Roles> {
  const port = await firstFree();
  const url = `http://127.0.0.1:${port}`;
  const settings = { ...env, PORT: String(port), RATCHET_PUBLIC_URL: url };
  const role = (command: TreeOptions['command']) =>
    new Restartable(() => startTree(settings, { command, ...(logFile && { logFile }) }));
  return { url, api: role(serve), worker: role('worker') };
}
