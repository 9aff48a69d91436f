import { join } from 'node:path';
import type { Logger } from 'pino';
import { StartupError } from './errors.js';
import { readJsonFile, writeJsonFile } from './files.js';
import { launch, type Launch, type ServerProcess } from './launch.js';
import { lockFolder } from './lock.js';
import { end, gone, lives, type ProcessMark } from './process.js';
import { supervise } from './supervise.js';

/** Differences between the embedded servers. `Settings` (ports, password) are in `folder`. */
export interface ServerKind<Settings> {
  name: string;
  /** Folder of server.json, server.log and usually the data. */
  folder: string;
  stopSignals: readonly NodeJS.Signals[];
  readyWithinMs: number;
  /** Settings for a start, from the last; throws a StartupError if a port is in use. */
  choose(last: Settings | undefined): Promise<Settings>;
  /** Whether a server with these settings can be adopted. */
  fits(settings: Settings): boolean;
  /** Prepares the files for a start and returns the command. */
  prepare(settings: Settings): Promise<Pick<Launch, 'file' | 'env' | 'account'>>;
  args(settings: Settings): string[];
  /** Rejects within about two seconds unless our server answers. */
  probe(settings: Settings): Promise<void>;
}

export interface Server<Settings> {
  settings: Settings;
  readonly pid: number;
  /** True if a killed Ratchet left the server running. */
  adopted: boolean;
  stop(): Promise<void>;
}

/** Time until the next signal to a server that does not answer. */
const unhealthyGraceMs = 3000;

interface ServerRecord<Settings> {
  settings: Settings;
  args: string[];
  process: ProcessMark | null;
}

/**
 * Adopts the healthy server that a killed Ratchet left, or starts one; keeps it alive until `stop`.
 * Throws a StartupError, also if another Ratchet uses the folder.
 */
export async function runServer<Settings>(
  kind: ServerKind<Settings>,
  log: Logger,
  onExit: (error: Error) => void,
): Promise<Server<Settings>> {
  if (process.platform === 'win32') {
    throw new StartupError(
      'Ratchet does not bring its own servers on Windows: use WSL, or set TEMPORAL_ADDRESS and DATABASE_URL.',
    );
  }
  const lock = lockFolder(kind.folder);
  try {
    const { settings, orphan, supervised } = await adoptOrStart(kind, log, onExit);
    return {
      settings,
      adopted: orphan !== undefined,
      get pid() {
        return supervised.pid;
      },
      stop: () => supervised.stop().finally(lock.release),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function adoptOrStart<Settings>(kind: ServerKind<Settings>, log: Logger, onExit: (error: Error) => void) {
  const { name, folder, stopSignals, readyWithinMs } = kind;
  const file = join(folder, 'server.json');
  const saved = readJsonFile<ServerRecord<Settings>>(file);
  const orphan = await adopt(kind, saved, log);
  const settings = saved && orphan ? saved.settings : await kind.choose(saved?.settings);
  const args = kind.args(settings);
  const save = (mark: ProcessMark | null) =>
    writeJsonFile(file, { settings, args, process: mark } satisfies ServerRecord<Settings>);

  const start = async (signal: AbortSignal): Promise<ServerProcess> => {
    const program = await kind.prepare(settings);
    const logFile = join(folder, 'server.log');
    const probe = () => kind.probe(settings);
    return launch({ name, stopSignals, readyWithinMs, ...program, args, logFile, probe, onSpawn: save }, signal);
  };
  // Written before any file is created with them, so that existing data can always be opened.
  if (!orphan) save(null);
  const first = orphan ?? (await start(new AbortController().signal));
  return { settings, orphan, supervised: supervise({ name, first, start, stopSignals, log, onExit }) };
}

/** The server that was left running, if it can be adopted; otherwise stops it. */
async function adopt<Settings>(
  kind: ServerKind<Settings>,
  saved: ServerRecord<Settings> | undefined,
  log: Logger,
): Promise<ServerProcess | undefined> {
  const mark = saved?.process;
  if (!mark || !lives(mark)) return undefined;
  const asWanted =
    kind.fits(saved.settings) && JSON.stringify(kind.args(saved.settings)) === JSON.stringify(saved.args);
  const why = asWanted ? await unhealthy(kind, saved.settings) : 'its settings have changed';
  if (why === undefined) {
    log.info({ server: mark.pid }, `${kind.name} was left running and is healthy: adopting it`);
    return { mark, gone: gone(mark) };
  }
  log.warn({ server: mark.pid }, `${kind.name} was left running: stopping it (${why})`);
  await end(mark, kind.stopSignals, unhealthyGraceMs);
  return undefined;
}

async function unhealthy<Settings>(kind: ServerKind<Settings>, settings: Settings): Promise<string | undefined> {
  try {
    await kind.probe(settings);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
