import { expect, test } from '@jest/globals';
import { built, deploy, saying } from '../support/deployments-over-http.js';
import { answers } from '../support/fakes/container.js';
import { deployments } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { promptOf, startRulesWorld } from '../support/worlds/rules.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { localActivities, replayEnded } from './replay-history.js';

// The paths of a deployment through its workflow, and the path of its gate's evaluation.

const on = serviceOfFile(() => startRulesWorld());

const texts = ['worth 0.5', 'worth 0.6', 'worth 0.9'] as const;
const create = (text: (typeof texts)[number], minImprovement?: number) =>
  deploy(on.service, {
    name: 'cards',
    source: saying(text),
    ...(minImprovement !== undefined && {
      gate: { container_url: on.world.container.url, seeds: range(0, 4), min_improvement: minImprovement },
    }),
  });

const replayed = (workflowId: string, status: string) =>
  replayEnded(on.service.temporal.workflow.getHandle(workflowId), status, texts);

test('a deployment without a gate, with a passed gate, with a failed gate, and a deleted deployment', async () => {
  const worthOf = (prompt: string) => Number(/worth ([\d.]+)/.exec(prompt)![1]);
  on.world.container.behave((call) => answers.reward(worthOf(promptOf(call)) + call.seed / 100));
  const ungated = await create('worth 0.5');
  expect(await built(on.service, ungated)).toMatchObject({ status: 'ready' });
  await replayed(`deployment-${ungated}`, 'COMPLETED');

  const gated = await create('worth 0.9', 0.1);
  const { gate, status } = await built(on.service, gated);
  expect(status).toBe('ready');
  const history = await replayed(`deployment-${gated}`, 'COMPLETED');
  const children = history.events.filter((event) => event.childWorkflowExecutionCompletedEventAttributes);
  // Candidate and incumbent, and both again on the seeds on which they differ.
  expect(children).toHaveLength(4);
  const evaluation = `evaluation-${gate!.candidate!.job_id}`;
  const ofChild = await replayed(evaluation, 'COMPLETED');
  expect(localActivities(ofChild)[0]?.activity_type).toBe('openGateEvaluation');

  const failed = await create('worth 0.6', 0.1);
  expect(await built(on.service, failed)).toMatchObject({ status: 'failed' });
  await replayed(`deployment-${failed}`, 'FAILED');

  on.world.container.behave(() => answers.hang());
  const deleted = await create('worth 0.9', 0.1);
  const id = `evaluation-evl_${deleted.slice(4, 32)}0000`;
  await until('its candidate is evaluated', () => on.world.container.callsOf(id.slice(11)).length > 0);
  const { status: code } = await fetch(`${on.service.url}${deployments}/${deleted}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${on.service.apiKey}` },
  });
  expect(code).toBe(204);
  await replayed(`deployment-${deleted}`, 'CANCELLED');
  await replayed(id, 'CANCELLED');
}, 90_000);
