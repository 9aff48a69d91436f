import { expect, test } from '@jest/globals';
import { generationComplete } from '../../../src/core/events/search.js';
import { recordDecision } from '../../../src/storage/decisions/record.js';
import { insertJob } from '../../support/job.js';
import { databaseOfFile } from '../../support/database-of-file.js';

const db = databaseOfFile(2);

test('an outdated or repeated decision changes nothing', async () => {
  const job = await insertJob(db);
  const write = (step: number) =>
    db.org('default', (tx) =>
      recordDecision(tx, job, {
        step,
        projection: { generation: step },
        events: [
          generationComplete(
            job.jobId,
            { generation: step, bestReward: 0, bestCandidate: 0 },
            { rolloutsCompleted: 1, costUsd: null },
          ),
        ],
      }),
    );
  for (const step of [1, 2, 1, 3, 3, 2]) await write(step);
  const [row] = await db.org('default', (tx) =>
    tx.query<{ generation: number; keys: string[] }>(
      `select (projection->>'generation')::int as generation,
              (select array_agg(key order by seq) from events where job_id = $1) as keys
         from jobs where id = $1`,
      [job.jobId],
    ),
  );
  expect(row).toEqual({ generation: 3, keys: ['generation:1', 'generation:2', 'generation:3'] });
});
