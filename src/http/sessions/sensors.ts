import { pageSchema } from '../../contracts/common.js';
import { sensorFrameSchema, sensorFramesQuerySchema } from '../../contracts/sessions/sensors.js';
import { readComponentLevers } from '../../storage/candidates/levers.js';
import { readFrames } from '../../storage/rollouts/sensors.js';
import type { SessionHead } from '../../storage/jobs/jobs.js';
import type { JobRoute } from '../jobs/kind.js';
import type { App, HttpDeps } from '../deps.js';
import { numberedPage, parseCursor } from '../server/pages.js';
import { problems, sessionParams } from '../server/schema.js';
import { frameView } from './sensors-view.js';

/** Routes of a session's sensor frames. */
export function registerSensors(app: App, { db }: HttpDeps, { path, tags, find }: JobRoute<SessionHead>): void {
  app.get(
    `${path}/sensor-frames`,
    {
      schema: {
        tags,
        operationId: 'listSessionSensorFrames',
        summary: "Sensor frames: readings over each candidate's rollouts in each batch",
        description: 'Oldest first.',
        params: sessionParams,
        querystring: sensorFramesQuerySchema,
        response: { 200: pageSchema(sensorFrameSchema), ...problems(404, 422) },
      },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const after = parseCursor(cursor);
      const { orgId, jobId } = await find(request);
      return db.org(orgId, async (tx) => {
        const rows = await readFrames(tx, jobId, { after, limit: limit + 1 });
        const levers = await readComponentLevers(tx, jobId, [...new Set(rows.map(({ candidateId }) => candidateId))]);
        return numberedPage(
          rows,
          limit,
          ({ ordinal }) => ordinal,
          (row) => frameView(jobId, row, levers),
        );
      });
    },
  );
}
