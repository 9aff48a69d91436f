/** Ctrl-C of a command: it cancels what the command started, a second one leaves at once. */
import { constants } from 'node:os';
import { jobKinds, kindOf } from '../../core/jobs/kinds.js';
import { isTerminal, type Status } from '../../core/jobs/status.js';
import type { Api } from './api.js';
import { FailedJob } from './errors.js';
import { note } from './output.js';

/** Shows the cursor and wraps lines again, which a progress bar switches off. */
const restored = '\u001b[?25h\u001b[?7h';

/**
 * Runs a command. The first Ctrl-C cancels the jobs that it started and lets it print what they
 * have; a second one, SIGTERM and SIGHUP leave them running. Then calls `stop` and ends the
 * process as the signal would.
 */
export async function interruptible(
  api: Api,
  use: (api: Api) => Promise<void>,
  stop: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  let interrupted: NodeJS.Signals | null = null;
  let leaving = false;
  const isOpen = async (id: string) => {
    const { status } = await api.call<{ status: Status | 'ready' }>('GET', `${jobKinds[kindOf(id)!].path}/${id}`);
    return status !== 'ready' && !isTerminal(status);
  };
  const leave = async (signal: NodeJS.Signals) => {
    if (leaving) process.exit(exitCodeOf(signal));
    leaving = true;
    for (const id of [...api.started, ...api.watched])
      if (await isOpen(id).catch(() => true))
        note(`${id} is still running: "ratchet watch ${id}" follows it, "ratchet cancel ${id}" ends it.`);
    await stop();
    process.exit(exitCodeOf(signal));
  };
  const onSignal = (signal: NodeJS.Signals) => {
    if (api.isResting && signal === 'SIGINT') return;
    const jobs = api.started.filter((id) => jobKinds[kindOf(id)!].takesCommands);
    if (signal !== 'SIGINT' || interrupted !== null || jobs.length === 0) return void leave(signal);
    interrupted = signal;
    note(`\nCancelling ${jobs.join(', ')}; the best so far is kept. Ctrl-C again leaves at once.`);
    void Promise.all(jobs.map((id) => api.call('POST', `${jobKinds[kindOf(id)!].path}/${id}/cancel`))).catch(() =>
      leave(signal),
    );
  };
  const restore = () => void (process.stderr.isTTY && process.stderr.write(restored));
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  process.on('exit', restore);
  try {
    await use(api);
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
