import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { run } from './command.js';
import { StartupError } from './errors.js';
import { makeFolder } from './files.js';
import { tryLock, type Lock } from './lock.js';
import { buildByGo, downloadBySdk } from './temporal-fetch.js';

/** Version of the Temporal CLI: the newest that `go install` can build. */
const temporalVersion = '1.5.1';
/** Version of the server in it, which builds of all sources tell. */
const serverVersion = '1.29.1';

/**
 * A working Temporal CLI: from PATH, from `cacheDir`, by the SDK's download, or built with Go. Logs
 * each failed step; throws a StartupError with all of them.
 */
export async function findTemporalBinary(log: Logger, cacheDir: string): Promise<string> {
  const cached = join(cacheDir, `temporal-${temporalVersion}`);
  const failures = new Map<string, Error>();

  async function attempt(name: string, find: () => Promise<string>, shouldWarn: boolean): Promise<string | undefined> {
    try {
      return await find();
    } catch (error) {
      failures.set(name, error as Error);
      if (shouldWarn || error instanceof WrongVersion) warn(name, error as Error);
      return undefined;
    }
  }
  const warn = (name: string, { message }: Error) => log.warn(`no Temporal server by ${name}: ${message}`);
  const inCache = (shouldWarn: boolean) => attempt('the cache', () => usable(cached, isOurs), shouldWarn);

  // Silent at first: a missing PATH entry is expected once the cache is filled.
  const onPath = async () => usable(await whereOnPath('temporal'), isOursOrLater);
  const there = (await attempt('"temporal" on PATH', onPath, false)) ?? (await inCache(false));
  if (there) return there;
  for (const [name, error] of failures) if (!(error instanceof WrongVersion)) warn(name, error);

  const lock = await lockCache(makeFolder(cacheDir, 'XDG_CACHE_HOME'), log);
  try {
    const draft = join(cacheDir, `temporal-${temporalVersion}.new`);
    // Moved in one step and only if it runs: the cache never holds a partial binary.
    const fetched = async (fetch: typeof downloadBySdk) => {
      rmSync(draft, { recursive: true, force: true });
      mkdirSync(draft);
      try {
        renameSync(await usable(await fetch(draft, temporalVersion, log), isOurs), cached);
        return cached;
      } finally {
        rmSync(draft, { recursive: true, force: true });
      }
    };
    const binary =
      // Another process may have fetched it while this one waited for the lock.
      (await inCache(false)) ??
      (await attempt("the SDK's download", () => fetched(downloadBySdk), true)) ??
      (await attempt('go install', () => fetched(buildByGo), true));
    if (binary) return binary;
  } finally {
    lock.release();
  }
  const reasons = [...failures].map(([name, { message }]) => `${name}: ${message}`).join('; ');
  throw new StartupError(
    `There is no Temporal server and none could be fetched (${reasons}): install the Temporal CLI so that "temporal" is on PATH, or set TEMPORAL_ADDRESS to a running server.`,
  );
}

/** A Temporal CLI, but with another server than the tested ones. */
class WrongVersion extends Error {}

type Version = [major: number, minor: number, patch: number];

const ours = versionOf(serverVersion)!;
const isOurs = (version: Version) => version.join('.') === serverVersion;

function isOursOrLater([major, minor, patch]: Version): boolean {
  return major === ours[0] && (minor > ours[1] || (minor === ours[1] && patch >= ours[2]));
}

function versionOf(text: string): Version | undefined {
  return /(?<!\d)(\d+)\.(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number) as Version | undefined;
}

/** The absolute path of a program on PATH: the server starts in another folder and environment. */
async function whereOnPath(name: string): Promise<string> {
  const found = await run('/bin/sh', ['-c', `command -v ${name}`], { timeoutMs: 10_000 }).catch((cause: Error) => {
    throw new Error(`there is no ${name}`, { cause });
  });
  return resolve(found.trim());
}

async function usable(file: string, isRight: (server: Version) => boolean): Promise<string> {
  const text = await run(file, ['--version'], { timeoutMs: 10_000 });
  if (!text.startsWith('temporal version')) throw new Error(`${file} is not the Temporal CLI`);
  const server = versionOf(text.split('(Server ')[1] ?? '');
  if (server && isRight(server)) return file;
  const least = isRight === isOurs ? serverVersion : `${serverVersion} or a later 1.x`;
  throw new WrongVersion(`${file} has not the server ${least}, but says "${text.trim()}": update or remove it`);
}

async function lockCache(cacheDir: string, log: Logger): Promise<Lock> {
  const file = join(cacheDir, 'temporal.lock');
  for (let logged = false; ; logged = true) {
    const lock = tryLock(file);
    if ('release' in lock) return lock;
    if (!logged) log.warn(`process ${lock.heldBy} is fetching the Temporal server; waiting for it`);
    await sleep(500);
  }
}
