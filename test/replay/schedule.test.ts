import { expect, test } from '@jest/globals';
import { History } from '../support/chain.js';
import { built, deploy, saying } from '../support/deployments-over-http.js';
import { decided, inTemporal, schedule } from '../support/schedules-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { movableModels as models, movableRows, startMovableWorld } from '../support/worlds/movable.js';
import { replay } from './replay-history.js';

// A run of a schedule through its workflow, whose history names the schedule alone.

const on = serviceOfFile(startMovableWorld);
const text = 'Answer well, says the prompt.';

test('a run of a schedule', async () => {
  await built(on.service, await deploy(on.service, { name: 'support', source: saying(text, models.old) }));
  const checkup = { rows: movableRows(on.world, 10), traffic: null };
  const { schedule_id: id } = await schedule(on.service, 'support', { every: '1d', checkup });
  const handle = await inTemporal(on.service, id);
  await handle.trigger();
  await decided(on.service, id, ({ manual }) => !manual);
  const [action] = await until('it was taken', async () => {
    const { recentActions } = (await handle.describe()).info;
    return recentActions.length > 0 && recentActions;
  });
  const { workflow } = action!.action;
  const run = on.service.temporal.workflow.getHandle(workflow.workflowId);
  await run.result();
  const history = History.fromObject(await run.fetchHistory());
  expect(JSON.stringify(history)).not.toContain(Buffer.from('needs rule-').toString('base64').slice(0, 12));
  await replay(history);
}, 60_000);
