import { expect, test } from '@jest/globals';
import { askedOf, checkedUp, checkUp } from '../support/checkups-over-http.js';
import { built, deploy, saying } from '../support/deployments-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { agingModels as models, proposer, startAgingWorld } from '../support/worlds/aging.js';
import { localActivities, replayEnded } from './replay-history.js';

// The paths of a checkup through its workflow; its history has no text of prompts and requests.

const on = serviceOfFile(startAgingWorld);
const text = 'Answer well, says the prompt.';
const secrets = [text, 'needs rule-', 'Row 1'];

test('a checkup with a session and a canary, and one that fails', async () => {
  await built(on.service, await deploy(on.service, { name: 'aging', source: saying(text, models.live), log: {} }));
  await askedOf(on.service, 'aging', 40);
  on.world.age();
  const traffic = { expected: 'corrected_or_answer' };
  const improve = { traffic, scorer: 'exact', proposer };
  const { job_id: id } = await checkUp(on.service, 'aging', improve, 'improve');
  const done = await checkedUp(on.service, id);
  expect(done).toMatchObject({ improvement_verdict: 'better', deployment_id: expect.stringMatching(/^dep_/) });
  const history = await replayEnded(on.service.workflow(id), 'COMPLETED', secrets);
  const steps = localActivities(history).filter(({ activity_type: type }) => type === 'advanceCheckup');
  expect(steps).toHaveLength(done.steps.length + 1);

  on.world.model.reply(() => ({ status: 401 }));
  const { job_id: failing } = await checkUp(on.service, 'aging', { traffic, scorer: 'exact' });
  expect(await checkedUp(on.service, failing)).toMatchObject({ status: 'failed' });
  await replayEnded(on.service.workflow(failing), 'FAILED', secrets);
}, 200_000);
