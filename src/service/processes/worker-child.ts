/** The process of a worker that `ratchet dev` starts: settings come by message, from its parent. */
import { once } from 'node:events';
import closeWithGrace from 'close-with-grace';
import { createLog } from '../log.js';
import { startService } from '../main.js';
import type { WorkerMessage, WorkerSettings } from '../worker-process.js';
import { handleRejections, installRuntime } from '../worker.js';

const shutdownMs = 18_000;

// Without its parent nothing would stop it. Rollouts in flight run again, as after any kill.
process.on('disconnect', () => process.exit(1));
const [{ config, servers, isMeasured }] = (await once(process, 'message')) as [WorkerSettings];
const log = createLog(config);
installRuntime(log, isMeasured);
handleRejections(log);
const answer = (message: WorkerMessage) => process.send!(message);
try {
  const service = await startService(config, { serve: false, work: true }, log, { servers });
  closeWithGrace({ delay: shutdownMs, logger: log, skip: ['unhandledRejection'] }, async ({ err }) => {
    if (err) log.error({ err }, 'stopping after an error');
    await service.stop();
  });
  service.ended.catch(() => process.exit(1));
  process.on('message', () => void service.metrics().then((metrics) => answer({ metrics })));
  answer({ ready: true });
} catch (error) {
  answer({ ready: false, reason: (error as Error).message });
}
