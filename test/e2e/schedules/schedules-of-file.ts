import { afterEach, beforeAll } from '@jest/globals';
import { built, deploy, saying } from '../../support/deployments-over-http.js';
import { readSchedule, schedule, type Schedule } from '../../support/schedules-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { movableModels as models, movableRows, startMovableWorld } from '../../support/worlds/movable.js';
import { rowsBaseline } from '../../support/worlds/rows.js';

/** A service whose name `support` gets schedules of checkups on ten rows. */
export function schedulesOfFile() {
  const on = serviceOfFile(startMovableWorld);
  afterEach(() => on.world.reset());
  beforeAll(async () => {
    const source = saying(rowsBaseline, models.old);
    await built(on.service, await deploy(on.service, { name: 'support', source }));
  });
  const checkup = () => ({ rows: movableRows(on.world, 10), traffic: null });
  return {
    on,
    checkup,
    make: (more: object = {}): Promise<Schedule> =>
      schedule(on.service, 'support', { cron: '0 3 * * 1', checkup: checkup(), ...more }),
    read: ({ schedule_id: id }: Schedule) => readSchedule(on.service, id),
  };
}
