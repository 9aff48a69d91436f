/** One command for several jobs. */
import { client } from './client.js';
import { reloadHealth } from './health.js';

/** Commands that somebody gives to several jobs at once. */
export type BulkCommand = 'pause' | 'resume';

/** Sends a command to each job; rejects with how many refused it, and why the first did. */
export async function commandAll(command: BulkCommand, jobIds: readonly string[]): Promise<void> {
  const sent = await Promise.allSettled(jobIds.map((id) => handleOf(id)[command]()));
  await reloadHealth();
  const refused = sent.filter((each) => each.status === 'rejected');
  if (refused.length === 0) return;
  const reason = refused[0]!.reason as Error;
  throw new Error(`${refused.length} of ${jobIds.length} jobs refused it: ${reason.message}`, { cause: reason });
}

/** A session, an evaluation or a graph job: they take commands. */
function handleOf(id: string): Record<BulkCommand, () => Promise<unknown>> {
  return client.value.handle(id) as unknown as Record<BulkCommand, () => Promise<unknown>>;
}
