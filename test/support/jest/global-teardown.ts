import { once } from 'node:events';

/** Ends the servers of the run, which then remove everything they and the tests wrote. */
export default async function teardown(): Promise<void> {
  const servers = globalThis.testServers;
  if (!servers) return;
  servers.stdin!.end();
  if (servers.exitCode === null && servers.signalCode === null) await once(servers, 'exit');
  if (servers.exitCode !== 0) throw new Error(`the servers of the tests ended with ${servers.exitCode}; see above`);
}
