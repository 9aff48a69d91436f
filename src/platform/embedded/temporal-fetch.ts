import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { lastLine, run, type RunOptions } from './command.js';

const firstAnswerMs = 8000;
const downloadMs = 5 * 60_000;
const buildMs = 30 * 60_000;

/** SHA-256 of the module's files, as in go.sum; it fixes the versions of all dependencies too. */
const moduleSums: Record<string, string> = { '1.5.1': 'h1:0RZMk14BWxz44Xg6ciDQvpfAMffoG3J7/K03ql80teY=' };

/** Downloads the CLI into `folder` by the SDK; rejects within seconds without a network. */
export async function downloadBySdk(folder: string, version: string, log: Logger): Promise<string> {
  log.warn(`downloading the Temporal server ${version}`);
  // A separate process, because the SDK's download cannot be interrupted.
  const script = fileURLToPath(new URL('./temporal-download.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, folder, version], { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = once(child, 'close').then(([code]) => code as number | null);

  // The SDK creates a file once the server has named the archive's address.
  const answered = () => readdirSync(folder).length > 0;
  const started = Date.now();
  for (;;) {
    const code = await Promise.race([ended, sleep(100, 'running' as const)]);
    if (code === 0) return join(folder, 'temporal');
    if (code !== 'running') throw new Error(lastLine(errors) ?? `it ended with ${code}`);
    const waited = Date.now() - started;
    if (waited > (answered() ? downloadMs : firstAnswerMs)) {
      child.kill('SIGKILL');
      await ended;
      throw new Error(`no ${answered() ? 'end' : 'answer'} after ${Math.round(waited / 1000)} s`);
    }
  }
}

/** Packages that a build with an empty cache compiles, those of Go's library included. */
const packages = 1_457;

/**
 * Builds the CLI from source into `folder`: two to five minutes on two cores. Requires Go. Modules
 * and cache of the build (3 GB) are in `folder`, too, for the caller to delete.
 */
export async function buildByGo(folder: string, version: string, log: Logger): Promise<string> {
  const source = 'github.com/temporalio/cli';
  const go = (args: string[], options: Pick<RunOptions, 'timeoutMs' | 'onErrorLine'>) => {
    const places = [`GOBIN=${folder}`, `GOMODCACHE=${join(folder, 'modules')}`, `GOCACHE=${join(folder, 'cache')}`];
    return run('env', [...places, 'go', ...args], { ...options, cwd: folder });
  };
  // Query the module proxy first: a missing network fails here, in seconds.
  await go(['list', '-m', `${source}@v${version}`], { timeoutMs: 20_000 });
  const module = await go(['mod', 'download', '-modcacherw', '-json', `${source}@v${version}`], {
    timeoutMs: downloadMs,
  });
  const { Sum: sum } = JSON.parse(module) as { Sum?: string };
  if (sum !== moduleSums[version])
    throw new Error(`${source}@v${version} has the checksum ${sum}, not ${moduleSums[version]}: check GOPROXY`);
  log.warn(`building the Temporal server ${version} with Go: some minutes, this once; needs 3 GB for the time`);
  let compiled = 0;
  let told = 0;
  const onErrorLine = () => {
    const tenth = Math.floor((10 * ++compiled) / packages);
    if (tenth <= told || tenth >= 10) return;
    told = tenth;
    log.warn(`building the Temporal server: ${tenth * 10} %`);
  };
  const install = ['install', '-v', '-modcacherw', `${source}/cmd/temporal@v${version}`];
  await go(install, { timeoutMs: buildMs, onErrorLine });
  log.warn('the Temporal server is built');
  return join(folder, 'temporal');
}
