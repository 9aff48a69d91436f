import { RatchetError } from '../client/index.js';
import { ConfigError } from '../service/config.js';
import { StartupError } from '../platform/embedded/errors.js';
import { logEnd } from '../service/log.js';
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

/**
 * Says why a command ends: a user's mistake in one line, an internal error with its stack.
 * `isLogged`: as an entry of the log, in JSON. Returns the exit code.
 */
export async function explain(error: unknown, isLogged: boolean): Promise<number> {
  const say = (message: string, cause?: unknown) => {
    const line = `ratchet: ${message}`;
    if (isLogged) logEnd(line, cause);
    else if (cause === undefined) note(line);
    else process.stderr.write(`ratchet: ${cause instanceof Error ? (cause.stack ?? message) : message}\n`);
  };
  const known = [ConfigError, RatchetError, FailedJob, StartupError];
  const isOf = (kinds: Awaited<ReturnType<typeof startErrors>>) => kinds.some((kind) => error instanceof kind);
  if (isOf(known) || isOf(await startErrors())) {
    say((error as Error).message);
    if (isUnreachable(error)) note('Jobs go on with the service: "ratchet watch ID" follows one.');
    return error instanceof ConfigError ? 2 : error instanceof StartupError ? error.exitCode : 1;
  }
  const message = error instanceof Error ? error.message : String(error);
  if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE')
    say(`${message}: the port is in use; set PORT to another port, or to 0 for a free one.`);
  else say(message, error);
  return 1;
}
