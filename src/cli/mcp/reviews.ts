import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { verdicts } from '../../contracts/review.js';
import { rowGroups } from '../../core/rows/groups.js';
import { answer, reads } from './answer.js';
import type { ToolService } from './service.js';

const reviewed = z
  .string()
  .describe('Id of a session, an evaluation or a graph job; or a deployment, by id or name, for its kept answers.');
/** Not the key, under which a person reviews in the dashboard. */
const by = z
  .string()
  .min(1)
  .max(150)
  .default('agent')
  .describe('Who reviews: agent for your own judgement, else the name of the person who told you.');
const mostShown = 20;

/** Tools that show what is to be reviewed, and take verdicts. */
export function registerReviewTools(server: McpServer, service: ToolService): void {
  server.registerTool(
    'review_queue',
    {
      description:
        'Answers that the reviewer has given no verdict yet, with input, expected value, reward and what others say, shortened. Of a deployment those of which judge and reward disagree come first.',
      inputSchema: z.strictObject({
        id: reviewed,
        group: z.enum(rowGroups).optional().describe('Only these rows of a job, such as failing.'),
        by,
        limit: z.int().min(1).max(mostShown).default(mostShown),
      }),
      annotations: reads,
    },
    ({ id, ...query }) =>
      service.use(async ({ client }) => answer(await client.reviews.queue({ job_id: id, ...query }))),
  );

  server.registerTool(
    'review',
    {
      description:
        'Say that an answer is right or wrong, or that the expected value of its row is bad. Replaces all that the same reviewer said of it; of a live answer it counts as feedback.',
      inputSchema: z.strictObject({
        id: reviewed,
        subject_id: z.string().describe('Of an item of review_queue, or the trace_id of a row.'),
        verdict: z.enum(verdicts).describe('bad_expected: of rows only.'),
        note: z.string().min(1).max(10_000).optional().describe('Why.'),
        corrected: z.string().min(1).max(100_000).optional().describe('What the answer should have been.'),
        by,
      }),
    },
    ({ id, subject_id: subject, note = null, corrected = null, ...said }) =>
      service.use(async ({ client }) => answer(await client.reviews.put(id, subject, { ...said, note, corrected }))),
  );
}
