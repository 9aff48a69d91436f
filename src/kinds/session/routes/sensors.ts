import { pageSchema } from '../../../contracts/common.js';
import { sensorFrameSchema, sensorFramesQuerySchema } from '../contract/sensors.js';
import { readComponentLevers } from '../../../candidates/store/levers.js';
import { readFrames } from '../../../rollouts/store/sensors.js';
import type { SessionHead } from '../../../jobs/store/jobs.js';
import type { JobRoute } from '../../../jobs/routes/kind.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { numberedPage, parseCursor } from '../../../platform/http/server/pages.js';
import { problems, sessionParams } from '../../../platform/http/server/schema.js';
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
