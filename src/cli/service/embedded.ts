import closeWithGrace from 'close-with-grace';
import type { Config } from '../../service/config.js';
import { announceService, unused } from '../../platform/embedded/running.js';
import { createCommandLog } from '../../service/log.js';
import { startService, type Service } from '../../service/main.js';
import { handleRejections, installRuntime, uninstallRuntime } from '../../service/worker.js';
import { CommandClient } from './client.js';
import { FailedJob } from './errors.js';
import { interruptible } from './interrupt.js';
import { note } from './output.js';

const shutdownMs = 30_000;

type Use = (client: CommandClient, service: Service) => Promise<void>;

/**
 * Runs a command on the embedded service, which other commands find and use; it ends with the last
 * of them.
 */
export async function withEmbedded(config: Config, use: Use): Promise<void> {
  const ownLog = createCommandLog(config);
  const { log } = ownLog;
  installRuntime(log, config.metricsPort !== null);
  handleRejections(log);
  const service = await startService(config, { serve: true, work: true }, log).catch(async (error: unknown) => {
    // Without a worker nothing else ends the runtime, and the process would go on.
    await uninstallRuntime();
    throw error;
  });
  const { url, apiKey } = service;
  const { cacheDir, dataDir } = config;
  const withdraw = announceService(cacheDir, { url: url!, apiKey: apiKey!, dataDir, kind: 'command' }, log);
  let stopping: Promise<void> | null = null;
  const stop = () => {
    withdraw();
    return (stopping ??= service.stop());
  };
  const skip = ['SIGINT', 'SIGTERM', 'SIGHUP', 'unhandledRejection'] as const;
  const grace = closeWithGrace({ delay: shutdownMs, logger: log, skip: [...skip] }, async ({ err }) => {
    if (err) log.error({ err }, 'stopping after an error');
    await stop();
  });
  try {
    ownLog.toFile();
    await interruptible(
      new CommandClient(url!, apiKey!),
      (client) => Promise.race([use(client, service), service.ended.catch(giveUp)]),
      stop,
    );
    await lastUser(cacheDir);
  } catch (error) {
    await stop();
    // Temporal's entries arrive late.
    if (ownLog.isUsed()) note(`The service's log is in ${ownLog.file}`);
    throw error;
  } finally {
    await stop();
    grace.uninstall();
  }
}

/** Waits for other commands that use the service; Ctrl-C ends the wait. */
async function lastUser(cacheDir: string): Promise<void> {
  const ending = new AbortController();
  const abort = () => ending.abort();
  process.once('SIGINT', abort).once('SIGTERM', abort);
  await unused(cacheDir, ending.signal, (pid) =>
    note(`Process ${pid} uses the service of this command, which ends after it. Ctrl-C ends it now.`),
  );
  process.off('SIGINT', abort).off('SIGTERM', abort);
}

/** Postgres, Temporal or the worker cannot go on. */
function giveUp(error: Error): never {
  throw new FailedJob(`A part of the service has stopped: ${error.message}`, { cause: error });
}
