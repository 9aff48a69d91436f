import closeWithGrace from 'close-with-grace';
import { readConfig, type Config, type Roles } from '../config.js';
import { createLog } from '../log.js';
import { startService, type Service } from '../main.js';
import { version } from '../version.js';
import { installRuntime } from '../worker.js';

const shutdownMs = 30_000;

/** Runs the service until it is stopped. */
export async function serve(roles: Roles): Promise<void> {
  const config = readConfig();
  const log = createLog(config);
  const separateWorker = roles.serve && roles.work;
  if (!separateWorker) installRuntime(log);
  const service = await startService(config, roles, log, { separateWorker });
  closeWithGrace({ delay: shutdownMs, logger: log }, async ({ err }) => {
    if (err) log.error({ err }, 'stopping after an error');
    await service.stop();
  });
  announce(service, config, roles);
  try {
    await service.ended;
  } catch (error) {
    await service.stop();
    throw error;
  }
}

function announce(service: Service, config: Config, roles: Roles): void {
  const lines = [
    service.url && `API          ${service.url}   (docs: ${service.url}/docs)`,
    service.temporalUi && `Temporal UI  ${service.temporalUi}`,
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
