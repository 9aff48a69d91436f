import { expect, test } from '@jest/globals';
import { History, payloadsOf } from '../support/chain.js';
import { built, deploy, saying } from '../support/deployments-over-http.js';
import { migrate, migrated } from '../support/migrations-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { workflowIs } from '../support/workflow-is.js';
import { movableModels as models, movableRows, proposer, startMovableWorld } from '../support/worlds/movable.js';
import { localActivities, replay } from './replay-history.js';

// The paths of a migration through its workflow; its history has no text of prompts and rows.

const on = serviceOfFile(startMovableWorld);
const text = 'Answer well, says the prompt.';

async function replayed(id: string, status: string): Promise<History> {
  const handle = on.service.workflow(id);
  await workflowIs(handle, status);
  const history = History.fromObject(await handle.fetchHistory());
  const recorded = payloadsOf(history)
    .map((payload) => Buffer.from(payload).toString())
    .join('\n');
  for (const secret of [text, 'needs rule-']) expect(recorded).not.toContain(secret);
  await replay(history);
  return history;
}

test('a migration with a session and a deployment, and one that fails', async () => {
  await built(on.service, await deploy(on.service, { name: 'moved', source: saying(text, models.old) }));
  const asked = { ...movableRows(on.world, 40), max_loss: 0.3, proposer };
  const id = await migrate(on.service, 'moved', { ...asked, to: models.needy, deploy: {} });
  const done = await migrated(on.service, id, 90);
  expect(done.verdict).toBe('no_worse');
  const history = await replayed(id, 'COMPLETED');
  const steps = localActivities(history).filter(({ activity_type: type }) => type === 'advanceMigration');
  expect(steps).toHaveLength(done.steps.length + 1);

  on.world.model.reply(() => ({ status: 401 }));
  const failing = await migrate(on.service, 'moved', { ...asked, to: models.equal, optimize: 'never' });
  expect(await migrated(on.service, failing)).toMatchObject({ status: 'failed' });
  await replayed(failing, 'FAILED');
}, 120_000);
