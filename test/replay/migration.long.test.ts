import { expect, test } from '@jest/globals';
import { built, deploy, saying } from '../support/deployments-over-http.js';
import { migrate, migrated } from '../support/migrations-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { movableModels as models, movableRows, proposer, startMovableWorld } from '../support/worlds/movable.js';
import { localActivities, replayEnded } from './replay-history.js';

// The paths of a migration through its workflow; its history has no text of prompts and rows.

const on = serviceOfFile(startMovableWorld);
const text = 'Answer well, says the prompt.';
const secrets = [text, 'needs rule-'];

test('a migration with a session and a deployment, and one that fails', async () => {
  await built(on.service, await deploy(on.service, { name: 'moved', source: saying(text, models.old) }));
  const asked = { ...movableRows(on.world, 40), max_loss: 0.3, proposer };
  const id = await migrate(on.service, 'moved', { ...asked, to: models.needy, deploy: {} });
  const done = await migrated(on.service, id, 90);
  expect(done.verdict).toBe('no_worse');
  const history = await replayEnded(on.service.workflow(id), 'COMPLETED', secrets);
  const steps = localActivities(history).filter(({ activity_type: type }) => type === 'advanceMigration');
  expect(steps).toHaveLength(done.steps.length + 1);

  on.world.model.reply(() => ({ status: 401 }));
  const failing = await migrate(on.service, 'moved', { ...asked, to: models.equal, optimize: 'never' });
  expect(await migrated(on.service, failing)).toMatchObject({ status: 'failed' });
  await replayEnded(on.service.workflow(failing), 'FAILED', secrets);
}, 120_000);
