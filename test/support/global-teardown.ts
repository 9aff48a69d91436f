import { once } from 'node:events';
import { rmSync } from 'node:fs';

/** Ends the servers of the run and removes everything they wrote. */
export default async function teardown(): Promise<void> {
  const run = globalThis.testRun;
  if (!run) return;
  const { servers, folder } = run;
  servers.stdin!.end();
  if (servers.exitCode === null && servers.signalCode === null) await once(servers, 'exit');
  if (servers.exitCode !== 0) throw new Error(`the servers of the tests ended with ${servers.exitCode}; see above`);
  rmSync(folder, { recursive: true, force: true });
}
