import { constants } from 'node:os';
import closeWithGrace from 'close-with-grace';
import type { Config } from '../config.js';
import { createLog } from '../log.js';
import { startService } from '../main.js';
import { installRuntime } from '../worker.js';
import { Api } from './api.js';
import { note } from './output.js';

/** Runs a command on the embedded service, which ends with it. */
export async function withEmbedded(config: Config, use: (api: Api) => Promise<void>): Promise<void> {
  const log = createLog(config);
  installRuntime(log);
  const service = await startService(config, { serve: true, work: true }, log);
  let stopping: Promise<void> | null = null;
  const stop = () => (stopping ??= service.stop());
  const grace = closeWithGrace({ delay: 30_000, logger: log }, async ({ err, signal }) => {
    if (err) log.error({ err }, 'stopping after an error');
    await stop();
    if (!signal) return;
    note('Stopped. Its job goes on at the next start: ratchet watch ID (ratchet list shows the IDs)');
    // As shells report a signal: the command has no result.
    process.exit(128 + constants.signals[signal]);
  });
  try {
    note(`Ratchet at ${service.url}, Temporal UI ${service.temporalUi ?? 'none'}; both end with this command.`);
    await use(new Api(service.url ?? '', service.apiKey ?? ''));
  } catch (error) {
    // Pending calls fail once the service stops.
    if (!stopping) throw error;
  } finally {
    await stop();
    grace.uninstall();
  }
}
