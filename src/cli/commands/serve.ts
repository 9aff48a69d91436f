import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import { readConfig, type Config, type Roles } from '../../service/config.js';
import { announceService } from '../../platform/embedded/running.js';
import { createLog } from '../../service/log.js';
import { startService, type Service } from '../../service/main.js';
import { version } from '../../service/version.js';
import { handOver, stopAtStartMs } from '../../service/processes/early-stop.js';
import { joinParent, signalsOfParent } from '../../service/processes/api.js';
import { handleRejections, installRuntime } from '../../service/worker.js';
import { openBrowser } from '../service/browser.js';

const shutdownMs = 30_000;

interface ServeOptions {
  processes?: number;
  /** Whether to open the dashboard in the browser of a terminal's user. */
  opens?: boolean;
}

/** Runs the service until it is stopped. With several `processes` this one runs the API in them. */
export async function serve(roles: Roles, { processes = 1, opens = false }: ServeOptions = {}): Promise<void> {
  if (processes > 1 && cluster.isPrimary) {
    const { superviseApis } = await import('../../service/processes/apis.js');
    return superviseApis(processes, (api, config) => announce(api, config, roles));
  }
  const config = readConfig();
  const log = createLog(config);
  const separateWorker = roles.serve && roles.work;
  if (!separateWorker) installRuntime(log, config.metricsPort !== null);
  handleRejections(log);
  const stopping = new AbortController();
  const starting = startService(config, { ...roles, processes }, log, { separateWorker, signal: stopping.signal });
  let withdraw = () => undefined as void;
  let isReady = false;
  const skip = [...(cluster.isWorker ? signalsOfParent : []), 'unhandledRejection' as const];
  const { close, uninstall } = closeWithGrace({ delay: shutdownMs, logger: log, skip }, async ({ err }) => {
    if (err) log.error({ err }, 'stopping after an error');
    withdraw();
    stopping.abort();
    if (isReady) return (await starting).stop();
    const ended = starting.then(
      (service) => service.stop(),
      () => undefined,
    );
    await Promise.race([ended, sleep(stopAtStartMs)]);
  });
  handOver();
  const service = await starting.catch((error: unknown) => {
    if (stopping.signal.aborted) return null;
    uninstall();
    throw error;
  });
  // The process ends when its parts have stopped.
  if (service === null || stopping.signal.aborted) return;
  isReady = true;
  const { cacheDir, dataDir } = config;
  const { url, apiKey } = service;
  if (separateWorker)
    withdraw = announceService(cacheDir, { url: url!, apiKey: apiKey!, dataDir, kind: 'service' }, log);
  if (cluster.isWorker) joinParent(service, close);
  else announce(service, config, roles);
  if (opens && service.loginUrl && process.stdout.isTTY) await openBrowser(service.loginUrl, log);
  try {
    await service.ended;
  } catch (error) {
    await service.stop();
    throw error;
  }
}

function announce(
  service: Pick<Service, 'url' | 'temporalUi'> & Partial<Pick<Service, 'apiKey' | 'apiKeyCreated' | 'loginUrl'>>,
  config: Config,
  roles: Roles,
): void {
  const lines = [
    service.loginUrl
      ? `Dashboard    ${service.loginUrl}   (signs one browser in)`
      : service.url && `Dashboard    ${service.url}`,
    service.url && `API          ${service.url}   (docs: ${service.url}/docs)`,
    service.temporalUi
      ? `Temporal UI  ${service.temporalUi}`
      : !config.ownTemporal && 'Temporal UI  off   (RATCHET_TEMPORAL_UI=1)',
    service.url &&
      (service.apiKeyCreated
        ? `API key      ${service.apiKey}   (kept in ${config.dataDir}/api-key)`
        : `API key      ${config.apiKey ? 'from RATCHET_API_KEY' : `in ${config.dataDir}/api-key`}`),
    roles.work && 'Worker       polling',
  ];
  process.stdout.write(
    `Ratchet ${version}\n${lines.filter(Boolean).join('\n')}\nReady. Stop with Ctrl-C; running jobs continue at the next start.\n`,
  );
}
