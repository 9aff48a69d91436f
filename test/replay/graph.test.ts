import { expect, test } from '@jest/globals';
import { chainOf } from '../support/chain.js';
import { firstPrompt, startGraphWorld } from '../support/worlds/graph.js';
import { command, createGraphJob, ended, type GraphJob } from '../support/jobs-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { replay } from './replay-history.js';
import { workflowIs } from '../support/workflow-is.js';

// The path of a graph job through the workflow, with a pause and a resume; its history replays.

const on = serviceOfFile(() => startGraphWorld());

test('a graph job with rewritten prompts and edited graphs', async () => {
  const id = await createGraphJob(on.service, on.world.job(12, { rollout_budget: 80, max_concurrent: 2 }));
  await until('a proposal is asked for', () => on.world.model.requests.some(({ body }) => body.model === 'writer'));
  await command(on.service, id, 'pause');
  await command(on.service, id, 'resume');
  expect(await ended<GraphJob>(on.service, id)).toMatchObject({ status: 'completed' });
  await workflowIs(on.service.workflow(id), 'COMPLETED');
  const [history, ...laterRuns] = await chainOf(on.service.temporal, `graph-${id}`);
  expect(laterRuns).toEqual([]);
  // It contains no task and no text of a graph.
  const recorded = JSON.stringify(history).replaceAll(/"data":"([^"]*)"/g, (_, data: string) =>
    Buffer.from(data, 'base64').toString(),
  );
  expect(recorded).toContain('"prepare"');
  for (const text of ['What is item', firstPrompt]) expect(recorded).not.toContain(text);
  await replay(history!);
}, 90_000);
