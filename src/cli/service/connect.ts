/** The service that the commands use: a running one, or the embedded one started for a command. */
import { dirname, relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ratchet, RatchetError } from '../../client/index.js';
import { ConfigError, readConfig, type Config } from '../../service/config.js';
import { FolderInUseError } from '../../platform/embedded/lock.js';
import { processMark } from '../../platform/embedded/process.js';
import { runningServices, useService, type RunningService } from '../../platform/embedded/running.js';
import { keptApiKey } from '../../service/keys.js';
import { CommandClient } from './client.js';
import { interruptible } from './interrupt.js';
import { note } from './output.js';

/** A service under load answers late; where none listens, the refusal comes at once. */
const patienceMs = 10_000;
const everyMs = 200;

/** The service of a command. */
export interface ServiceOfCommand {
  /** null: not a service of this machine's user. */
  dataDir: string | null;
  /** Whether it ends with this command or another one. */
  isPassing: boolean;
}

type Use = (client: CommandClient, service: ServiceOfCommand) => Promise<void>;

/** Runs a command on the service; one that was started for it is stopped afterwards. */
export async function withService(use: Use, config: Config = readConfig()): Promise<void> {
  const there = await findService(config);
  if (there !== null) return useRunning(config, there, use);
  for (;;) {
    try {
      return await startAndUse(config, use);
    } catch (error) {
      if (!(error instanceof FolderInUseError)) throw error;
      const other = await startedBy(config, error);
      if (other !== null) return useRunning(config, other, use);
    }
  }
}

interface Found {
  url: string;
  version: string;
  apiKey: string;
  running: RunningService | null;
}

async function useRunning(config: Config, { url, version, apiKey, running }: Found, use: Use): Promise<void> {
  const release = running && useService(config.cacheDir, running);
  note(
    `Ratchet ${version} at ${url}${running && running.dataDir !== config.dataDir ? ` (data in ${running.dataDir})` : ''}`,
  );
  try {
    await interruptible(new CommandClient(url, apiKey), (client) =>
      use(client, { dataDir: running?.dataDir ?? null, isPassing: running?.kind === 'command' }),
    );
  } finally {
    release?.();
  }
}

async function startAndUse(config: Config, use: Use): Promise<void> {
  const { withEmbedded } = await import('./embedded.js');
  note(`No service runs: starting Postgres, Temporal and Ratchet (data in ${config.dataDir}) …`);
  await withEmbedded(config, async (client, { url, temporalUi }) => {
    note(`Ratchet at ${url}${temporalUi ? `, Temporal UI ${temporalUi}` : ''}; it ends with this command.`);
    await use(client, { dataDir: config.dataDir, isPassing: true });
    if (client.started.length > 0) note('Its page is kept: run "ratchet" in this folder, and open its dashboard.');
  });
}

/**
 * RATCHET_URL, else the service at PORT if it is set, else that of the data folder, else another
 * one of this user: of the nearest folder above, at the default port, or the last one started.
 */
async function findService(config: Config): Promise<Found | null> {
  const services = runningServices(config.cacheDir);
  const own = `http://127.0.0.1:${config.port}`;
  const chosen = config.serviceUrl ?? (config.isPortFixed && config.port !== 0 ? own : null);
  if (chosen !== null) {
    const running = services.find(({ url }) => url === chosen) ?? null;
    const version = await versionOf(chosen);
    if (version === null && config.serviceUrl === null) return null;
    if (version === null) throw new ConfigError(`RATCHET_URL: no Ratchet service answers at ${chosen}`);
    return { url: chosen, version, apiKey: keyOf(config, chosen, running), running };
  }
  for (const running of inOrder(config, services)) {
    const version = await versionOf(running.url);
    if (version !== null) return { ...running, version, apiKey: config.apiKey ?? running.apiKey, running };
  }
  // One of another user or in a container, for which the environment has a key.
  const version = config.apiKey && !config.isDataDirFixed && config.port !== 0 ? await versionOf(own) : null;
  return version === null ? null : { url: own, version, apiKey: config.apiKey!, running: null };
}

function inOrder(config: Config, services: RunningService[]): RunningService[] {
  const here = services.filter(({ dataDir }) => dataDir === config.dataDir);
  if (config.isDataDirFixed) return here;
  const steps = ({ dataDir }: RunningService) => {
    const way = relative(dirname(dataDir), process.cwd());
    return way.startsWith('..') ? Infinity : way.split(sep).filter(Boolean).length;
  };
  const isDefault = ({ url }: RunningService) => (url.endsWith(`:${config.port}`) ? 0 : 1);
  const others = services
    .filter(({ kind, dataDir }) => kind === 'service' && dataDir !== config.dataDir)
    .sort((one, other) => steps(one) - steps(other) || isDefault(one) - isDefault(other) || other.since - one.since);
  return [...here, ...others];
}

/** Waits for the service that another process starts; null: that process has ended. */
async function startedBy(config: Config, { heldBy }: FolderInUseError): Promise<Found | null> {
  note(`Process ${heldBy} starts a service on ${config.dataDir}: waiting for it …`);
  for (;;) {
    const there = await findService(config);
    if (there !== null) return there;
    if (processMark(heldBy) === undefined) return null;
    await sleep(everyMs);
  }
}

/** The version of the service at a URL; null: none answers. */
async function versionOf(url: string): Promise<string | null> {
  // No key: it may be something else.
  const client = new Ratchet({ url, apiKey: '', maxRetries: 0, timeoutMs: patienceMs });
  try {
    const { name, version } = await client.request('getService');
    return name === 'ratchet' ? (version ?? '') : null;
  } catch (error) {
    if (error instanceof RatchetError) return null;
    throw error;
  }
}

function keyOf({ apiKey, dataDir, serviceUrl }: Config, url: string, running: RunningService | null): string {
  const known = apiKey ?? running?.apiKey;
  if (known) return known;
  // The kept key is that of this folder's service: no other host may get it.
  if (serviceUrl !== null) throw new ConfigError('RATCHET_URL needs RATCHET_API_KEY, a key of that service');
  const kept = keptApiKey(dataDir);
  if (kept === null)
    throw new ConfigError(`a service runs at ${url}, and ${dataDir}/api-key has no key of it; set RATCHET_API_KEY`);
  return kept;
}
