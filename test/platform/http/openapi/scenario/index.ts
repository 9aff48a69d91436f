/** Calls each operation of the OpenAPI document, so that each documented success is seen. */
import { playAccess } from './access.js';
import { playDatasets } from './datasets.js';
import { playCheckups } from './checkups.js';
import { playDeployments } from './deployments.js';
import { playEvaluations } from './evaluations.js';
import { playGraphs } from './graphs.js';
import { pending } from './jobs.js';
import { playMigrations } from './migrations.js';
import type { Recorder } from '../recorder.js';
import { playRuns } from './runs.js';
import { playSchedules } from './schedules.js';
import { playSamples } from './samples.js';
import { playService } from './service.js';
import { pendingOfSession, playCommands, playSession, playTraffic } from './sessions.js';
import type { Capitals } from './world.js';

interface Stoppable {
  stop(): Promise<void>;
}

export async function play(api: Recorder, world: Capitals, startWorker: () => Promise<Stoppable>): Promise<void> {
  await api.call('getReadiness', { status: 503 });
  const worker = await startWorker();
  await playService(api);
  await playDatasets(api);
  await playSamples(api);
  const session = await playSession(api);
  const evaluations = await playEvaluations(api, world);
  const graphs = await playGraphs(api);
  await playRuns(api, session);
  await playDeployments(api, session);
  await playMigrations(api);
  await playCheckups(api);
  await playSchedules(api);
  await playTraffic(api);
  const held = await playCommands(api, session);
  await playAccess(api);
  world.release();
  await worker.stop();
  await Promise.all([
    ...pendingOfSession(api, held),
    ...pending(api, 'Session', { session_id: held }),
    ...pending(api, 'Evaluation', { job_id: evaluations.paused }),
    ...pending(api, 'GraphJob', { job_id: graphs.paused }),
  ]);
}
