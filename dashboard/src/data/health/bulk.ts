/** One command for several jobs. */
import { reloadHealth } from './health.js';
import { commandRuns } from '../runs.js';

/** Commands that somebody gives to several jobs at once. */
export type BulkCommand = 'pause' | 'resume';

/** Sends a command to each job; rejects with how many refused it, and why the first did. */
export async function commandAll(command: BulkCommand, jobIds: string[]): Promise<void> {
  const runs = await commandRuns(command, jobIds, {});
  await reloadHealth();
  const refused = runs.flatMap(({ error }) => error ?? []);
  if (refused.length === 0) return;
  throw new Error(`${refused.length} of ${jobIds.length} jobs refused it: ${refused[0]!.message}`);
}
