import { sleep } from '@temporalio/workflow';

/** Waits on a timer, which the version that replaces it does not start. */
export async function changed(): Promise<void> {
  await sleep('1 hour');
}
