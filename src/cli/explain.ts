import { RatchetError } from '../client/index.js';
import { ConfigError } from '../service/config.js';
import { StartupError } from '../platform/embedded/errors.js';
import { isUnreachable } from './service/client.js';
import { FailedJob } from './service/errors.js';
import { note } from './service/output.js';

/** Errors of a start, which commands without a service do not load. */
async function startErrors(): Promise<(abstract new (...args: never[]) => Error)[]> {
  const [{ DatabaseStartError }, { TemporalUnreachableError }, { SearchAttributesError }, { InstallationError }] =
    await Promise.all([
      import('../platform/db/errors.js'),
      import('../platform/temporal/connection.js'),
      import('../platform/temporal/search-attributes.js'),
      import('../platform/temporal/installation.js'),
    ]);
  return [DatabaseStartError, TemporalUnreachableError, SearchAttributesError, InstallationError];
}

/** Prints a user's mistake in one line and an internal error with its stack. */
export async function explain(error: unknown): Promise<never> {
  const known = [ConfigError, RatchetError, FailedJob, StartupError];
  const isOf = (kinds: Awaited<ReturnType<typeof startErrors>>) => kinds.some((kind) => error instanceof kind);
  if (isOf(known) || isOf(await startErrors())) {
    note(`ratchet: ${(error as Error).message}`);
    if (isUnreachable(error)) note('Jobs go on with the service: "ratchet watch ID" follows one.');
    process.exit(error instanceof ConfigError ? 2 : error instanceof StartupError ? error.exitCode : 1);
  }
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EADDRINUSE') {
    process.stderr.write(
      `ratchet: ${(error as Error).message}: the port is in use; set PORT to another port, or to 0 for a free one.\n`,
    );
    process.exit(1);
  }
  process.stderr.write(`ratchet: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
}
