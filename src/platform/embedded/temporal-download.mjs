// node temporal-download.mjs <folder> <version>: downloads the Temporal CLI to <folder>/temporal.
// The SDK cannot download without starting: start its server briefly, in memory, on a free port.
import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime } from '@temporalio/worker';

const [folder, version] = process.argv.slice(2);
const exe = {
  type: 'cached-download',
  downloadDir: folder,
  version: `v${version}`,
  ttl: 24 * 3600 * 1000,
  sdkName: 'sdk-typescript',
  sdkVersion: version,
};
const runtime = Runtime.install({ logger: new DefaultLogger('ERROR') });
try {
  const server = await runtime.createEphemeralServer({
    type: 'dev-server',
    exe,
    namespace: 'default',
    ip: '127.0.0.1',
    port: null,
    uiPort: null,
    dbFilename: null,
    ui: false,
    log: { format: 'pretty', level: 'error' },
    extraArgs: [],
  });
  await runtime.shutdownEphemeralServer(server);
  renameSync(join(folder, readdirSync(folder)[0]), join(folder, 'temporal'));
} catch (error) {
  // The innermost cause; the others only repeat the address.
  console.error(error.message.replaceAll(/\s+/g, ' ').split('): ').at(-1));
  process.exitCode = 1;
} finally {
  await runtime.shutdown();
}
