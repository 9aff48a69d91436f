/** The services that this user runs on this machine: a file of mode 600 for each, in the cache. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { writeJsonFile } from './files.js';
import { lives, processMark, type ProcessMark } from './process.js';

export interface RunningService {
  url: string;
  apiKey: string;
  /** The absolute path of its data folder. */
  dataDir: string;
  process: ProcessMark;
  /** A command that ends with its work, or a service that runs until it is stopped. */
  kind: 'service' | 'command';
  /** Unix time in milliseconds. */
  since: number;
}

const folderOf = (cacheDir: string): string => join(cacheDir, 'services');
const everyMs = 200;

/** Announces the service of this process; the result takes it back. */
export function announceService(
  cacheDir: string,
  service: Omit<RunningService, 'process' | 'since'>,
  log: Logger,
): () => void {
  const mark = thisProcess();
  const file = join(folderOf(cacheDir), `${mark.pid}.json`);
  try {
    makeFolder(cacheDir);
    writeJsonFile(file, { ...service, process: mark, since: Date.now() } satisfies RunningService);
  } catch (err) {
    log.warn({ err }, 'commands in other folders will not find this service');
    return () => undefined;
  }
  return () => rmSync(file, { force: true });
}

/** The services whose processes live, the one announced last first. */
export function runningServices(cacheDir: string): RunningService[] {
  return read<RunningService>(cacheDir, /^\d+\.json$/).sort((one, other) => other.since - one.since);
}

/** Records that this process uses a service, which a command then does not end. */
export function useService(cacheDir: string, { process: { pid } }: RunningService): () => void {
  const mark = thisProcess();
  const file = join(makeFolder(cacheDir), `${pid}.user-${mark.pid}.json`);
  writeJsonFile(file, mark);
  return () => rmSync(file, { force: true });
}

/** Resolves when no other process uses the service of this one; tells the process that does. */
export async function unused(cacheDir: string, signal: AbortSignal, tell: (pid: number) => void): Promise<void> {
  const pattern = new RegExp(`^${process.pid}\\.user-\\d+\\.json$`);
  for (let told = 0; !signal.aborted;) {
    const [user] = read<ProcessMark>(cacheDir, pattern);
    if (!user) return;
    if (user.pid !== told) tell((told = user.pid));
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

function thisProcess(): ProcessMark {
  const mark = processMark(process.pid);
  if (!mark) throw new Error('this process cannot be found in the process table');
  return mark;
}

function makeFolder(cacheDir: string): string {
  const folder = folderOf(cacheDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** The files of these names; deletes those of dead processes and torn ones, but no drafts. */
function read<T extends RunningService | ProcessMark>(cacheDir: string, names: RegExp): T[] {
  const folder = folderOf(cacheDir);
  const files = listed(folder).filter((name) => name.endsWith('.json'));
  return files.flatMap((name) => {
    const file = join(folder, name);
    try {
      const found = JSON.parse(readFileSync(file, 'utf8')) as T;
      if (lives('process' in found ? found.process : found)) return names.test(name) ? [found] : [];
      rmSync(file, { force: true });
    } catch (error) {
      // Taken back meanwhile, or torn by a power cut.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' && !(error instanceof SyntaxError)) throw error;
      rmSync(file, { force: true });
    }
    return [];
  });
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (['ENOENT', 'EACCES', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}
