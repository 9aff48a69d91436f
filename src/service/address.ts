import type { Config, Roles } from './config.js';
import { reserveFree, type ReservedPort } from '../platform/embedded/ports.js';

export interface Address extends ReservedPort {
  /** Where callers and containers reach the API. */
  publicUrl: string;
}

/** Chooses the port of the API and its public URL. A chosen port stays taken until `release`. */
export async function chooseAddress(config: Config, roles: Roles): Promise<Address> {
  const { port, release } = await choosePort(config, roles);
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return { port, publicUrl: config.publicUrl ?? `http://${host}:${port}`, release };
}

async function choosePort({ port, isPortFixed }: Config, { serve, work }: Roles): Promise<ReservedPort> {
  if (serve && port === 0) return reserveFree();
  // Several processes, and those who call a server by name, rely on its port.
  if (serve && work && !isPortFixed) return reserveFree(port);
  return { port, release: () => Promise.resolve() };
}
