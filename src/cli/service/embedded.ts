import { constants } from 'node:os';
import closeWithGrace from 'close-with-grace';
import type { Config } from '../../config.js';
import { createCommandLog } from '../../log.js';
import { startService, type Service } from '../../main.js';
import { installRuntime } from '../../worker.js';
import { Api } from './api.js';
import { FailedJob } from './errors.js';
import { note } from './output.js';

const shutdownMs = 30_000;

/** Runs a command on the embedded service, which ends with it; `stopped` is said after Ctrl-C. */
export async function withEmbedded(
  config: Config,
  stopped: string,
  use: (api: Api, service: Service) => Promise<void>,
): Promise<void> {
  const ownLog = createCommandLog(config);
  const { log } = ownLog;
  installRuntime(log);
  const service = await startService(config, { serve: true, work: true }, log);
  let stopping: Promise<void> | null = null;
  const stop = () => (stopping ??= service.stop());
  const grace = closeWithGrace({ delay: shutdownMs, logger: log }, async ({ err, signal }) => {
    if (err) log.error({ err }, 'stopping after an error');
    await stop();
    if (!signal) return;
    note(stopped);
    // As shells report a signal: the command has no result.
    process.exit(128 + constants.signals[signal]);
  });
  try {
    ownLog.toFile();
    const used = use(new Api(service.url ?? '', service.apiKey ?? ''), service);
    await Promise.race([used, service.ended.catch(giveUp)]);
  } catch (error) {
    // Pending calls fail once the service stops.
    if (stopping) return;
    await stop();
    // Temporal's entries arrive late.
    if (ownLog.isUsed()) note(`The service's log is in ${ownLog.file}`);
    throw error;
  } finally {
    await stop();
    grace.uninstall();
  }
}

/** Postgres, Temporal or the worker cannot go on. */
function giveUp(error: Error): never {
  throw new FailedJob(`A part of the service has stopped: ${error.message}`, { cause: error });
}
