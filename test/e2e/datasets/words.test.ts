import { expect, test } from '@jest/globals';
import { built, deploy, saying } from '../../support/deployments-over-http.js';
import { createSession, ended, eventsOf, pathOf, readJob, type Session } from '../../support/jobs-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { otherPartNames, wordsOfExperts } from '../../support/words-of-experts.js';
import { rowsBaseline, startRowsWorld } from '../../support/worlds/rows.js';

// What people read of jobs on rows names rows and answers, whatever the API calls its fields.

const on = serviceOfFile(() => startRowsWorld());
const policy = { provider: 'fake', model: 'policy' };

test('events, decisions, warnings, reports and a refusal of a gate say row and answer', async () => {
  const { service, world } = on;
  const gepa = { population_size: 1, generations: 2, train_seeds: '0-5', evaluation: { seeds: '0-5' } };
  const id = await createSession(service, { ...world.job(12), gepa, budget: { max_rollouts: 30 } });
  const session = await ended<Session>(service, id);
  expect(session.warnings).toContainEqual(expect.stringMatching(/^All 6 evaluation rows are also train rows/));

  const dataset = { dataset_id: session.dataset!.dataset_id, input: 'question', expected: 'answer' };
  const gate = { dataset, scorer: 'exact', seeds: '0-11', min_reward: 0.5, preflight: false };
  const refused = await built(
    service,
    await deploy(service, { name: 'words', source: saying(rowsBaseline, policy), gate }),
  );
  expect(refused.error).toContain('on 12 rows');
  const evaluation = await readJob(service, refused.gate!.candidate!.job_id);

  const jobs = [id, refused.id, evaluation.job_id];
  const events = (await Promise.all(jobs.map((job) => eventsOf(service, job)))).flat().map(({ message }) => message);
  expect(events).toContainEqual(expect.stringMatching(/^row \d+: reward 0 \(\d+ of 12\)$/));
  expect(events).toContain('gepa session started (6 evaluation rows)');
  const { data } = await service.api.call<{ data: { decision: { message: string } }[] }>(
    'GET',
    `${pathOf(id)}/candidates`,
  );
  const headers = { authorization: `Bearer ${service.apiKey}` };
  const report = await (await fetch(`${service.url}${pathOf(id)}/report`, { headers })).text();
  const shown = report.replaceAll(/<(style|script)[^]*?<\/\1>|<details>[^]*?<\/details>|<[^>]*>/g, ' ');
  const decisions = data.map(({ decision }) => decision.message);
  for (const text of [...events, ...decisions, ...session.warnings, refused.error!, shown]) {
    expect(text).not.toMatch(wordsOfExperts);
    expect(text).not.toMatch(otherPartNames);
  }
}, 120_000);
