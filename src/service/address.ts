import type { Config, Roles } from './config.js';
import { firstFree } from '../platform/embedded/ports.js';

export interface Address {
  port: number;
  /** Where callers and containers reach the API. */
  publicUrl: string;
}

/** Chooses the port of the API and its public URL. */
export async function chooseAddress(config: Config, roles: Roles): Promise<Address> {
  const port = await choosePort(config, roles);
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return { port, publicUrl: config.publicUrl ?? `http://${host}:${port}` };
}

function choosePort({ port, isPortFixed }: Config, roles: Roles): Promise<number> | number {
  if (port === 0) return firstFree();
  // Several processes, and those who call a server by name, rely on its port.
  return roles.serve && roles.work && !isPortFixed ? firstFree(port) : port;
}
