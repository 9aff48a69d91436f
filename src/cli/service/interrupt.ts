/** Ctrl-C of a command: it cancels what the command started, a second one leaves at once. */
import { constants } from 'node:os';
import type { CommandClient } from './client.js';
import { FailedJob } from './errors.js';
import { note } from './output.js';
import { hasEnded } from './status.js';

/** A wait for the state of a job before the command leaves. */
const patienceMs = 2_000;

/** Shows the cursor and wraps lines again, which a progress bar switches off. */
const restored = '\u001b[?25h\u001b[?7h';

/**
 * Runs a command. The first Ctrl-C cancels the jobs that it started and lets it print what they
 * have; a second one, SIGTERM and SIGHUP leave them running. Then calls `stop` and ends the
 * process as the signal would.
 */
export async function interruptible(
  client: CommandClient,
  use: (client: CommandClient) => Promise<void>,
  stop: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  let interrupted: NodeJS.Signals | null = null;
  let leaving = false;
  const isOpen = async (id: string) => {
    const { status } = await client.handle(id).get({ signal: AbortSignal.timeout(patienceMs) });
    return !hasEnded(status);
  };
  const leave = async (signal: NodeJS.Signals) => {
    if (leaving) process.exit(exitCodeOf(signal));
    leaving = true;
    for (const id of [...client.started, ...client.watched])
      if (await isOpen(id).catch(() => true))
        note(`${id} is still running: "ratchet watch ${id}" follows it, "ratchet cancel ${id}" ends it.`);
    await stop();
    process.exit(exitCodeOf(signal));
  };
  const onSignal = (signal: NodeJS.Signals) => {
    if (client.isResting && signal === 'SIGINT') return;
    const jobs = client.started.map((id) => client.handle(id)).filter((job) => 'cancel' in job);
    if (signal !== 'SIGINT' || interrupted !== null || jobs.length === 0) return void leave(signal);
    interrupted = signal;
    note(`\nCancelling ${jobs.map(({ id }) => id).join(', ')}; the best so far is kept. Ctrl-C again leaves at once.`);
    void Promise.all(jobs.map((job) => job.cancel())).catch(() => leave(signal));
  };
  const restore = () => void (process.stderr.isTTY && process.stderr.write(restored));
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  process.on('exit', restore);
  try {
    await use(client);
  } catch (error) {
    // Pending calls fail once the service stops.
    if (leaving) await new Promise(() => undefined);
    if (interrupted === null || !(error instanceof FailedJob)) throw error;
    note(`ratchet: ${error.message}`);
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
    process.off('exit', restore);
    restore();
  }
  if (interrupted === null) return;
  await stop();
  process.exit(exitCodeOf(interrupted));
}

/** As shells report the end by a signal. */
const exitCodeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];
