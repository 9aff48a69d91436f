import { expect } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { browserOfFile } from '../support/browser.js';
import { answers } from '../support/fakes/container.js';
import {
  createEvaluation,
  createGraphJob,
  createSession,
  ended,
  readJob,
  type GraphJob,
  type Session,
} from '../support/jobs-over-http.js';
import { meter } from '../support/meter.js';
import { range } from '../support/range.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { graphAnswer, graphDataset } from '../support/worlds/graph.js';
import { promptOf, propose, startRulesWorld } from '../support/worlds/rules.js';

// The live strip of a graph job and of runs on a container, which answer when the test says so.

const gate = meter();
const on = serviceOfFile(async () => {
  const world = await startRulesWorld();
  world.container.behave((call) => answers.held(gate.pass(), world.answer(call)));
  world.model.reply(async (request) => {
    if (request.body.model === 'task') await gate.pass();
    const isOfGraph = ['task', 'writer'].includes(request.body.model);
    return { text: isOfGraph ? graphAnswer(request.body.messages) : propose(request) };
  });
  const close = async () => {
    gate.end();
    await world.close();
  };
  return { ...world, close };
});
const { test, open } = browserOfFile();
const shoot = process.env['SHOTS'];

const evaluationSeeds = 8;
const createOfContainer = () =>
  createSession(on.service, {
    ...on.world.job,
    ...{ max_concurrent: 1, budget: { max_rollouts: 60 } },
    gepa: {
      ...{ population_size: 1, generations: 6, train_seeds: range(100, 12) },
      evaluation: { seeds: range(0, evaluationSeeds), heldout_seeds: range(20, 4) },
    },
  });

const createOfGraph = () =>
  createGraphJob(on.service, {
    dataset: graphDataset(40),
    ...{ policy_model: 'task', policy_provider: 'fake', proposer: { model: 'writer', provider: 'fake' } },
    ...{ max_concurrent: 1, rollout_budget: 90, preflight: false },
  });

const current = (page: Page) => page.getByRole('list', { name: 'Phases' }).locator('[aria-current="step"]');
const figure = (page: Page, name: string) =>
  page.getByRole('region', { name: 'Live' }).locator('.live-figures > div').filter({ hasText: name }).locator('dd');

/** Waits until the page says when the last result came, and when the job ends. */
async function tellsTime(page: Page): Promise<void> {
  await figure(page, 'last result')
    .getByText(/^\d+ s ago$/)
    .waitFor();
  await figure(page, 'ends about')
    .getByText(/^\d\d:\d\d by answers$/)
    .waitFor({ timeout: 60_000 });
}

/** The end of its limits as the service tells it. */
const endOf = async (id: string) => {
  const { jobs } = await on.service.api.client.health();
  const job = jobs.find(({ job_id: other }) => other === id)!;
  return [job.ends_by, job.ends_at !== null, job.last_result_at !== null];
};

test.each([
  ['a graph job', createOfGraph, '#/graphs/', 'held-out tasks'],
  ['a session on a container', createOfContainer, '#/sessions/', 'held-out seeds'],
])(
  '%s goes through its phases, with its last result, its end and its decisions',
  async (name, create, path, last) => {
    gate.hold();
    const id = await create();
    const { split } = await readJob<GraphJob | Session>(on.service, id);
    const rows = split?.evaluation.length ?? evaluationSeeds;
    const page = await open(on.service, `${path}${id}`);
    await current(page).getByText(`0 of ${rows}`, { exact: true }).waitFor();
    expect(await current(page).locator('strong').textContent()).toBe('baseline');
    gate.allow(3);
    await current(page)
      .getByText(new RegExp(`^3 of ${rows}, mean so far `))
      .waitFor();
    await tellsTime(page);
    expect(await endOf(id)).toEqual(['rollouts', true, true]);
    if (shoot) writeFileSync(`${shoot}/live ${name}.png`, await page.screenshot({ fullPage: true }));

    const seen = new Set<string>();
    while (!seen.has(last)) {
      gate.allow(2);
      const phase = await current(page).locator('strong').textContent({ timeout: 5_000 });
      seen.add(phase!);
      await page.waitForResponse((response) => response.url().endsWith(id));
    }
    expect([...seen]).toEqual(expect.arrayContaining(['baseline', 'search', last]));
    await page
      .getByRole('list', { name: 'Latest decisions' })
      .getByText(/^#?\d+ Kept: /)
      .first()
      .waitFor();
    gate.allow(Infinity);
    await ended(on.service, id);
    await page.getByRole('region', { name: 'Live' }).waitFor({ state: 'detached' });
  },
  240_000,
);

test('an evaluation on a container tells its rows, and that its last one ends it', async () => {
  gate.hold();
  const { container_url, policy } = on.world.job;
  const candidate = { messages: [{ role: 'system', content: 'Answer well. rule-0.' }] };
  const more = { max_concurrent: 1, preflight: false };
  const id = await createEvaluation(on.service, { container_url, policy, candidate, seeds: range(0, 8), ...more });
  const page = await open(on.service, `#/evaluations/${id}`);
  await current(page).getByText('0 of 8', { exact: true }).waitFor();
  gate.allow(4);
  await current(page).getByText('4 of 8, mean so far 0.250').waitFor();
  await tellsTime(page);
  expect(on.world.container.ledger.filter((entry) => promptOf(entry).includes('rule-0.')).length).toBeGreaterThan(3);
  gate.allow(Infinity);
  await ended(on.service, id);
}, 120_000);
